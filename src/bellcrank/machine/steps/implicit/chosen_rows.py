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

from typing import TYPE_CHECKING

from ....kernels.llvm.emitter import Int
from ....kernels.llvm.flow import each, when
from ....numbers import Number

if TYPE_CHECKING:
    from ..stepper import Stepper


def put_row(s: Stepper, row: Int, into: str, place: Int) -> None:
    """A row of G as the kernel left it, without units, into a place of a table."""
    e, w = s.e, s.words
    scale, source, to = s.number(w["row_scale"], row), e.integer("mul", row, w["nv"]), e.integer("mul", place, w["held_width"])

    def put(j: str) -> None:
        s.put_number(scale * s.number(w["buffer:G"], e.integer("add", source, j)), into, e.integer("add", to, j))

    each(e, 0, w["nv"], put)


def choose_rows(s: Stepper) -> None:
    """``kept_rows`` from the Jacobian at hand."""
    e, w = s.e, s.words
    each(e, 0, w["m"], lambda row: put_row(s, row, w["candidates"], row))
    each(e, 0, w["order"], lambda k: _choose(s, k))


def _choose(s: Stepper, k: str) -> None:
    e, w = s.e, s.words
    s.set_real("norm", -1.0)

    def look(row: str) -> None:
        norm = _product(s, row, row)

        def take() -> None:
            s.set_real("norm", norm)
            e.do(f"store i64 {row}, ptr {e.pointer(w['kept_rows'], k)}, align 8")

        when(e, s.any(norm > s.real("norm")), take)

    each(e, 0, w["m"], look)
    chosen = e.load_int(w["kept_rows"], k)
    each(e, 0, w["m"], lambda row: when(e, e.emit(f"icmp ne i64 {row}, {chosen}"), lambda: _reduce(s, row, chosen)))
    _clear(s, chosen)


def _reduce(s: Stepper, row: str, by: str) -> None:
    """What the chosen row leaves of another."""
    e, w, width = s.e, s.words, s.vectors("held_width")
    part = _product(s, row, by) / s.real("norm")
    one, other = (e.integer("mul", x, width) for x in (row, by))

    def entry(i: str) -> None:
        at = e.integer("add", one, i)
        e.store(s.get(w["candidates"], at) - part * s.get(w["candidates"], e.integer("add", other, i)), w["candidates"], at)

    each(e, 0, width, entry)


def _clear(s: Stepper, row: str) -> None:
    e, width = s.e, s.vectors("held_width")
    start = e.integer("mul", row, width)
    each(e, 0, width, lambda i: e.store(0.0, s.words["candidates"], e.integer("add", start, i)))


def _product(s: Stepper, row: str, other: str) -> Number:
    e, w, width = s.e, s.words, s.vectors("held_width")

    def term(i: str) -> Number:
        a, b = (s.get(w["candidates"], e.integer("add", e.integer("mul", x, width), i)) for x in (row, other))
        return a * b

    return s.added_up(s.folded(0, width, term, lambda a, b: a + b))
