"""Dual numbers: one value and a vector of tangents, over any other kind of number.

Differentiating a recursion by them is Anderson & Hsu's fully recursive sensitivity (EQUATIONS 2.2): the value pass is
shared, and each tangent costs O(n). Tangents that are exactly zero and constant stay so when they are recorded symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .symbol import Condition, Number, Symbol

_NUMBERS = (float, int, complex, np.number, Symbol)


class Dual:
    """value + sum_k tangents[k] eps_k,  eps_j eps_k = 0."""

    __slots__ = ("tangents", "value")
    __array_ufunc__ = None

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
        return Dual(value, [slope * t for t in self.tangents])

    def __add__(self, other: Number) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, [s + t for s, t in zip(self.tangents, other.tangents, strict=True)])
        return Dual(self.value + other, self.tangents) if isinstance(other, _NUMBERS) else NotImplemented

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, [-t for t in self.tangents])

    def __sub__(self, other: Number) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value - other.value, [s - t for s, t in zip(self.tangents, other.tangents, strict=True)])
        return Dual(self.value - other, self.tangents) if isinstance(other, _NUMBERS) else NotImplemented

    def __rsub__(self, other: Number) -> Dual:
        return Dual(other - self.value, [-t for t in self.tangents])

    def __mul__(self, other: Number) -> Dual:
        if isinstance(other, Dual):
            a, b = self.value, other.value
            return Dual(a * b, [s * b + a * t for s, t in zip(self.tangents, other.tangents, strict=True)])
        return Dual(self.value * other, [t * other for t in self.tangents]) if isinstance(other, _NUMBERS) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Dual:
        if isinstance(other, Dual):
            value, inverse = self.value / other.value, 1.0 / other.value
            return Dual(value, [(s - value * t) * inverse for s, t in zip(self.tangents, other.tangents, strict=True)])
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        inverse = 1.0 / other
        return Dual(self.value / other, [t * inverse for t in self.tangents])

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

    def atan2(self, x: Number) -> Dual:
        from .functions import atan2

        x = x if isinstance(x, Dual) else Dual.constant(x, len(self.tangents))
        a, b = self.value, x.value
        scale = 1.0 / (a * a + b * b)
        slopes = [(b * s - a * t) * scale for s, t in zip(self.tangents, x.tangents, strict=True)]
        return Dual(atan2(a, b), slopes)

    def __lt__(self, other: Number) -> Any:
        return self.value < (other.value if isinstance(other, Dual) else other)

    def __gt__(self, other: Number) -> Any:
        return self.value > (other.value if isinstance(other, Dual) else other)

    def __le__(self, other: Number) -> Any:
        return self.value <= (other.value if isinstance(other, Dual) else other)

    def __ge__(self, other: Number) -> Any:
        return self.value >= (other.value if isinstance(other, Dual) else other)

    @staticmethod
    def choose(which: str, a: Number, b: Number) -> Dual:
        """minimum or maximum: the value as of any number, the tangents those of the side that was chosen."""
        from . import functions

        first = functions.less(a, b) if which == "minimum" else functions.less(b, a)
        values = [x.value if isinstance(x, Dual) else x for x in (a, b)]
        return Dual(getattr(functions, which)(*values), Dual.select(first, a, b).tangents)

    @staticmethod
    def select(condition: Condition | bool, a: Number, b: Number) -> Dual:
        """Element by element: a kink takes the derivative of the side that was chosen."""
        from .functions import select

        size = len(a.tangents) if isinstance(a, Dual) else len(b.tangents)
        a = a if isinstance(a, Dual) else Dual.constant(a, size)
        b = b if isinstance(b, Dual) else Dual.constant(b, size)
        tangents = [select(condition, s, t) for s, t in zip(a.tangents, b.tangents, strict=True)]
        return Dual(select(condition, a.value, b.value), tangents)
