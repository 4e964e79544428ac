"""A number that records what is done to it.

A Symbol belongs to a Graph, which decides what recording means: counting (numbers.counting) or writing machine code
(kernels.emitter). What is known while recording folds away here, once for all graphs:

    0*x = 0    1*x = x    x + 0 = x    x - x = 0    -(-x) = x    a + (-b) = a - b    the same operation twice = once

0*x folds even if x could become infinite: a structural zero means "not there". That is what makes an algorithm written
for any joint cost only what a given joint needs.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Number: TypeAlias = Any  # float, longdouble, complex, Symbol or Dual: whatever has the usual operators

WIDE = "%."  # how the names of vectors of tangents start, where values are scalars

_PLAIN = (float, int, np.floating, np.integer)


def is_constant(x: Number) -> bool:
    """True for a number whose value is known while recording."""
    return not isinstance(x, Symbol)


def _key(x: Number) -> str | float:
    """Equal for what is the same; minus zero is not zero (the two differ by pi in atan2)."""
    if type(x) is Symbol or type(x) is Condition:  # isinstance takes twice as long, of all that recording takes
        return x.ref
    if isinstance(x, Symbol | Condition):
        return x.ref
    value = float(x)
    return value if value != 0 else str(value)


class Graph:
    """A record of the operations of symbols; the same operation on the same operands is recorded once."""

    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], Any] = {}  # Symbol or Condition
        self._count = 0

    def record(self, kind: str, args: tuple[Number, ...]) -> str:
        """Record one operation and return the name of its result."""
        raise NotImplementedError

    def name(self, wide: bool = False) -> str:
        self._count += 1
        return f"{WIDE}{self._count}" if wide else f"%v{self._count}"

    def forget(self) -> None:
        """Results recorded so far may not be used again (the flow of control has moved on)."""
        self.known = {}

    def op(self, kind: str, *args: Number) -> Symbol:
        key = (kind, *map(_key, args))
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.number(self.record(kind, args), kind, args)
        return found

    def binary(self, kind: str, a: Number, b: Number, commutes: bool = False) -> Symbol:
        """The result of ``op`` on two numbers: nearly all of what is recorded."""
        x = a.ref if type(a) is Symbol else _key(a)
        y = b.ref if type(b) is Symbol else _key(b)
        key = (kind, x, y)
        found = self.known.get(key)
        if found is None and commutes:
            found = self.known.get((kind, y, x))
        if found is None:
            args = (a, b)
            found = self.known[key] = self.number(self.record(kind, args), kind, args)
        return found

    def number(self, ref: Any, kind: str, args: tuple[Any, ...], minus: Symbol | None = None) -> Symbol:
        """The number that an operation made."""
        return Symbol(self, ref, kind, args, minus)

    def compare(self, kind: str, *args: Number) -> Condition:
        key = (kind, *[_key(a) for a in args])
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Condition(self, self.record(kind, args))
        return found


class Symbol:
    """A number on a Graph: ``kind`` and ``args`` say how it was made, ``minus`` is the symbol that it is the negative of."""

    __slots__ = ("args", "graph", "kind", "minus", "ref")
    __array_ufunc__: Any = None  # numpy scalars on the left give way to the operators below

    def __init__(self, graph: Graph, ref: Any, kind: str = "input", args: tuple[Any, ...] = (), minus: Symbol | None = None):
        self.graph = graph
        self.ref = ref
        self.kind = kind
        self.args = args
        self.minus = minus

    def __repr__(self) -> str:
        return f"Symbol({self.ref}, {self.kind})"

    @property
    def wide(self) -> bool:
        """A vector of tangents, beside values that are scalars."""
        return self.ref.startswith(WIDE)

    def __add__(self, other: Number) -> Number:
        if isinstance(other, Symbol):
            if other.minus is not None:
                return self - other.minus
        elif not isinstance(other, _PLAIN):
            return NotImplemented
        elif other == 0:
            return self
        if self.minus is not None:
            return other - self.minus
        return self.graph.binary("fadd", self, other, commutes=True)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        if isinstance(other, Symbol):
            if other is self:
                return 0.0
            if other.minus is not None:
                return self + other.minus
        elif not isinstance(other, _PLAIN):
            return NotImplemented
        elif other == 0:
            return self
        if self.minus is not None:
            return -(self.minus + other)
        return self.graph.binary("fsub", self, other)

    def __rsub__(self, other: Number) -> Number:
        if not isinstance(other, _PLAIN):
            return NotImplemented
        if other == 0:
            return -self
        if self.minus is not None:
            return self.minus + other
        return self.graph.binary("fsub", other, self)

    def __mul__(self, other: Number) -> Number:
        if isinstance(other, Symbol):
            if other.minus is not None:
                return -(self * other.minus)
        elif not isinstance(other, _PLAIN):
            return NotImplemented
        elif other == 0:
            return 0.0
        elif other == 1:
            return self
        elif other == -1:
            return -self
        if self.minus is not None:
            return -(self.minus * other)
        return self.graph.binary("fmul", self, other, commutes=True)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Number:
        if isinstance(other, _PLAIN):
            return self * (1.0 / float(other)) if other in (1, -1, 2, 4, 0.5) else self.graph.binary("fdiv", self, other)
        if not isinstance(other, Symbol):
            return NotImplemented
        return self.graph.binary("fdiv", self, other)

    def __rtruediv__(self, other: Number) -> Number:
        if not isinstance(other, _PLAIN):
            return NotImplemented
        return 0.0 if other == 0 else self.graph.binary("fdiv", other, self)

    def __neg__(self) -> Symbol:
        if self.minus is not None:
            return self.minus
        key = ("fneg", self.ref)
        found = self.graph.known.get(key)
        if found is None:
            ref = self.graph.record("fneg", (self,))
            found = self.graph.known[key] = self.graph.number(ref, "fneg", (self,), minus=self)
        return found

    def __abs__(self) -> Symbol:
        return self.graph.op("fabs", self)

    def sqrt(self) -> Symbol:
        return self.graph.op("sqrt", self)

    def sincos(self) -> tuple[Symbol, Symbol]:
        return self.graph.op("sin", self), self.graph.op("cos", self)

    def atan2(self, x: Number) -> Symbol:
        return self.graph.op("atan2", self, x)

    def exp(self) -> Symbol:
        return self.graph.op("exp", self)

    def log(self) -> Symbol:
        return self.graph.op("log", self)

    def floor(self) -> Symbol:
        return self.graph.op("floor", self)

    def minimum(self, other: Number) -> Symbol:
        return self.graph.binary("minimum", self, other, commutes=True)

    def maximum(self, other: Number) -> Symbol:
        return self.graph.binary("maximum", self, other, commutes=True)

    def __pow__(self, exponent: Number) -> Number:
        if exponent == 2:
            return self * self
        return self.graph.op("pow", self, exponent)

    def _compare(self, kind: str, other: Number) -> Condition:
        return self.graph.compare(kind, self, other) if isinstance(other, (Symbol, *_PLAIN)) else NotImplemented

    def __lt__(self, other: Number) -> Condition:
        return self._compare("olt", other)

    def __le__(self, other: Number) -> Condition:
        return self._compare("ole", other)

    def __gt__(self, other: Number) -> Condition:
        return self._compare("ogt", other)

    def __ge__(self, other: Number) -> Condition:
        return self._compare("oge", other)

    def __bool__(self) -> bool:
        raise TypeError("a recorded number has no value to branch on: use select(condition, a, b)")

    def __float__(self) -> float:
        raise TypeError("a recorded number has no value to make a float of: use the functions of bellcrank.numbers")


class Condition:
    """The outcome of a comparison of symbols; only ``select`` can act on it."""

    __slots__ = ("graph", "ref")

    def __init__(self, graph: Graph, ref: Any):
        self.graph = graph
        self.ref = ref

    def __and__(self, other: Condition) -> Condition:
        return self.graph.compare("and", self, other)

    def __or__(self, other: Condition) -> Condition:
        return self.graph.compare("or", self, other)

    def __invert__(self) -> Condition:
        return self.graph.compare("not", self)

    def select(self, a: Number, b: Number) -> Number:
        if a is b or (is_constant(a) and is_constant(b) and a == b):
            return a
        return self.graph.op("select", self, a, b)

    def __bool__(self) -> bool:
        raise TypeError("a recorded comparison has no value to branch on: use select(condition, a, b)")
