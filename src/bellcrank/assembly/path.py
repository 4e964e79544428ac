"""Moving held coordinates along a path while the loops stay closed: the branch is kept, and toggles are seen.

The held coordinates are at the part s of their path. (y, sigma) are the unknowns: changes of the free coordinates, and of s,
both in radians. The solution curve is followed by its arc length, so that it has no difficulty where s turns back:

    G (B y + D sigma) = 0        B, D  displacements of free and of held coordinates

A step is taken along the tangent and corrected to the closed configurations by the smallest change. It is halved where the
correction is not much smaller than the step or the tangent turns much, which would be another branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.manifold import displaced
from .loops import HeldCoordinates, Loops
from .minimum_norm import allowed_part, smallest_change

Array = NDArray[np.float64]

LONGEST = 0.1  # rad of one step, all coordinates together
SHORTEST = 1e-7
NEAR = 0.2  # of the step: corrections
STRAIGHT = 0.95  # cosine between tangents
CORRECTIONS = 12
MOST = 20000
EXACT = 1e-13  # rad


class CoordinatePath(NamedTuple):
    """Held coordinates, and the configurations between which they are moved."""

    loops: Loops
    held: HeldCoordinates
    start: Array
    end: Array
    t: float

    def displacements(self, q: Array) -> tuple[Array, float]:
        """[B D] and the length of D for the whole path, in radians."""
        toward = self.held.toward(q, self.start, self.end)
        size = float(np.linalg.norm(toward / self.loops.units))
        return np.column_stack([self.held.basis(q, self.loops.units).toarray(), toward / size]), size


class Point(NamedTuple):
    q: Array
    s: float
    tangent: Array  # (y, sigma), of length 1


class Toggle(NamedTuple):
    """The held coordinates cannot go on: at s they turn back."""

    point: Point


class Lost(NamedTuple):
    """No closed configuration was found beyond this one."""

    point: Point


def follow(path: CoordinatePath, q: Array) -> Iterator[Point | Toggle | Lost]:
    """Points from s = 0 on, to the first beyond s = 1, or to a Toggle, or to where the curve is lost."""
    point = _first(path, q)
    h = LONGEST
    yield point
    if not point.tangent.any():
        point = _out_of_dead_centre(path, point) or point
        yield point
    for _ in range(MOST):
        if point.s > 1:
            return
        new = _advance(path, point, h)
        if new is None:
            h /= 2
            if h < SHORTEST:
                yield Lost(point)
                return
            continue
        if new.tangent[-1] <= 0:
            yield Toggle(_turning_point(path, point, h))
            return
        point, h = new, min(1.5 * h, LONGEST)
        yield point


def reach(path: CoordinatePath, point: Point, s: float) -> Array | None:
    """The configuration at s, near the point, which is on the curve."""
    A, size = path.displacements(point.q)
    h = (s - point.s) * size
    ahead = point.tangent * (h / point.tangent[-1])
    guess = path.held.placed(displaced(path.loops.model, point.q, A @ ahead), path.start, path.end, s)
    q = guess
    for _ in range(CORRECTIONS):
        B = path.held.basis(q, path.loops.units)
        y = smallest_change(path.loops.G(q, path.t) @ B, -path.loops.phi(q, path.t))
        q = path.held.placed(displaced(path.loops.model, q, B @ y), path.start, path.end, s)
        if np.linalg.norm(y) <= EXACT:
            break
    return q if np.linalg.norm(y) < 1e-9 else None


def _first(path: CoordinatePath, q: Array) -> Point:
    """The tangent is the direction in which the held coordinates go on most."""
    A, _ = path.displacements(q)
    onward = np.zeros(A.shape[1])
    onward[-1] = 1.0
    tangent = allowed_part(path.loops.G(q, path.t) @ A, onward)
    size = np.linalg.norm(tangent)
    return Point(q, 0.0, tangent / size if size > 1e-9 else onward * 0.0)


def _out_of_dead_centre(path: CoordinatePath, point: Point) -> Point | None:
    """From where the held coordinates stand still: a point further on that motion after which they go the right way."""
    A, _ = path.displacements(point.q)
    J = path.loops.G(point.q, path.t) @ A
    still = allowed_part(J, np.asarray(np.random.default_rng(0).normal(size=A.shape[1])))
    size = float(np.linalg.norm(still))
    for sign in (1.0, -1.0) if size > 1e-9 else ():
        new = _advance(path, point._replace(tangent=sign / size * still), LONGEST)
        if new is not None and new.s > 0 and new.tangent[-1] > 0:
            return new
    return None


def _advance(path: CoordinatePath, point: Point, h: float) -> Point | None:
    """A step of length h, corrected; None where it leads elsewhere."""
    if not point.tangent.any():
        return None
    A, size = path.displacements(point.q)
    s = point.s + h * float(point.tangent[-1]) / size
    q = path.held.placed(displaced(path.loops.model, point.q, h * (A @ point.tangent)), path.start, path.end, s)
    gone = 0.0
    for _ in range(CORRECTIONS):
        A, size = path.displacements(q)
        J = path.loops.G(q, path.t) @ A
        z = smallest_change(J, -path.loops.phi(q, path.t))
        s += float(z[-1]) / size
        q = path.held.placed(displaced(path.loops.model, q, A @ z), path.start, path.end, s)
        gone += float(np.linalg.norm(z))
        if not gone <= NEAR * h:
            return None
        if np.linalg.norm(z) <= EXACT * max(1.0, h):
            break
    else:
        if np.linalg.norm(z) > 1e-10:
            return None
    tangent = allowed_part(J, point.tangent)
    tangent /= np.linalg.norm(tangent)
    return Point(q, s, tangent) if float(tangent @ point.tangent) > STRAIGHT else None


def _turning_point(path: CoordinatePath, point: Point, h: float) -> Point:
    """Where s stops growing, between the point and the one that is h further."""
    from scipy.optimize import brentq

    places = {0.0: point}

    def onward(part: float) -> float:
        new = point if part == 0 else _advance(path, point, part)
        places[part] = new if new is not None else point
        return float(places[part].tangent[-1])

    root = float(brentq(onward, 0.0, h, xtol=1e-14, rtol=1e-14))
    onward(root)
    return places[root]
