"""First-order tolerance analysis: how far outputs spread when parameters do.

With slopes s_i = dy/dp_i, and parameters that may be off by t_i either way,

    worst case             sum |s_i| t_i
    root sum of squares    sqrt(sum (s_i t_i)^2)

The second is what parameters that vary independently bring about: a bound with the same probability as the t_i, and the
standard deviation if these are standard deviations. (s_i t_i)^2 over their sum is the share of a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError
from ...wording import did_you_mean
from .tables import short

if TYPE_CHECKING:
    from rich.console import Group

    from ..outcome import Sensitivity

Array = NDArray[np.float64]
Given = Mapping[str, float | str] | float | str


@dataclass(frozen=True, eq=False)
class Tolerances:
    """Spreads of the outputs of a Sensitivity.

    sizes            (parameters,)   how far each parameter may be off, either way, in its unit
    worst(output)    the largest change, to first order: a number, or an array over time, input or mode
    rss(output)      root of the sum of squares
    parts(output)    slope times tolerance of each parameter: the last axis
    """

    of: Sensitivity
    sizes: Array

    def parts(self, output: str) -> Array:
        return np.asarray(self.of.d(output)) * self.sizes

    def worst(self, output: str) -> Any:
        return _plain(np.abs(self.parts(output)).sum(axis=-1))

    def rss(self, output: str) -> Any:
        return _plain(np.sqrt((self.parts(output) ** 2).sum(axis=-1)))

    def rows(self) -> list[tuple[str, ...]]:
        """Of each output: value, worst case, root sum of squares, unit, and the parameters with most influence. Of an output
        that is not a number, where it spreads most."""
        return [self._row(name) for name in self.of.outputs]

    def _row(self, name: str) -> tuple[str, ...]:
        value, worst, rss, parts = (
            np.asarray(x) for x in (self.of.value(name), self.worst(name), self.rss(name), self.parts(name))
        )
        where = ""
        if value.ndim:
            k = int(np.nanargmax(worst)) if np.isfinite(worst).any() else 0
            value, worst, rss, parts, where = value[k], worst[k], rss[k], parts[k], self.of.place(name, k)
        shares = (parts / rss) ** 2 if rss > 0 else np.zeros(len(parts))
        order = np.argsort(-np.nan_to_num(shares))[:3]
        most = ", ".join(f"{short(self.of.parameters[k])} {100 * shares[k]:.0f} %" for k in order if shares[k] >= 0.005)
        return name + where, f"{value:.6g}", f"{worst:.4g}", f"{rss:.4g}", self.of.unit(name), most

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {
            "tolerances": dict(zip(self.of.parameters, self.sizes.tolist(), strict=True)),
            "outputs": {
                name: {
                    "worst": np.asarray(self.worst(name)).tolist(),
                    "rss": np.asarray(self.rss(name)).tolist(),
                    "parts": self.parts(name).tolist(),
                }
                for name in self.of.outputs
            },
        }

    def __str__(self) -> str:
        rows = [HEADINGS, *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADINGS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self._title, *lines])

    def __rich__(self) -> Group:
        from ...analyses.report import table

        return table(self._title, HEADINGS, self.rows(), right=(1, 2, 3))

    @property
    def _title(self) -> str:
        return f"{self.of.model}: spread of outputs, to first order"


HEADINGS = ("output", "value", "at worst +-", "RSS +-", "unit", "most of it by")


def sizes_of(of: Sensitivity, given: Given) -> Array:
    """Tolerances of all parameters: a number, or a text "0.5 %", a part of the parameter's value; one for all, or by name."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in of.parameters:
                hint = did_you_mean(name, of.parameters)
                raise StateError(f"there is a tolerance of {name!r}, which is not among the parameters{hint}")
        return np.array([_size(given.get(name, 0.0), name, at) for name, at in zip(of.parameters, of.at, strict=True)])
    return np.array([_size(given, name, at) for name, at in zip(of.parameters, of.at, strict=True)])


def _size(given: float | str, name: str, at: float) -> float:
    text = str(given).strip()
    try:
        size = float(text.removesuffix("%")) * (abs(at) / 100 if text.endswith("%") else 1.0)
    except ValueError:
        size = float("nan")
    if not (np.isfinite(size) and size >= 0):
        raise StateError(f"the tolerance of {name!r} is {given!r}: give a number of zero or more, in its unit, or '0.5 %'")
    return size


def _plain(x: Array) -> Any:
    return float(x) if np.ndim(x) == 0 else x
