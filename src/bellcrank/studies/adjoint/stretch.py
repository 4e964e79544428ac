"""The backward pass of a stretch of a run by one method: a run that shows itself stiff has two of them, dopri5's and radau's.

Where q and p are integrated, adjoints of samples and of the state at either end are those of q and v outside: v = v(q, p) at a
sample, p = p(q, v) at the start, and both go back by their transposed programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...dynamics.transposition import adjoint
from ...formulations import QUANTITIES
from ...integrate import RungeKutta
from ...machine.adjoint.log import Log
from ...machine.adjoint.retrace import Retraced
from ...run.first_step import in_momenta
from ...run.joining import State
from ...run.loops.treatment import Loops
from .passages import Passages
from .samples import Bars

Array = NDArray[np.float64]

ROUNDING = 1e-12  # of a time: those of samples are rid of it (run.joining)


class Seeds(NamedTuple):
    """Samples that have an adjoint: their times, q, v, and adjoints of both, (samples, nq + nv)."""

    times: Array
    q: Array
    v: Array
    bars: Array


@dataclass
class Stretch:
    dyn: Dynamics
    scheme: RungeKutta
    start: State
    log: Log

    @property
    def begins(self) -> float:
        return float(self.start["t"])

    @property
    def ends(self) -> float:
        """The end of its last step: behind the start of the next stretch, if that continues from an earlier sample."""
        return self.log.end * (1.0 - ROUNDING)

    @property
    def momenta(self) -> bool:
        return in_momenta(self.dyn, self.scheme, None)

    def retraced(self, loops: Loops) -> Retraced:
        program = self.dyn.stepping if self.momenta else self.dyn.program
        return Retraced(self.dyn.plan, program, self.scheme, loops.metric, loops.project)

    def back(self, retraced: Retraced, seeds: Seeds, end: Array, passages: Passages | None) -> tuple[Array, Bars]:
        """The adjoint of the state at the start, and those of data, from those of samples and of the state at the end.

        ``passages``: where the equations may jump; in momenta they are not followed.
        """
        bars: Bars = []
        rows = seeds.bars
        if self.momenta:
            rows, bars = self._of_momenta(seeds, retraced.settles)
            passages = None
        found = retraced.back(self.log, self.start, seeds.times, rows, end, passages)
        bars.append((self.dyn.plan, retraced.data_bars()))
        bars += passages.bars if passages is not None else []
        if self.momenta:
            found, more = self._of_velocities(found)
            bars += more
        return found, bars

    def _of_momenta(self, seeds: Seeds, projected: bool) -> tuple[Array, Bars]:
        """Adjoints of q and p at samples, of those of q and v; with closures, at the momenta that the steps left."""
        if not len(seeds.times):
            return seeds.bars, []
        nq, dyn = self.dyn.model.nq, self.dyn
        rows = {"q": seeds.q, "p": dyn.momenta(seeds.q, seeds.v, t=seeds.times)}
        if projected:
            assert self.log.samples is not None
            times, q, p = self.log.samples
            places = [int(np.argmin(np.abs(times - t))) for t in seeds.times]
            rows = {"q": q[places], "p": p[places]}
        back = adjoint(
            dyn,
            QUANTITIES["closed_velocities" if projected else "velocities"],
            rows,
            {"v": seeds.bars[:, nq:]},
            ("q", "p"),
            seeds.times,
        )
        return np.hstack([seeds.bars[:, :nq] + back.inputs["q"], back.inputs["p"]]), [(dyn.plan, back.data)]

    def _of_velocities(self, bar: Array) -> tuple[Array, Bars]:
        """The adjoint of q and v at the start, from that of q and p."""
        nq, dyn = self.dyn.model.nq, self.dyn
        rows = {name: self.start[name][None] for name in ("q", "v")}
        back = adjoint(dyn, QUANTITIES["momenta"], rows, {"p": bar[None, nq:]}, ("q", "v"), self.begins)
        return np.concatenate([bar[:nq] + back.inputs["q"][0], back.inputs["v"][0]]), [(dyn.plan, back.data)]
