"""The walk as a Python loop, on any number: for debugging, counting, derivatives, and precision beyond double."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..formulations import Program
from ..numbers import Number
from ..spatial import Vector
from ..topology import Plan, Signature
from .structure import added, leaves, rebuild
from .view import View, input_size

Values = Sequence[Number]


class PlainBody(View):
    def __init__(self, signature: Signature, walk: PlainWalk, i: int):
        super().__init__(signature)
        self.__dict__["_walk"] = walk
        self.__dict__["_i"] = i
        self.__dict__["_kept"] = {}

    def _data(self, slot: int) -> Number:
        return self._walk.data[self._i][slot]

    def _first(self, name: str) -> int:
        return int(self._walk.plan.table[self._i, 2 if name in ("q", "qdot") else 3])

    def input(self, name: str) -> tuple[Number, ...]:
        first = self._first(name)
        return tuple(self._walk.inputs[name][first : first + input_size(self._signature, name)])

    def output(self, name: str, values: Sequence[Number]) -> None:
        self._walk.put(name, self, list(values))

    def _keep(self, name: str, value: Any) -> None:
        self._kept[name] = value

    def _recall(self, name: str) -> Any:
        return self._kept[name]


class Column:
    """Row and column k of the mass matrix."""

    def __init__(self, matrix: Any, k: int):
        self.matrix, self.k = matrix, k

    def put(self, body: PlainBody, values: Sequence[Number]) -> None:
        first = body._first("v")
        for j, x in enumerate(values):
            self.matrix[self.k][first + j] = self.matrix[first + j][self.k] = x


class PlainWalk:
    """Implements formulations.Walk. ``data`` and ``gravity`` may be of any kind of number."""

    def __init__(self, plan: Plan, inputs: Mapping[str, Values], data: Any = None, gravity: Values | None = None):
        self.plan = plan
        self.inputs = inputs
        self.data = plan.data if data is None else data
        self.gravity = Vector(*(plan.gravity if gravity is None else gravity))
        self.outputs: dict[str, Any] = {}
        self.bodies = [PlainBody(plan.signature(i), self, i) for i in range(plan.n)]

    def outward(self, step: Callable[[Any, Any], Any], base: Any) -> None:
        sent: list[Any] = [None] * self.plan.n
        for i, body in enumerate(self.bodies):
            p = self.plan.tree.parent[i]
            sent[i] = step(body, base if p < 0 else sent[p])

    def inward(self, step: Callable[[Any, Any], Any], leaf: Any) -> None:
        felt: list[Any] = [leaf] * self.plan.n
        for i in reversed(range(self.plan.n)):
            message = step(self.bodies[i], felt[i])
            p = self.plan.tree.parent[i]
            if p >= 0:
                felt[p] = added(felt[p], message)

    def climb(self, step: Callable[[Any, Any, Any], Any], start: str, like: Any) -> None:
        size, first = len(leaves(like)), self.outputs[start]
        for i, body in enumerate(self.bodies):
            for k in range(body._first("v"), body._first("v") + body._joint.nv):
                message = rebuild(like, iter(first[k * size : (k + 1) * size]))
                j = self.plan.tree.parent[i]
                while j >= 0:
                    message = step(self.bodies[j], Column(self.outputs["M"], k), message)
                    j = self.plan.tree.parent[j]

    def solve(self, matrix: str, right: str, into: str) -> None:
        self.outputs[into] = solve_ldl(self.outputs[matrix], self.outputs[right])

    def put(self, name: str, body: PlainBody, values: list[Number]) -> None:
        kind, nv = self.kinds[name], self.plan.model.nv
        if kind == "v*v":
            matrix = self.outputs.setdefault(name, [[0.0] * nv for _ in range(nv)])
            first, size = body._first("v"), body._joint.nv
            for k, x in enumerate(values):
                matrix[first + k // size][first + k % size] = x
            return
        per, _, size_text = kind.partition("*")
        width = int(size_text or 1)
        start = int(self.plan.table[body._i, 4]) if per == "body" else body._first("q" if per == "q" else "v")
        count = {"body": self.plan.n, "q": self.plan.model.nq, "v": nv}[per]
        self.outputs.setdefault(name, [0.0] * (count * width))[start * width : start * width + len(values)] = values

    def run(self, program: Program) -> dict[str, Any]:
        self.kinds = program.outputs
        program.run(self)
        return {name: self.outputs.get(name, []) for name in program.outputs if name not in program.scratch}


def solve_ldl(matrix: list[list[Number]], right: Values) -> list[Number]:
    """Solve a symmetric positive definite system by LDL^T, over any number."""
    n = len(right)
    L = [list(row) for row in matrix]
    y = list(right)
    for k in range(n):
        for i in range(k + 1, n):
            factor = L[i][k] / L[k][k]
            for j in range(k + 1, i + 1):
                L[i][j] = L[i][j] - factor * L[j][k]
            y[i] = y[i] - factor * y[k]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            y[k] = y[k] - L[j][k] * y[j]
        y[k] = y[k] / L[k][k]
    return y


def run_plain(program: Program, plan: Plan, dtype: Any = float, **inputs: Values) -> dict[str, Any]:
    """One evaluation on plain numbers of a numpy type: float, numpy.longdouble, complex."""
    given = {name: list(np.asarray(x, dtype=dtype)) for name, x in inputs.items()}
    data = [list(row) for row in plan.data.astype(dtype)] if dtype is not float else plan.data.tolist()
    gravity = list(plan.gravity.astype(dtype))
    return PlainWalk(plan, given, data, gravity).run(program)
