"""The first root of a polynomial on [0, 1], in machine code.

On an interval the polynomial lies in the convex hull of its Bernstein coefficients: where all of them are positive there is no
root, and the search goes on behind the interval; else it is halved. What is left at the end is the first place where the
polynomial may be zero, to 2^-FINEST of the step; a root of even order is found as well.
"""

from __future__ import annotations

from math import comb

from ....kernels.llvm.elementary import any_lane
from ....kernels.llvm.emitter import Emitter
from ....kernels.llvm.flow import while_
from ....numbers import Number, minimum

FINEST = 44
NO_ROOT, SEARCHING = 2.0, -1.0
STATE = 3  # numbers after the coefficients: the start and the width of the interval, and the root


def write_first_root(degree: int, lanes: int) -> tuple[str, dict[str, str]]:
    """@first_root(p): p has degree + 1 coefficients of powers, p_0 > 0, and room for STATE numbers; the last is the answer."""
    e = Emitter(lanes)
    start, width, answer = range(degree + 1, degree + 1 + STATE)

    def get(k: int) -> Number:
        return e.symbol(e.load("%p", k))

    def searching() -> str:
        going = get(answer) < 0.0
        return any_lane(e, going.ref)

    def look() -> None:
        a, w, found = get(start), get(width), get(answer)
        least: Number = get(0)
        for i, b in enumerate(_bernstein([get(k) for k in range(degree + 1)], a, w)):
            least = b if i == 0 else minimum(least, b)
        going, low = found < 0.0, least < 0.0
        arrived = low.select((w <= 2.0**-FINEST).select(a, SEARCHING), (a + w >= 1.0).select(NO_ROOT, SEARCHING))
        e.store(going.select(arrived, found), "%p", answer)
        behind = low.select(a, a + w)
        e.store(behind, "%p", start)
        e.store(low.select(0.5 * w, minimum(2.0 * w, 1.0 - behind)), "%p", width)

    for k, value in ((start, 0.0), (width, 1.0), (answer, SEARCHING)):
        e.store(value, "%p", k)
    while_(e, searching, look)
    e.do("ret void")
    return f"define internal void @first_root(ptr noalias %p) {{\nentry:\n{e.text()}\n}}\n", e.declarations


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
