"""Blocks of many states: gathered into lanes, each lane with its design if they differ, evaluated, and scattered."""

from __future__ import annotations

from ...formulations import Program
from ...kernels.llvm.emitter import Emitter
from ...kernels.llvm.flow import each
from .bound import Bound, Text, result


def write_batch(program: Program, taken: list[str], lanes: int, designs: bool = False) -> Text:
    """Blocks first .. last-1 of ``lanes`` states each; the last block may repeat the last state."""
    e = Emitter(lanes)
    bound = Bound(e, program, taken, designs)
    arrays = [*program.inputs, *program.outputs]
    out = result(program)
    width = {a: bound.word(f"width:{a}") for a in arrays}
    user = {a: bound.address(f"user:{a}") for a in [*program.inputs, out]}
    buffer = {a: bound.address(f"buffer:{a}") for a in arrays}
    states = bound.word("batch")

    def block(b: str) -> None:
        first = e.integer("mul", b, lanes)
        last = e.emit(f"sub i64 {states}, 1")
        rows = []
        for lane in range(lanes):
            row = e.integer("add", first, lane)
            fits = e.emit(f"icmp slt i64 {row}, {last}")
            rows.append(e.emit(f"select i1 {fits}, i64 {row}, i64 {last}"))
        for a in program.inputs:
            starts = [e.integer("mul", row, width[a]) for row in rows]
            each(e, 0, width[a], lambda k, a=a, starts=starts: _gather(e, user[a], starts, buffer[a], k))  # type: ignore[misc]
        if designs:
            _spread_designs(e, bound, rows)
        bound.call_kernel(buffer)
        starts = [e.integer("mul", row, width[out]) for row in rows]
        each(e, 0, width[out], lambda k: _scatter(e, buffer[out], starts, user[out], k))

    each(e, "%first", "%last", block)
    e.do("ret void")
    return f"define void @batch(ptr %bound, i64 %first, i64 %last) {{\nentry:\n{e.text()}\n}}\n", e.declarations


def _spread_designs(e: Emitter, bound: Bound, rows: list[str]) -> None:
    """The numbers of each lane's design to all places that read them."""
    designs, places = bound.address("designs"), bound.address("design_places")
    width, every = bound.word("design_width"), bound.word("design_every")
    starts = [e.integer("mul", e.emit(f"sdiv i64 {row}, {every}"), width) for row in rows]

    def one(k: str) -> None:
        source, place = (e.pointer(places, e.integer("add", e.integer("mul", k, 2), j)) for j in (0, 1))
        value = _side_by_side(e, designs, starts, e.emit(f"load i64, ptr {source}, align 8"))
        e.store(e.symbol(value), e.emit(f"load ptr, ptr {place}, align 8"), 0)

    each(e, 0, bound.word("design_entries"), one)


def _gather(e: Emitter, user: str, starts: list[str | int], buffer: str, k: str) -> None:
    e.store(e.symbol(_side_by_side(e, user, starts, k)), buffer, k)


def _side_by_side(e: Emitter, user: str, starts: list[str | int], k: str) -> str:
    """The k-th number of each lane's row."""
    scalars = [e.load_double(user, e.integer("add", start, k)) for start in starts]
    value = scalars[0]
    if e.lanes > 1:
        value = "poison"
        for lane, scalar in enumerate(scalars):
            value = e.emit(f"insertelement {e.type} {value}, double {scalar}, i32 {lane}")
    return value


def _scatter(e: Emitter, buffer: str, starts: list[str | int], user: str, k: str) -> None:
    value = e.load(buffer, k)
    for lane, start in enumerate(starts):
        scalar = value if e.lanes == 1 else e.emit(f"extractelement {e.type} {value}, i32 {lane}")
        e.do(f"store double {scalar}, ptr {e.pointer(user, e.integer('add', start, k))}, align 8")
