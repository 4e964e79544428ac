"""Inputs of a run by name: numbers, or tables over time, which are joined by straight lines."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StateError
from ..model import Model
from ..results import read_column
from ..wording import argument
from .arguments import named_inputs

Array = NDArray[np.float64]


class TabledInputs:
    """Inputs of which some are tables over time, as a function of t, q, v."""

    def __init__(self, model: Model, given: Mapping[str, Any]) -> None:
        named_inputs(model, given)  # refuses names that are no inputs
        self.names = model.inputs
        self.tables = {name: _table(name, value) for name, value in given.items()}

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        return np.array([np.interp(t, *self.tables[name]) if name in self.tables else 0.0 for name in self.names])

    def must_cover(self, first: float, last: float) -> None:
        """A table is not continued beyond its ends."""
        for name, (times, _) in self.tables.items():
            if times[0] > first or times[-1] < last:
                raise StateError(
                    f"the table of input {name!r} goes from {times[0]:g} to {times[-1]:g} s, the run from {first:g} to "
                    f"{last:g} s: give it more rows, or the run another {argument('duration')}"
                )


def with_tables(model: Model, given: Any) -> Any:
    """What was given for the inputs; a mapping with tables becomes a function of time."""
    if isinstance(given, Mapping) and not all(map(_is_number, given.values())):
        return TabledInputs(model, given)
    return given


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) or (isinstance(value, np.ndarray) and value.ndim == 0)


def _table(name: str, value: Any) -> tuple[Array, Array]:
    if _is_number(value):
        return np.array([-np.inf, np.inf]), np.full(2, float(value))
    columns = read_column(Path(value), name) if isinstance(value, str | PathLike) else value
    try:
        times, values = (np.array(column, dtype=np.float64) for column in columns)
    except (TypeError, ValueError):
        raise StateError(f"input {name!r}: give a number, a pair (times, values), or a CSV file; it is {value!r}") from None
    if times.ndim != 1 or times.shape != values.shape or len(times) < 2 or not np.isfinite([times, values]).all():
        raise StateError(f"input {name!r}: times and values must be two or more finite numbers, as many of each")
    if not (np.diff(times) > 0).all():
        raise StateError(f"input {name!r}: its times must increase; {times[np.argmin(np.diff(times)) + 1]:g} s does not")
    return times, values
