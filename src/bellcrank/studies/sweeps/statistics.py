"""Statistics of outputs, and Sobol' indices by the estimators of Saltelli and Jansen.

Of matrices A and B of n designs each, and AB_i, which is A with the column of parameter i from B (Saltelli et al., Computer
Physics Communications 181, 2010, table 2, (b) and (f), the latter Jansen's), with f less its mean and V its variance:

    S_i = mean(f(B) (f(AB_i) - f(A))) / V          ST_i = mean((f(A) - f(AB_i))^2) / (2 V)

Intervals are those of the bootstrap: the n designs are drawn again with replacement, and the deviation of the indices over
many such draws estimates their error. It takes the designs for independent ones. Those of Sobol's sequence fill the space more
evenly, so that the errors are as large at most, and often much smaller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

QUANTILE = 1.959964  # of the normal distribution, that leaves 2.5 % above
ROUNDING = 1e-12  # of an output: less of a spread is none


class Indices(NamedTuple):
    """Sobol' indices of an output, a number for each parameter.

    first, total              part of the variance that the parameter explains alone; and together with others
    first_error, total_error  half widths of 95 % intervals, by the bootstrap
    designs, left_out         rows of the matrices that were used; and those in which a run has no number
    """

    parameters: tuple[str, ...]
    first: Array
    total: Array
    first_error: Array
    total_error: Array
    designs: int = 0
    left_out: int = 0

    def __str__(self) -> str:
        wide = max(map(len, ("parameter", *self.parameters)))
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
    """``f``: n of A, n of B, then n of each AB_i; a row of the matrices in which a run has no number is left out.

    Not numbers where the output is constant but for rounding: there is no variance to be explained.
    """
    rows = f.reshape(len(parameters) + 2, -1)
    good = np.isfinite(rows).all(axis=0)
    left_out, rows = int((~good).sum()), rows[:, good]
    if rows.shape[1] < 2:
        raise StudyError(
            f"Sobol' indices need two designs or more of which all {len(rows)} runs have a number; there are {rows.shape[1]}, "
            f"and {left_out} in which a run has none: it failed (see reasons), is not finished, or its output is undefined"
        )
    size = np.abs(rows).max()
    centred = (rows - rows[:2].mean()) / (np.ptp(rows) or 1.0)  # of order one, so that squares are neither huge nor nothing
    if np.ptp(rows[:2]) <= ROUNDING * size:
        centred[:] = np.nan
    first, total = _indices(centred)
    rng = np.random.default_rng(seed)
    count = int(rows.shape[1])
    again = np.array([_indices(centred[:, rng.integers(0, count, count)]) for _ in range(resamples)])
    spread = again.std(axis=0, ddof=1) if resamples > 1 else np.full((2, len(parameters)), np.nan)
    first_error, total_error = QUANTILE * spread
    return Indices(parameters, first, total, first_error, total_error, count, left_out)


def _indices(rows: Array) -> tuple[Array, Array]:
    a, b, mixed = rows[0], rows[1], rows[2:]
    with np.errstate(all="ignore"):  # designs that are drawn again may all be the same one
        variance = rows[:2].var()
        return np.mean(b * (mixed - a), axis=1) / variance, np.mean((a - mixed) ** 2, axis=1) / (2 * variance)
