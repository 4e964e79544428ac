"""The words in which kernels are written, and the two that understand them: Python on any number, LLVM on recorded ones.

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
from collections.abc import Callable, Sequence
from typing import Any

from ..numbers import Number
from .arrays import Array

Integer = Any  # int, or an integer that is known at run time only
Condition = Any  # bool, or one bit at run time


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
        """``wide``: which of the numbers that pass along are vectors of tangents."""

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
