"""The first root of a polynomial on [0, 1], in machine code.

On an interval the polynomial lies in the convex hull of its Bernstein coefficients: where all of them are positive there is no
root, and the search goes on behind the interval; else it is halved. What is left at the end is the first place where the
polynomial may be zero, to 2^-FINEST of the step; a root of even order is found as well.
"""

from __future__ import annotations

from functools import partial
from math import comb

from ....kernels.executor import Integer, StepExecutor
from ....kernels.llvm.steps import LaneVectors, write_function
from ....numbers import Number, minimum, select

FINEST = 44
NO_ROOT, SEARCHING = 2.0, -1.0
STATE = 3  # numbers after the coefficients: the start and the width of the interval, and the root


def write_first_root(degree: int, lanes: int) -> tuple[str, dict[str, str]]:
    return write_function("first_root", LaneVectors(lanes), ("p",), (), partial(first_root, degree=degree))


def first_root(e: StepExecutor, p: Integer, degree: int) -> None:
    """p has degree + 1 coefficients of powers, p_0 > 0, and room for STATE numbers; the last is the answer."""
    start, width, answer = range(degree + 1, degree + 1 + STATE)

    def look() -> None:
        a, w, found = p[start], p[width], p[answer]
        least: Number = p[0]
        for i, b in enumerate(_bernstein([p[k] for k in range(degree + 1)], a, w)):
            least = b if i == 0 else minimum(least, b)
        going, low = found < 0.0, least < 0.0
        arrived = select(low, select(w <= 2.0**-FINEST, a, SEARCHING), select(a + w >= 1.0, NO_ROOT, SEARCHING))
        p[answer] = select(going, arrived, found)
        behind = select(low, a, a + w)
        p[start] = behind
        p[width] = select(low, 0.5 * w, minimum(2.0 * w, 1.0 - behind))

    for k, value in ((start, 0.0), (width, 1.0), (answer, SEARCHING)):
        p[k] = value
    e.repeat(lambda: e.any_lane(p[answer] < 0.0), look)


def _bernstein(p: list[Number], a: Number, w: Number) -> list[Number]:
    """Bernstein coefficients on [a, a + w]: Taylor's shift, powers of w, and b_i = sum_m C(i,m)/C(n,m) p_m."""
    n, shifted = len(p) - 1, list(p)
    for last in range(n):
        for k in range(n - 1, last - 1, -1):
            shifted[k] = shifted[k] + a * shifted[k + 1]
    power: Number = 1.0
    for k in range(1, n + 1):
        power = power * w
        shifted[k] = power * shifted[k]
    return [sum((comb(i, m) / comb(n, m) * shifted[m] for m in range(1, i + 1)), shifted[0]) for i in range(n + 1)]
