"""The words of kernels as Python, on any number: for debugging, counting, derivatives, and precision beyond double."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..numbers import Number, power
from .arrays import Array
from .executor import Executor, StepExecutor


class Stored:
    """A declared array as a list of numbers of any kind."""

    __slots__ = ("place", "values", "width")

    def __init__(self, declaration: Array, values: list[Any], width: int):
        self.values, self.width, self.place = values, width, declaration.place

    def __getitem__(self, place: Any) -> Any:
        if type(place) is int:
            return self.values[place]
        row, column = place
        return self.values[row * self.width + (self.place[column] if type(column) is str else column)]

    def __setitem__(self, place: Any, x: Any) -> None:
        self.values[place if type(place) is int else self._at(place)] = x

    def fetch(self, place: Any, wide: bool) -> Any:
        return self[place]

    def store(self, place: Any, wide: bool, x: Any) -> None:
        self[place] = x

    def _at(self, place: Any) -> int:
        row, column = place
        return row * self.width + (self.place[column] if type(column) is str else column)


class PythonExecutor(Executor):
    """Runs kernels in Python. ``values``: numbers of tables, data and inputs by name; other arrays start with zeros."""

    lanes, tangents, folds = 1, 0, False

    def __init__(self, counts: Mapping[str, int], values: Mapping[str, list[Any]]):
        self.counts, self.values = counts, dict(values)

    def array(self, declaration: Array) -> Stored:
        name = declaration.name
        if name not in self.values:
            self.values[name] = [0 if declaration.integers else 0.0] * declaration.size(self.counts)
        width = declaration.width
        return Stored(declaration, self.values[name], self.counts[width] if isinstance(width, str) else width)

    def count(self, name: str) -> int:
        return self.counts[name]

    def each(self, start: int, stop: int, body: Callable[[int], None]) -> None:
        for k in range(start, stop):
            body(k)

    def fold(
        self, start: int, stop: int, first: Sequence[Number], body: Callable[[int, list[Number]], Sequence[Number]]
    ) -> list[Number]:
        values = list(first)
        for k in range(start, stop):
            values = list(body(k, values))
        return values

    def total(self, start: int, stop: int, term: Callable[[int], Number]) -> Number:
        result: Number = 0.0
        for k in range(start, stop):
            result = result + term(k)
        return result

    def loop(
        self,
        count: int,
        carry: Sequence[Number],
        body: Callable[[int, list[Number]], Sequence[Number]],
        inward: bool,
        wide: Sequence[bool] = (),
    ) -> None:
        for k in reversed(range(count)) if inward else range(count):
            carry = body(k, list(carry))

    def switch(self, code: int, cases: Sequence[Callable[[], Sequence[Number]]], wide: Sequence[bool] = ()) -> list[Number]:
        return list(cases[code]())

    def when(self, condition: bool, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        if condition:
            then()
        elif otherwise is not None:
            otherwise()

    def repeat(self, condition: Callable[[], bool], body: Callable[[], None]) -> None:
        while condition():
            body()

    def any_lane(self, condition: Any) -> bool:
        return bool(condition)

    def where(self, i: int, j: int, x: Number) -> Number:
        return x if i == j else 0.0

    def once(self, origin: tuple[Any, ...], index: int, read: Callable[[], Number]) -> Number:
        return read()

    def start_pass(self) -> None:
        """Nothing is overwritten."""

    def table(self, array: Stored, length: int, tangents: Stored | None = None) -> list[Any]:
        return array.values


class Numbers:
    """Numbers of a list or an array, from a place on."""

    __slots__ = ("start", "values")

    def __init__(self, values: Any, start: int = 0):
        self.values, self.start = values, start

    def at(self, k: int) -> Numbers:
        return Numbers(self.values, self.start + k)

    def __getitem__(self, i: int) -> Any:
        return self.values[self.start + i]

    def __setitem__(self, i: int, x: Any) -> None:
        self.values[self.start + i] = x

    def first(self, count: int) -> Any:
        """The first ``count`` numbers."""
        return self.values[self.start :][:count]

    def vector(self) -> Any:
        return self[0]

    def put_vector(self, x: Any) -> None:
        self[0] = x

    def integer(self, i: int) -> int:
        return int(self[i])

    put_integer = __setitem__


Function = Callable[[Sequence[int], Mapping[str, Numbers]], None]


class StepsInPython(PythonExecutor, StepExecutor):
    """Runs steps in Python. ``functions``: those that are called, by name, on integers and arrays."""

    zero = 0.0

    def __init__(self, functions: Mapping[str, Function]):
        super().__init__({}, {})
        self.functions = functions

    def read(self, base: Numbers, i: int) -> Number:
        return base[i]

    def write(self, x: Number, base: Numbers, i: int) -> None:
        base[i] = x

    def number_of(self, i: int) -> Number:
        return float(i)

    def added_up(self, x: Number) -> Number:
        return x

    def largest(self, x: Number) -> Number:
        return x

    def power(self, x: Number, exponent: float) -> Number:
        return power(x, exponent)

    def of_lanes(self, base: Numbers, place: Callable[[int], int]) -> Number:
        return base[place(0)]

    def put_of_lane(self, x: Number, lane: int, base: Numbers, i: int) -> None:
        base[i] = x

    def one_if(self, condition: Any, lane: int) -> int:
        return int(condition)

    def place_if(self, condition: Any, lane: int, i: int, j: int) -> int:
        return i if condition else j

    def smaller(self, i: int, j: int) -> int:
        return min(i, j)

    def equal(self, i: int, j: int) -> bool:
        return i == j

    def unequal(self, i: int, j: int) -> bool:
        return i != j

    def all_of(self, *bits: bool) -> bool:
        return all(bits)

    def any_of(self, *bits: bool) -> bool:
        return any(bits)

    def call(self, name: str, integers: Sequence[int], arrays: Mapping[str, Numbers]) -> None:
        self.functions[name](integers, arrays)

    def call_back(self, function: int, argument: int, failed: Callable[[], None]) -> None:
        """Calls a function of the caller; what it raises is not caught."""
        ctypes.cast(argument, ctypes.py_object).value()
