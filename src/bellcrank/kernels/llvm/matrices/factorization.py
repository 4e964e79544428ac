"""Linear equations with a general matrix in memory, real or complex: Gauss's elimination with a choice of pivots.

The matrix M (n, n) is given by its columns: row k of the array in memory is column k of M, so that every inner loop runs along
a row. ``factor`` leaves in place of the array the columns of U without their diagonal, in ``lower`` the columns of L without
theirs, in ``diagonal`` the inverses of U's diagonal, and in ``order`` which row was taken as the k-th; ``solve`` puts
M^-1 x in place of x. Of a complex array the imaginary parts follow the real ones. Each lane has pivots of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from ....numbers import Number, select
from ..emitter import Emitter, Int
from ..flow import each
from .routine import Routine

Parts = list[Number]  # a number: its real part, and perhaps its imaginary part


def times(a: Parts, b: Parts) -> Parts:
    if len(a) == 1:
        return [a[0] * b[0]]
    return [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]


def inverse(a: Parts) -> Parts:
    if len(a) == 1:
        return [1.0 / a[0]]
    scale = 1.0 / (a[0] * a[0] + a[1] * a[1])
    return [a[0] * scale, -(a[1] * scale)]


def less(a: Parts, b: Parts) -> Parts:
    return [x - y for x, y in zip(a, b, strict=True)]


class Solver:
    """The functions of one kind of matrix under construction: ``parts`` is 1 for real ones, 2 for complex ones."""

    def __init__(self, lanes: int, parts: int):
        self.r = Routine(lanes)
        self.lanes, self.e, self.parts = lanes, self.r.e, parts

    def bases(self, base: str, size: Int) -> list[str]:
        """The places at which the parts of an array of so many numbers begin."""
        e, skip = self.e, self.e.integer("mul", size, self.r.unit)
        return [base if k == 0 else e.pointer(base, skip) for k in range(self.parts)]

    def at(self, bases: list[str], i: Int, j: Int) -> Parts:
        return [self.r.at(base, "%s", i, j) for base in bases]

    def put_at(self, x: Parts, bases: list[str], i: Int, j: Int) -> None:
        for value, base in zip(x, bases, strict=True):
            self.r.put_at(value, base, "%s", i, j)

    def subtract(self, factor: Parts, row: list[str], i: Int, of: list[str], j: Int, first: Int, last: Int) -> None:
        """Row i of an array less the factor times row j of another, in chunks first .. last-1."""
        r = self.r

        def one(c: str) -> None:
            change = times(factor, [r.chunk(base, "%s", j, c) for base in of])
            for base, x in zip(row, change, strict=True):
                r.put_chunk(r.chunk(base, "%s", i, c) - x, base, "%s", i, c)

        each(self.e, first, last, one)

    def exchange(self, bases: list[str], i: Int, k: Int) -> None:
        """Entries k and order[k] of row i, lane by lane."""
        e, r = self.e, self.r
        start = e.integer("mul", i, "%s")
        for lane in range(self.lanes):
            other = e.load_int("%order", e.integer("add", e.integer("mul", k, self.lanes), lane))
            places = [e.integer("add", e.integer("mul", e.integer("add", start, j), r.unit), lane) for j in (k, other)]
            for base in bases:
                values = [e.load_double(base, place) for place in places]
                for value, place in zip(reversed(values), places, strict=True):
                    e.do(f"store double {value}, ptr {e.pointer(base, place)}, align 8")

    def chunk_of(self, k: Int) -> Int:
        return self.e.emit(f"udiv i64 {k}, {self.r.per}") if self.r.per > 1 else k

    def written(self, name: str, arguments: str, write: Callable[[], None]) -> tuple[str, dict[str, str]]:
        write()
        self.e.do("ret void")
        return f"define internal void @{name}({arguments}) noinline {{\nentry:\n{self.e.text()}\n}}\n", self.e.declarations


def write_factor(lanes: int, parts: int) -> tuple[str, dict[str, str]]:
    """@factor_<parts>(M, lower, diagonal, order, n, s): s numbers from row to row, ``chunks`` of each row."""
    solver = Solver(lanes, parts)
    e, r = solver.e, solver.r

    def write() -> None:
        size = e.integer("mul", "%n", "%s")
        M, L, D = solver.bases("%M", size), solver.bases("%lower", size), solver.bases("%diagonal", "%s")

        def column(k: str) -> None:
            _choose(solver, M, k)
            each(e, 0, "%n", lambda j: solver.exchange(M, j, k))
            pivot = inverse(solver.at(M, k, k))
            for base, x in zip(D, pivot, strict=True):
                r.put_number(x, base, k)
            after = e.integer("add", k, 1)
            each(e, 0, after, lambda i: solver.put_at([0.0] * parts, L, k, i))
            each(e, after, "%n", lambda i: solver.put_at(times(solver.at(M, k, i), pivot), L, k, i))
            each(e, k, "%n", lambda i: solver.put_at([0.0] * parts, M, k, i))
            first = solver.chunk_of(after)
            each(e, after, "%n", lambda j: solver.subtract(solver.at(M, j, k), M, j, L, k, first, "%chunks"))

        each(e, 0, "%n", column)
        # rows of L were exchanged after they had been written down
        each(e, 0, "%n", lambda k: each(e, e.integer("add", k, 1), "%n", lambda j: solver.exchange(L, k, j)))

    arguments = "ptr noalias %M, ptr noalias %lower, ptr noalias %diagonal, ptr noalias %order, i64 %n, i64 %s, i64 %chunks"
    return solver.written(f"factor_{parts}", arguments, write)


def _choose(solver: Solver, M: list[str], k: str) -> None:
    """The largest entry of column k from the diagonal on, into ``order``."""
    e, r = solver.e, solver.r

    def larger(i: str, found: list[Number]) -> list[Number]:
        largest, place = found
        size = sum((abs(x) for x in solver.at(M, k, i)[1:]), abs(solver.at(M, k, i)[0]))
        taken = size > largest
        return [select(taken, size, largest), select(taken, _number(e, i), place)]

    _, place = r.total(k, "%n", [-1.0, _number(e, k)], larger)
    for lane in range(solver.lanes):
        chosen = e.emit(f"extractelement {e.type} {e.operand(place)}, i32 {lane}")
        at = e.pointer("%order", e.integer("add", e.integer("mul", k, solver.lanes), lane))
        e.do(f"store i64 {e.emit(f'fptosi double {chosen} to i64')}, ptr {at}, align 8")


def _number(e: Emitter, k: str) -> Number:
    return e.symbol(e.splat(e.emit(f"sitofp i64 {k} to double")))


def write_solve(lanes: int, parts: int) -> tuple[str, dict[str, str]]:
    """@solve_<parts>(U, lower, diagonal, order, x, n, s, chunks): the parts of x are s numbers apart."""
    solver = Solver(lanes, parts)
    e, r = solver.e, solver.r

    def write() -> None:
        size = e.integer("mul", "%n", "%s")
        U, L, D = solver.bases("%U", size), solver.bases("%lower", size), solver.bases("%diagonal", "%s")
        x = solver.bases("%x", "%s")
        each(e, 0, "%n", lambda k: solver.exchange(x, 0, k))

        def down(k: str) -> None:
            first = solver.chunk_of(e.integer("add", k, 1))
            solver.subtract(solver.at(x, 0, k), x, 0, L, k, first, "%chunks")

        def up(k: str) -> None:
            value = times(solver.at(x, 0, k), [r.number(base, k) for base in D])
            solver.put_at(value, x, 0, k)
            last = e.integer("add", solver.chunk_of(k), 1) if r.per > 1 else k
            solver.subtract(value, x, 0, U, k, 0, last)

        each(e, 0, "%n", down)
        r.down("%n", up)

    arrays = ", ".join(f"ptr noalias %{name}" for name in ("U", "lower", "diagonal", "order", "x"))
    return solver.written(f"solve_{parts}", f"{arrays}, i64 %n, i64 %s, i64 %chunks", write)


def write_multiply(lanes: int) -> tuple[str, dict[str, str]]:
    """@multiply(M, x, y, n, s, chunks, factor): y + factor M x in place of y, with M by its columns."""
    solver = Solver(lanes, 1)
    e, r = solver.e, solver.r
    factor = e.symbol(e.splat("%factor"))

    def write() -> None:
        each(e, 0, "%n", lambda j: solver.subtract([-(factor * r.number("%x", j))], ["%y"], 0, ["%M"], j, 0, "%chunks"))

    arguments = "ptr noalias %M, ptr noalias %x, ptr noalias %y, i64 %n, i64 %s, i64 %chunks, double %factor"
    return solver.written("multiply", arguments, write)
