"""Where a mechanism with loops is singular: what kind, how far away, and what to move.

change point     the equations lose rank: branches of the motion meet, and reactions are not unique there
dead centre      a coordinate stands still while the mechanism moves: an effort on it cannot move the mechanism
shaky            velocities are possible that no motion follows
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import HeldCoordinates, Loops
from ...assembly.minimum_norm import allowed_part
from ...assembly.newton import close
from ...dynamics.singular_positions import lowest, weakest
from ...model.manifold import displaced
from ...wording import counted
from .naming import quoted

Array = NDArray[np.float64]

STEP = 0.05  # rad of one step, all coordinates together
STEPS = 60  # each way
SINGULAR = 1e-6  # pivots: smallest singular values that count, as a part of the largest
CLOSE = 1e-3
NEAR = 1e-2
STILL = 1e-6  # part of a motion
MOVES = 1e-2
SMALL = 120  # degrees of freedom of models that are walked through


def any_way(loops: Loops, q: Array, t: float) -> Array:
    """A random direction that the loops allow in first order."""
    J = loops.J(q, t)
    return allowed_part(J, np.asarray(np.random.default_rng(3).normal(size=J.shape[1])), tolerance=loops.tolerance)


def further(loops: Loops, q: Array, t: float, way: Array) -> Array | None:
    """A configuration a little further in a direction, without units; None where the mechanism cannot go."""
    size = float(np.abs(way).max(initial=0.0))
    if size < 1e-9:
        return None
    guess = displaced(loops.model, q, 0.15 / size * way * loops.units)
    found = close(loops, guess, HeldCoordinates.none(loops.model), t, 1e-10 * loops.length)
    everything = HeldCoordinates.all(loops.model)
    gone = np.abs(everything.toward(q, q, found.q) / loops.units).max()
    return found.q if found.error <= 1e-10 * loops.length and gone > 0.03 else None


def dead_centres(loops: Loops, here: Array, nearby: Array | None, motors: set[int]) -> Iterator[str]:
    """Coordinates that stand still here, whatever moves, and move nearby."""
    if nearby is None or here.shape[1] == 0 or here.shape[1] != nearby.shape[1]:
        return
    still = np.linalg.norm(here, axis=1) < STILL
    moves = np.linalg.norm(nearby, axis=1) > MOVES
    for k in np.flatnonzero(still & moves):
        name = loops.model.v_names[int(k)]
        effect = "its motor cannot move the mechanism from there" if int(k) in motors else "an effort on it has no effect there"
        yield f'the start is a dead centre of "{name}": it stands still while the others move, and {effect}'


class PathToSingularity:
    """Along the motion of a mechanism of one degree of freedom, both ways from the start."""

    def __init__(self, loops: Loops, q: Array, t: float, rank: int, tangent: Array) -> None:
        self.loops, self.t, self.rank = loops, t, rank
        self.nothing = HeldCoordinates.none(loops.model)
        self.start, self.tangent = q, tangent / np.linalg.norm(tangent)

    def pivot(self, q: Array) -> float:
        """The singular value that is lost first, as a part of the largest."""
        return weakest(self.loops.J(q, self.t), self.rank)

    def step(self, q: Array, tangent: Array, h: float) -> tuple[Array, Array] | None:
        guess = displaced(self.loops.model, q, h * tangent * self.loops.units)
        found = close(self.loops, guess, self.nothing, self.t, 1e-10 * self.loops.length)
        if found.error > 1e-10 * self.loops.length:
            return None
        new = allowed_part(self.loops.J(found.q, self.t), tangent, tolerance=self.loops.tolerance)
        size = float(np.linalg.norm(new))
        return (found.q, new / size) if size > 0.5 else None

    def nearest_singular(self) -> tuple[Array, float] | None:
        """The configuration and its pivot, of the two ways the nearer one."""
        ways = [self._search(sign) for sign in (1.0, -1.0)]
        found = [way for way in ways if way is not None]
        if not found:
            return None
        _, q, pivot = min(found, key=lambda x: x[0])
        return q, pivot

    def _search(self, sign: float) -> tuple[int, Array, float] | None:
        q, tangent = self.start, sign * self.tangent
        trail = [(q, tangent, self.pivot(q))]
        behind = self.step(q, -tangent, STEP)
        if behind is not None:  # the start may be just before the singular position
            trail.insert(0, (behind[0], -behind[1], self.pivot(behind[0])))
        for k in range(STEPS):
            new = self.step(q, tangent, STEP)
            if new is None:
                return None
            q, tangent = new
            trail.append((q, tangent, self.pivot(q)))
            if len(trail) > 2 and _may_be_near(*(pivot for _, _, pivot in trail[-3:])):
                found = self._lowest(*trail[-3][:2])
                if found[1] < NEAR:
                    return k, *found
        return None

    def _lowest(self, q: Array, tangent: Array) -> tuple[Array, float]:
        def at(h: float) -> float:
            new = self.step(q, tangent, h)
            return 1.0 if new is None else self.pivot(new[0])

        new = self.step(q, tangent, lowest(at, 0.0, 2 * STEP)[0])
        return (q, 1.0) if new is None else (new[0], self.pivot(new[0]))

    def away(self) -> tuple[Array, float] | None:
        """The nearest configuration that is clear of the singular one."""
        q, tangent = self.start, self.tangent
        for _ in range(STEPS):
            new = self.step(q, tangent, STEP)
            if new is None:
                return None
            q, tangent = new
            if self.pivot(q) > NEAR:
                return q, self.pivot(q)
        return None


def _may_be_near(before: float, pivot: float, after: float) -> bool:
    """Whether pivots pass a minimum that may be less than NEAR: a step changes them by no more than it does beside it."""
    return pivot <= min(before, after) and pivot - (max(before, after) - pivot) < NEAR


def moved_words(loops: Loops, q: Array, to: Array, named: set[int]) -> str:
    """'crank' by 0.31 rad: of the coordinates that move, a motor's or the one that moves most."""
    everything = HeldCoordinates.all(loops.model)
    d = everything.toward(q, q, to)
    scaled = np.abs(d / loops.units)
    chosen = [k for k in named if scaled[k] > 0.1 * scaled.max()] or [int(np.argmax(scaled))]
    unit = "rad" if loops.units[chosen[0]] == 1.0 and _turns(loops, chosen[0]) else "m"
    return f'"{loops.model.v_names[chosen[0]]}" by {d[chosen[0]]:+.4g} {unit}'


def _turns(loops: Loops, k: int) -> bool:
    rows = zip(loops.model.joints, loops.model.driven, strict=True)
    return [unit for joint, driven in rows if not driven for unit in joint.v_units][k].startswith("rad")


def close_words(pivot: float) -> str:
    return (
        f"the start is close to a singular position: the smallest singular value of its equations is {pivot:.2g} of the "
        "largest, and reactions may be very large"
    )


def rank_words(lost: int, names: list[str]) -> str:
    return (
        f"the start is singular, a change point: {counted(lost, 'equation')} of {quoted(names)} "
        f"{'is' if lost == 1 else 'are'} redundant here but not nearby. "
        "Branches of the motion meet, and reactions are not unique here"
    )
