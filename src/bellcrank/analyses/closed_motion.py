"""Inverse dynamics of mechanisms with closed loops: the motion that follows from some coordinates, and what moves it.

With r the efforts that the open tree would take, and N the motions that the loops allow (ties.py), actuators A need tau:

    N^T r = N_A^T tau

Of more actuators than degrees of freedom tau is the one of least norm.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..assembly import assemble
from ..assembly.least import cut_svd
from ..assembly.loops import Held, Loops
from ..assembly.newton import close
from ..codegen.dynamics import Dynamics
from ..errors import AssemblyError, StateError
from ..model import Model
from ..model.manifold import displaced
from ..results import Run
from .kinematics import freedom_left, motion_of
from .motion import course_of, state_of
from .report import listed
from .ties import Ties

Array = NDArray[np.float64]

CLOSED = 1e-9  # of the typical length
WEAK = 1e-6  # of an actuator: part of the motion that it can move


def given_motion(model: Model, motion: Mapping[str, Any] | Run) -> tuple[str, ...]:
    """Degrees of freedom whose motion is given; where all are, those with motors, or all."""
    if not isinstance(motion, Run):
        named = _held(model, motion)
        if not named.v.all():
            return tuple(name for name, held in zip(model.v_names, named.v, strict=True) if held)
    acting = (e for e in model.elements if e.kind in ("joint_effort", "joint_input") and e.joint >= 0)
    motors = {int(model.v_index[e.joint]) + e.dof for e in acting if not model.driven[e.joint]}
    return tuple(model.v_names[k] for k in sorted(motors)) or model.v_names


def closed_course(dyn: Dynamics, motion: Mapping[str, Any], times: Array) -> tuple[Array, Array, Array]:
    """q, v and a of all coordinates at the times, from those that are given."""
    model, loops, held = dyn.model, Loops(dyn), _held(dyn.model, motion)
    fine = _between(times)
    course = course_of(model, motion, fine, partial=True)
    zero = np.array(model.neutral_q)
    value = np.where(held.q, course.value, zero)
    given = state_of(model, course._replace(value=value))
    q = _first(dyn, held, value[0], float(fine[0]))
    left = freedom_left(loops, q, held, float(fine[0]))
    if left:
        others = [name for name, is_held in zip(model.q_names, held.q, strict=True) if not is_held]
        raise StateError(
            f"the motion of {listed(held.names)} leaves {left} degree{'s' if left > 1 else ''} of freedom of {model.name!r}: "
            f"give that of as many more of {listed(others)}"
        )
    rows = []
    v = a = np.zeros(model.nv)
    for k, t in enumerate(fine):
        if k:
            h = float(t - fine[k - 1])
            q = _next(loops, held, displaced(model, q, h * v + h * h / 2 * a), value[k], float(t))
        v, a, _ = motion_of(loops, q, held, float(t), np.where(held.v, given[1][k], 0.0), np.where(held.v, given[2][k], 0.0))
        _must_follow(loops, q, v, float(t), held)
        rows.append((q, v, a))
    wanted = np.isin(fine, times)
    found = [np.array(x)[wanted] for x in zip(*rows, strict=True)]
    return found[0], found[1], found[2]


def _between(times: Array, parts: int = 8) -> Array:
    """The times, with more between them, so that the branch is kept."""
    between = [np.linspace(a, b, parts, endpoint=False) for a, b in itertools.pairwise(times)]
    return np.concatenate([*between, times[-1:]])


def _held(model: Model, motion: Mapping[str, Any]) -> Held:
    names: set[str] = set()
    for joint, name, at, driven in zip(model.joints, model.joint_names, model.q_index, model.driven, strict=True):
        if name in motion and not driven:
            names |= set(model.q_names[at : at + joint.nq])
    return Held.of(model, names | {name for name in model.q_names if name in motion})


def _first(dyn: Dynamics, held: Held, value: Array, t: float) -> Array:
    named = {name: value[k] for k, name in enumerate(dyn.model.q_names) if held.q[k]}
    return assemble(dyn, named, np.zeros(dyn.model.nv), t=t).q


def _next(loops: Loops, held: Held, guess: Array, value: Array, t: float) -> Array:
    limit = CLOSED * loops.length
    found = close(loops, np.where(held.q, value, guess), held, t, 1e-3 * limit)
    if found.error > limit:
        given = ", ".join(f"{name!r} = {value[loops.model.q_names.index(name)]:.6g}" for name in held.names[:6])
        raise AssemblyError(
            f"model {loops.model.name!r} cannot follow the motion at t = {t:.6g} s: with {given} its loops are open by "
            f"{1e3 * found.error:.3g} mm. Stay within the range that drive() gives.",
            found.q,
        )
    return found.q


def _must_follow(loops: Loops, q: Array, v: Array, t: float, held: Held) -> None:
    rates = np.abs(loops.dynamics.closure(q, v, t=t)[1] * loops.rows).max(initial=0.0)
    if rates > 1e-6 * loops.length * (1.0 + np.abs(v / loops.units).max(initial=0.0)):
        raise AssemblyError(
            f"model {loops.model.name!r} cannot follow the motion at t = {t:.6g} s: the velocities of {listed(held.names)} "
            f"would open its loops with {1e3 * rates:.3g} mm/s. Give fewer coordinates, or stay away from toggles.",
            q,
        )


def actuator_efforts(dyn: Dynamics, q: Array, times: Array, r: Array, actuated: tuple[str, ...]) -> tuple[Array, str]:
    """Efforts (T, nv) of the actuators, and in words how they share the load."""
    model = dyn.model
    for name in actuated:
        if name not in model.v_names:
            raise StateError(f"actuated has {name!r}, which is none of {listed(model.v_names)}")
    places = [model.v_names.index(name) for name in actuated]
    efforts = np.zeros_like(r)
    free = 0
    for k, t in enumerate(times):
        ties = Ties(dyn, float(t))
        N = ties.basis(q[k])
        free = max(free, N.shape[1])
        U, s, V = cut_svd(N[places].T, WEAK**2)
        if len(s) < N.shape[1]:
            raise StateError(
                f"the actuators {listed(actuated)} cannot move {model.name!r} at t = {t:.6g} s: it has {N.shape[1]} "
                f"degree{'s' if N.shape[1] != 1 else ''} of freedom there, of which they control {len(s)}. "
                "Give more (actuated), or stay away from dead centres"
            )
        efforts[k, places] = V.T @ ((U.T @ (N.T @ r[k])) / s)
    shared = f"{len(places)} actuators share {free} degree{'s' if free != 1 else ''} of freedom: efforts of least norm"
    return efforts, shared if len(places) > free else f"actuated: {', '.join(actuated)}"
