"""Adjoints of jumps of derivatives: the transpose of machine.tangents.jumps.

Where a force begins at once, at g(y, p) = 0, tangents jump by dy+ = dy- - (f- - f+) (g_y dy- + g_p dp)/(dg/dt). So adjoints do:

    y*- = y*+ - g_y^T x,    p* -= g_p^T x,    x = (f- - f+).y*+ / (dg/dt)

with dg/dt along the motion before it. It is done in the short steps that end just behind such surfaces.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.differentiation import Changes, derivatives
from ...dynamics.dynamics import Dynamics
from ...dynamics.transposition import adjoint
from ...forces import FORCES
from ...formulations import QUANTITIES
from ...machine.arrays import ARRAYS, plan_counts
from ...machine.steps.cuts.known import known_surfaces, stop_limits
from ...machine.tangents.jumps import ALIKE, NEAR, STILL
from ...plan.loads import ELEMENT_ROW
from ...run.joining import State
from .samples import Bars

Array = NDArray[np.float64]


class PassageTime(NamedTuple):
    """The derivatives of the time of a passage: by the state before it, (nq + nv,), and by data."""

    state: Array
    data: dict[str, Array]

    def like(self, other: PassageTime) -> bool:
        mine, others = ({"state": x.state, **x.data} for x in (self, other))
        pairs = [[x.get(name, np.zeros(1)) for x in (mine, others)] for name in {**mine, **others}]
        size = max(float(np.abs(x).max()) for pair in pairs for x in pair)
        return all(float(np.abs(a - b).max()) <= ALIKE * size for a, b in pairs)


@dataclass
class Passages:
    """Passages of a stretch of a run; ``bars``: adjoints of data so far; ``uncut``: passages in steps that are not short."""

    dyn: Dynamics
    start: State
    rtol: float
    atol: float
    bars: Bars = field(default_factory=list)
    uncut: int = 0

    def __post_init__(self) -> None:
        self.surfaces, self.openings = known_surfaces(self.dyn.model), self.dyn.plan.loads.openings

    def found(self, times: Array, states: Array, short: NDArray[np.bool_]) -> list[int]:
        at_surfaces, at_openings = self._crossed(times, states)
        gaps = np.abs(np.diff(states[:, self.surfaces.places], axis=0))
        sizes = np.abs(self.surfaces.limits) + np.abs(states[:-1, self.surfaces.places])
        near = gaps <= NEAR * (self.atol + self.rtol * sizes)
        cut_there, cut = short[:, None] | near, short[:, None]
        self.uncut += int((at_surfaces & ~cut_there).sum() + (at_openings & ~cut).sum())
        passed = (at_surfaces & cut_there).any(axis=1) | (at_openings & cut).any(axis=1)
        return [int(n) for n in np.flatnonzero(passed)]

    def _crossed(self, times: Array, states: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(steps, surfaces) and (steps, openings)"""
        beyond = states[:, self.surfaces.places] >= self.surfaces.limits
        opened = np.zeros((2, len(times), 0), dtype=bool)
        if self.openings:
            opened = np.array([self._opened(t, here) for t, here in zip(times.T, (states[:-1], states[1:]), strict=True)])
        return beyond[1:] != beyond[:-1], opened[1] != opened[0]

    def _opened(self, times: Array, states: Array) -> NDArray[np.bool_]:
        rows = {"q": states[:, : self.dyn.model.nq], "v": states[:, self.dyn.model.nq :]}
        return np.asarray(self.dyn.evaluate(QUANTITIES["openings"], rows, times, self.start["u"]) >= 0.0)

    def back(self, times: Array, states: Array, bar: Array) -> Array:
        """What is crossed at once is one passage, by the first surface, if its time changes as those of the others do."""
        at_surfaces, at_openings = (x[0] for x in self._crossed(times, states))
        if not self.jumps(times[0], states):
            return bar
        before, after = self._slopes(times[0], states)
        found = [self._limit(int(i), before) for i in np.flatnonzero(at_surfaces)]
        found += [self._opening(int(i), times[0, 0], states[0], before) for i in np.flatnonzero(at_openings)]
        known = [x for x in found if x is not None]
        if not known:
            return bar
        first, others = known[0], known[1:]
        self.uncut += sum(not first.like(other) for other in others)
        weight = float((before - after) @ bar)
        self.bars.append((self.dyn.plan, {name: weight * x for name, x in first.data.items()}))
        return np.asarray(bar + weight * first.state)

    def jumps(self, times: Array, states: Array) -> bool:
        """Whether slopes differ at both ends of a short step."""
        before, after = self._slopes(times, states)
        return bool(np.abs(before - after).max() > ALIKE * np.abs([before, after]).max())

    def _slopes(self, times: Array, states: Array) -> Array:
        """The slopes at both ends of a step."""
        q, v = np.split(states, [self.dyn.model.nq], axis=1)
        a = self.dyn.acceleration(q, v, self.start["tau"], t=times, inputs=self.start["u"])
        return np.hstack([self.dyn.rates(q, v), a])

    def _limit(self, surface: int, before: Array) -> PassageTime | None:
        """The time at which a limit is passed; the limit of a stop may itself be a number of the design."""
        plan, (places, limits) = self.dyn.plan, self.surfaces
        rate = float(before[places[surface]])
        if not abs(rate) > STILL:
            return None
        data, state = np.zeros(ARRAYS["element_data"].size(plan_counts(plan))), np.zeros(len(before))
        state[places[surface]] = -1.0 / rate
        for k, name, place in reversed(stop_limits(plan.model)):
            if (place, plan.model.elements[k].values[name]) == (places[surface], limits[surface]):
                data[k * ELEMENT_ROW + FORCES["joint_stop"].values.index(name)] = 1.0 / rate
                break
        return PassageTime(state, {"element_data": data})

    def _opening(self, i: int, t: float, state: Array, before: Array) -> PassageTime | None:
        dyn, nq, program = self.dyn, self.dyn.model.nq, QUANTITIES["openings"]
        rows = {"q": state[None, :nq], "v": state[None, nq:]}
        motion = {"q": before[None, :nq, None], "v": before[None, nq:, None], "t": np.ones((1, 1, 1))}
        rate = float(derivatives(dyn, program, rows, Changes(1, motion), t, self.start["u"])["opening"].along[0, i, 0])
        if not abs(rate) > STILL:
            self.uncut += 1
            return None
        seeds = np.zeros((1, self.openings))
        seeds[0, i] = -1.0 / rate
        found = adjoint(dyn, program, rows, {"opening": seeds}, ("q", "v"), t, self.start["u"])
        parts = [found.inputs.get(name, np.zeros_like(rows[name]))[0] for name in ("q", "v")]
        return PassageTime(np.concatenate(parts), found.data)
