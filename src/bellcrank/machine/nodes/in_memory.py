"""Matrices of wide nodes, in memory: the operations of spatial.matrices.Unrolled as calls of routines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...kernels.executor import Integer
from ...kernels.llvm.matrices.routine import CHUNK
from ...kernels.llvm.matrices.routines import call
from ...kernels.messages import parts
from ...numbers import Dual, Number, Symbol, less, select, sqrt
from ...spatial.matrices import Solutions
from ...spatial.rank import is_redundant

if TYPE_CHECKING:
    from ..workspace import Workspace

NAN = float("nan")
_NEVER_ZERO = 1e-300  # square of the length of a vector that may vanish, as in spatial.small.reflection


def whole_chunks(count: int) -> int:
    return -(-count // CHUNK) * CHUNK


class Arena:
    """Scratch memory of a step, in machine code: what one node takes, the next one takes again."""

    def __init__(self, e: Any):
        self.e, self.used, self.most = e, 0, 0

    def take(self, rows: int, columns: int) -> MatrixInMemory:
        stride = self.stride(columns)
        self.e.use("scratch")
        matrix = MatrixInMemory(self, "%scratch", self.used, stride, rows, columns)
        self.used += whole_chunks(rows * stride)
        self.most = max(self.most, self.used)
        return matrix

    @property
    def per(self) -> int:
        """Numbers of a chunk."""
        return CHUNK if self.e.chunked else 1

    def stride(self, columns: int) -> int:
        return whole_chunks(columns) if self.per > 1 else columns

    def chunks(self, columns: int) -> int:
        return self.stride(columns) // self.per


class MatrixInMemory:
    """A matrix in memory, or a part of one."""

    def __init__(self, arena: Arena, base: str, offset: Integer, stride: int, rows: int, columns: int):
        self.arena, self.base, self.offset, self.stride = arena, base, offset, stride
        self.rows, self.columns = rows, columns

    @property
    def pointer(self) -> str:
        e = self.arena.e
        return e.pointer(self.base, self.offset * e.unit)

    def _place(self, i: int, j: int) -> Integer:
        return self.offset + (i * self.stride + j)

    def __getitem__(self, place: tuple[int, int]) -> Number:
        e, index = self.arena.e, self._place(*place)
        if e.wide:
            first = index * e.unit
            return Dual(e.symbol(e.load_double(self.base, first)), [e.symbol(e.load_wide(self.base, first + 1))])
        return e.symbol(e.load(self.base, index))

    def __setitem__(self, place: tuple[int, int], x: Number) -> None:
        e, index = self.arena.e, self._place(*place)
        if not e.wide:
            e.store(x, self.base, index)
            return
        value, tangent = parts(x, 1)
        e.store(value, self.base, index * e.unit)
        e.store_wide(tangent, self.base, index * e.unit + 1)

    def column(self, j: int) -> list[Number]:
        return [self[i, j] for i in range(self.rows)]

    def part(self, rows: range, columns: range) -> MatrixInMemory:
        return MatrixInMemory(
            self.arena, self.base, self._place(rows.start, columns.start), self.stride, len(rows), len(columns)
        )

    def _call(self, name: str, **given: Any) -> None:
        call(self.arena.e, name, **given)

    def cleared(self) -> MatrixInMemory:
        self._call("clear", X=self.pointer, n=self.rows * self.stride)
        return self

    def fill(self, entries: Sequence[Sequence[Number]]) -> None:
        """Numbers into the first rows; what is zero by structure is cleared at once. Of a whole matrix."""
        self.cleared()
        for i, row in enumerate(entries):
            for j, x in enumerate(row):
                if isinstance(x, Symbol | Dual) or x != 0:
                    self[i, j] = x

    def put(self, i: int, j: int, block: MatrixInMemory, *, negative: bool = False) -> None:
        into = self.part(range(i, i + block.rows), range(j, j + block.columns))
        self._copy(into, block.pointer, block.stride, 1, -1.0 if negative else 1.0)

    def put_transposed(self, i: int, j: int, block: MatrixInMemory) -> None:
        self._copy(self.part(range(i, i + block.columns), range(j, j + block.rows)), block.pointer, 1, block.stride)

    def _copy(self, into: MatrixInMemory, start: str, across: int, along: int, alpha: float = 1.0) -> None:
        if into.rows and into.columns:
            sizes = {"n": into.rows, "m": into.columns, "alpha": alpha}
            self._call("copy", X=into.pointer, x=into.stride, Y=start, across=across, along=along, **sizes)

    def _fresh(self, rows: int, columns: int) -> MatrixInMemory:
        return self.arena.take(rows, columns)

    def copied(self) -> MatrixInMemory:
        twin = self._fresh(self.rows, self.columns)
        twin.put(0, 0, self)
        return twin

    def mirrored(self) -> MatrixInMemory:
        """Of a symmetric one: what is below the diagonal, above it too."""
        whole = self._fresh(self.rows, self.rows)
        self._call("mirror", X=whole.pointer, x=whole.stride, Y=self.pointer, y=self.stride, n=self.rows)
        return whole

    def transposed(self) -> MatrixInMemory:
        other = self._fresh(self.columns, self.rows)
        other.put_transposed(0, 0, self)
        return other

    # products

    def _add(
        self, A: MatrixInMemory, steps: tuple[int, int], size: int, B: MatrixInMemory, alpha: float | None
    ) -> MatrixInMemory:
        """self += alpha A B, or self = A B; A's steps from row to row and from column to column; self starts a row."""
        if self.rows and self.columns:
            left = {"A": A.pointer, "across": steps[0], "along": steps[1], "B": B.pointer, "b": B.stride}
            sizes = {"n": self.rows, "k": size, "chunks": self.arena.chunks(self.columns)}
            how = {"add": alpha is not None, "alpha": alpha or 0.0}
            self._call("product", C=self.pointer, c=self.stride, **left, **sizes, **how)
        return self

    def __matmul__(self, other: MatrixInMemory) -> MatrixInMemory:
        return self._fresh(self.rows, other.columns)._add(self, (self.stride, 1), self.columns, other, None)

    def transposed_times(self, other: MatrixInMemory) -> MatrixInMemory:
        return self._fresh(self.columns, other.columns)._add(self, (1, self.stride), self.rows, other, None)

    def minus_product(self, A: MatrixInMemory, B: MatrixInMemory) -> MatrixInMemory:
        return self.copied()._add(A, (A.stride, 1), A.columns, B, -1.0)

    def add_transposed_product(self, A: MatrixInMemory, B: MatrixInMemory) -> None:
        """self += A^T B."""
        self._add(A, (1, A.stride), A.rows, B, 1.0)

    def congruent(self, F: MatrixInMemory) -> MatrixInMemory:
        return F.transposed_times(self @ F)

    def plus_congruent(self, H: MatrixInMemory, F: MatrixInMemory) -> MatrixInMemory:
        """self + F^T H F, in place."""
        self.add_transposed_product(F, H @ F)
        return self

    # equations

    def _factored(self, least: float) -> tuple[MatrixInMemory, MatrixInMemory, MatrixInMemory]:
        """Q R of the transpose: R, vectors of the reflections, their factors and squares."""
        R = self.transposed()
        n, m = R.rows, R.columns
        V, f = self._fresh(n, m), self._fresh(1, 2 * m)
        sizes = {"n": n, "m": m, "chunks": self.arena.chunks(m), "least": least}
        self._call("reflections", A=R.pointer, a=R.stride, V=V.pointer, v=V.stride, f=f.pointer, **sizes)
        return R, V, f

    def _reflect(self, V: MatrixInMemory, f: MatrixInMemory, transposed: bool) -> None:
        sizes = {"n": V.rows, "m": V.columns, "chunks": self.arena.chunks(self.columns), "transposed": transposed}
        self._call("reflected", X=self.pointer, x=self.stride, V=V.pointer, v=V.stride, f=f.pointer, **sizes)

    def solutions(self, tail: int = 1, *, directions: bool = False, least: Number | None = None) -> Solutions:
        m, w = self.rows, self.columns - 1
        y = w - m
        N = self._fresh(w + tail, y + tail).cleared()
        for a in range(y + tail):
            N[m + a, a] = 1.0
        if m == 0:
            return Solutions(N, 1.0, self._fresh(w + 1, 0))
        R, V, f = self.part(range(m), range(w))._factored(0.0)
        z, found = self._fresh(m, 1), self._fresh(1, 2)
        given = {"g": self.part(range(m), range(w, w + 1)).pointer, "t": self.stride, "z": z.pointer, "s": z.stride}
        self._call("forward", R=R.pointer, a=R.stride, f=f.pointer, m=m, p=found.pointer, **given)
        smallest, whole = found[0, 0], found[0, 1]
        for k in range(m):
            x = -z[k, 0]
            N[k, y] = select(is_redundant(least * whole, smallest), NAN, x) if least is not None and k == m - 1 else x
        N._reflect(V, f, transposed=False)
        if not directions:
            return Solutions(N, smallest / whole)
        ways = self._fresh(w + 1, m).cleared()
        for k in range(m):
            ways[k, k] = select(less(R[k, k], 0.0), -1.0, 1.0)
        ways._reflect(V, f, transposed=False)
        return Solutions(N, smallest / whole, ways, [sqrt(f[0, m + k] / whole) for k in range(m)])

    def turned_from(self, x: MatrixInMemory) -> MatrixInMemory:
        _, V, f = x._factored(_NEVER_ZERO)
        s, y = x.rows, x.columns
        turned = self.part(range(self.rows), range(y)).transposed()
        turned._reflect(V, f, transposed=True)
        result = self.copied()
        result.put_transposed(0, 0, turned.part(range(s, y), range(self.rows)))
        result.put_transposed(0, y - s, turned.part(range(s), range(self.rows)))
        return result

    def eliminated(self, count: int) -> tuple[MatrixInMemory, MatrixInMemory]:
        """In place: rows of what is eliminated are not what they were."""
        rest = range(count, self.columns)
        K = self._fresh(count, len(rest))
        if count == 0:
            return K, self
        given = {"H": self.pointer, "h": self.stride, "z": count, "K": K.pointer, "s": K.stride}
        self._call("eliminate", chunks=self.arena.chunks(self.columns), rest=len(rest), **given)
        S = self.part(rest, rest).copied()
        S._add(self.part(range(count), rest), (1, self.stride), count, K, -1.0)
        self._call("substitute", chunks=self.arena.chunks(len(rest)), **given)
        return K, S

    def combination(self, x: MatrixInMemory) -> list[Number]:
        if self.rows == 0:
            return []
        R, V, f = self._factored(0.0)
        y, z = x.copied(), self._fresh(self.rows, 1)
        y._reflect(V, f, transposed=True)
        given = {"g": y.pointer, "t": y.stride, "z": z.pointer, "s": z.stride}
        self._call("backward", R=R.pointer, a=R.stride, m=self.rows, **given)
        return z.column(0)

    # for later passes

    def kept(self, record: Workspace, body: Any) -> KeptMatrix:
        """Copied into the memory of the node."""
        leaf = KeptMatrix(record.matrices, self.arena.stride(self.columns), self.rows, self.columns)
        record.matrices += whole_chunks(self.rows * leaf.stride)
        leaf.recall(body).put(0, 0, self)
        return leaf


class KeptMatrix:
    """Where a matrix is in the memory of a node."""

    def __init__(self, slot: int, stride: int, rows: int, columns: int):
        self.slot, self.stride, self.rows, self.columns = slot, stride, rows, columns

    def recall(self, body: Any) -> MatrixInMemory:
        return MatrixInMemory(body.walk.arena, body.memory("matrices"), self.slot, self.stride, self.rows, self.columns)
