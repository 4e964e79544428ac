"""The walk over nodes in machine code: a loop with a switch on the node's signature.

Nodes speak to each other through memory: rows of channels for the bodies (channels), reports to the node that one hangs on
(node_images).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...formulations.base import Placed
from ...joints.base import Driven
from ...kernels.emitter import Int
from ...kernels.flow import each, switch
from ...kernels.liveness import PASS, Cell, Memory
from ...numbers import Number, Symbol, select
from ...plan import Plan, Signature
from ...plan.closures import CLOSURE_ROW, CLOSURE_SLOTS, CLOSURE_TABLE
from ...plan.nodes import BODY_COLUMNS, NODE_TABLE, ClosureShape, NodeSignature, node_places
from ...plan.signature import OWN
from ...spatial import Force, Matrix, Motion, Vector
from ...spatial.rank import is_redundant
from ...spatial.vector import ZERO
from ..body import TracedBody, fetched
from ..closures import coupled, put_field, setting
from ..loads import count, ints_of, row_of, state_of
from ..plain_closures import driven_sizes
from ..prepass import ClosureView, closure_view
from ..records import Record
from .condensed import TracedImages
from .plain import ALONG_AXES, Turn, apart_facts, body_state_of, joint_slides, outward_places, to_base, turn_of

if TYPE_CHECKING:
    from ..walk import TracedWalk


def block_width(plan: Plan) -> int:
    """Most coordinates of a node: how many entries the rows of closures have at most."""
    return 1 if plan.nodes is None else max((len(signature.dofs) for signature in plan.nodes.signatures), default=0) or 1


class NodeBody(TracedBody):
    """A body of a node; what is read of it says at which place it is."""

    def __init__(self, signature: Signature, walk: TracedWalk, index: str, place: int, columns: dict[str, str]):
        super().__init__(signature, walk, index)
        self.__dict__.update(place=place, columns=columns)

    def entry(self, column: str) -> str:
        return self.columns.get(column) or super().entry(column)

    def data_row(self, slot: int) -> str:
        if slot >= OWN:
            return self.row("data")
        e, key = self.walk.e, ("shared row", self.index)
        if key not in e.pointers:
            e.pointers[key] = e.pointer("%node_body_data", e.integer("mul", self.columns["row"], OWN))
        return e.pointers[key]

    def _origin(self, array: str, k: int) -> tuple[Any, ...]:
        return array, k, self.place


def _matrix(data: Callable[[int], Number]) -> Matrix:
    start = CLOSURE_SLOTS["world"]
    return Matrix(*[Vector(*[data(start + 3 * i + k) for k in range(3)]) for i in range(3)])


class TracedNodeClosure:
    """Implements formulations.NodeClosure."""

    def __init__(self, node: TracedNode, shape: ClosureShape, index: str, row: str):
        self.node, self.shape, self.index, self.row = node, shape, index, row
        self.a, self.b, self.path_a, self.path_b, self.kept = shape.a, shape.b, shape.path_a, shape.path_b, shape.kept
        self.checked, self.rows = shape.checked, shape.signature.rows
        self.constants = dict(shape.constants)

    def _data(self, slot: int) -> Number:
        if slot in self.constants:
            return self.constants[slot]
        e = self.node.walk.e
        at = e.pointer("%node_closure_data", e.integer("mul", self.row, CLOSURE_ROW))
        key = ("closure", self.index, slot)
        if key not in e.known:
            e.known[key] = e.symbol(e.splat(e.load_double(at, slot)))
        return e.known[key]

    @property
    def scales(self) -> list[Number]:
        return [self._data(CLOSURE_SLOTS["scale"] + k) for k in range(self.rows)]

    def turn(self, a: Placed, b: Placed) -> Turn:
        if self.shape.signature.kind not in ALONG_AXES:
            return ()
        walk = self.node.walk
        world = _matrix(row_of(walk.e, "%closure_data", self.index, CLOSURE_ROW))
        if not self.node.on_ground:
            ints = ints_of(walk.e, "%closure_table", self.index, CLOSURE_TABLE)
            world = to_base(b, state_of(walk, ints("state_b")), world)
        return turn_of(world, _matrix(self._data))

    def output(self, name: str, values: Sequence[Number]) -> None:
        walk = self.node.walk
        first = ints_of(walk.e, "%closure_table", self.index, CLOSURE_TABLE)("row")
        for k, x in enumerate(values):
            walk.store_output(name, walk.e.integer("add", first, k), x)

    def view(self, a: Placed, b: Placed) -> ClosureView:
        walk, signature = self.node.walk, self.shape.signature
        e, ints = walk.e, ints_of(walk.e, "%closure_table", self.index, CLOSURE_TABLE)
        sums = coupled(walk, ints) if signature.kind == "coupler" else (0.0, 0.0)
        nq, nv = driven_sizes(signature) if signature.driven else (0, 0)

        def driven(name: str, column: str, size: int) -> tuple[Number, ...]:
            return tuple(e.symbol(e.load(f"%driven_{name}", e.integer("add", ints(column), j))) for j in range(size))

        state = Driven(driven("q", "driven_q", nq), driven("v", "driven_v", nv), driven("a", "driven_v", nv))
        return closure_view(signature, self._data, body_state_of(a), body_state_of(b), state, sums)

    def factors(self) -> list[Number]:
        row: list[Number] = [0.0] * len(self.node.dofs)
        if self.shape.terms:
            e = self.node.walk.e
            first = ints_of(e, "%closure_table", self.index, CLOSURE_TABLE)("grip")
            for k, dof in enumerate(self.shape.terms):
                row[dof] = row[dof] + e.symbol(e.splat(e.load_double("%factors", e.integer("add", first, k))))
        return row


class TracedNode(TracedImages):
    """Implements formulations.Node; also what a Record asks for."""

    def __init__(self, signature: NodeSignature, walk: TracedWalk, index: str, first: str):
        self.__dict__.update(walk=walk, signature=signature, index=index, first=first, there={})
        walk.room.used = 0
        self.__dict__.update(_record=walk.node_records[signature], places=node_places(signature))
        numbers = self._numbers("bodies", len(signature.above))
        closures = (self._numbers(name, len(signature.closures)) for name in ("closures", "closure_rows"))
        self.__dict__.update(
            body_numbers=numbers,
            bodies=[NodeBody(s, walk, numbers[k], k, self._columns(k)) for k, s in enumerate(signature.bodies)],
            borrows=len(signature.borrowed),
            carriers=signature.carriers,
            lends=signature.lends,
            dofs=signature.dofs,
            on_ground=signature.on_ground,
            apart=signature.apart,
            wide=signature.wide,
            outward=outward_places(signature),
            closures=[TracedNodeClosure(self, *x) for x in zip(signature.closures, *closures, strict=True)],
            **apart_facts(signature),
        )

    def _numbers(self, name: str, size: int, skipped: int = 0) -> list[str]:
        """Integers of the node, from its list."""
        e, start = self.walk.e, self.places[name] + skipped
        return [e.load_int("%node_ints", e.integer("add", self.first, start + k)) for k in range(size)]

    def _columns(self, place: int) -> dict[str, str]:
        size = len(BODY_COLUMNS)
        return dict(zip(BODY_COLUMNS, self._numbers("columns", size, place * size), strict=True))

    def __setattr__(self, name: str, value: Any) -> None:
        self._record.keep(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._record.recall(self, name)

    # what a record asks for

    def load(self, array: str, k: int, place: int) -> Symbol:
        return self.bodies[place].load(array, k)

    def memory(self, column: str) -> str:
        """Where the node keeps its numbers, or its matrices."""
        e = self.walk.e
        key = (column, self.index)
        if key not in e.known:
            start = ints_of(e, "%node_table", self.index, NODE_TABLE)(column)
            e.known[key] = e.pointer("%node_work", e.integer("mul", start, e.lanes))
        return str(e.known[key])

    def store(self, slot: int, value: Number) -> None:
        self.walk.e.store(value, self.memory("memory"), slot)

    def fetch(self, slot: int, cell: Cell) -> Symbol:
        return fetched(self.walk.e, self.memory("memory"), slot, cell, self.index)

    # the node

    def above(self, place: int) -> int:
        return self.signature.above[place]

    def dof(self, place: int, k: int) -> int:
        return next(i for i, (p, j, _) in enumerate(self.signature.dofs) if (p, j) == (place, k))

    @property
    def base(self) -> str:
        return self._numbers("base", 1)[0]

    @property
    def spin(self) -> Vector:
        return ZERO if self.on_ground else self.walk.channels.get("spin", self.base)

    @property
    def tolerance(self) -> Number:
        return setting(self.walk, "tolerance")

    @property
    def known_acceleration(self) -> Motion:
        return Motion(ZERO, -self.walk.gravity) if self.on_ground else Motion.zero()

    @property
    def base_acceleration(self) -> Motion:
        return self.walk.channels.get("motion", self.base)

    def borrowed(self, k: int) -> Placed:
        body, channels = self.body_numbers[len(self.bodies) + k], self.walk.channels
        R, p, V, c = channels.get("frame", body)
        lines = tuple(channels.get(f"line{i}", body) for i in range(self.signature.borrowed[k]))
        return Placed(R, p, V, c, lines)

    def lend(self, place: int, at: Placed) -> None:
        body, channels = self.body_numbers[place], self.walk.channels
        channels.put("frame", body, (at.R, at.p, at.V, at.c))
        for k, s in enumerate(at.s):
            channels.put(f"line{k}", body, s)

    def send_spin(self, place: int, w: Vector) -> None:
        self.walk.channels.put("spin", self.body_numbers[place], w)

    def felt(self, place: int) -> Any:
        return self.walk.channels.get("felt", self.body_numbers[place])

    def report(self, inertia: Any, force: Force) -> None:
        self.walk.channels.put("felt", self.base, (inertia, force), add=not self.signature.opens)

    def report_pivot(self, pivot: Number) -> None:
        self._tell((pivot, 0.0, 0.0), 0)

    def report_errors(self, error: Number, residual: Number) -> None:
        self._tell((error, residual), 1)

    def _tell(self, numbers: Sequence[Number], first: int) -> None:
        e = self.walk.e
        if "block" in self.walk.program.outputs:
            for k, x in enumerate(numbers, start=first):
                e.store(x, "%block", e.integer("add", e.integer("mul", self.index, 3), k))

    def send_acceleration(self, place: int, motion: Motion) -> None:
        self.walk.channels.put("motion", self.body_numbers[place], motion)

    def slides(self, dof: int) -> bool:
        return joint_slides(self.signature, dof)

    def note_rows(self, directions: Sequence[Sequence[Number]], pivots: Sequence[Number]) -> None:
        """Where the lookout of a time loop reads them: rows of ``left`` and the pivots of ``rows``."""
        walk, e = self.walk, self.walk.e
        found = iter(zip(directions, pivots, strict=True))
        for closure in self.closures:
            first = ints_of(e, "%closure_table", closure.index, CLOSURE_TABLE)("row")
            for k in range(closure.shape.signature.rows):
                row = e.integer("add", first, k)
                way, pivot = next(found) if k in closure.kept else ([0.0] * len(self.dofs), 0.0)
                put_field(walk, row, "pivot", select(is_redundant(setting(walk, "tolerance"), pivot), 0.0, pivot))
                for j, x in enumerate(way):
                    walk.put(x, "%left", e.integer("add", e.integer("mul", row, block_width(walk.plan)), j))

    def _coordinate(self, dof: int) -> Int:
        """Which of the model's degrees of freedom a coordinate is."""
        _, k, joint = self.signature.dofs[dof]
        return self.walk.e.integer("add", self._numbers("joints", 1, joint)[0], k)

    def joint_values(self, name: str, whole: bool = False) -> list[Number]:
        skipped = 0 if whole else self.signature.separator
        own = range(skipped, len(self.dofs))
        return [0.0] * skipped + [self.walk.get(f"%{name}", self._coordinate(j)) for j in own]

    def output_joints(self, name: str, values: Sequence[Number]) -> None:
        for j in range(self.signature.separator, len(self.dofs)):
            self.walk.store_output(name, self._coordinate(j), values[j])


def nodes(walk: TracedWalk, step: Callable[[Any], None], inward: bool) -> None:
    e, tables = walk.e, walk.plan.nodes
    assert tables is not None
    walk.channels.learn(lambda: _rehearse(walk, step))
    e.do(PASS)

    def one(k: str) -> None:
        i = e.emit(f"sub nsw i64 {e.integer('sub', count(e, 'nodes'), 1)}, {k}") if inward else k
        ints = ints_of(e, "%node_table", i, NODE_TABLE)
        code, first = ints("code"), ints("first")

        def arm(signature: NodeSignature) -> list[str]:
            step(TracedNode(signature, walk, i, first))
            return []

        switch(e, code, [lambda s=s: arm(s) for s in tables.signatures])  # type: ignore[misc]

    each(e, 0, count(e, "nodes"), one)


def _rehearse(walk: TracedWalk, step: Callable[[Any], None]) -> ZeroDivisionError | None:
    """Every signature once; the division by zero that there was."""
    assert walk.plan.nodes is not None
    kept, failure = walk.node_records, None
    for signature in walk.plan.nodes.signatures:
        with walk.e.rehearsal():
            walk.node_records = {s: record.copy() for s, record in kept.items()}
            try:
                step(TracedNode(signature, walk, "%rehearsed", "%rehearsed"))
            except ZeroDivisionError as problem:
                failure = problem
            finally:
                walk.node_records = kept
    return failure


def fresh_records(plan: Plan, memory: Memory) -> dict[NodeSignature, Record]:
    signatures = () if plan.nodes is None else plan.nodes.signatures
    return {signature: Record(("node", k), memory) for k, signature in enumerate(signatures)}
