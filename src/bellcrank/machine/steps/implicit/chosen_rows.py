"""Which equations of the closures a step of the midpoint rule keeps, where some depend on the others.

A planar loop on a turning base has six equations, of which two are independent; which two depends on how the base has turned.
They are chosen at the start of every step, largest first, as a Cholesky factorisation of G G^T with pivots would:

    r = the row with the largest norm;  g <- g - (g.r / r.r) r  for all rows g;  and again, as often as there are freedoms less

All choices give the same step but for rounding: the loops that are closed are the same, and so are the pushes G^T lambda.

word        meaning                                                          numbers
candidates  G without units, what is left of every row                       all rows x nv
kept_rows   numbers of the chosen rows                                       rows
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....kernels.executor import Address, Integer
from ....numbers import Number

if TYPE_CHECKING:
    from ..stepper import Stepper


def put_row(s: Stepper, row: Integer, into: Address, place: Integer) -> None:
    """A row of G as the kernel left it, without units, into a place of a table."""
    e, w = s.e, s.words
    scale, source, to = s.number(w["row_scale"], row), row * w["nv"], place * w["kept_row_width"]

    def put(j: Integer) -> None:
        s.put_number(scale * s.number(w["buffer:G"], source + j), into, to + j)

    e.each(0, w["nv"], put)


def choose_rows(s: Stepper) -> None:
    """Chooses ``kept_rows`` from the Jacobian at hand."""
    e, w = s.e, s.words
    e.each(0, w["m"], lambda row: put_row(s, row, w["candidates"], row))
    e.each(0, w["kept_count"], lambda k: _choose(s, k))


def _choose(s: Stepper, k: Any) -> None:
    e, w = s.e, s.words
    s.set_real("norm", -1.0)

    def look(row: Integer) -> None:
        norm = _product(s, row, row)

        def take() -> None:
            s.set_real("norm", norm)
            w["kept_rows"].put_integer(k, row)

        e.when(s.any(norm > s.real("norm")), take)

    e.each(0, w["m"], look)
    chosen = w["kept_rows"].integer(k)
    e.each(0, w["m"], lambda row: e.when(e.unequal(row, chosen), lambda: _reduce(s, row, chosen)))
    _clear(s, chosen)


def _reduce(s: Stepper, row: Integer, by: Integer) -> None:
    """Takes from another row its part along the chosen one."""
    e, w, width = s.e, s.words, s.vectors("kept_row_width")
    part = _product(s, row, by) / s.real("norm")
    one, other = (x * width for x in (row, by))

    def entry(i: Integer) -> None:
        at = one + i
        w["candidates"][at] = w["candidates"][at] - part * w["candidates"][other + i]

    e.each(0, width, entry)


def _clear(s: Stepper, row: Integer) -> None:
    width = s.vectors("kept_row_width")
    start = row * width
    s.fill(s.words["candidates"], lambda i: 0.0, start, start + width)


def _product(s: Stepper, row: Integer, other: Integer) -> Number:
    w, width = s.words, s.vectors("kept_row_width")

    def term(i: Integer) -> Number:
        a, b = (w["candidates"][x * width + i] for x in (row, other))
        return a * b

    return s.added_up(s.folded(0, width, term, lambda a, b: a + b))
