"""Laws of prescribed motion: a coordinate, its rate and its acceleration as functions of time.

``values`` are the numbers of a law in the order that ``model.motion.Law`` gives, and ``table`` its spline. A new law is a
function and a line in LAWS here, its kind in ``model.motion.LAWS``, how it is written in ``model.spec.spec.TERM_SPECS``, and
its values over arrays of times in ``results.driven.law_values``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..numbers import Dual, Number, Rate, SecondRate, sincos
from ..numbers.spline import Curve


def polynomial(values: Sequence[Number], t: Number, table: Callable[[Number], Curve]) -> Curve:
    """c0 + c1 t + c2 t^2 + ...; a constant rate is c0 and c1."""
    value: Number = 0.0
    slope: Number = 0.0
    bend: Number = 0.0
    for c in reversed(values):
        bend = bend * t + 2.0 * slope
        slope = slope * t + value
        value = value * t + c
    return Curve(value, slope, bend)


def sine(values: Sequence[Number], t: Number, table: Callable[[Number], Curve]) -> Curve:
    """offset + amplitude sin(2 pi frequency t + phase)."""
    offset, amplitude, frequency, phase = values[:4]
    rate = 6.283185307179586 * frequency
    s, c = sincos(rate * t + phase)
    return Curve(offset + amplitude * s, amplitude * rate * c, -(amplitude * rate * rate * s))


def of_table(values: Sequence[Number], t: Number, table: Callable[[Number], Curve]) -> Curve:
    """A natural cubic spline through points in time."""
    return table(t)


def curve_of(function: Callable[[Number], Number], t: Number) -> Curve:
    """A function of the time with its first two derivatives, by rates of rates; its numbers may have tangents of their own."""
    inner, outer = _parts(SecondRate, function(SecondRate(Rate(t, (1.0,)), (Rate(1.0, (0.0,)),))))
    return Curve(_parts(Rate, inner)[0], *_parts(Rate, outer))


def _parts(kind: type[Dual], x: Number) -> tuple[Number, Number]:
    """Value and rate."""
    return (x.value, x.tangents[0]) if isinstance(x, kind) else (x, 0.0)


def added(curves: Sequence[Curve]) -> Curve:
    """The sum of laws: value, slope and bend add up."""
    first, *others = curves
    for curve in others:
        first = Curve(first.value + curve.value, first.slope + curve.slope, first.bend + curve.bend)
    return first


LAWS: dict[str, Callable[[Sequence[Number], Number, Callable[[Number], Curve]], Curve]] = {
    "polynomial": polynomial,
    "sine": sine,
    "table": of_table,
}
