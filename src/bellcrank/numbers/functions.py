"""Functions over every kind of number. Each asks the number first and falls back to numpy for plain ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dual import Dual
from .symbol import Number, Symbol

_PRODUCTS = 8  # the largest exponent that is written as products


def sqrt(x: Number) -> Number:
    return x.sqrt() if hasattr(x, "sqrt") else np.sqrt(x)


def sincos(x: Number) -> tuple[Number, Number]:
    """sin and cos of an angle in radians, from one range reduction."""
    return x.sincos() if hasattr(x, "sincos") else (np.sin(x), np.cos(x))


def atan2(y: Number, x: Number) -> Number:
    """Angle of the point (x, y)."""
    if isinstance(x, Dual) and not (isinstance(y, Dual) and y.level >= x.level):
        y = type(x).constant(y, len(x.tangents))
    if hasattr(y, "atan2"):
        return y.atan2(x)
    if hasattr(x, "atan2"):  # a constant y over a recorded x
        return x.graph.op("atan2", y, x)
    if np.iscomplexobj(y) or np.iscomplexobj(x):
        return _atan2_complex(complex(y), complex(x))
    return np.arctan2(y, x)


def _atan2_complex(y: complex, x: complex) -> complex:
    """First order in the imaginary parts: what a complex step needs."""
    slope = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return complex(np.arctan2(y.real, x.real), slope)


def exp(x: Number) -> Number:
    return x.exp() if hasattr(x, "exp") else np.exp(x)


def log(x: Number) -> Number:
    """The natural logarithm."""
    return x.log() if hasattr(x, "log") else np.log(x)


def floor(x: Number) -> Number:
    """The whole number below, whose derivative is zero wherever it has one."""
    if hasattr(x, "floor"):
        return x.floor()
    return np.floor(x.real if np.iscomplexobj(x) else x)


def absolute(x: Number) -> Number:
    """|x|; of a complex number, which carries a complex step, x or -x by the sign of its real part."""
    return select(less(x, 0.0), -x, x) if np.iscomplexobj(x) else abs(x)


def power(x: Number, exponent: Number) -> Number:
    """x^exponent; small whole exponents by products."""
    if isinstance(exponent, int | float) and exponent == int(exponent) and 1 <= abs(exponent) <= _PRODUCTS:
        result = x
        for _ in range(abs(int(exponent)) - 1):
            result = result * x
        return result if exponent > 0 else 1.0 / result
    if isinstance(exponent, Dual):
        return exp(exponent * log(x))
    if isinstance(exponent, Symbol) and not isinstance(x, Symbol | Dual):
        return exponent.graph.op("pow", x, exponent)
    plain = isinstance(x, int | float | np.floating | np.ndarray)
    return np.float_power(x, exponent) if plain else x**exponent


def less(a: Number, b: Number) -> Any:
    """a < b; complex numbers compare by their real parts, as a complex step needs, and duals by their values."""
    if type(a) is float and type(b) is float:
        return a < b
    return _ordered(a) < _ordered(b)


def _ordered(x: Number) -> Number:
    while isinstance(x, Dual):
        x = x.value
    return x.real if isinstance(x, complex | np.complexfloating) else x


def both(a: Any, b: Any) -> Any:
    """Two conditions hold; each may be known already."""
    if isinstance(a, bool | np.bool_):
        return b if a else a
    return a & b if not isinstance(b, bool | np.bool_) else a if b else b


def negated(condition: Any) -> Any:
    return not condition if isinstance(condition, bool | np.bool_) else ~condition


def select(condition: Any, a: Number, b: Number) -> Number:
    """a where the condition holds, else b: the only way to act on a value, since recorded numbers cannot branch."""
    if isinstance(condition, bool | np.bool_):
        return a if condition else b
    if isinstance(condition, np.ndarray):
        return np.where(condition, a, b)
    if isinstance(a, Dual) or isinstance(b, Dual):
        return Dual.select(condition, a, b)
    return condition.select(a, b)


def minimum(a: Number, b: Number) -> Number:
    """The smaller of two; not a number if either is not."""
    return _choose("minimum", a, b)


def maximum(a: Number, b: Number) -> Number:
    """The larger of two; not a number if either is not."""
    return _choose("maximum", a, b)


def _choose(which: str, a: Number, b: Number) -> Number:
    if isinstance(a, Dual) or isinstance(b, Dual):
        return Dual.choose(which, a, b)
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        first = less(a, b) if which == "minimum" else less(b, a)
        return a if first or a != a else b  # a != a: not a number
    if hasattr(a, which):
        return getattr(a, which)(b)
    return getattr(b, which)(a) if hasattr(b, which) else getattr(np, which)(a, b)


def gather(table: Any, index: Number, inside: bool = False) -> Number:
    """Entry of a table at the whole part of a number; outside the nearest end, not a number at an index that is not.

    ``inside``: the index is known to be a place of the table, and is not looked at.
    """
    while isinstance(index, Dual):
        index = index.value
    if hasattr(table, "gather"):
        return table.gather(index, inside)
    if isinstance(index, np.ndarray):
        entries = np.asarray(table)[np.clip(np.nan_to_num(index), 0, len(table) - 1).astype(int)]
        return np.where(np.isnan(index), np.nan, entries)
    index = index.real if np.iscomplexobj(index) else index
    if index != index:
        return index
    return table[int(min(max(index, 0), len(table) - 1))]
