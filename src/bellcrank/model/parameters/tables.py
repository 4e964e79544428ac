"""Tables of one or two arguments: plain data, as the program runs them, and their values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...numbers import maximum
from ...numbers.grid import GridLookup, grid_rows, on_grid
from ...numbers.interpolation import INTERPOLATIONS, curve_rows, straight_ends
from ...numbers.spline import Curve, Lookup, halvings, spline
from ...numbers.variable import as_array, is_finite, values_of, varied
from ...wording import counted

OUTSIDE = ("error", "clamp", "extrapolate", "periodic")
ON_GRIDS = ("linear", "cubic")
OUTSIDE_GRIDS = ("error", "clamp")
MOST_ENTRIES = 1_000_000

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """y over x; ``interpolation`` says how it goes between its points, ``outside`` what it is beyond them (numbers.spline)."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    outside: str = "error"
    interpolation: str = "cubic"

    arguments = 1

    def problems(self) -> Iterator[str]:
        if len(self.x) != len(self.y):
            yield f"its table has {counted(len(self.x), 'value')} of x and {len(self.y)} of y. Give as many of each."
        elif len(self.x) < 2:
            yield f"its table has {counted(len(self.x), 'row')}. Give two at least."
        elif not all(map(is_finite, (*self.x, *self.y))):
            yield "its table has a value that is not finite."
        else:
            yield from _not_increasing(self.x, "its table", "the first column")
            if self.outside == "periodic" and not _close(self.y[0], self.y[-1]):
                yield f"its table is periodic and goes from {self.y[0]:g} to {self.y[-1]:g}. Let it end as it begins."
        yield from _not_in(self.outside, OUTSIDE, "outside")
        yield from _not_in(self.interpolation, INTERPOLATIONS, "interpolation")

    @property
    def size(self) -> tuple[int, ...]:
        return (len(self.x),)

    @cached_property
    def rows(self) -> Array:
        """The numbers that are looked up: the curve, then how many breaks it has, and where, with room for all points."""
        return as_array([*self._curve, *_row_of_breaks(self.x, self.breaks)])

    @cached_property
    def _curve(self) -> list[Any]:
        return curve_rows(self.x, self.y, self.interpolation, self.outside == "periodic")

    @cached_property
    def breaks(self) -> tuple[int, ...]:
        """Points at which a time step has to end, since the curve behind them cannot be foreseen from before.

        They are those of straight lines and steps, and of a smooth curve those where a straight piece begins or ends; those of
        pieces that a design may change; all, where all values are the same, as in a pulse that is yet to get its height.
        """
        numbers = np.array(self._curve, dtype=object)
        values = values_of(numbers)
        if len(set(values.reshape(6, -1)[1])) == 1:
            return tuple(range(len(self.x)))
        pieces = varied(numbers).reshape(6, -1)[:5].any(axis=0)  # the areas are those of all pieces before
        moved = np.flatnonzero(pieces | np.roll(pieces, 1))
        return tuple(sorted({*straight_ends(values, self.outside), *moved.tolist()}))

    @property
    def lookup(self) -> Lookup:
        return Lookup(halvings(len(self.x)), self.outside, self.interpolation == "previous", _bits(self.x, self.breaks))

    def curve(self, x: Array) -> Curve:
        """Values and slopes at many places."""
        return spline(self.rows, 0.0, float(len(self.x)), self.lookup, np.asarray(x, dtype=float))

    def __call__(self, x: Any) -> Any:
        return self.curve(x).value

    def overshoot(self) -> tuple[float, float, float, float] | None:
        """The largest swing beyond its points: the interval, the value there, and how far, in parts of its range.

        Between two points of a stretch that rises, falls or is flat a curve should stay between their values; around a
        highest or lowest point it may go beyond them.
        """
        if self.interpolation not in ("cubic", "akima") or len(self.x) < 3 or len(set(self.y)) == 1:
            return None
        x, y = np.array(self.x), np.array(self.y)
        rise = np.pad(np.diff(y), 1)
        counted_in = (rise[:-2] * rise[1:-1] >= 0) & (rise[1:-1] * rise[2:] >= 0)
        at = x[:-1, None] + np.diff(x)[:, None] * np.linspace(0.0, 1.0, 13)
        values = self.curve(at.ravel()).value.reshape(at.shape)
        low, high = np.minimum(y[:-1], y[1:])[:, None], np.maximum(y[:-1], y[1:])[:, None]
        beyond = np.where(counted_in[:, None], np.maximum(low - values, values - high), 0.0)
        i, k = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
        return float(x[i]), float(x[i + 1]), float(values[i, k]), float(beyond[i, k] / np.ptp(y))


@dataclass(frozen=True)
class Grid:
    """z over x and y: ``values`` has a row for each x, with an entry for each y."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    outside: str = "error"
    interpolation: str = "linear"

    arguments = 2

    def problems(self) -> Iterator[str]:
        entries = [*self.x, *self.y, *(value for row in self.values for value in row)]
        if min(len(self.x), len(self.y)) < 2:
            yield f"its table has {len(self.x)} by {len(self.y)} entries. Give two at least of both arguments."
        elif len(self.values) != len(self.x) or any(len(row) != len(self.y) for row in self.values):
            yield f"its values are not {len(self.x)} rows of {len(self.y)}. Give a row for each x, an entry for each y."
        elif not all(map(is_finite, entries)):
            yield "its table has a value that is not finite."
        else:
            yield from _not_increasing(self.x, "x of its table", "x")
            yield from _not_increasing(self.y, "y of its table", "y")
        yield from _not_in(self.outside, OUTSIDE_GRIDS, "outside", " of a table of two arguments")
        yield from _not_in(self.interpolation, ON_GRIDS, "interpolation", " of a table of two arguments")

    @property
    def size(self) -> tuple[int, ...]:
        return len(self.x), len(self.y)

    @cached_property
    def rows(self) -> Array:
        breaks = [number for x, found in zip((self.x, self.y), self.breaks, strict=True) for number in _row_of_breaks(x, found)]
        return as_array([*grid_rows(self.x, self.y, self.values, self.interpolation == "cubic"), *breaks])

    @cached_property
    def breaks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Lines x = x_i and y = y_j at which a time step has to end: where a curve along some column or row has a break.

        Those in which all values are the same have none, unless the whole table is like that.
        """
        columns = tuple(zip(*self.values, strict=True))
        x, y = ((self.x, columns), (self.y, self.values))
        return self._breaks_along(*x), self._breaks_along(*y)

    def _breaks_along(self, x: tuple[float, ...], lines: Sequence[tuple[float, ...]]) -> tuple[int, ...]:
        rows = [as_array(line) for line in lines]
        bent = [line for line, row in zip(lines, rows, strict=True) if varied(row).any() or np.ptp(values_of(row)) > 0.0]
        curves = [Table(x, line, self.outside, self.interpolation) for line in bent or lines[:1]]
        return tuple(sorted({k for curve in curves for k in curve.breaks}))

    @property
    def lookup(self) -> GridLookup:
        (of_x, of_y), steps = self.breaks, (halvings(len(self.x)), halvings(len(self.y)))
        return GridLookup(steps, self.outside, self.interpolation == "cubic", (_bits(self.x, of_x), _bits(self.y, of_y)))

    def __call__(self, x: Any, y: Any) -> Any:
        sizes = float(len(self.x)), float(len(self.y))
        return on_grid(self.rows, 0.0, sizes, self.lookup, (np.asarray(x, dtype=float), np.asarray(y, dtype=float)))


AnyTable = Table | Grid


def _row_of_breaks(x: Sequence[float], breaks: Sequence[int]) -> list[float]:
    """How many there are, and where, with room for all points."""
    return [float(len(breaks)), *(x[k] for k in (*breaks, *[-1] * (len(x) - len(breaks))))]


def _bits(x: Sequence[float], breaks: Sequence[int]) -> int:
    """How many bits tell the numbers of breaks apart: structure, so that it follows from the number of points."""
    return len(x).bit_length() if breaks else 0


def _close(a: float, b: float) -> bool:
    return bool(abs(a - b) <= 1e-12 + 1e-9 * maximum(abs(a), abs(b)))


def _not_increasing(x: Sequence[float], what: str, which: str) -> Iterator[str]:
    for k, (a, b) in enumerate(itertools.pairwise(x)):
        if not a < b:
            yield f"{what} goes from {a:g} to {b:g} in row {k + 2}. Let {which} increase."
            return


def _not_in(value: str, options: Sequence[str], key: str, of: str = "") -> Iterator[str]:
    if value not in options:
        listed = ", ".join(f'"{option}"' for option in options)
        yield f'{key}{of} is "{value}". Give one of {listed}.'
