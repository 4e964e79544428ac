"""Jumps of derivatives, backward: the transposed of machine.tangents.jumps.

Where a force begins at once, at g(y, p) = 0, tangents jump by dy+ = dy- - (f- - f+) (g_y dy- + g_p dp)/(dg/dt). So adjoints do:

    y*- = y*+ - g_y^T x,    p* -= g_p^T x,    x = (f- - f+).y*+ / (dg/dt)

with dg/dt along the motion before it. It is done in the short steps that end just behind such surfaces.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...dynamics.differentiation import Changes, derivatives
from ...dynamics.dynamics import Dynamics
from ...dynamics.transposition import adjoint
from ...forces import FORCES
from ...formulations import QUANTITIES
from ...machine.arrays import ARRAYS, plan_counts
from ...machine.steps.cuts.known import known_surfaces, stop_limits
from ...machine.tangents.jumps import NEAR, STILL
from ...plan.loads import ELEMENT_ROW
from ...run.joining import State
from .samples import Bars

Array = NDArray[np.float64]


@dataclass
class Passages:
    """Of a stretch of a run; ``bars``: adjoints of data so far; ``uncut``: passages in steps that are not short."""

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
        opened = np.zeros((len(states), 0), dtype=bool)
        if self.openings:
            rows = {"q": states[:, : self.dyn.model.nq], "v": states[:, self.dyn.model.nq :]}
            opened = self.dyn.evaluate(QUANTITIES["openings"], rows, times, self.start["u"]) >= 0.0
        return beyond[1:] != beyond[:-1], opened[1:] != opened[:-1]

    def back(self, times: Array, states: Array, bar: Array) -> Array:
        at_surfaces, at_openings = (x[0] for x in self._crossed(times, states))
        before, after = self._slopes(times, states)
        bar = bar.copy()
        for i in reversed(np.flatnonzero(at_openings)):
            self._opening(int(i), times[0], states[0], before, before - after, bar)
        for i in reversed(np.flatnonzero(at_surfaces)):
            place = self.surfaces.places[i]
            if abs(before[place]) > STILL:
                x = (before - after) @ bar / before[place]
                bar[place] -= x
                self._limit(int(i), float(x))
        return bar

    def _slopes(self, times: Array, states: Array) -> Array:
        """At both ends of a step."""
        q, v = np.split(states, [self.dyn.model.nq], axis=1)
        a = self.dyn.acceleration(q, v, self.start["tau"], t=times, inputs=self.start["u"])
        return np.hstack([self.dyn.rates(q, v), a])

    def _limit(self, surface: int, x: float) -> None:
        """That of a stop may itself be a number of the design."""
        plan, (places, limits) = self.dyn.plan, self.surfaces
        data = np.zeros(ARRAYS["element_data"].size(plan_counts(plan)))
        for k, name, place in reversed(stop_limits(plan.model)):
            if (place, plan.model.elements[k].values[name]) == (places[surface], limits[surface]):
                data[k * ELEMENT_ROW + FORCES["joint_stop"].values.index(name)] = x
                break
        self.bars.append((plan, {"element_data": data}))

    def _opening(self, i: int, t: float, state: Array, before: Array, step: Array, bar: Array) -> None:
        dyn, nq, program = self.dyn, self.dyn.model.nq, QUANTITIES["openings"]
        rows = {"q": state[None, :nq], "v": state[None, nq:]}
        motion = {"q": before[None, :nq, None], "v": before[None, nq:, None], "t": np.ones((1, 1, 1))}
        rate = float(derivatives(dyn, program, rows, Changes(1, motion), t, self.start["u"])["opening"].along[0, i, 0])
        if not abs(rate) > STILL:
            self.uncut += 1
            return
        seeds = np.zeros((1, self.openings))
        seeds[0, i] = -(step @ bar) / rate
        found = adjoint(dyn, program, rows, {"opening": seeds}, ("q", "v"), t, self.start["u"])
        for name, own in (("q", slice(None, nq)), ("v", slice(nq, None))):
            bar[own] += found.inputs[name][0] if name in found.inputs else 0.0
        self.bars.append((dyn.plan, found.data))
