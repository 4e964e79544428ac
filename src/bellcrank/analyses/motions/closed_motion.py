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

from ...assembly import assemble
from ...assembly.loops import HeldCoordinates, Loops
from ...assembly.newton import close
from ...dynamics.dynamics import Dynamics
from ...errors import AssemblyError, StateError
from ...model import Model
from ...model.manifold import displaced, rotation, turning_joints
from ...results import Run
from ...spatial.rank import factored
from ..report import listed
from ..ties import Ties
from .kinematics import freedom_left, motion_of
from .motion import course_of, state_of

Array = NDArray[np.float64]
State = tuple[Array, Array, Array]

CLOSED = 1e-9  # of the typical length
PARTS = 8  # of an interval between the times
SAFE = 0.05  # rad, of any coordinate: steps after which a mechanism is on its branch still
WEAK = 1e-6  # of an actuator: part of the motion that it can move


def given_motion(model: Model, motion: Mapping[str, Any] | Run) -> tuple[str, ...]:
    """Degrees of freedom whose motion is given; where all are, those with motors, or all."""
    if not isinstance(motion, Run):
        given = _given_dofs(held_by(model, motion))
        if not np.delete(given, list(model.state_places)).all():
            return tuple(name for name, is_given in zip(model.v_names, given, strict=True) if is_given)
    acting = (e for e in model.elements if e.kind in ("joint_effort", "joint_input") and e.joint >= 0)
    motors = {int(model.v_index[e.joint]) + e.dof for e in acting if not model.driven[e.joint]}
    return tuple(model.v_names[k] for k in sorted(motors)) or model.v_names[: model.nv - len(model.state_places)]


def _given_dofs(held: HeldCoordinates) -> NDArray[np.bool_]:
    """Degrees of freedom of held coordinates; of a free body all that move its origin, if any of its position is given."""
    given = held.v.copy()
    for at in turning_joints(held.model):
        if at.free:
            given[at.linear] = held.q[at.position].any()
    return given


def closed_course(dyn: Dynamics, motion: Mapping[str, Any], times: Array) -> tuple[Array, Array, Array]:
    """q, v and a of all coordinates at the times, from those that are given."""
    model, loops, held = dyn.model, Loops(dyn), held_by(dyn.model, motion)
    fine = _between(times)
    course = course_of(model, motion, fine, rows_at=times, partial=True)
    course = course._replace(value=np.where(held.q, course.value, model.neutral_q))
    turns = state_of(model, course)

    def state(k: int, q: Array) -> State:
        given = (_rates(held, q, x[k], turn[k]) for x, turn in zip(course[1:], turns[1:], strict=True))
        v, a, _ = motion_of(loops, q, held, float(fine[k]), *given)
        _must_follow(loops, q, v, float(fine[k]), held)
        return q, v, a

    q = _first(dyn, held, course.value[0], float(fine[0]))
    _must_be_enough(loops, q, held, float(fine[0]))
    rows, k = [state(0, q)], 0
    here = rows[0]
    while k < len(fine) - 1:
        part, ahead = _as_far_as_is_safe(loops, here, fine, k)
        k += part
        here = state(k, _next(loops, held, ahead, course.value[k], float(fine[k])))
        if k % PARTS == 0:
            rows.append(here)
    found = [np.array(x) for x in zip(*rows, strict=True)]
    return found[0], found[1], found[2]


def _as_far_as_is_safe(loops: Loops, here: State, fine: Array, k: int) -> tuple[int, Array]:
    """How many of the fine times to go on, to the next of the wanted ones at most, and where velocities lead until then."""
    q, v, a = here
    part = PARTS - k % PARTS
    while True:
        h = float(fine[k + part] - fine[k])
        d = h * v + h * h / 2 * a
        if part == 1 or np.abs(d / loops.units).max(initial=0.0) <= SAFE:
            return part, displaced(loops.model, q, d)
        part = (part + 1) // 2


def _must_be_enough(loops: Loops, q: Array, held: HeldCoordinates, t: float) -> None:
    model, left = loops.model, freedom_left(loops, q, held, t)
    if left:
        others = [name for name, is_held in zip(model.q_names, held.q, strict=True) if not is_held]
        raise StateError(
            f"the motion of {listed(held.names)} leaves {left} degree{'s' if left > 1 else ''} of freedom of {model.name!r}: "
            f"give also the motion of as many of {listed(others)}"
        )


def _rates(held: HeldCoordinates, q: Array, given: Array, turns: Array) -> Array:
    """Of held coordinates v, or a as motion_of takes it, from their derivatives: of a free body's position R^T x', R^T x''."""
    x = np.where(held.v, turns, 0.0)
    for at in turning_joints(held.model):
        if at.free:
            x[at.linear] = rotation(q[at.quaternion]).T @ np.where(held.q[at.position], given[at.position], 0.0)
    return x


def _between(times: Array) -> Array:
    """The times, with more between them, where a mechanism that moves fast is closed too, so that it keeps its branch."""
    between = [np.linspace(a, b, PARTS, endpoint=False) for a, b in itertools.pairwise(times)]
    return np.concatenate([*between, times[-1:]])


def held_by(model: Model, motion: Mapping[str, Any]) -> HeldCoordinates:
    names: set[str] = set()
    for joint, name, at, driven in zip(model.joints, model.joint_names, model.q_index, model.driven, strict=True):
        if name in motion and not driven:
            names |= set(model.q_names[at : at + joint.nq])
    return HeldCoordinates.of(model, names | {name for name in model.q_names if name in motion})


def _first(dyn: Dynamics, held: HeldCoordinates, value: Array, t: float) -> Array:
    named = {name: value[k] for k, name in enumerate(dyn.model.q_names) if held.q[k]}
    return assemble(dyn, named, np.zeros(dyn.model.nv), t=t).q


def _next(loops: Loops, held: HeldCoordinates, guess: Array, value: Array, t: float) -> Array:
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


def _must_follow(loops: Loops, q: Array, v: Array, t: float, held: HeldCoordinates) -> None:
    rates = np.abs(loops.dynamics.closure(q, v, t=t)[1] * loops.rows).max(initial=0.0)
    if rates > 1e-6 * loops.length * (1.0 + np.abs(v / loops.units).max(initial=0.0)):
        raise AssemblyError(
            f"model {loops.model.name!r} cannot follow the motion at t = {t:.6g} s: the velocities of {listed(held.names)} "
            f"would open its loops with {1e3 * rates:.3g} mm/s. Give fewer coordinates, or stay away from toggles.",
            q,
        )


def _of_motion(model: Model, N: Array) -> Array:
    """Displacements that the loops allow, without user-defined states, which no effort moves."""
    own = list(model.state_places)
    if not own:
        return N
    N = N.copy()
    N[own] = 0.0
    return np.asarray(np.linalg.svd(N, full_matrices=False)[0][:, : N.shape[1] - len(own)])


def actuator_efforts(dyn: Dynamics, q: Array, times: Array, r: Array, actuated: tuple[str, ...]) -> tuple[Array, str]:
    """Efforts (T, nv) of the actuators, and in words how they share the load."""
    model = dyn.model
    moving = [name for name in model.v_names if name not in model.state_names]
    for name in actuated:
        if name not in moving:
            raise StateError(f"actuated names {name!r}, which is not among {listed(moving)}")
    places = [model.v_names.index(name) for name in actuated]
    efforts = np.zeros_like(r)
    free = 0
    for k, t in enumerate(times):
        ties = Ties(dyn, float(t))
        N = _of_motion(model, ties.basis(q[k]))
        free = max(free, N.shape[1])
        factors = factored(N[places].T, WEAK)
        if factors.rank < N.shape[1]:
            raise StateError(
                f"the actuators {listed(actuated)} cannot move {model.name!r} at t = {t:.6g} s: it has {N.shape[1]} "
                f"degree{'s' if N.shape[1] != 1 else ''} of freedom there, of which they control {factors.rank}. "
                "Give more (actuated), or stay away from dead centres"
            )
        efforts[k, places] = factors.solve(N.T @ r[k])
    shared = f"{len(places)} actuators share {free} degree{'s' if free != 1 else ''} of freedom: efforts of least norm"
    return efforts, shared if len(places) > free else f"actuated: {', '.join(actuated)}"
