"""The result of an optimisation: the best design, how it was reached, what limits it, and the model with the new numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...model import Model
from .optimality import Active, Flatness, active_limits, flatness
from .problem import Point, Problem
from .searching import VIOLATED, SearchResult, better, violation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


@dataclass
class Optimum:
    """The best design that was found.

    model        the Model with the best numbers; bc.save(best.model, "better.toml") keeps the comments of the original
    x, names     values of the parameters, and their paths; ``start`` where the search began
    cost         there, and ``first_cost`` at the start
    history      every evaluation, a Point each: x, cost, gradient, limits, and ``reason`` of an infeasible one
    active       bounds and constraints that hold the optimum, with their multipliers
    flatness     second derivatives: how far each parameter can be moved until the cost rises by 1 %
    searches     how the search from each start ended
    """

    problem: Problem
    best: Point
    first: Point
    history: list[Point]
    searches: list[SearchResult]
    method: str
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        return self.problem.names

    @property
    def x(self) -> Array:
        return self.best.x.copy()

    @property
    def start(self) -> Array:
        return self.first.x.copy()

    @property
    def cost(self) -> float:
        return self.best.cost

    @property
    def first_cost(self) -> float:
        return self.first.cost

    @property
    def success(self) -> bool:
        """Whether a search converged with all constraints satisfied."""
        return not self.interrupted and any(one.success for one in self.searches) and self.kept

    @property
    def kept(self) -> bool:
        """Whether the best design satisfies all constraints."""
        return violation(self.problem, self.best) <= VIOLATED

    @cached_property
    def model(self) -> Model:
        return self.problem.model.with_parameters(self.values)

    @cached_property
    def first_model(self) -> Model:
        return self.problem.model.with_parameters(dict(zip(self.names, self.first.x.tolist(), strict=True)))

    @property
    def values(self) -> dict[str, float]:
        """The parameters by their paths."""
        return dict(zip(self.names, self.best.x.tolist(), strict=True))

    @property
    def gradients(self) -> int:
        """How many designs were evaluated, each with its gradient."""
        return len(self.history)

    @property
    def reached(self) -> int:
        """How many of the searches ended at the best cost, to a thousandth of it and a millionth of the first one."""
        first = self.first.cost if np.isfinite(self.first.cost) else 0.0
        near = self.cost + 1e-3 * abs(self.cost) + 1e-6 * abs(first)
        return sum(one.cost <= near for one in self.searches)

    @property
    def infeasible(self) -> list[Point]:
        return [point for point in self.history if point.reason is not None]

    @cached_property
    def active(self) -> list[Active]:
        return active_limits(self.problem, self.best)

    @cached_property
    def flatness(self) -> Flatness:
        """Second derivatives at the optimum, computed on first use by one gradient for each parameter."""
        return flatness(self.problem, self.best)

    @property
    def knows_flatness(self) -> bool:
        """Whether it has been asked for."""
        return "flatness" in self.__dict__

    def constraint_values(self) -> dict[str, float]:
        return {limit.title: float(x) for limit, x in zip(self.problem.limits, self.best.limits, strict=True)}

    def __repr__(self) -> str:
        return f"Optimum(cost={self.cost:.6g}, {len(self.names)} parameters, {self.gradients} gradients)"

    def __str__(self) -> str:
        from .report import report

        return report(self)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {
            "study": self.problem.study.name,
            "method": self.method,
            "success": self.success,
            "interrupted": self.interrupted,
            "cost": self.cost,
            "first_cost": self.first_cost if np.isfinite(self.first_cost) else None,
            "parameters": self.values,
            "constraints": self.constraint_values(),
            "active": [one._asdict() for one in self.active],
            "play": self._play(),
            "evaluations": self.gradients,
            "infeasible": len(self.infeasible),
            "searches": [one._asdict() | {"cost": one.cost if np.isfinite(one.cost) else None} for one in self.searches],
            "reached": self.reached,
            "notes": self.notes,
        }

    def _play(self) -> dict[str, float | None] | None:
        """What flatness says of each parameter, None where that is not a finite number; None unless it has been asked for."""
        if not self.knows_flatness:
            return None
        found = zip(self.names, self.flatness.play.tolist(), strict=True)
        return {name: x if np.isfinite(x) else None for name, x in found}

    def plot(self, path: str | Path | None = None, *, points: Sequence[str] = ()) -> Figure:
        """Convergence, parameters on their ranges, and outputs before and after; paths of ``points`` (measured points, or
        bodies) in the plane of their largest extent."""
        from ..reporting.optimum import optimum_figure

        return optimum_figure(self, path, points)


def best_of(problem: Problem, points: Sequence[Point]) -> Point | None:
    best = None
    for point in points:
        if better(problem, point, best):
            best = point
    return best
