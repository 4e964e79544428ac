"""The adjoint of every operation on numbers: what the adjoint of its result adds to those of its arguments.

Of y = f(a, b, ...), with bar the adjoint of y, argument k gets bar * df/d(argument k). A rule is one function for each
argument, of bar and of ``of``, which gives the value of an argument by its place, or y itself by RESULT: only values that a
rule asks for have to be kept for the backward pass.
"""

from __future__ import annotations

from collections.abc import Callable

from ...numbers import Number, log, power, select

RESULT = -1

Values = Callable[[int], Number]
Rule = Callable[[Number, Values], Number]


def nothing(bar: Number, of: Values) -> Number:
    return 0.0


def _unless_zero(bar: Number, product: Callable[[], Number]) -> Number:
    """Zero for a zero adjoint: what a select did not choose may divide by zero, and zero times infinity is not a number."""
    return select((bar >= 0.0) & (bar <= 0.0), 0.0, product())


def _quotient(bar: Number, divisor: Number) -> Number:
    return bar / divisor if isinstance(divisor, float) else _unless_zero(bar, lambda: bar / divisor)


def _divisor(bar: Number, of: Values) -> Number:
    return _unless_zero(bar, lambda: -(bar / of(1) * of(RESULT)))


def _atan2(bar: Number, of: Values, other: int) -> Number:
    y, x = of(0), of(1)
    return _unless_zero(bar, lambda: bar * of(other) / (x * x + y * y))


def _base(bar: Number, of: Values) -> Number:
    return _unless_zero(bar, lambda: bar * of(1) * power(of(0), of(1) - 1.0))


def _exponent(bar: Number, of: Values) -> Number:
    return _unless_zero(bar, lambda: bar * of(RESULT) * log(of(0)))


RULES: dict[str, tuple[Rule, ...]] = {
    "fadd": (lambda bar, of: bar, lambda bar, of: bar),
    "fsub": (lambda bar, of: bar, lambda bar, of: -bar),
    "fmul": (lambda bar, of: bar * of(1), lambda bar, of: bar * of(0)),
    "fdiv": (lambda bar, of: _quotient(bar, of(1)), _divisor),
    "fneg": (lambda bar, of: -bar,),
    "select": (nothing, lambda bar, of: select(of(0), bar, 0.0), lambda bar, of: select(of(0), 0.0, bar)),
    "sqrt": (lambda bar, of: _unless_zero(bar, lambda: 0.5 * bar / of(RESULT)),),
    "exp": (lambda bar, of: bar * of(RESULT),),
    "log": (lambda bar, of: _quotient(bar, of(0)),),
    "atan2": (lambda bar, of: _atan2(bar, of, 1), lambda bar, of: -_atan2(bar, of, 0)),
    "pow": (_base, _exponent),
    "fabs": (lambda bar, of: select(of(0) < 0.0, -bar, bar),),
    "floor": (nothing,),
    "minimum": (
        lambda bar, of: select(of(0) < of(1), bar, 0.0),
        lambda bar, of: select(of(0) < of(1), 0.0, bar),
    ),
    "maximum": (
        lambda bar, of: select(of(1) < of(0), bar, 0.0),
        lambda bar, of: select(of(1) < of(0), 0.0, bar),
    ),
}
"""By the kind of the operation; sines and cosines, which come in pairs, and entries of tables are apart (reverse)."""
