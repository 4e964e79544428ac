"""Motions that the loops allow: velocities and accelerations for a given input, step by step along values or times.

    G v = -phi_t,    G a = gamma        (EQUATIONS 1.6), those of the input and of held coordinates given

Between two positions the mechanism is moved with its loops closed (assembly.path), so that the branch is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import HeldCoordinates, Loops
from ...assembly.minimum_norm import smallest_change
from ...assembly.newton import close
from ...assembly.path import CoordinatePath, Lost, Point, Toggle, follow, reach
from ...model import Law, Model, PrescribedMotion
from ...model.manifold import turning_joints
from ...results.driven import law_values
from ...spatial.rank import rank
from .change_points import Change, ChangePoints

Array = NDArray[np.float64]

FINEST = 2.0**-20  # of an interval of time


class MovingState(NamedTuple):
    at: float  # value of the input, or time
    q: Array
    v: Array
    a: Array
    transmission: float


class End(NamedTuple):
    """Where the input cannot go on; ``toggle``: it turns back there, else nothing was found beyond."""

    at: float
    q: Array
    toggle: bool


def frozen(model: Model, t: float) -> Model:
    """The model with its prescribed motions standing still as they are at t."""
    still = with_still_closures(model, t)
    return replace(still, motions=tuple(motion and _standing(motion, t) for motion in model.motions))


def with_still_closures(model: Model, t: float) -> Model:
    """The model with its driven closures standing still as they are at t; driven joints move as they do."""
    if not any(closure.motion for closure in model.closures):
        return model
    closures = (replace(closure, motion=closure.motion and _standing(closure.motion, t)) for closure in model.closures)
    return replace(model, closures=tuple(closures))


def _standing(motion: PrescribedMotion, t: float) -> PrescribedMotion:
    laws = (Law("polynomial", (float(law_values(law, np.array([t]))[0]),)) for law in motion.laws)
    return replace(motion, laws=tuple(laws))


def freedom_left(loops: Loops, q: Array, held: HeldCoordinates, t: float) -> int:
    """Degrees of freedom besides the held ones."""
    B = held.basis(q, loops.units)
    return int(B.shape[1]) - len(loops.model.state_places) - rank(loops.G(q, t) @ B, loops.tolerance)


def motion_of(loops: Loops, q: Array, held: HeldCoordinates, t: float, v: Array, a: Array) -> tuple[Array, Array, float]:
    """Velocities and accelerations; v and a have those of held coordinates. The input's part of the motion comes last.

    Of a free body whose position x is held, v has R^T x' and a has R^T x'': its acceleration is R^T x'' - w x v.
    """
    G, B = loops.G(q, t), held.basis(q, loops.units)
    J = G @ B
    v = v + B @ smallest_change(J, -loops.phi_t(q, t) - G @ v)
    gamma = loops.dynamics.closure_bias(q, v, t=t) * loops.rows
    a = a.copy()
    for at in turning_joints(loops.model):
        if at.free and held.q[at.position].any():
            a[at.linear] -= np.cross(v[at.angular], v[at.linear])
    a = a + B @ smallest_change(J, gamma - G @ a)
    moved = v / loops.units
    size = float(np.linalg.norm(moved))
    return v, a, float(np.linalg.norm(moved[held.v])) / size if size else 0.0


def along_values(
    loops: Loops, q: Array, held: HeldCoordinates, place: int, values: Array, v: Array, a: Array
) -> Iterator[MovingState | End | Change]:
    """The input coordinate, at ``place`` in q, moved from where it is through increasing or decreasing values."""
    if not len(values):
        return
    if q[place] == values[0]:
        yield MovingState(float(values[0]), q, *motion_of(loops, q, held, 0.0, v, a))
        values = values[1:]
    if not len(values):
        return
    end = q.copy()
    end[place] = values[-1]
    path = CoordinatePath(loops, held, q, end, 0.0)
    parts = (values - q[place]) / (values[-1] - q[place])
    last, k = Point(q, 0.0, np.zeros(0)), 0
    changes, first, span = ChangePoints(loops), float(q[place]), float(values[-1] - q[place])
    for point in follow(path, q):
        ended = isinstance(point, Toggle | Lost)
        here = point.point if isinstance(point, Toggle | Lost) else point
        yield from changes.see(
            first + here.s * span,
            here.q,
            lambda at, last=last: reach(path, last, (at - first) / span),  # type: ignore[misc]
        )
        while k < len(parts) and len(last.tangent) and parts[k] <= here.s:
            found = reach(path, last, float(parts[k]))
            if found is None:
                yield End(float(last.q[place]), last.q, False)
                return
            found[place] = values[k]
            yield MovingState(float(values[k]), found, *motion_of(loops, found, held, 0.0, v, a))
            k += 1
        if ended:
            yield End(float(here.q[place]), here.q, isinstance(point, Toggle))
            return
        last = here


def over_times(loops: Loops, q: Array, times: Array, limit: float) -> Iterator[MovingState | End | Change]:
    """The mechanism as its own drivers move it; q is closed at the first time."""
    nothing = HeldCoordinates.none(loops.model)
    rest, changes = np.zeros(loops.model.nv), ChangePoints(loops, timed=True)
    v, a, _ = motion_of(loops, q, nothing, float(times[0]), rest, rest)
    yield from changes.see(float(times[0]), q, lambda at: None)
    yield MovingState(float(times[0]), q, v, a, 1.0)
    for begin, until in pairwise(times):
        t, h = float(begin), float(until - begin)
        while t < until:
            h = min(h, float(until) - t)
            new = _later(loops, q, v, a, t, h, limit)
            if new is None:
                h /= 2
                if h < FINEST * (until - begin):
                    yield End(t, q, False)
                    return
                continue
            before = (q, v, a, t)
            t = float(until) if h == float(until) - t else t + h
            q, h = new, 2 * h
            yield from changes.see(t, q, lambda at, x=before: _later(loops, *x, at - x[3], limit))  # type: ignore[misc, call-arg]
            v, a, _ = motion_of(loops, q, nothing, t, rest, rest)
        yield MovingState(float(until), q, v, a, 1.0)


def _later(loops: Loops, q: Array, v: Array, a: Array, t: float, h: float, limit: float) -> Array | None:
    """A step in time: as velocities and accelerations say, then closed; None where that moves it far."""
    from ...model.manifold import displaced

    ahead = h * v + h * h / 2 * a
    if np.abs(ahead / loops.units).max(initial=0.0) > 0.3:
        return None
    guess = displaced(loops.model, q, ahead)
    nothing = HeldCoordinates.none(loops.model)
    before = loops.phi(guess, t + h)
    found = close(loops, guess, nothing, t + h, limit)
    size = float(np.linalg.norm(ahead / loops.units))
    moved = _apart(loops, guess, found.q)
    if found.error > limit or (moved > 0.1 * size and np.abs(before).max(initial=0.0) > limit):
        return None
    return found.q


def _apart(loops: Loops, p: Array, r: Array) -> float:
    everything = HeldCoordinates.all(loops.model)
    return float(np.linalg.norm(everything.toward(p, p, r) / loops.units))
