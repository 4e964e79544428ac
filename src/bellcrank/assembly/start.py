"""The request of an assembly, checked: the approximate start, and the coordinates that must keep their values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import AssemblyError, StateError
from ..model import Model
from ..model.manifold import turning_joints
from .loops import HeldCoordinates

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rule = Literal["named", "written", "asked"]
Given = ArrayLike | Mapping[str, Any] | None

SAME = 1e-9  # rad or m, and of the value: entries that are less off are those of the model's own start


@dataclass(frozen=True)
class Start:
    """The approximate start, and what of it is kept.

    held, held_v            what keeps its value
    preferred, preferred_v  what keeps its value besides, if the loops leave enough freedom: what [initial] says
    rule, rule_v            "named": the caller named it, and it must be kept; "written": the model's file says it, and
                            rounded numbers that say too much are corrected; "asked": the part of a whole array that is not
                            the model's own, kept where the loops allow it
    by_name                 some coordinates are given: from the model's own start they are moved to their values
    untouched               nothing was said of coordinates that are not held: they are in the design position
    """

    q: Array
    v: Array
    held: HeldCoordinates
    held_v: Mask
    preferred: HeldCoordinates
    preferred_v: Mask
    rule: Rule
    rule_v: Rule
    by_name: bool
    untouched: bool


def start_of(dynamics: Dynamics, q: Given, v: Given, hold: Iterable[str] | str | None) -> Start:
    """The start for ``assemble``: values given by name are held, else those of the file; of whole arrays nothing is held."""
    model = dynamics.model
    if hold is not None:
        held = HeldCoordinates.of(model, _coordinates(model, [hold] if isinstance(hold, str) else list(hold)))
        return _start(dynamics, q, v, (held, _velocities(held)), ("named", "named"))
    written_q, written_v = written(model)
    keep_q = set(q) if isinstance(q, Mapping) else written_q if q is None else set()
    keep_v = set(v) if isinstance(v, Mapping) else written_v if v is None else set()
    return _start(dynamics, q, v, (HeldCoordinates.of(model, keep_q), _marked(model.v_names, keep_v)), (_rule(q), _rule(v)))


def start_of_run(dynamics: Dynamics, q: Given, v: Given) -> Start:
    """The start as ``simulate`` takes it: entries of whole arrays that differ from the model's own start are to be kept.

    Where nothing differs that is what [initial] says, as in the model's own start.
    """
    start, model = start_of(dynamics, q, v, None), dynamics.model
    held, held_v, rule, rule_v = start.held, start.held_v, start.rule, start.rule_v
    if _whole(q):
        held, rule = held_by(model, asked_q(model, start.q)), "asked"
    if _whole(v):
        held_v, rule_v = asked_v(model, start.v), "asked"
    return _start(dynamics, q, v, (held, held_v), (rule, rule_v))


def asked_q(model: Model, q: Array) -> Mask:
    """Coordinates that one state, or rows of them, ask for."""
    return _asked(q, own_starts(model)[0], _marked(model.q_names, written(model)[0]))


def asked_v(model: Model, v: Array) -> Mask:
    return _asked(v, own_starts(model)[1], _marked(model.v_names, written(model)[1]))


def _asked(x: Array, own: list[Array], else_: Mask) -> Mask:
    differs = np.all([np.abs(x - y) > SAME * (1.0 + np.abs(y)) for y in own], axis=0)
    return np.where(differs.any(axis=-1, keepdims=True), differs, else_)


def own_position(model: Model) -> Array | None:
    """Where the model starts; None where that, or the velocities there, cannot be assembled."""
    own = own_starts(model)[0]
    return own[1] if len(own) > 1 else None


def own_starts(model: Model) -> tuple[list[Array], list[Array]]:
    """The model's own coordinates and velocities: as written, and assembled where they can be."""
    try:
        start = model.assembled_start
    except AssemblyError:
        return [model.given_q], [model.given_v]
    return [model.given_q, start.q], [model.given_v, start.v]


def held_by(model: Model, mask: Mask) -> HeldCoordinates:
    return HeldCoordinates.of(model, {name for name, marked in zip(model.q_names, mask, strict=True) if marked})


def _start(dynamics: Dynamics, q: Given, v: Given, held: tuple[HeldCoordinates, Mask], rules: tuple[Rule, Rule]) -> Start:
    model = dynamics.model
    q0, v0 = given_values(dynamics, "q", q, model.given_q), given_values(dynamics, "v", v, model.given_v)
    preferred, preferred_v = held
    if isinstance(q, Mapping) or rules[0] == "asked":
        preferred = HeldCoordinates.of(model, {*preferred.names, *written(model)[0]})
    if isinstance(v, Mapping) or rules[1] == "asked":
        preferred_v = preferred_v | _marked(model.v_names, written(model)[1])
    kept = held[0]
    untouched = bool(np.array_equal(np.where(kept.q, 0.0, q0), np.where(kept.q, 0.0, design(model))))
    by_name = kept.any and (isinstance(q, Mapping) or rules[0] == "asked")
    return Start(_unit(model, q0), v0, *held, preferred, preferred_v, *rules, by_name, untouched)


def _whole(given: Given) -> bool:
    return given is not None and not isinstance(given, Mapping)


def _rule(given: Given) -> Rule:
    return "named" if isinstance(given, Mapping) else "written"


def _marked(names: tuple[str, ...], chosen: set[str]) -> Mask:
    return np.array([name in chosen for name in names], dtype=bool)


def design(model: Model) -> Array:
    """The design position: joints at zero, free bodies where the model's start has them."""
    q = np.array(model.neutral_q)
    for at in turning_joints(model):
        if at.free:
            q[at.position.start : at.quaternion.stop] = model.given_q[at.position.start : at.quaternion.stop]
    return q


def written(model: Model) -> tuple[set[str], set[str]]:
    """Coordinates and velocities that [initial] gives."""
    q, v = set(), set()
    rows = zip(model.joint_names, model.joints, model.q_index, model.v_index, model.driven, strict=True)
    for name, joint, at_q, at_v, driven in rows:
        if not driven:
            q |= set(model.q_names[at_q : at_q + joint.nq]) if name in model.held_q else set()
            v |= set(model.v_names[at_v : at_v + joint.nv]) if name in model.held_v else set()
    return q, v


def given_values(dynamics: Dynamics, what: str, given: Given, default: Array) -> Array:
    """The array: as given, or the default with the values that a mapping gives."""
    model = dynamics.model
    known = model.q_names if what == "q" else model.v_names
    if isinstance(given, Mapping):
        x = np.array(default)
        for name, value in given.items():
            must_be_coordinate(model, what, name)
            try:
                x[known.index(name)] = float(value)
            except (TypeError, ValueError):
                raise StateError(f"{what} of {name!r} must be a number; it is {value!r}") from None
    else:
        x = np.array(dynamics.array(what, default if given is None else given))
    if x.ndim != 1:
        raise StateError(f"{what} must be one state; it has shape {x.shape}")
    if not np.isfinite(x).all():
        bad = int(np.flatnonzero(~np.isfinite(x))[0])
        raise StateError(f"{what} of {known[bad]!r} is {x[bad]}: all of a state must be finite")
    return x


def must_be_coordinate(model: Model, what: str, name: str) -> None:
    known = model.q_names if what == "q" else model.v_names
    if name not in known:
        raise StateError(f"{what} has {name!r}, {_no_such(name, known, model)}")


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
    return f"which is not a coordinate of {model.name!r}{hint}; joints that close a loop and driven joints have none"


def _velocities(held: HeldCoordinates) -> Mask:
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
