"""Adjoints of samples of a run: from the weights of measures there to those of the state that a step left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...dynamics.quantities.loops import multipliers as multipliers_of
from ...dynamics.quantities.measures import Measuring, measuring
from ...dynamics.transposition import adjoint
from ...errors import StateError
from ...formulations import QUANTITIES
from ...machine.adjoint.data import design_bars
from ...machine.steps.programs import projections
from ...model.manifold import turning_joints
from ...plan import Plan

Array = NDArray[np.float64]
Bars = list[tuple[Plan, dict[str, Array]]]  # adjoints of data, and of which plan


@dataclass(frozen=True)
class Samples:
    """Some samples of a run: rows of q, v and tau, their times, and the model's inputs."""

    dyn: Dynamics
    rows: dict[str, Array]
    times: Array
    inputs: Array

    def measured(self, names: Sequence[str], weights: Array) -> tuple[Array, Bars]:
        """Adjoints of the states, (samples, nq + nv), and of data, from those of measures, (samples, columns)."""
        dyn, code = self.dyn, measuring(self.dyn, names)
        rows = dict(self.rows)
        if code.moving or code.pushed:
            rows["a"] = dyn.evaluate(dyn.program, self.rows, self.times, self.inputs)
        if code.pushed:
            rows["lambda"] = self._multipliers()
        seeds = np.zeros((len(weights), code.evaluation.plan.loads.measures.ordered.size))
        seeds[:, code.columns] = weights
        along = ("q", "v", "a", "lambda")
        found = adjoint(code.evaluation, code.program, rows, {"measure": seeds}, along, self.times, self.inputs)
        states, bars = self._state(found.inputs), [(code.evaluation.plan, found.data)]
        more, of_data = self._accelerated(code, rows, found.inputs)
        return states + more, [*bars, *((dyn.plan, data) for data in of_data)]

    def _state(self, inputs: dict[str, Array]) -> Array:
        zeros = {name: np.zeros_like(self.rows[name]) for name in ("q", "v")}
        return np.hstack([inputs.get(name, zeros[name]) for name in ("q", "v")])

    def _accelerated(
        self, code: Measuring, rows: dict[str, Array], found: dict[str, Array]
    ) -> tuple[Array, list[dict[str, Array]]]:
        """Through the multipliers and the accelerations that measures depend on."""
        dyn, data = self.dyn, []
        states, bar = self._state({}), found.get("a", np.zeros_like(self.rows["v"]))
        if code.pushed and "lambda" in found:
            by_blocks = dyn.plan.nodes is not None
            program = QUANTITIES["block_multipliers" if by_blocks else "multipliers"]
            seeds = found["lambda"] if by_blocks else np.asarray(np.kron(found["lambda"], [1.0, 0.0, 0.0]), dtype=np.float64)
            output = "lambda" if by_blocks else "solution"
            back = adjoint(dyn, program, rows, {output: seeds}, ("q", "v", "a"), self.times, self.inputs)
            states, bar = states + self._state(back.inputs), bar + back.inputs.get("a", 0.0)
            data.append(back.data)
        if bar.any():
            back = adjoint(dyn, dyn.program, self.rows, {"a": bar}, ("q", "v"), self.times, self.inputs)
            states = states + self._state(back.inputs)
            data.append(back.data)
        return states, data

    def _multipliers(self) -> Array:
        """Those of loops without redundant equations, where they are unique."""
        dyn = self.dyn
        kept = len(dyn.plan.selected_rows) if dyn.plan.nodes is None else dyn.plan.nodes.rank
        if kept < dyn.equations:
            raise StateError(
                f"the loops of {dyn.model.name!r} have {dyn.equations - kept} redundant equations: their multipliers and "
                "reactions are not unique, and have no derivatives"
            )
        q, v, tau = (self.rows[name] for name in ("q", "v", "tau"))
        return multipliers_of(dyn, q, v, tau, t=self.times, inputs=self.inputs)

    def before_projection(self, states: Array) -> tuple[Array, Bars]:
        """The transposed of history.on_closures: from adjoints of samples on the closures to those of what a step left."""
        dyn, nq = self.dyn, self.dyn.model.nq
        rows, programs = {name: self.rows[name] for name in ("q", "v")}, projections("minimum_norm", dyn.plan)
        bar_q, bar_v = states[:, :nq], states[:, nq:]
        by_velocity = adjoint(dyn, programs["velocities"], rows, {"dv": bar_v}, ("q", "v"), self.times)
        bar_q, bar_v = np.split(states + self._state(by_velocity.inputs), [nq], axis=1)
        bar_q = self._unit(bar_q)
        at_rest = rows | {"v": np.zeros_like(rows["v"])}
        dx = adjoint(dyn, QUANTITIES["rates"], at_rest, {"qdot": bar_q}, ("v",)).inputs["v"]
        by_position = adjoint(dyn, programs["positions"], rows, {"dx": dx}, ("q", "v"), self.times)
        found = np.hstack([bar_q, bar_v]) + self._state(by_position.inputs)
        return found, [(dyn.plan, by_velocity.data), (dyn.plan, by_position.data)]

    def _unit(self, bar: Array) -> Array:
        """Adjoints of unit quaternions are at right angles to them."""
        bar = bar.copy()
        for at in turning_joints(self.dyn.model):
            q, x = self.rows["q"][:, at.quaternion], bar[:, at.quaternion]
            bar[:, at.quaternion] = x - q * np.einsum("ti,ti->t", q, x)[:, None]
        return bar


def summed(bars: Bars) -> Bars:
    """One entry for each plan."""
    plans = {id(plan): plan for plan, _ in bars}
    return [(plan, design_bars(plan, *[x for other, x in bars if other is plan])) for plan in plans.values()]
