"""One search by an optimiser of scipy, over scaled variables, with infeasible designs handled on the way.

y = (x - start)/scale, and costs and constraints are divided by their sizes. Where a design is infeasible, the optimiser sees a
bowl above the last good point, whose slope leads back there; least_squares sees residuals that are not finite, which it takes
as a step that was too long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError
from ..study.spec import Search
from .evaluation import Infeasible
from .problem import Limit, Point, Problem

Array = NDArray[np.float64]

VIOLATED = 1e-6  # of the size of a constraint: what counts as kept


class SearchResult(NamedTuple):
    """The end of a search."""

    start: int
    success: bool
    message: str
    cost: float = np.inf


def violation(problem: Problem, point: Point) -> float:
    """The largest part by which a constraint is missed, in its own size."""
    if point.reason is not None:
        return np.inf
    return max((_missed(limit, value) for limit, value in zip(problem.limits, point.limits, strict=True)), default=0.0)


def _missed(limit: Limit, value: float) -> float:
    return float(max(limit.lower - value, value - limit.upper, 0.0) / limit.scale)


def keeps(limit: Limit, value: float) -> bool:
    return _missed(limit, value) <= VIOLATED


def better(problem: Problem, one: Point, other: Point | None) -> bool:
    """Whether a point is the better one: constraints first, then the cost."""
    if other is None or one.reason is not None:
        return other is None and one.reason is None
    missed, before = violation(problem, one), violation(problem, other)
    if missed <= VIOLATED and before <= VIOLATED:
        return one.cost < other.cost
    return missed < before


def chosen_method(problem: Problem, search: Search) -> str:
    """The method that "auto" means, or an error for a method that does not fit."""
    fits, limited = problem.study.fit is not None, bool(problem.limits)
    if search.method == "auto":
        return "SLSQP" if limited else "least_squares" if fits else "L-BFGS-B"
    if limited and search.method in ("L-BFGS-B", "least_squares"):
        raise StudyError(f"{search.method} takes no constraints. Use SLSQP or trust-constr.")
    if search.method == "least_squares" and not fits:
        raise StudyError("least_squares is for fits of measured curves. Use L-BFGS-B, SLSQP or trust-constr.")
    return search.method


class ScaledProblem:
    """A problem in scaled variables, as scipy calls it."""

    def __init__(self, problem: Problem, x0: Array) -> None:
        self.problem = problem
        self.x0 = np.clip(x0, problem.lower, problem.upper)
        self.good = problem.evaluate(self.x0)
        if self.good.reason is not None:
            raise Infeasible(self.good.reason)
        cost = problem.study.cost
        given = None if cost is None else cost.scale
        self.size = given or abs(self.good.cost) or 1.0

    def x(self, y: Array) -> Array:
        return np.clip(self.x0 + y * self.problem.scale, self.problem.lower, self.problem.upper)

    @property
    def bounds(self) -> tuple[Array, Array]:
        scale = self.problem.scale
        return (self.problem.lower - self.x0) / scale, (self.problem.upper - self.x0) / scale

    def _at(self, y: Array) -> tuple[Point, Array | None]:
        """The point; of an infeasible one the last good point, and how far away that is."""
        point = self.problem.evaluate(self.x(y))
        if point.reason is None:
            self.good = point
            return point, None
        return self.good, y - (self.good.x - self.x0) / self.problem.scale

    def cost(self, y: Array) -> tuple[float, Array]:
        point, away = self._at(y)
        value = point.cost / self.size
        if away is None:
            return value, point.gradient * self.problem.scale / self.size
        steep = 1.0 + abs(value)
        return value + steep * (1.0 + float(away @ away)), 2 * steep * away

    def limits(self, y: Array) -> tuple[Array, Array]:
        """Values and slopes of the constraints, in their sizes; of an infeasible point by the tangents of the good one."""
        point, away = self._at(y)
        sizes = np.array([limit.scale for limit in self.problem.limits])
        slopes = point.slopes * self.problem.scale / sizes[:, None]
        value = point.limits / sizes
        return (value if away is None else value + slopes @ away), slopes

    def residuals(self, y: Array) -> Array:
        point = self.problem.evaluate(self.x(y))
        return point.residuals if point.reason is None else np.full(self.good.residuals.shape, np.inf)

    def jacobian(self, y: Array) -> Array:
        return self.problem.evaluate(self.x(y)).jacobian * self.problem.scale


def search_from(problem: Problem, x0: Array, search: Search, start: int = 0) -> SearchResult:
    """Minimise from one design; the points are in the problem's record. Raises Infeasible where x0 is."""
    method = chosen_method(problem, search)
    scaled = ScaledProblem(problem, x0)
    run = _least_squares if method == "least_squares" else _minimized
    found = run(scaled, method, search)
    cost = float(found.cost) if method == "least_squares" else float(found.fun) * scaled.size
    return SearchResult(start, bool(found.success), str(found.message), cost)


def _least_squares(scaled: ScaledProblem, method: str, search: Search) -> Any:
    from scipy.optimize import least_squares

    tolerance = search.tolerance
    low, high = scaled.bounds
    y0 = np.clip(np.zeros(len(scaled.x0)), low + 1e-12, high - 1e-12)
    return least_squares(
        scaled.residuals,
        y0,
        scaled.jacobian,
        bounds=(low, high),
        method="trf",
        ftol=tolerance,
        xtol=tolerance,
        gtol=tolerance,
        max_nfev=int(search.iterations),
    )


def _minimized(scaled: ScaledProblem, method: str, search: Search) -> Any:
    from scipy.optimize import Bounds, minimize

    low, high = scaled.bounds
    tolerance, steps = search.tolerance, int(search.iterations)
    options: dict[str, dict[str, Any]] = {
        "L-BFGS-B": {"ftol": tolerance, "gtol": tolerance, "maxiter": steps, "maxfun": 3 * steps},
        "SLSQP": {"ftol": tolerance, "maxiter": steps},
        "trust-constr": {"gtol": tolerance, "xtol": tolerance, "maxiter": steps},
    }
    constraints = () if not scaled.problem.limits else CONSTRAINTS[method](scaled)
    given: dict[str, Any] = {"method": method, "bounds": Bounds(low, high), "options": options[method]}
    return minimize(scaled.cost, np.zeros(len(low)), jac=True, constraints=constraints, **given)


def _for_slsqp(scaled: ScaledProblem) -> list[dict[str, Any]]:
    """Equations, and what must not be negative, each a vector of all."""
    limits = scaled.problem.limits
    sizes = np.array([limit.scale for limit in limits])
    lower, upper = (np.array([getattr(limit, name) for limit in limits]) / sizes for name in ("lower", "upper"))
    same = lower == upper
    rows = {"eq": [(1.0, same, lower)], "ineq": [(1.0, ~same & np.isfinite(lower), lower)]}
    rows["ineq"].append((-1.0, ~same & np.isfinite(upper), upper))

    def made(parts: list[tuple[float, Any, Array]]) -> dict[str, Any]:
        def fun(y: Array) -> Array:
            value = scaled.limits(y)[0]
            return np.concatenate([sign * (value - bound)[rows] for sign, rows, bound in parts])

        def jac(y: Array) -> Array:
            slopes = scaled.limits(y)[1]
            return np.concatenate([sign * slopes[rows] for sign, rows, _ in parts])

        return {"fun": fun, "jac": jac}

    return [{"type": kind, **made(parts)} for kind, parts in rows.items() if any(which.any() for _, which, _ in parts)]


def _for_trust_constr(scaled: ScaledProblem) -> Any:
    from scipy.optimize import NonlinearConstraint

    limits = scaled.problem.limits
    lower, upper = (np.array([getattr(limit, name) / limit.scale for limit in limits]) for name in ("lower", "upper"))
    return NonlinearConstraint(lambda y: scaled.limits(y)[0], lower, upper, jac=lambda y: scaled.limits(y)[1])


CONSTRAINTS: dict[str, Callable[[ScaledProblem], Any]] = {"SLSQP": _for_slsqp, "trust-constr": _for_trust_constr}
