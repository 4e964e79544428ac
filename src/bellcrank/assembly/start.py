"""What is asked of an assembly: the approximate start, and what must keep its value; checked."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..codegen.dynamics import Dynamics
from ..errors import StateError
from ..model import Model
from ..model.manifold import turning_joints
from .loops import Held

Array = NDArray[np.float64]
Given = ArrayLike | Mapping[str, Any] | None


@dataclass(frozen=True)
class Start:
    """The approximate start; ``strict``: what is held was named by the caller, else it is what the model's file says."""

    q: Array
    v: Array
    held: Held
    held_v: NDArray[np.bool_]
    strict: bool
    untouched: bool  # nothing was said of coordinates that are not held: they are in the design position


def start_of(dynamics: Dynamics, q: Given, v: Given, hold: Iterable[str] | str | None) -> Start:
    model = dynamics.model
    named = None if hold is None else _coordinates(model, [hold] if isinstance(hold, str) else list(hold))
    q0, held_q = _values(dynamics, "q", q, model.initial_q)
    v0, held_v = _values(dynamics, "v", v, model.initial_v)
    written_q, written_v = _written(model)
    strict = named is not None or held_q is not None
    if named is None:
        named = held_q if held_q is not None else written_q if q is None else set()
        kept_v = held_v if held_v is not None else written_v if v is None else set()
        fast = np.array([name in kept_v for name in model.v_names], dtype=bool)
        held = Held.of(model, named)
    else:
        held = Held.of(model, named)
        fast = _velocities(held)
    untouched = bool(np.array_equal(np.where(held.q, 0.0, q0), np.where(held.q, 0.0, design(model))))
    return Start(_unit(model, q0), v0, held, fast, strict, untouched)


def design(model: Model) -> Array:
    """The design position: joints at zero, free bodies where the model's start has them."""
    q = np.array(model.neutral_q)
    for at in turning_joints(model):
        if at.free:
            q[at.position.start : at.quaternion.stop] = model.initial_q[at.position.start : at.quaternion.stop]
    return q


def _written(model: Model) -> tuple[set[str], set[str]]:
    """Coordinates and velocities that [initial] gives."""
    if model.spec is None:
        return set(), set()
    given = {start.joint: start for start in model.spec.initial}
    q, v = set(), set()
    rows = zip(model.joint_names, model.joints, model.q_index, model.v_index, model.driven, strict=True)
    for name, joint, at_q, at_v, driven in rows:
        if name in given and not driven:
            q |= set(model.q_names[at_q : at_q + joint.nq]) if given[name].q is not None else set()
            v |= set(model.v_names[at_v : at_v + joint.nv]) if given[name].v is not None else set()
    return q, v


def _values(dynamics: Dynamics, what: str, given: Given, default: Array) -> tuple[Array, set[str] | None]:
    """The array, and the names that a mapping gave."""
    model = dynamics.model
    if isinstance(given, Mapping):
        known = model.q_names if what == "q" else model.v_names
        x = np.array(default)
        for name, value in given.items():
            if name not in known:
                raise StateError(f"{what} has {name!r}, {_no_such(name, known, model)}")
            try:
                x[known.index(name)] = float(value)
            except (TypeError, ValueError):
                raise StateError(f"{what} of {name!r} must be a number; it is {value!r}") from None
        names: set[str] | None = set(given)
    else:
        x, names = np.array(dynamics._array(what, default if given is None else given)), None
    if x.ndim != 1:
        raise StateError(f"{what} must be one state; it has shape {x.shape}")
    if not np.isfinite(x).all():
        known = model.q_names if what == "q" else model.v_names
        bad = int(np.flatnonzero(~np.isfinite(x))[0])
        raise StateError(f"{what} of {known[bad]!r} is {x[bad]}: all of a state must be finite")
    return x, names


def _coordinates(model: Model, hold: list[str]) -> set[str]:
    """Names of coordinates, from those and from joints as a whole."""
    joints = {}
    for name, joint, at, driven in zip(model.joint_names, model.joints, model.q_index, model.driven, strict=True):
        if joint.nq and not driven:
            joints[name] = set(model.q_names[at : at + joint.nq])
    found: set[str] = set()
    for name in hold:
        if name not in joints and name not in model.q_names:
            raise StateError(f"hold has {name!r}, {_no_such(name, [*model.q_names, *joints], model)}")
        found |= joints.get(name, {name})
    return found


def _no_such(name: str, known: Iterable[str], model: Model) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"which is no coordinate of {model.name!r}{hint}; joints that close a loop and driven joints have none"


def _velocities(held: Held) -> NDArray[np.bool_]:
    """Velocities of held coordinates; of a free position where all of it is held."""
    fast = held.v.copy()
    for at in turning_joints(held.model):
        if at.free:
            fast[at.linear] = held.q[at.position].all()
    return fast


def _unit(model: Model, q: Array) -> Array:
    for at in turning_joints(model):
        size = float(np.linalg.norm(q[at.quaternion]))
        if not 0.5 < size < 2:
            joint = model.q_names[at.quaternion.start].rpartition(".")[0]
            raise StateError(f"the quaternion of joint {joint!r} has length {size:.3g}: it must be 1")
        q[at.quaternion] /= size
    return q
