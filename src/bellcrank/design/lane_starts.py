"""Starts of many designs at once, their loops closed in lanes by the Newton's method of assembling.py.

Each design takes its own steps, from the base's start, and stands still where its loops are closed: its start does not depend
on which others there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..dynamics.evaluation import Evaluation
from ..errors import AssemblyError, ModelError
from ..model.manifold import unit_quaternions
from .assembling import CLOSED, LONGEST, MOST_STEPS

if TYPE_CHECKING:
    from .design import Design

Array = NDArray[np.float64]
Problems = tuple[str | None, ...]


class LaneStarts:
    """q and v of the starts of designs."""

    def __init__(self, design: Design):
        self.design, self.model = design, design.base
        self.near = design.near_starts if design.base.closures else None
        self.evaluation = None if self.near is None else Evaluation(self.near.planned)

    def find(self, p: Array) -> tuple[Array, Array, Problems]:
        """(B, nq), (B, nv), and why a design has no start; ``p`` (B, np)."""
        if self.near is None:
            return self._written(p)
        rows, problems = self.design.rows(p, self.near.plan)
        q, v = self.design.written_starts(p, rows, self.near.plan)
        start = unit_quaternions(self.model, np.where(self.near.held_q, q, self.model.initial_q))
        found_q, found_v, closed = self._newton(rows, start, v)
        found = list(problems)
        for k in np.flatnonzero(~closed):
            if found[k] is None:
                found_q[k], found_v[k], found[k] = self._alone(p[k])
        return found_q, found_v, tuple(found)

    def _written(self, p: Array) -> tuple[Array, Array, Problems]:
        plan = self.design.usual_plan
        rows, problems = self.design.rows(p, plan)
        q, v = self.design.written_starts(p, rows, plan)
        return unit_quaternions(self.model, q), v, problems

    def _alone(self, p: Array) -> tuple[Array, Array, str | None]:
        """The start by ``bc.assemble``, where the way from the base's start is not short."""
        try:
            model = self.design.model(p)
            return model.initial_q, model.initial_v, None
        except (ModelError, AssemblyError) as problem:
            return np.full(self.model.nq, np.nan), np.full(self.model.nv, np.nan), str(problem)

    def _newton(self, rows: Array, start: Array, v: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        near, dyn = self.near, self.evaluation
        assert near is not None and dyn is not None
        dyn, q, rest = dyn.at_designs(rows), start.copy(), np.zeros((len(rows), self.model.nv))
        short = np.abs(start - self.model.initial_q).max(axis=1, initial=0.0) <= LONGEST * max(1.0, near.plan.length)
        closed = np.zeros(len(rows), dtype=bool)
        for _ in range(MOST_STEPS):
            errors = dyn.closure(q, rest)[0] * near.scales
            closed = short & (np.abs(errors).max(axis=1, initial=0.0) <= CLOSED)
            going = short & ~closed & np.isfinite(errors).all(axis=1)
            if not going.any():
                break
            step = self._smallest(dyn.closure_jacobian(q), errors, near.free, going)
            short &= ~(np.abs(step / near.units).max(axis=1, initial=0.0) > LONGEST)
            moved = unit_quaternions(self.model, q + dyn.rates(q, step))
            q = np.where(going[:, None], moved, q)
        return q, *self._moving(dyn, q, v, closed)

    def _moving(self, dyn: Evaluation, q: Array, v: Array, closed: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
        near = self.near
        assert near is not None
        rates = dyn.closure(q, v)[1] * near.scales
        v = v + self._smallest(dyn.closure_jacobian(q), rates, near.free_v, closed & np.isfinite(rates).all(axis=1))
        left = np.abs(dyn.closure(q, v)[1] * near.scales).max(axis=1, initial=0.0)
        return v, closed & (left <= 1e3 * CLOSED * (1.0 + np.abs(v).max(axis=1, initial=0.0)))

    def _smallest(self, G: Array, errors: Array, free: NDArray[np.bool_], going: NDArray[np.bool_]) -> Array:
        """The smallest changes of free coordinates that correct the errors, lengths scaled; zero of designs that are done."""
        near = self.near
        assert near is not None
        step = np.zeros((len(errors), self.model.nv))
        rows = (G * near.scales[:, None] * near.units)[going][:, :, free]
        inverse = np.linalg.pinv(rows, rcond=near.plan.tolerance)
        chosen = np.zeros((len(rows), self.model.nv))
        chosen[:, free] = -np.einsum("bij,bj->bi", inverse, errors[going])
        step[going] = chosen * near.units
        return step
