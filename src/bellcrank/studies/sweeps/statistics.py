"""Statistics of outputs, and Sobol' indices by Saltelli's estimators.

Of matrices A and B of n designs each, and A with the column of parameter i from B (Saltelli et al., Computer Physics
Communications 181, 2010, table 2, (b) and (f), the latter Jansen's):

    S_i = mean(f(B) (f(AB_i) - f(A))) / V          ST_i = mean((f(A) - f(AB_i))^2) / (2 V)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]


class Indices(NamedTuple):
    """Of each parameter: the part of the variance that it explains alone, and with others; half widths of 95 % intervals."""

    parameters: tuple[str, ...]
    first: Array
    total: Array
    first_error: Array
    total_error: Array

    def __str__(self) -> str:
        wide = max(map(len, self.parameters))
        rows = zip(self.parameters, self.first, self.first_error, self.total, self.total_error, strict=True)
        lines = [f"{name:<{wide}}  {a:8.4f} ± {da:.4f}  {b:8.4f} ± {db:.4f}" for name, a, da, b, db in rows]
        return "\n".join([f"{'parameter':<{wide}}  {'first':>8}           {'total':>8}", *lines])


def statistics_of(outputs: Mapping[str, Array], quantiles: Sequence[float]) -> xr.Dataset:
    import xarray as xr

    def row(x: Array) -> list[float]:
        good = x[np.isfinite(x)]
        if not len(good):
            return [0.0] + [np.nan] * (4 + len(quantiles))
        spread = float(good.std(ddof=1)) if len(good) > 1 else np.nan
        return [len(good), good.mean(), spread, good.min(), good.max(), *np.quantile(good, quantiles)]

    table = np.array([row(x) for x in outputs.values()]).reshape(len(outputs), 5 + len(quantiles))
    names = ("count", "mean", "std", "min", "max")
    data = {name: ("output", table[:, k]) for k, name in enumerate(names)}
    data["quantile_values"] = (("output", "quantile"), table[:, 5:])  # type: ignore[assignment]
    return xr.Dataset(data, coords={"output": list(outputs), "quantile": list(quantiles)})


def saltelli_indices(f: Array, parameters: tuple[str, ...], seed: int, resamples: int) -> Indices:
    """``f``: n of A, n of B, then n of each AB_i; designs in which a run failed are left out."""
    rows = f.reshape(len(parameters) + 2, -1)
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    a, b, mixed = rows[0], rows[1], rows[2:]
    centred = np.concatenate([a, b]).mean()
    first, total = _indices(a - centred, b - centred, mixed - centred)
    rng = np.random.default_rng(seed)
    again = [_indices(*(x[..., k] - centred for x in (a, b, mixed))) for k in rng.integers(0, len(a), (resamples, len(a)))]
    errors = [1.96 * np.std([pair[j] for pair in again], axis=0) for j in (0, 1)]
    return Indices(parameters, first, total, errors[0], errors[1])


def _indices(a: Array, b: Array, mixed: Array) -> tuple[Array, Array]:
    variance = np.concatenate([a, b]).var()
    with np.errstate(all="ignore"):
        return np.mean(b * (mixed - a), axis=1) / variance, np.mean((a - mixed) ** 2, axis=1) / (2 * variance)
