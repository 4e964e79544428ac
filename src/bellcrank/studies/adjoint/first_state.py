"""The adjoint of the first state of a run with respect to the design: the transpose of studies.starting.

There, dq = w_q + N X_q e_q and dv = w_v + X_v e_v, with w what the file writes, e the change of the errors of the closures (of
their rates) that is left, and X the smallest displacements that correct it. Backward: X^T on the adjoints, then that of e.

Velocities that the loops leave open have one more part, by what was chosen (ChosenVelocities), which goes back before these.

Whether X corrects it for every parameter is found for all of them at once: the adjoint of a sum, with random weights, of what
is left open has an entry for each parameter, which vanishes only where nothing is left open.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import Loops
from ...assembly.start import start_of
from ...design import Design
from ...dynamics.dynamics import Dynamics
from ...dynamics.transposition import adjoint
from ...formulations import QUANTITIES
from ...machine.adjoint.data import design_bars
from ...model.manifold import rate_matrix
from ..starting import ChosenVelocities, held_basis, must_follow, smallest_displacements

Array = NDArray[np.float64]
Bars = list[dict[str, Array]]
ROUNDING = 1e-12  # of a change of the equations, what is left of it: far less than starting.MISSED


@dataclass(frozen=True)
class FirstState:
    """The start of a run; ``given``: what the caller said of q and v."""

    dynamics: Dynamics
    design: Design
    start: dict[str, Array]
    given: dict[str, Any]

    def bars(self, bar: Array) -> Bars:
        """Adjoints of the start as it is written, and of the data, from that of the first state, (nq + nv,)."""
        nq = self.dynamics.model.nq
        bar_q, bar_v = bar[:nq].copy(), bar[nq:].copy()
        found: Bars = []
        if self.dynamics.model.closures:
            (to_q, _), (to_v, _) = self._corrections
            if self._chosen is not None:
                more, found = self._chosen.back(self.dynamics, self.start["q"], float(self.start["t"]), bar_v)
                bar_q += more
            found.append(self._back(1, to_v.T @ bar_v, bar_q, bar_v))
            found.append(self._back(0, to_q.T @ bar_q, bar_q, bar_v))
        return [*found, self._written(bar_q, bar_v)]

    def must_follow(self) -> None:
        """Raises DynamicsError for a parameter whose change the start cannot follow."""
        if not self.dynamics.model.closures:
            return
        loops = Loops(self.dynamics)
        weights = np.random.default_rng(1).uniform(0.5, 1.0, self.dynamics.equations)
        sizes = np.where(self.design.start == 0, 1.0, np.abs(self.design.start))
        for which, (_, left) in enumerate(self._corrections):
            if np.abs(left).max(initial=0.0) <= ROUNDING * loops.rows.max():
                continue  # any change can be followed
            seeds = left.T @ weights, loops.rows * weights
            missed, whole = (np.abs(self._weighed(which, x)) * sizes for x in seeds)
            must_follow(loops, missed, whole)

    def _weighed(self, which: int, seeds: Array) -> Array:
        """Derivatives by the parameters of a weighted sum of the errors of the closures (0), or of their rates (1).

        The start is as it is written; of the rates, with the positions corrected.
        """
        model, plan = self.dynamics.model, self.dynamics.plan
        bar_q, bar_v = np.zeros(model.nq), np.zeros(model.nv)
        data = [self._back(which, seeds, bar_q, bar_v)]
        if which:
            data.append(self._back(0, self._corrections[0][0].T @ bar_q, bar_q, bar_v))
        bars = design_bars(plan, *data, self._written(bar_q, bar_v))
        return self.design.plan_arrays(plan).gradient(np.array(self.design.start), bars)

    def _written(self, bar_q: Array, bar_v: Array) -> dict[str, Array]:
        bars = {"q": bar_q, "v": bar_v}
        return {f"given_{name}": x for name, x in bars.items() if self.given[name] is None}

    @cached_property
    def _chosen(self) -> ChosenVelocities | None:
        loops, asked = Loops(self.dynamics), start_of(self.dynamics, self.given["q"], self.given["v"], None)
        return ChosenVelocities.at(loops, self.start, asked.v, np.diag(loops.units)[:, ~asked.held_v])

    @cached_property
    def _corrections(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """How positions and velocities follow a change of each equation, and what that leaves open."""
        dynamics, q, t = self.dynamics, self.start["q"], float(self.start["t"])
        loops, every = Loops(dynamics), np.eye(dynamics.equations)
        asked = start_of(dynamics, self.given["q"], self.given["v"], None)
        moved, left = smallest_displacements(loops, q, t, held_basis(loops, asked.held, q), every)
        faster = smallest_displacements(loops, q, t, np.diag(loops.units)[:, ~asked.held_v], every)
        return (rate_matrix(dynamics.model, q) @ moved, left), faster

    def _back(self, which: int, seeds: Array, bar_q: Array, bar_v: Array) -> dict[str, Array]:
        """The adjoint of the errors of the closures (0), or of their rates (1): that of the data; those of q and v grow."""
        rows, whole = {"q": self.start["q"][None], "v": self.start["v"][None]}, np.zeros((1, 2 * self.dynamics.equations))
        whole[0, which::2] = seeds
        back = adjoint(self.dynamics, QUANTITIES["closure"], rows, {"closure": whole}, ("q", "v"), float(self.start["t"]))
        bar_q += back.inputs["q"][0]
        bar_v += back.inputs["v"][0]
        return back.data
