"""The operations of formulas over every kind of number: floats, complex, arrays of samples, duals, recorded symbols.

    + - * / **                    sqrt sin cos tan asin acos atan atan2 exp log abs deg, min and max of two or more
    < <= > >= == !=               conditions, which `and`, `or` and `not` join
    if(condition, a, b)           one of two numbers
    step(x)                       0 below zero, else 1
    smoothstep(x, a, b)           0 up to a, 1 from b on, 3 s^2 - 2 s^3 between
    sign(x)                       -1, 0 or 1
    mod(a, b)                     a - b floor(a / b): what is left of whole multiples, with the sign of b

Most of what is not smooth is a comparison of two numbers, whose difference is zero where the formula has a kink or a jump:
``kinks`` gives these differences, so that a time step can end there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

from .functions import (
    absolute,
    atan2,
    both,
    exp,
    floor,
    less,
    log,
    maximum,
    minimum,
    negated,
    power,
    select,
    sincos,
    sqrt,
)
from .symbol import Number


def sin(x: Number) -> Number:
    return sincos(x)[0]


def cos(x: Number) -> Number:
    return sincos(x)[1]


def asin(x: Number) -> Number:
    return atan2(x, sqrt((1.0 - x) * (1.0 + x)))


def acos(x: Number) -> Number:
    return atan2(sqrt((1.0 - x) * (1.0 + x)), x)


def atan(x: Number) -> Number:
    return atan2(x, 1.0)


def tan(x: Number) -> Number:
    s, c = sincos(x)
    return s / c


def step(x: Number) -> Number:
    return select(less(x, 0.0), 0.0, 1.0)


def smoothstep(x: Number, a: Number, b: Number) -> Number:
    s = minimum(maximum((x - a) / (b - a), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def sign(x: Number) -> Number:
    return select(less(0.0, x), 1.0, select(less(x, 0.0), -1.0, 0.0))


def mod(a: Number, b: Number) -> Number:
    return a - b * floor(a / b)


def _equal(a: Number, b: Number) -> Any:
    return both(negated(less(a, b)), negated(less(b, a)))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "neg": lambda x: -x,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": power,
    "sqrt": sqrt,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "exp": exp,
    "log": log,
    "abs": absolute,
    "deg": lambda x: x * (math.pi / 180.0),
    "step": step,
    "sign": sign,
    "atan2": atan2,
    "mod": mod,
    "smoothstep": smoothstep,
    "min": lambda *items: reduce(minimum, items),
    "max": lambda *items: reduce(maximum, items),
    "if": select,
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": lambda a, b: negated(less(b, a)),
    ">=": lambda a, b: negated(less(a, b)),
    "==": _equal,
    "!=": lambda a, b: negated(_equal(a, b)),
    "and": both,
    "or": lambda a, b: negated(both(negated(a), negated(b))),
    "not": negated,
}

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LOGICAL = ("and", "or", "not")
# functions by name: how many values they take; None: two or more
ARITIES: dict[str, int | None] = {
    **dict.fromkeys(("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "abs", "deg", "step", "sign"), 1),
    **dict.fromkeys(("atan2", "mod"), 2),
    **dict.fromkeys(("smoothstep", "if"), 3),
    **dict.fromkeys(("min", "max"), None),
}


def count_kinks(operation: str, operands: int) -> int:
    """How many numbers ``kinks`` gives."""
    if operation in ("min", "max"):
        return operands - 1
    return 2 if operation == "smoothstep" else int(operation in (*COMPARISONS, "abs", "sign", "step", "mod"))


def kinks(operation: str, operands: list[Number]) -> list[Number]:
    """Numbers that change their sign where an operation has a kink or a jump."""
    if operation in COMPARISONS:
        return [operands[0] - operands[1]]
    if operation in ("abs", "sign", "step"):
        return [operands[0]]
    if operation in ("min", "max"):
        best, found = operands[0], []
        for x in operands[1:]:
            found.append(x - best)
            best = OPERATIONS[operation](best, x)
        return found
    if operation == "smoothstep":
        return [operands[0] - operands[1], operands[0] - operands[2]]
    if operation == "mod":
        return [sincos(math.pi * operands[0] / operands[1])[0]]
    return []
