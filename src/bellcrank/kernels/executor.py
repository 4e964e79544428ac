"""The vocabulary ("words") of kernels, and its two executors: Python on any number, LLVM on recorded numbers.

array      a declared array: read ``A[i]``, ``A[i, j]``, ``A[i, "name"]``, written likewise
count      how many there are of something: bodies, closures, nodes
each       for k = start .. stop-1: nothing passes around but memory
fold       the same with numbers that pass from one to the next
loop       for k = 0 .. count-1, at least once, or from the last to the first, with a message that passes along
switch     one case of several, by an integer
when       one of two, by a condition; ``any_lane`` makes one of a comparison of numbers
repeat     while a condition holds

Integers have the usual operators; with LLVM they may be known while the kernel is written, and fold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..numbers import Number
from .arrays import Array

Integer = Any  # int, or an integer that is known at run time only
Condition = Any  # bool, or one bit at run time
Address = Any  # of numbers in the memory of a run: see StepExecutor


class Executor(ABC):
    lanes: int
    tangents: int  # of every active number
    folds: bool  # constants fold while a kernel is written: what is constant is found by rehearsal

    @abstractmethod
    def array(self, declaration: Array) -> Any: ...

    @abstractmethod
    def count(self, name: str) -> Integer: ...

    @abstractmethod
    def each(self, start: Integer, stop: Integer, body: Callable[[Integer], None]) -> None: ...

    @abstractmethod
    def fold(
        self, start: Integer, stop: Integer, first: Sequence[Number], body: Callable[[Integer, list[Number]], Sequence[Number]]
    ) -> list[Number]: ...

    @abstractmethod
    def loop(
        self,
        count: Integer,
        carry: Sequence[Number],
        body: Callable[[Integer, list[Number]], Sequence[Number]],
        inward: bool,
        wide: Sequence[bool] = (),
    ) -> None:
        """A loop with a message; ``wide``: which of its numbers are vectors of tangents."""

    @abstractmethod
    def switch(
        self, code: Integer, cases: Sequence[Callable[[], Sequence[Number]]], wide: Sequence[bool] = ()
    ) -> list[Number]: ...

    @abstractmethod
    def when(self, condition: Condition, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None: ...

    @abstractmethod
    def repeat(self, condition: Callable[[], Condition], body: Callable[[], None]) -> None: ...

    @abstractmethod
    def any_lane(self, condition: Any) -> Condition:
        """Whether a comparison of numbers holds in any of the lanes."""

    @abstractmethod
    def where(self, i: Integer, j: Integer, x: Number) -> Number:
        """x where two integers are equal, else zero."""

    @abstractmethod
    def once(self, origin: tuple[Any, ...], index: Integer, read: Callable[[], Number]) -> Number:
        """A number that nothing changes, read once; ``origin`` says where, so that it can be read again."""

    @abstractmethod
    def start_pass(self) -> None:
        """A pass over all nodes begins: what was sent before it may be overwritten after it."""

    @abstractmethod
    def table(self, array: Any, length: Integer, tangents: Any = None) -> Any:
        """Numbers for ``numbers.gather``, perhaps with the array of their tangents."""

    @abstractmethod
    def total(self, start: Integer, stop: Integer, term: Callable[[Integer], Number]) -> Number:
        """Sum of the terms."""


class StepExecutor(Executor):
    """Words that steps through time need besides, on the memory of a run: addresses of numbers, one behind the other.

    ``base[i]``          the i-th vector from an address on: neighbours of one state, or a number of every lane
    ``base.at(k)``       the address of its k-th double; ``base.integer(i)`` and ``put_integer`` of arrays of integers
    """

    @property
    @abstractmethod
    def zero(self) -> Number:
        """One that does not fold: 0 x is not zero where x is not finite."""

    @abstractmethod
    def read(self, base: Any, i: Integer) -> Number:
        """The i-th number, in all places of a vector of one state."""

    @abstractmethod
    def write(self, x: Number, base: Any, i: Integer) -> None: ...

    @abstractmethod
    def number_of(self, i: Integer) -> Number:
        """An integer as a number."""

    @abstractmethod
    def added_up(self, x: Number) -> Number:
        """The sum of the neighbours of one state; in lanes the number itself, and so for ``largest``."""

    @abstractmethod
    def largest(self, x: Number) -> Number: ...

    @abstractmethod
    def power(self, x: Number, exponent: float) -> Number: ...

    @abstractmethod
    def of_lanes(self, base: Any, place: Callable[[int], Integer]) -> Number:
        """A vector with a double from each lane, each at a place of its own."""

    @abstractmethod
    def put_of_lane(self, x: Number, lane: int, base: Any, i: Integer) -> None: ...

    @abstractmethod
    def one_if(self, condition: Any, lane: int) -> Integer:
        """One where a comparison holds in a lane, else zero."""

    @abstractmethod
    def place_if(self, condition: Any, lane: int, i: Integer, j: Integer) -> Integer:
        """i where a comparison holds in a lane, else j."""

    @abstractmethod
    def smaller(self, i: Integer, j: Integer) -> Integer: ...

    @abstractmethod
    def equal(self, i: Integer, j: Integer) -> Condition: ...

    @abstractmethod
    def unequal(self, i: Integer, j: Integer) -> Condition: ...

    @abstractmethod
    def all_of(self, *bits: Condition) -> Condition: ...

    @abstractmethod
    def any_of(self, *bits: Condition) -> Condition: ...

    @abstractmethod
    def call(self, name: str, integers: Sequence[Integer], arrays: Mapping[str, Any]) -> None:
        """A kernel, or another function, on arrays that begin at these addresses."""

    @abstractmethod
    def call_back(self, function: Integer, argument: Integer, failed: Callable[[], None]) -> None:
        """A function of the caller's that takes an address and returns one; zero if it failed."""
