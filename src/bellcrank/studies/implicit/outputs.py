"""Outputs over the values of an input, or at one position: measures and formulas over them, and what is taken of them.

camber              at all values of the input
camber@end          at the last of them          camber@crank_pivot=0.5    where the input has that value
max(camber)         the largest at the values asked for, min(...) the smallest; integral(...), mean(...), rms(...) by
                    the trapezoidal rule: all are functions of what is found at these positions, and so are their derivatives
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from ...dynamics.differentiation import Derivative
from ...errors import StateError
from ...model.parameters.expressions import derived
from ...numbers import Dual
from ..outcome import OutputValue
from ..output_names import Output, must_be_names, parsed
from ..regular import quietly, root_mean_square
from .equations import Array

NEAR = 1e-9


class Axis(NamedTuple):
    """The axis of positions: name, values and unit of the input; no values where there is one position only."""

    name: str
    values: Array
    unit: str


class Positions(Protocol):
    def measured(self, names: list[str]) -> tuple[Derivative, tuple[str, ...]]: ...


def outputs_of(axis: Axis, names: Sequence[str]) -> list[Output]:
    """The outputs, checked."""
    return [_parsed(axis, name) for name in must_be_names(names)]


def _parsed(axis: Axis, name: str) -> Output:
    before, at, after = name.strip().rpartition("@")
    if not at:
        found = parsed([name], (), 0.0)[0]
        if found.taken != "series" and not len(axis.values):
            raise StateError(f"output {name!r}: there is one position only, over which nothing can be taken")
        return found
    measure = parsed([before], (), 0.0)[0]
    where, _, number = after.partition("=")
    if not len(axis.values):
        raise StateError(f"output {name!r}: there is one position only. Leave out what stands behind @.")
    if after.strip() == "end":
        return replace(measure, name=name, taken="at", time=float(axis.values[-1]))
    try:
        value = float(number) if where.strip() in (axis.name, "t" if axis.name == "time" else axis.name) else None
    except ValueError:
        value = None
    if value is None:
        raise StateError(f"output {name!r} is taken at {after.strip()!r}: write @end, or @{axis.name}=0.5")
    if np.abs(axis.values - value).min() > NEAR * (1.0 + abs(value)):
        nearest = axis.values[np.argmin(np.abs(axis.values - value))]
        raise StateError(
            f"output {name!r}: {axis.name!r} = {value:g} is not among the values; the nearest is {nearest:.9g}. Add it to them."
        )
    return replace(measure, name=name, taken="at", time=value)


def found_of(axis: Axis, wanted: Sequence[Output], at: Positions) -> dict[str, OutputValue]:
    names = list(dict.fromkeys(name for output in wanted for name in output.measures))
    if not names:
        return {}
    measured, units = at.measured(names)
    return {output.name: _found(axis, output, names, measured, units) for output in wanted}


def _found(axis: Axis, output: Output, names: list[str], measured: Derivative, units: tuple[str, ...]) -> OutputValue:
    value, along = formula(output.of, names, measured)
    unit = units[names.index(output.of)] if output.of in names else ""
    if not len(axis.values):
        return OutputValue(value[0], along[0], unit, None)
    if output.taken == "series":
        return OutputValue(value, along, unit, None, "time" if axis.name == "time" else "input")
    if output.taken in ("at", "max", "min"):
        least = {"max": -value, "min": value}.get(output.taken, np.abs(axis.values - (output.time or 0.0)))
        k = int(np.argmin(least))
        return OutputValue(value[k], along[k], unit, float(axis.values[k]))
    return _over(axis, output, value, along, unit)


def _over(axis: Axis, output: Output, value: Array, along: Array, unit: str) -> OutputValue:
    steps = np.abs(np.diff(axis.values))
    weights = np.concatenate([steps, [0.0]]) / 2 + np.concatenate([[0.0], steps]) / 2
    span = float(weights.sum())
    if not span:
        raise StateError(f"output {output.name!r} is taken over a range: give two values of {axis.name!r} at least")
    if output.taken == "integral":
        return OutputValue(weights @ value, weights @ along, f"{unit} {axis.unit}".strip(), None)
    if output.taken == "mean":
        return OutputValue(weights @ value / span, weights @ along / span, unit, None)
    rms, slopes = root_mean_square(output.name, weights / span, value, along)
    return OutputValue(rms, slopes, unit, None)


def formula(text: str, names: Sequence[str], measured: Derivative) -> tuple[Array, Array]:
    """A formula over measures: (k,) and (k, P)."""
    if text in names:
        place = list(names).index(text)
        return measured.value[:, place], measured.along[:, place]
    program = derived(text)
    columns = [list(names).index(name) for name in program.names]
    rows = []
    for value, along in zip(measured.value, measured.along, strict=True):
        with quietly():
            x = program.run({name: Dual(value[k], along[k]) for name, k in zip(program.names, columns, strict=True)})
        rows.append([x.value, *x.tangents] if isinstance(x, Dual) else [x] + [0.0] * along.shape[-1])
    found = np.array(rows, dtype=float).reshape(len(measured.value), -1)
    return found[:, 0], found[:, 1:]
