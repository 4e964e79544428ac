"""Arguments of the analyses, checked; the model's own values where none are given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import assemble
from ..dynamics.dynamics import Dynamics
from ..errors import StateError
from ..model import Model
from ..model.manifold import turning_joints
from ..wording import counted
from .stiffness import Conditions

Array = NDArray[np.float64]


def compiled(model: Model) -> Dynamics:
    """The compiled model; with closed loops by the multipliers, which find redundant equations at every state."""
    return Dynamics(model, "multipliers" if model.closures else "auto", optimisation=0)


def conditions(dyn: Dynamics, tau: ArrayLike | None, inputs: ArrayLike | None, t: float) -> Conditions:
    model = dyn.model
    u = input_values(dyn, inputs)
    if not (np.ndim(t) == 0 and np.isfinite(t)):
        raise StateError(f"t must be one finite number; it is {t!r}")
    return Conditions(
        vector(dyn, "tau", np.zeros(model.nv) if tau is None else tau), finite("inputs", u, model.inputs), float(t)
    )


def input_values(dyn: Dynamics, inputs: ArrayLike | None) -> Array:
    """One value for each input of the model."""
    names = dyn.model.inputs
    u = np.zeros(len(names)) if inputs is None else np.asarray(inputs, dtype=np.float64)
    if u.shape != (len(names),):
        listed = f": {', '.join(names)}" if names else ""
        raise StateError(f"inputs has shape {u.shape}; model {dyn.model.name!r} has {counted(len(names), 'input')}{listed}")
    return finite("inputs", u, names)


def vector(dyn: Dynamics, name: str, given: ArrayLike) -> Array:
    """One finite q, v, tau."""
    x = dyn.array("q" if name == "q0" else name, given)
    if x.ndim != 1:
        raise StateError(f"{name} must be one state; it has shape {x.shape}")
    return finite(name, np.array(x), dyn.model.q_names if name in ("q", "q0") else dyn.model.v_names)


def finite(name: str, x: Array, names: tuple[str, ...]) -> Array:
    bad = np.flatnonzero(~np.isfinite(x))
    if len(bad):
        raise StateError(f"{name} of {names[bad[0]]!r} is {x[bad[0]]}: all of it must be finite")
    return x


def closed_state(dyn: Dynamics, q: Array | None, v: Array | None, t: float) -> tuple[Array, Array]:
    """The model's start, or what was given, with its loops closed."""
    if dyn.model.closures:
        assembled = assemble(dyn, q, v, t=t)
        return assembled.q, assembled.v
    return position(dyn, q), vector(dyn, "v", dyn.model.initial_v if v is None else v)


def position(dyn: Dynamics, given: ArrayLike | None, name: str = "q") -> Array:
    """The model's start, or what was given, with quaternions of unit length."""
    q = vector(dyn, name, dyn.model.initial_q if given is None else given)
    for at in turning_joints(dyn.model):
        length = np.linalg.norm(q[at.quaternion])
        if not abs(length - 1) < 1e-6:
            joint = dyn.model.q_names[at.quaternion.start].rpartition(".")[0]
            raise StateError(f"the quaternion of joint {joint!r} has length {length:.6g}: it must be 1")
        q[at.quaternion] /= length
    return q


def increasing(name: str, given: ArrayLike | None) -> Array:
    """One or more finite numbers, each larger than the one before."""
    x = np.atleast_1d(np.asarray(given, dtype=float))
    if x.ndim != 1 or not len(x) or not np.isfinite(x).all() or not (np.diff(x) > 0).all():
        raise StateError(f"{name} must be finite numbers that increase")
    return x
