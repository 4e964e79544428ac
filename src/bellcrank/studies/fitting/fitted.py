"""The result of a fit: parameters with their confidence intervals.

Near the optimum the residuals are linear in the parameters, r = r0 + J dx, and with independent errors of unit variance

    covariance = s^2 (J^T J)^-1

with s = 1 where the deviations of the measurement are known, and s^2 = r^T r/(m - n) where they are not. An interval of 95 %
reaches as far as 1.96 deviations, or as many as Student's distribution with m - n degrees of freedom says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..optimisation.optimality import AT_LIMIT
from ..optimisation.optimum import Optimum
from ..optimisation.problem import Point

if TYPE_CHECKING:
    from .problem import FitProblem

Array = NDArray[np.float64]

LEVEL = 0.95
UNDETERMINED = 1e-9  # singular values of J, of the largest, in scales of the parameters


@dataclass
class Fitted(Optimum):
    """The parameters that fit measured curves best.

    deviation      standard deviations of the parameters
    interval       (parameters, 2): confidence intervals of 95 %
    covariance     of the parameters; ``correlation`` likewise, between -1 and 1
    residuals      what is left over, in standard deviations of the measurement
    undetermined   parameters that the curves do not determine
    """

    @property
    def residuals(self) -> Array:
        return self.best.residuals.copy()

    @property
    def freedom(self) -> int:
        """Degrees of freedom: the number of measurements minus the number of parameters."""
        return len(self.best.residuals) - len(self._free)

    @property
    def spread(self) -> float:
        """s: how large residuals are, where deviations of the measurement were given: about 1 for a model that fits."""
        return float(np.sqrt(self.best.residuals @ self.best.residuals / max(self.freedom, 1)))

    @cached_property
    def _free(self) -> list[int]:
        """Parameters that no bound holds."""
        x, problem = self.best.x, self.problem
        near = np.minimum(np.abs(x - problem.lower), np.abs(x - problem.upper)) <= AT_LIMIT * problem.scale
        return [int(k) for k in np.flatnonzero(~near)]

    @cached_property
    def covariance(self) -> Array:
        """Parameters at a bound do not vary; those that the curves do not determine have no finite variance."""
        n, free, scale = len(self.names), self._free, self.problem.scale
        found = np.zeros((n, n))
        if not free:
            return found
        _, s, Vt = np.linalg.svd(self.best.jacobian[:, free] * scale[free], full_matrices=False)
        good = s > UNDETERMINED * s.max(initial=0.0)
        ways = Vt[good].T / s[good]
        inside = ways @ ways.T
        lost = (np.abs(Vt[~good]) > 1e-6).any(axis=0)
        inside[lost, :], inside[:, lost] = np.nan, np.nan
        inside[lost, lost] = np.inf
        size = 1.0 if getattr(self.problem, "known", False) else self.spread**2
        found[np.ix_(free, free)] = size * inside * np.outer(scale[free], scale[free])
        return found

    @property
    def deviation(self) -> Array:
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlation(self) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(self.covariance / np.outer(self.deviation, self.deviation))

    @property
    def interval(self) -> Array:
        from scipy.stats import norm, t

        known = getattr(self.problem, "known", False)
        reach = norm.ppf(0.5 + LEVEL / 2) if known else t.ppf(0.5 + LEVEL / 2, max(self.freedom, 1))
        return np.stack([self.best.x - reach * self.deviation, self.best.x + reach * self.deviation], axis=1)

    @property
    def undetermined(self) -> list[str]:
        return [name for name, d in zip(self.names, self.deviation, strict=True) if not np.isfinite(d)]

    def __str__(self) -> str:
        lines = [super().__str__(), "  confidence intervals of 95 %:"]
        for name, x, (low, high) in zip(self.names, self.best.x, self.interval, strict=True):
            lines.append(f"  {name} = {x:.6g}, between {low:.6g} and {high:.6g}")
        if self.undetermined:
            lines.append(f"  the measured curves do not determine {', '.join(self.undetermined)}, alone or together")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, object]:
        numbers = {name: [None if not np.isfinite(x) else float(x) for x in pair] for name, pair in self._intervals()}
        return super().as_dict() | {"intervals": numbers, "spread": self.spread, "undetermined": self.undetermined}

    def _intervals(self) -> list[tuple[str, Array]]:
        return list(zip(self.names, self.interval, strict=True))


def left_over(problem: FitProblem, point: Point) -> dict[str, float]:
    """Standard deviations of the columns, from the residuals of a fit; parameters count for each column by its share."""
    r, total = point.residuals, len(point.residuals)
    sums: dict[str, list[float]] = {name: [0.0, 0.0] for name in problem.columns.values()}
    at = 0
    for curves in problem.curves:
        for name in problem.columns.values():
            there = int(np.isfinite(curves.columns[name]).sum())
            part = r[at : at + there] * problem.deviations[name]
            sums[name][0] += float(part @ part)
            sums[name][1] += there * (1 - len(problem.names) / total)
            at += there
    return {name: float(np.sqrt(square / max(count, 1.0))) or 1e-300 for name, (square, count) in sums.items()}
