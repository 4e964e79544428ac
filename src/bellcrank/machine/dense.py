"""Dense algebra, for the O(n^3) baseline: the path of composite bodies to ground, and LDL^T."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..kernels.executor import Executor, Integer
from ..kernels.messages import leaves, rebuild
from ..numbers import Number
from ..plan import Signature
from .body import Body

if TYPE_CHECKING:
    from .walk import Walk


class Column:
    """Row and column k of the mass matrix."""

    def __init__(self, walk: Walk, k: Integer):
        self.walk, self.k = walk, k

    def put(self, body: Body, values: Sequence[Number]) -> None:
        M, first = self.walk.array("M"), body.entry("v")
        for j, x in enumerate(values):
            M[self.k, first + j] = x
            M[first + j, self.k] = x


def climb(walk: Walk, step: Callable[[Any, Any, Any], Any], start: str, like: Any) -> None:
    """For each degree of freedom, from its body's parent to ground: a loop in a loop, with a switch on the signature."""
    carried, first = walk.array("carried"), walk.array(start)
    size = len(leaves(like))

    def per_dof(k: Integer) -> None:
        for j in range(size):
            carried[j] = first[k * size + j]
        to_ground(walk, walk.array("dofs")[k], lambda body: per_ancestor(k, body))

    def per_ancestor(k: Integer, body: Body) -> None:
        message = rebuild(like, iter([carried[j] for j in range(size)]))
        for j, x in enumerate(leaves(step(body, Column(walk, k), message))):
            carried[j] = x

    walk.e.each(0, walk.e.count("nv"), per_dof)


def to_ground(walk: Walk, first: Integer, at: Callable[[Body], None]) -> None:
    """Visit a body and all those between it and ground."""
    cursor = walk.array("cursor")
    cursor[0, "ancestor"] = first

    def per_body() -> None:
        i = cursor[0, "ancestor"]

        def arm(signature: Signature) -> None:
            body = Body(signature, walk, i)
            at(body)
            cursor[0, "ancestor"] = body.entry("parent")

        walk.at_body(i, arm)

    walk.e.repeat(lambda: cursor[0, "ancestor"] >= 0, per_body)


def solve(e: Executor, M: Any, y: Any, into: Any) -> None:
    """M into = y by LDL^T, in place; M is symmetric positive definite, nv by nv."""
    n = e.count("nv")

    def factor(k: Integer) -> None:
        pivot = 1.0 / M[k, k]

        def row(i: Integer) -> None:
            f = M[i, k] * pivot
            e.each(k + 1, i + 1, lambda j: M.__setitem__((i, j), M[i, j] - f * M[j, k]))
            y[i] = y[i] - f * y[k]

        e.each(k + 1, n, row)

    def back(down: Integer) -> None:
        k = n - 1 - down
        e.each(k + 1, n, lambda j: y.__setitem__(k, y[k] - M[j, k] * into[j]))
        into[k] = y[k] / M[k, k]

    e.each(0, n, factor)
    e.each(0, n, back)
