"""A function on matrices in memory, while it is written: the same code for one state, for lanes, and with tangents.

Rows of a matrix are gone through in chunks. With one state a chunk is four neighbours of a row, so that strides are multiples
of four (what is computed beyond the last column is never read); with lanes, or with tangents, it is one number, which is a
vector already, or has one beside it. No sum runs along a row.
"""

from __future__ import annotations

from collections.abc import Callable

from ....numbers import Dual, Number
from ...messages import parts, whole
from ..emitter import Emitter, Int
from ..flow import each, folded

CHUNK = 4  # numbers of a chunk, with one state


class Routine:
    """One function under construction."""

    def __init__(self, lanes: int, wide: int = 0, *, chunked: bool = True):
        """``chunked``: False where every number is to stand by itself, so that the routine can be transposed."""
        self.one = lanes == 1 and not wide and chunked
        self.e = Emitter(CHUNK if self.one else lanes, wide)
        self.unit = 1 if self.one else self.e.unit  # doubles of a number
        self.per = CHUNK if self.one else 1  # numbers of a chunk

    def number(self, base: str, index: Int) -> Number:
        """A number, in all places of a chunk."""
        e = self.e
        if e.wide:
            return self._dual(e.pointer(base, e.integer("mul", index, e.unit)))
        return e.symbol(e.splat(e.load_double(base, index)) if self.one else e.load(base, index))

    def put_number(self, x: Number, base: str, index: Int) -> None:
        e = self.e
        if e.wide:
            self._put_dual(x, e.pointer(base, e.integer("mul", index, e.unit)))
            return
        if not self.one:
            e.store(x, base, index)
            return
        scalar = e.emit(f"extractelement {e.type} {e.operand(x)}, i32 0")
        e.do(f"store double {scalar}, ptr {e.pointer(base, index)}, align 8")

    def _dual(self, address: str) -> Dual:
        e = self.e
        return Dual(e.symbol(e.load_double(address, 0)), [e.symbol(e.load_wide(address, 1))])

    def _put_dual(self, x: Number, address: str) -> None:
        value, tangent = parts(x, 1)
        self.e.do("store double $, ptr $, align 8", self.e.operand(value), address)
        self.e.store_wide(tangent, address, 1)

    def address(self, base: str, stride: Int, i: Int, c: Int) -> str:
        """The address of chunk c of row i."""
        e = self.e
        index = e.integer("add", e.integer("mul", i, stride), e.integer("mul", c, self.per))
        return e.pointer(base, e.integer("mul", index, self.unit))

    def chunk(self, base: str, stride: Int, i: Int, c: Int) -> Number:
        if self.e.wide:
            return self._dual(self.address(base, stride, i, c))
        return self.e.symbol(self.e.emit(f"load {self.e.type}, ptr $, align 8", self.address(base, stride, i, c)))

    def put_chunk(self, x: Number, base: str, stride: Int, i: Int, c: Int) -> None:
        if self.e.wide:
            self._put_dual(x, self.address(base, stride, i, c))
            return
        self.e.do(f"store {self.e.type} $, ptr $, align 8", self.e.operand(x), self.address(base, stride, i, c))

    def at(self, base: str, stride: Int, i: Int, j: Int) -> Number:
        return self.number(base, self.e.integer("add", self.e.integer("mul", i, stride), j))

    def put_at(self, x: Number, base: str, stride: Int, i: Int, j: Int) -> None:
        self.put_number(x, base, self.e.integer("add", self.e.integer("mul", i, stride), j))

    def total(
        self, start: Int, stop: Int, first: list[Number], body: Callable[[str, list[Number]], list[Number]]
    ) -> list[Number]:
        e, tangents = self.e, int(self.e.wide > 0)
        wide = [False, True][: 1 + tangents] * len(first)

        def operands(numbers: list[Number]) -> list[str]:
            return [e.operand(x, w) for x, w in zip([part for y in numbers for part in parts(y, tangents)], wide, strict=True)]

        def numbers(refs: list[str]) -> list[Number]:
            symbols = [e.symbol(ref) for ref in refs]
            return [whole(symbols[k : k + 1 + tangents]) for k in range(0, len(symbols), 1 + tangents)]

        def step(k: str, refs: list[str]) -> list[str]:
            return operands(body(k, numbers(refs)))

        return numbers(folded(e, start, stop, operands(first), step, wide))

    def in_blocks(self, count: str, size: int, body: Callable[[str, int], None]) -> None:
        """body(first, size) while whole blocks fit, then one at a time."""
        e = self.e
        blocks = e.emit("udiv i64 $, $", count, size)
        each(e, 0, blocks, lambda b: body(str(e.integer("mul", b, size)), size))
        each(e, e.integer("mul", blocks, size), count, lambda k: body(k, 1))

    def down(self, count: Int, body: Callable[[str], None]) -> None:
        """For k = count-1 .. 0."""
        last = self.e.integer("sub", count, 1)
        each(self.e, 0, count, lambda k: body(str(self.e.integer("sub", last, k))))
