"""The walk as a Python loop, on any number: for debugging, counting, derivatives, and precision beyond double."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..forces import BodyState, JointState
from ..formulations import Program
from ..kernels.messages import added, leaves, rebuild
from ..numbers import Number
from ..plan import Plan, Signature
from ..plan.loads import ELEMENT_SLOTS, ElementSignature
from ..spatial import Force, Matrix, Motion, Vector
from . import plain_closures as plain_closing
from .nodes import plain as plain_nodes
from .prepass import body_state, body_wrenches, closing_wrenches, driven_state, joint_effort, summed, world_state
from .view import View, effort_source, input_size

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
        if name == "push":
            return tuple(self._walk.pushes[first : first + len(self.directions)])
        given = self._walk.driven[name] if self.driven else self._walk.given(name)
        return tuple(given[first : first + input_size(self._signature, name)])

    def _effort_source(self) -> str | None:
        return self._walk.effort_from

    def _forces(self) -> bool:
        return self._walk.forces

    def _applied(self) -> list[Number]:
        return self._walk.applied[self._walk.plan.table[self._i, 8]]

    def _impulses(self) -> list[Number]:
        return self._walk.impulses[self._walk.plan.table[self._i, 8]]

    def leave_state(self, numbers: Sequence[Number]) -> None:
        self._walk.states[int(self._walk.plan.table[self._i, 8])] = list(numbers)

    def leave_known(self, acceleration: Motion) -> None:
        self._walk.known[int(self._walk.plan.table[self._i, 8])] = leaves(acceleration)

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
        self.driven: dict[str, list[Number]] = {"q": [], "v": [], "a": []}
        self.states: dict[int, list[Number]] = {}
        self.known: dict[int, list[Number]] = {}
        self.applied: list[list[Number]] = []
        self.impulses: list[list[Number]] = []
        self.rows: dict[str, list[Number]] = {}  # of every equation that closes a loop
        self.left: list[list[Number]] = []  # what each has left at the degrees of freedom
        self.grips: list[Force] = []
        self.pushes: list[Number] = []
        self.nodes_made: list[Any] = []
        self.node_tables: Any = plan.nodes
        self.spins: dict[int, Any] = {}
        self.lent: dict[int, Any] = {}
        self.felts: dict[int, Any] = {}
        self.motions: dict[int, Any] = {}
        self.images: dict[int, Any] = {}
        self.unknowns: dict[int, Any] = {}
        self.tolerance, self.length, self.baumgarte = plan.tolerance, plan.length, plan.baumgarte

    def given(self, name: str) -> Values:
        """An input, or an output that was written before."""
        values: Values = self.inputs[name] if name in self.inputs else self.outputs[name]
        return values

    @property
    def loaded(self) -> bool:
        return self.forces

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
            for k in range(body._first("v"), body._first("v") + len(body.directions)):
                message = rebuild(like, iter(first[k * size : (k + 1) * size]))
                j = self.plan.tree.parent[i]
                while j >= 0:
                    message = step(self.bodies[j], Column(self.outputs["M"], k), message)
                    j = self.plan.tree.parent[j]

    def closures(self, step: Callable[[Any], Any]) -> None:
        plain_closing.closures(self, step)

    def push_multipliers(self) -> None:
        self.applied = [[0.0] * 6 for _ in self.plan.loads.touched]
        self.inputs = {**self.inputs, "lambda": self.outputs["lambda"]}
        plain_closing.push(self)

    def clear(self, name: str) -> None:
        self.outputs[name] = [0.0] * self.plan.model.nv

    def push_impulses(self) -> None:
        plain_closing.push_impulses(self)

    @property
    def checks(self) -> bool:
        return self.plan.nodes is not None and self.plan.nodes.checks

    @property
    def bases_move(self) -> bool:
        return self.plan.nodes is not None and self.plan.nodes.bases_move

    def closure_states(self) -> None:
        if not self.forces:
            plain_closing.leave_states(self)

    def haul(self, step: Callable[[Any, Any, Any], Any]) -> None:
        plain_closing.haul(self, step)
        if "G" in self.kinds:
            self.outputs["G"] = [x for row in self.left for x in row]

    def reduce(self) -> None:
        plain_closing.reduce(self)

    def tell(self, name: str, *fields: str) -> None:
        plain_closing.tell(self, name, fields)

    def nodes(self, step: Callable[[Any], None], *, inward: bool = False) -> None:
        plain_nodes.nodes(self, step, inward)

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
        count = {"body": self.plan.n, "q": self.plan.model.nq, "v": nv, "drive": len(self.driven["v"])}[per]
        self.outputs.setdefault(name, [0.0] * (count * width))[start * width : start * width + len(values)] = values

    def _drive(self) -> None:
        loads = self.plan.loads
        for row, data in zip(loads.motion_table, loads.motion_data.tolist(), strict=True):
            signature = loads.motion_signatures[row[0]]
            state = driven_state(signature, data.__getitem__, self.inputs["t"][0], loads.pool.tolist())
            for name, values in state._asdict().items():
                self.driven[name] += values

    def apply_forces(self) -> None:
        """Sum up the efforts and wrenches of all elements; each leaves its energy, power and force."""
        plan, loads = self.plan, self.plan.loads
        ground = Motion.zero()
        self.outward(world_state, (Matrix.identity(), Vector(0.0, 0.0, 0.0), ground))
        efforts = list(self.inputs.get("tau", [0.0] * plan.model.nv))
        self.applied = [[0.0] * 6 for _ in loads.touched]
        told: list[Number] = []
        for row, data in zip(loads.element_table, loads.element_data.tolist(), strict=True):
            signature = loads.element_signatures[row[0]]
            told += self._apply(signature, [int(x) for x in row], data, efforts)
        self.inputs = {**self.inputs, "effort": efforts}
        self.outputs["element"] = told

    def _apply(self, signature: ElementSignature, row: list[int], data: list[float], efforts: list[Number]) -> list[Number]:
        _, q, v, row_a, row_b, which, *places = row
        t = self.inputs["t"][0] if "t" in self.inputs else 0.0
        u = self.inputs["u"][which] if signature.has_input else 0.0
        pool = self.plan.loads.pool.tolist()
        if signature.terms:
            return self._apply_sum(signature, places, data, efforts)
        if signature.on_joint:
            state = JointState(self.given("q")[q] if signature.scalar else 0.0, self.given("v")[v])
            answer = joint_effort(signature, data.__getitem__, state, t, u, pool)
            efforts[v] = efforts[v] + answer.effort
            return [answer.energy, answer.power, answer.effort]
        a = BodyState.ground() if signature.ground_a else body_state(self.states[row_a])
        b = BodyState.ground() if signature.ground_b else body_state(self.states[row_b])
        evaluate = closing_wrenches if signature.closing else body_wrenches
        answers = evaluate(signature, data.__getitem__, a, b, t, u, pool)
        for on_ground, at, wrench in ((signature.ground_a, row_a, answers.on_a), (signature.ground_b, row_b, answers.on_b)):
            if not on_ground:
                self.applied[at] = [x + y for x, y in zip(self.applied[at], leaves(wrench), strict=True)]
        return [answers.energy, answers.power, answers.force]

    def _apply_sum(
        self, signature: ElementSignature, places: list[int], data: list[float], efforts: list[Number]
    ) -> list[Number]:
        """An element along s = sum of factor * q: each joint gets factor * effort."""
        factors = data[ELEMENT_SLOTS["factors"] :][: signature.terms]
        q, v = places[0 : 2 * signature.terms : 2], places[1 : 2 * signature.terms : 2]
        s, rate = (summed(factors, [self.given(name)[i] for i in at]) for name, at in (("q", q), ("v", v)))
        answer = joint_effort(signature, data.__getitem__, JointState(s, rate), 0.0, 0.0, None)
        for i, factor in zip(v, factors, strict=True):
            efforts[i] = efforts[i] + factor * answer.effort
        return [answer.energy, answer.power, answer.effort]

    def run(self, program: Program) -> dict[str, Any]:
        self.kinds = program.outputs
        loads = self.plan.loads
        self.forces = program.forces and bool(loads.elements or "lambda" in program.inputs)
        self.effort_from = effort_source(program, self.forces)
        if loads.motions:
            self._drive()
        if self.forces and not program.late:
            self.apply_forces()
        if "lambda" in program.inputs:
            if not self.forces:
                plain_closing.leave_states(self)
            plain_closing.push(self)
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
