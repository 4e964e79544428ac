"""Adjoints of samples of a run: from the weights of measures there to those of the state that a step left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...design import Design
from ...dynamics.derivatives.shared_loads import OneState
from ...dynamics.derivatives.shared_loads_back import least_back
from ...dynamics.dynamics import Dynamics
from ...dynamics.quantities.loops import multipliers as multipliers_of
from ...dynamics.quantities.measures import measuring
from ...dynamics.transposition import adjoint
from ...formulations import QUANTITIES
from ...machine.adjoint.data import design_bars
from ...machine.steps.programs import projections
from ...model.manifold import turning_joints
from ...plan import Plan

Array = NDArray[np.float64]
Bars = list[tuple[Plan, dict[str, Array]]]  # adjoints of data, and of which plan


class Measured(NamedTuple):
    """Adjoints of the states, (samples, nq + nv), those of data, and that of L (quantities.minimum_norm)."""

    states: Array
    bars: Bars
    size: float


@dataclass(frozen=True)
class Samples:
    """Some samples of a run: rows of q, v and tau, their times, and the model's inputs."""

    dyn: Dynamics
    design: Design
    rows: dict[str, Array]
    times: Array
    inputs: Array

    def measured(self, names: Sequence[str], weights: Array) -> Measured:
        """Adjoints of what measures depend on, from those of the measures, (samples, columns)."""
        dyn, code = self.dyn, measuring(self.dyn, names)
        rows = dict(self.rows)
        if code.moving or code.pushed:
            rows["a"] = dyn.evaluate(dyn.program, self.rows, self.times, self.inputs)
        if code.pushed:
            q, v, tau = (self.rows[name] for name in ("q", "v", "tau"))
            rows["lambda"] = multipliers_of(dyn, q, v, tau, t=self.times, inputs=self.inputs)
        seeds = np.zeros((len(weights), code.evaluation.plan.loads.measures.ordered.size))
        seeds[:, code.columns] = weights
        along = ("q", "v", "a", "lambda")
        found = adjoint(code.evaluation, code.program, rows, {"measure": seeds}, along, self.times, self.inputs)
        back = Measured(self._state(found.inputs), [(code.evaluation.plan, found.data)], 0.0)
        bar = found.inputs.get("a", np.zeros_like(self.rows["v"]))
        if "lambda" in found.inputs:
            more, of_accelerations = self._of_multipliers(rows, found.inputs["lambda"])
            back, bar = _both(back, more), bar + of_accelerations
        if bar.any():
            a = adjoint(dyn, dyn.program, self.rows, {"a": bar}, ("q", "v"), self.times, self.inputs)
            back = _both(back, Measured(self._state(a.inputs), [(dyn.plan, a.data)], 0.0))
        return back

    def _state(self, inputs: dict[str, Array]) -> Array:
        zeros = {name: np.zeros_like(self.rows[name]) for name in ("q", "v")}
        return np.hstack([inputs.get(name, zeros[name]) for name in ("q", "v")])

    def _of_multipliers(self, rows: dict[str, Array], bars: Array) -> tuple[Measured, Array]:
        """What adjoints of multipliers leave, and that of the accelerations, (samples, nv)."""
        dyn, by_blocks = self.dyn, self.dyn.plan.nodes is not None
        program = QUANTITIES["block_multipliers" if by_blocks else "multipliers"]
        found = dyn.evaluate(program, {name: rows[name] for name in program.inputs if name in rows}, self.times, self.inputs)
        if by_blocks:
            assert dyn.plan.nodes is not None
            any_of_them, rank = found, dyn.plan.nodes.rank
        else:
            any_of_them, rank = found[:, ::3], int((found[:, 1::3] > 0).sum(axis=1).min(initial=dyn.equations))
        back, of_accelerations = Measured(self._state({}), [], 0.0), np.zeros_like(self.rows["v"])
        if rank < dyn.equations:
            back, bars, of_accelerations = self._of_least_reactions(rows, any_of_them, bars, rank)
        seeds = {"lambda": bars} if by_blocks else {"solution": np.asarray(np.kron(bars, [1.0, 0.0, 0.0]))}
        more = adjoint(dyn, program, rows, seeds, ("q", "v", "a"), self.times, self.inputs)
        back = _both(back, Measured(self._state(more.inputs), [(dyn.plan, more.data)], 0.0))
        return back, of_accelerations + more.inputs.get("a", 0.0)

    def _of_least_reactions(
        self, rows: dict[str, Array], multipliers: Array, bars: Array, rank: int
    ) -> tuple[Measured, Array, Array]:
        """Where equations are redundant: what is left, adjoints of any multipliers, and those of the accelerations."""
        states, size, of_data = {name: np.zeros_like(self.rows[name]) for name in ("q", "v")}, 0.0, list[tuple[Plan, Any]]()
        states["a"], of_any = np.zeros_like(self.rows["v"]), bars.copy()
        count = len(bars)
        known = rows | {"t": self.dyn.time_rows(self.times, count), "u": self.dyn.input_rows(self.inputs, count)}
        for k in np.flatnonzero(bars.any(axis=1)):
            here = OneState(self.dyn, self.design, {name: x[k : k + 1] for name, x in known.items()}, {}, None)
            found = least_back(here, multipliers[k], bars[k], rank)
            of_any[k], size = found.multipliers, size + found.size
            of_data += found.data
            for name, x in found.state.items():
                states[name][k] = x
        return Measured(self._state(states), summed(of_data), size), of_any, states["a"]

    def before_projection(self, states: Array) -> tuple[Array, Bars]:
        """The transpose of history.on_closures: from adjoints of samples on the closures to those of what a step left."""
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


def _both(one: Measured, other: Measured) -> Measured:
    return Measured(one.states + other.states, [*one.bars, *other.bars], one.size + other.size)
