"""Dense algebra in machine code, for the O(n^3) baseline: the climb of composite bodies, and LDL^T."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..kernels.emitter import Emitter
from ..kernels.flow import each, switch, while_
from ..kernels.messages import leaves, rebuild
from ..numbers import Number, Symbol
from ..plan import Signature
from ..plan.plan import TABLE

if TYPE_CHECKING:
    from .body import TracedBody
    from .walk import TracedWalk


class TracedColumn:
    """Row and column k of the mass matrix."""

    def __init__(self, walk: TracedWalk, k: str):
        self.walk, self.k = walk, k

    def put(self, body: TracedBody, values: Sequence[Number]) -> None:
        e, first = self.walk.e, body.entry("v")
        for j, x in enumerate(values):
            other = e.integer("add", first, j)
            for a, b in ((self.k, other), (other, self.k)):
                e.store(x, "%M", e.integer("add", e.integer("mul", a, "%nv"), b))


def climb(walk: TracedWalk, step: Callable[[Any, Any, Any], Any], start: str, like: Any) -> None:
    """For each degree of freedom, from its body's parent to ground: a loop in a loop, with a switch on the signature."""
    from .body import TracedBody

    e, size = walk.e, len(leaves(like))
    scratch = "%climbing"

    def per_dof(k: str) -> None:
        for j in range(size):
            e.store(e.symbol(e.load(f"%{start}", e.integer("add", e.integer("mul", k, size), j))), scratch, j)
        e.do(f"store i64 {e.load_int('%dofs', k)}, ptr %ancestor, align 8")
        while_(e, lambda: e.emit(f"icmp sge i64 {e.load_int('%ancestor', 0)}, 0"), lambda: per_ancestor(k))

    def per_ancestor(k: str) -> None:
        i = e.load_int("%ancestor", 0)
        code = e.load_int("%table", e.integer("mul", i, len(TABLE)))

        def arm(signature: Signature) -> list[str]:
            body = TracedBody(signature, walk, i)
            message = rebuild(like, iter([e.symbol(e.load(scratch, j)) for j in range(size)]))
            for j, x in enumerate(leaves(step(body, TracedColumn(walk, k), message))):
                e.store(x, scratch, j)
            e.do(f"store i64 {body.entry('parent')}, ptr %ancestor, align 8")
            return []

        switch(e, code, [lambda s=s: arm(s) for s in walk.signatures])  # type: ignore[misc]

    each(e, 0, "%nv", per_dof)


def solve(e: Emitter, M: str, y: str, into: str) -> None:
    """M into = y by LDL^T, in place; M is symmetric positive definite, nv by nv."""

    def at(i: Any, j: Any) -> Any:
        return e.integer("add", e.integer("mul", i, "%nv"), j)

    def get(base: str, index: Any) -> Symbol:
        return e.symbol(e.load(base, index))

    def factor(k: str) -> None:
        pivot = 1.0 / get(M, at(k, k))

        def row(i: str) -> None:
            f = get(M, at(i, k)) * pivot
            each(
                e,
                e.integer("add", k, 1),
                e.integer("add", i, 1),
                lambda j: e.store(get(M, at(i, j)) - f * get(M, at(j, k)), M, at(i, j)),
            )
            e.store(get(y, i) - f * get(y, k), y, i)

        each(e, e.integer("add", k, 1), "%nv", row)

    def back(down: str) -> None:
        k = e.integer("sub", e.integer("sub", "%nv", 1), down)
        each(
            e,
            e.integer("add", k, 1),
            "%nv",
            lambda j: e.store(get(y, k) - get(M, at(j, k)) * get(into, j), y, k),
        )
        e.store(get(y, k) / get(M, at(k, k)), into, k)

    each(e, 0, "%nv", factor)
    each(e, 0, "%nv", back)
