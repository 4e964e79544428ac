"""Ranges of formulas over intervals of time: every value that an operation can have there lies between ``low`` and ``high``.

Interval arithmetic (Moore, Interval Analysis, 1966) over arrays of intervals, without directed rounding: it shows where a
formula can change at all, and bounds no error. A range that does not follow from the time alone is not ``known``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....numbers.operations import COMPARISONS

Array = NDArray[np.float64]
Bounds = tuple[Any, Any]


class Range(NamedTuple):
    low: Array
    high: Array
    known: bool = True


UNKNOWN = Range(np.array(-np.inf), np.array(np.inf), known=False)


def as_range(x: Any) -> Range:
    return x if isinstance(x, Range) else Range(np.asarray(x, dtype=float), np.asarray(x, dtype=float))


def apply(operation: str, operands: list[Any]) -> Range:
    """The result of an operation on ranges, or on numbers."""
    ranges = [as_range(x) for x in operands]
    if operation not in _RULES or not all(x.known for x in ranges):
        return UNKNOWN
    low, high = _RULES[operation](*ranges)
    return Range(np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high))


def _hull(*values: Any) -> Bounds:
    return _least(*values), _most(*values)


def _least(*values: Any) -> Array:
    return np.asarray(np.minimum.reduce(np.broadcast_arrays(*values)))


def _most(*values: Any) -> Array:
    return np.asarray(np.maximum.reduce(np.broadcast_arrays(*values)))


def _times(a: Range, b: Range) -> Bounds:
    return _hull(*(np.where((x == 0) | (y == 0), 0.0, x * y) for x in a[:2] for y in b[:2]))


def _over(a: Range, b: Range) -> Bounds:
    around = (b.low <= 0) & (b.high >= 0)
    low, high = _hull(*(x / y for x in a[:2] for y in b[:2]))
    return np.where(around, -np.inf, low), np.where(around, np.inf, high)


def _rising(f: Callable[[Any], Any]) -> Callable[[Range], Bounds]:
    return lambda x: (f(x.low), f(x.high))


def _sine(x: Range, phase: float = 0.0) -> Bounds:
    """Between its values at both ends, or up to a crest or trough in between."""
    a, b = x.low + phase, x.high + phase

    def passes(place: float) -> Any:
        return np.floor((b - place) / math.tau) > np.floor((a - place) / math.tau)

    low, high = _hull(np.sin(a), np.sin(b))
    return np.where(passes(-0.5 * math.pi), -1.0, low), np.where(passes(0.5 * math.pi), 1.0, high)


def _tangent(x: Range) -> Bounds:
    """Rising between its poles."""
    pole = np.floor((x.high + 0.5 * math.pi) / math.pi) > np.floor((x.low + 0.5 * math.pi) / math.pi)
    return np.where(pole, -np.inf, np.tan(x.low)), np.where(pole, np.inf, np.tan(x.high))


def _angle(y: Range, x: Range) -> Bounds:
    """The range of atan2: in the right half-plane it rises with y and is monotonic in x."""
    low, high = _hull(*(np.arctan2(b, a) for b in y[:2] for a in x[:2]))
    return np.where(x.low > 0, low, -math.pi), np.where(x.low > 0, high, math.pi)


def _absolute(x: Range) -> Bounds:
    low, high = _hull(np.abs(x.low), np.abs(x.high))
    return np.where((x.low < 0) & (x.high > 0), 0.0, low), high


def _to_the(x: Range, n: Range) -> Bounds:
    exponent = float(n.low.flat[0])
    if not np.all(n.low == n.high) or not np.all(n.low == exponent):
        return _rising(np.exp)(Range(*_times(n, Range(np.log(x.low), np.log(x.high)))))
    if exponent < 0:
        return _over(as_range(1.0), Range(*_to_the(x, as_range(-exponent))))
    base = Range(*_absolute(x)) if exponent % 2 == 0 else x
    return base.low**exponent, base.high**exponent


def _modulo(a: Range, b: Range) -> Bounds:
    first, last = np.floor(a.low / b.low), np.floor(a.high / b.low)
    same = (b.low == b.high) & (b.low > 0) & (first == last)
    return np.where(same, a.low - b.low * first, 0.0), np.where(same, a.high - b.low * first, np.maximum(b.high, 0.0))


def _smoothstep(x: Range, a: Range, b: Range) -> Bounds:
    part = Range(*_over(Range(x.low - a.high, x.high - a.low), Range(b.low - a.high, b.high - a.low)))
    low, high = (np.clip(s, 0.0, 1.0) for s in part[:2])
    return low * low * (3.0 - 2.0 * low), high * high * (3.0 - 2.0 * high)


def _chosen(where: Range, a: Range, b: Range) -> Bounds:
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    yes, no = where.low > 0, where.high <= 0
    return np.where(yes, a.low, np.where(no, b.low, low)), np.where(yes, a.high, np.where(no, b.high, high))


def _compared(operation: str) -> Callable[[Range, Range], Bounds]:
    """Truth as a number: 0, 1, or both."""
    if operation in ("==", "!="):
        return lambda a, b: (np.zeros_like(a.low + b.low), np.ones_like(a.low + b.low))
    if operation in ("<", "<="):
        return lambda a, b: ((a.high < b.low) * 1.0, (a.low <= b.high) * 1.0)
    return lambda a, b: ((a.low > b.high) * 1.0, (a.high >= b.low) * 1.0)


_RULES: dict[str, Callable[..., Bounds]] = {
    "neg": lambda x: (-x.high, -x.low),
    "+": lambda a, b: (a.low + b.low, a.high + b.high),
    "-": lambda a, b: (a.low - b.high, a.high - b.low),
    "*": _times,
    "/": _over,
    "**": _to_the,
    "sqrt": _rising(np.sqrt),
    "sin": _sine,
    "cos": lambda x: _sine(x, 0.5 * math.pi),
    "tan": _tangent,
    "atan2": _angle,
    "asin": _rising(np.arcsin),
    "acos": lambda x: (np.arccos(x.high), np.arccos(x.low)),
    "atan": _rising(np.arctan),
    "exp": _rising(np.exp),
    "log": _rising(np.log),
    "abs": _absolute,
    "deg": _rising(np.radians),
    "step": _rising(lambda x: (x >= 0) * 1.0),
    "sign": _rising(np.sign),
    "mod": _modulo,
    "smoothstep": _smoothstep,
    "min": lambda *x: (_least(*(r.low for r in x)), _least(*(r.high for r in x))),
    "max": lambda *x: (_most(*(r.low for r in x)), _most(*(r.high for r in x))),
    "if": _chosen,
    **{operation: _compared(operation) for operation in COMPARISONS},
    "and": lambda a, b: (np.minimum(a.low, b.low), np.minimum(a.high, b.high)),
    "or": lambda a, b: (np.maximum(a.low, b.low), np.maximum(a.high, b.high)),
    "not": lambda x: (1.0 - x.high, 1.0 - x.low),
}
