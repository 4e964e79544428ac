"""Dual numbers: one value and a vector of tangents, over any other kind of number.

Differentiating a recursion by them is Anderson & Hsu's fully recursive sensitivity (EQUATIONS 2.2): the value pass is
shared, and each tangent costs O(n). Tangents that are exactly zero and constant stay so when they are recorded symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from .symbol import Condition, Number, Symbol

_NUMBERS = (float, int, complex, np.number, Symbol)


class Dual:
    """value + sum_k tangents[k] eps_k,  eps_j eps_k = 0.

    Duals of different levels have different eps: to one of a higher level (Rate), one of a lower level is a number.
    """

    __slots__ = ("tangents", "value")
    __array_ufunc__ = None
    level = 0

    def __init__(self, value: Number, tangents: Sequence[Number]):
        self.value = value
        self.tangents = tuple(tangents)

    @classmethod
    def constant(cls, value: Number, size: int) -> Dual:
        return cls(value, (0.0,) * size)

    @classmethod
    def seeds(cls, values: Sequence[Number]) -> list[Dual]:
        """Independent variables: the tangents of the k-th are the k-th row of the identity."""
        n = len(values)
        ones = [type(x)(1) if isinstance(x, np.number) else 1.0 for x in values]  # as precise as the value
        return [cls(x, [ones[k] if j == k else 0.0 for j in range(n)]) for k, x in enumerate(values)]

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.tangents!r})"

    def _map(self, value: Number, slope: Number) -> Dual:
        return type(self)(value, [slope * t for t in self.tangents])

    def _alike(self, other: Any) -> TypeGuard[Dual]:
        return isinstance(other, Dual) and other.level == self.level

    def _is_number(self, other: Any) -> bool:
        """To this one."""
        return isinstance(other, _NUMBERS) or (isinstance(other, Dual) and other.level < self.level)

    def __add__(self, other: Number) -> Dual:
        if self._alike(other):
            return type(self)(self.value + other.value, [s + t for s, t in zip(self.tangents, other.tangents, strict=True)])
        return type(self)(self.value + other, self.tangents) if self._is_number(other) else NotImplemented

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return type(self)(-self.value, [-t for t in self.tangents])

    def __sub__(self, other: Number) -> Dual:
        if self._alike(other):
            return type(self)(self.value - other.value, [s - t for s, t in zip(self.tangents, other.tangents, strict=True)])
        return type(self)(self.value - other, self.tangents) if self._is_number(other) else NotImplemented

    def __rsub__(self, other: Number) -> Dual:
        return type(self)(other - self.value, [-t for t in self.tangents])

    def __mul__(self, other: Number) -> Dual:
        if self._alike(other):
            a, b = self.value, other.value
            return type(self)(a * b, [s * b + a * t for s, t in zip(self.tangents, other.tangents, strict=True)])
        if not self._is_number(other):
            return NotImplemented
        return type(self)(self.value * other, [t * other for t in self.tangents])

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Dual:
        if self._alike(other):
            value, inverse = self.value / other.value, 1.0 / other.value
            return type(self)(value, [(s - value * t) * inverse for s, t in zip(self.tangents, other.tangents, strict=True)])
        if not self._is_number(other):
            return NotImplemented
        if isinstance(other, Symbol | Dual):
            return self._map(self.value / other, 1.0 / other)  # one division
        return type(self)(self.value / other, [t / other for t in self.tangents])

    def __rtruediv__(self, other: Number) -> Dual:
        value = other / self.value
        return self._map(value, -(value / self.value))

    def __pow__(self, exponent: Number) -> Dual:
        if not isinstance(exponent, _NUMBERS):
            return NotImplemented
        return self._map(self.value**exponent, exponent * self.value ** (exponent - 1))

    def __abs__(self) -> Dual:
        return Dual.select(self.value < 0.0, -self, self)

    def sqrt(self) -> Dual:
        from .functions import sqrt

        root = sqrt(self.value)
        return self._map(root, 0.5 / root)

    def sincos(self) -> tuple[Dual, Dual]:
        from .functions import sincos

        s, c = sincos(self.value)
        return self._map(s, c), self._map(c, -s)

    def exp(self) -> Dual:
        from .functions import exp

        value = exp(self.value)
        return self._map(value, value)

    def log(self) -> Dual:
        from .functions import log

        return self._map(log(self.value), 1.0 / self.value)

    def floor(self) -> Number:
        """The floor of a number, whose slope is zero wherever it has one."""
        from .functions import floor

        return floor(self.value)

    def atan2(self, x: Number) -> Dual:
        from .functions import atan2

        x = self._lifted(x)
        a, b = self.value, x.value
        scale = 1.0 / (a * a + b * b)
        slopes = [(b * s - a * t) * scale for s, t in zip(self.tangents, x.tangents, strict=True)]
        return type(self)(atan2(a, b), slopes)

    def _lifted(self, x: Number) -> Dual:
        """A number as one of this kind."""
        return x if self._alike(x) else type(self).constant(x, len(self.tangents))

    def _other(self, x: Number) -> Number:
        """The number with which a value is compared."""
        return x.value if self._alike(x) else x if self._is_number(x) else NotImplemented

    def __lt__(self, other: Number) -> Any:
        x = self._other(other)
        return x if x is NotImplemented else self.value < x

    def __gt__(self, other: Number) -> Any:
        x = self._other(other)
        return x if x is NotImplemented else self.value > x

    def __le__(self, other: Number) -> Any:
        x = self._other(other)
        return x if x is NotImplemented else self.value <= x

    def __ge__(self, other: Number) -> Any:
        x = self._other(other)
        return x if x is NotImplemented else self.value >= x

    @staticmethod
    def choose(which: str, a: Number, b: Number) -> Dual:
        """minimum or maximum: the value as of any number, the tangents those of the side that was chosen."""
        from . import functions

        kind = _highest(a, b)
        first = functions.less(a, b) if which == "minimum" else functions.less(b, a)
        values = [kind._lifted(x).value for x in (a, b)]
        return type(kind)(getattr(functions, which)(*values), Dual.select(first, a, b).tangents)

    @staticmethod
    def select(condition: Condition | bool, a: Number, b: Number) -> Dual:
        """Element by element: a kink takes the derivative of the side that was chosen."""
        from .functions import select

        kind = _highest(a, b)
        a, b = kind._lifted(a), kind._lifted(b)
        tangents = [select(condition, s, t) for s, t in zip(a.tangents, b.tangents, strict=True)]
        return type(kind)(select(condition, a.value, b.value), tangents)


class Rate(Dual):
    """A value and its rate, over numbers that may be duals themselves."""

    __slots__ = ()
    level = 1


class SecondRate(Dual):
    """A value and its rate, over numbers that may be rates themselves: for second derivatives."""

    __slots__ = ()
    level = 2


def _highest(a: Number, b: Number) -> Dual:
    """The dual of the highest level; at least one of the two numbers is a dual."""
    found: Dual = max((x for x in (a, b) if isinstance(x, Dual)), key=lambda x: x.level)
    return found
