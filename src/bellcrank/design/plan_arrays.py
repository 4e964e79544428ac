"""The arrays of a plan as functions of the parameters of a design."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numbers.variable import Tape, values_of, varied
from .recorded_map import RecordedMap

Array = NDArray[np.float64]


class PlanArrays:
    """Arrays by name, in which only some entries depend on the parameters.

    The entries that do stand in one vector, array by array: ``entries`` says which they are in each flattened array.
    """

    def __init__(self, tape: Tape, arrays: Mapping[str, NDArray[Any]]):
        self.shapes = {name: array.shape for name, array in arrays.items()}
        masks = {name: varied(array).ravel() for name, array in arrays.items()}
        self.entries = {name: np.flatnonzero(mask) for name, mask in masks.items()}
        ends = np.cumsum([0, *(array.size for array in arrays.values())])
        self._parts = [(name, int(a), int(b), self.shapes[name]) for name, a, b in zip(arrays, ends, ends[1:], strict=False)]
        flat = np.concatenate([np.ravel(array) for array in arrays.values()] or [np.zeros(0)])
        self._template = values_of(flat)
        self._where = np.flatnonzero(np.concatenate([*masks.values(), np.zeros(0, dtype=bool)]))
        self._map = RecordedMap(tape, [*flat[self._where], tape.holds()])

    def evaluate(self, p: Array) -> tuple[dict[str, Array], Any]:
        """The arrays at p (np,) or (B, np), one for each row; whether all is finite and the assumptions of the tape hold."""
        found, finite = self._map.values(p)
        if p.ndim == 1:
            whole = self._template.copy()
            whole[self._where] = found[:-1]
            return self._named(whole, ()), finite and found[-1] == 1.0
        whole = np.tile(self._template, (len(p), 1))
        whole[:, self._where] = found[:, :-1]
        return self._named(whole, p.shape[:-1]), finite & (found[:, -1] == 1.0)

    def rows(self, p: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Only the entries that depend on p, (B, entries), array by array; and of each row whether it is as evaluate says."""
        found, finite = self._map.values(p)
        return np.ascontiguousarray(found[:, :-1]), finite & (found[:, -1] == 1.0)

    def entry_rows(self, name: str, rows: Array) -> Array:
        """One of the arrays at each row of entries, (B, ...)."""
        a, b, shape = next((a, b, shape) for found, a, b, shape in self._parts if found == name)
        whole = np.tile(self._template[a:b], (len(rows), 1))
        mine = (self._where >= a) & (self._where < b)
        whole[:, self._where[mine] - a] = rows[:, mine]
        return whole.reshape(len(rows), *shape)

    def tangents(self, p: Array) -> dict[str, Array]:
        """Derivatives of the arrays by each parameter, which is the last axis."""
        rows, count = np.atleast_2d(p), p.shape[-1]
        along = self._map.along(np.repeat(rows, count, axis=0), np.tile(np.eye(count), (len(rows), 1)))
        whole = np.zeros((len(rows), len(self._template), count))
        whole[:, self._where] = np.swapaxes(along.reshape(len(rows), count, -1), 1, 2)[:, :-1]
        return self._named(whole.reshape(*p.shape[:-1], *whole.shape[1:]), p.shape[:-1], (count,))

    def gradient(self, p: Array, bars: Mapping[str, Array]) -> Array:
        """Adjoints of the parameters, (np,), from those of the arrays: the sum of bar * d(entry)/dp over all entries."""
        whole = np.zeros(len(self._template))
        for name, a, b, _ in self._parts:
            if name in bars:
                whole[a:b] = np.ravel(bars[name])[: b - a]
        return self._map.gradient(p, np.append(whole[self._where], 0.0))

    def _named(self, whole: Array, first: tuple[int, ...], last: tuple[int, ...] = ()) -> dict[str, Array]:
        if not first and not last:
            return {name: whole[a:b].reshape(shape) for name, a, b, shape in self._parts}
        places = (slice(None),) * len(first)
        return {name: whole[(*places, slice(a, b))].reshape(*first, *shape, *last) for name, a, b, shape in self._parts}
