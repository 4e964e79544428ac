"""The walk over nodes: a loop with a switch on the node's signature.

Nodes speak to each other through memory: channels for the bodies (channels.py), condensed forms for their parents
(condensed.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...forces import BodyState
from ...formulations.nodes import Placed
from ...joints import JOINTS_BY_KEY, along_given_axes
from ...kernels.executor import Integer
from ...kernels.llvm.several import first_of
from ...numbers import Dual, Number, select
from ...plan import Plan, Signature
from ...plan.closures import CLOSURE_SLOTS
from ...plan.nodes.signatures import BODY_COLUMNS, ClosureShape, NodeSignature, node_places
from ...plan.signature import OWN
from ...spatial import Force, Matrix, Motion, Vector
from ...spatial.rank import is_redundant
from ...spatial.vector import ZERO
from ..at_state import ClosureView, closure_view
from ..body import Body
from ..closures.couplers import coupled, factor_of, slope_of
from ..closures.views import driven_of
from ..loads import data_of, state_of
from ..workspace import make_workspace
from .condensed import CondensedForms
from .links import LinkMessages

if TYPE_CHECKING:
    from ..walk import Walk

Turn = tuple[tuple[Number, ...], ...]
OF_CLOSURES = "node_closure_data"


def block_width(plan: Plan) -> int:
    """Most coordinates of a node: how many entries the rows of closures have at most."""
    return 1 if plan.nodes is None else plan.nodes.width


class NodeBody(Body):
    """A body of a node; what is read of it says at which place it is."""

    def __init__(self, signature: Signature, walk: Walk, index: Integer, place: int, columns: dict[str, Integer]):
        super().__init__(signature, walk, index)
        self.__dict__.update(place=place, columns=columns)

    def entry(self, column: str) -> Integer:
        return self.columns[column] if column in self.columns else super().entry(column)

    def data(self, slot: int, tangents: bool = False) -> Number:
        if slot >= OWN:
            return super().data(slot, tangents)
        return self.walk.array("d_node_body_data" if tangents else "node_body_data")[self.columns["row"], slot]

    def origin(self, array: str, k: int) -> tuple[Any, ...]:
        return array, k, self.place


def _axes(data: Callable[[int], Number]) -> Matrix:
    start = CLOSURE_SLOTS["world"]
    return Matrix(*[Vector(*[data(start + 3 * i + k) for k in range(3)]) for i in range(3)])


def body_state_of(at: Placed) -> BodyState:
    """A placed body as closures see it: velocity of its own origin."""
    return BodyState(at.R, at.p, at.V.w, at.V.v + at.V.w.cross(at.p))


def to_base(at: Placed, state: BodyState, world: Matrix) -> Matrix:
    """The world's axes (columns) as the base has them, from a body that is known in both."""
    return at.R.times(state.R.transpose().times(world))


def turn_of(world: Matrix, own: Matrix) -> Turn:
    """From components along the closure's own axes to the world's; all axes are columns."""
    return tuple(tuple(row) for row in world.transpose().times(own))


class NodeClosure:
    """Implements formulations.NodeClosure."""

    def __init__(self, node: WalkedNode, shape: ClosureShape, index: Integer, row: Integer, place: int):
        self.node, self.shape, self.index, self.row, self.place = node, shape, index, row, place
        self.a, self.b, self.path_a, self.path_b, self.kept = shape.a, shape.b, shape.path_a, shape.path_b, shape.kept
        self.checked, self.rows = shape.checked, shape.signature.rows
        self.constants = dict(shape.constants)

    def _data(self, slot: int) -> Number:
        if slot in self.constants:
            return self.constants[slot]
        walk = self.node.walk
        if not walk.e.folds:
            return walk.array(OF_CLOSURES)[self.row, slot]
        value = self.load(OF_CLOSURES, slot)
        varies = walk.of_design and slot in self.shape.signature.varied
        return Dual(value, [self.load(f"d_{OF_CLOSURES}", slot)]) if varies else value

    def load(self, name: str, slot: int) -> Number:
        walk = self.node.walk
        array = walk.array(name)
        return walk.e.once((name, slot, self.place), self.index, lambda: array[self.row, slot])

    def _entry(self, column: str) -> Integer:
        return self.node.walk.array("closure_table")[self.index, column]

    @property
    def scales(self) -> list[Number]:
        return [self._data(CLOSURE_SLOTS["scale"] + k) for k in range(self.rows)]

    def turn(self, a: Placed, b: Placed) -> Turn:
        if not along_given_axes(self.shape.signature.kind):
            return ()
        walk = self.node.walk
        world = _axes(data_of(walk, "closure_data", self.index, self.shape.signature))
        if not self.node.signature.closed_on_ground:
            world = to_base(b, state_of(walk, self._entry("state_b")), world)
        return turn_of(world, _axes(self._data))

    def output(self, name: str, values: Sequence[Number]) -> None:
        first = self._entry("row")
        for k, x in enumerate(values):
            self.node.walk.output(name, first + k, x)

    def view(self, a: Placed, b: Placed) -> ClosureView:
        walk, signature = self.node.walk, self.shape.signature
        sums = coupled(walk, signature, self.index) if signature.kind == "coupler" else (0.0, 0.0, 0.0)
        driven = driven_of(walk, signature, self.index)
        return closure_view(signature, self._data, body_state_of(a), body_state_of(b), driven, sums)

    def factors(self) -> list[Number]:
        row: list[Number] = [0.0] * len(self.node.dofs)
        for k, dof in enumerate(self.shape.terms):
            row[dof] = row[dof] + factor_of(self.node.walk, self._entry("attachment") + k)
        if self.shape.terms:
            last = self.shape.terms[-1]
            row[last] = row[last] + slope_of(self.node.walk, self.shape.signature, self.index)
        return row


class WalkedNode(CondensedForms, LinkMessages):
    """Implements formulations.Node; also what a Workspace asks for."""

    def __init__(self, signature: NodeSignature, walk: Walk, index: Integer, first: Integer):
        self.__dict__.update(walk=walk, signature=signature, index=index, first=first, there={})
        walk.arena.used = 0
        self.__dict__.update(_workspace=walk.node_workspaces[signature], places=node_places(signature))
        numbers = self._numbers("bodies", len(signature.above))
        closures, rows = (self._numbers(name, len(signature.closures)) for name in ("closures", "closure_rows"))
        given = zip(signature.closures, closures, map(self._row, rows), range(len(rows)), strict=True)
        held = [NodeClosure(self, *x) for x in given]
        self.__dict__.update(
            body_numbers=numbers,
            bodies=[NodeBody(s, walk, numbers[k], k, self._columns(k)) for k, s in enumerate(signature.bodies)],
            borrows=len(signature.borrowed),
            carriers=signature.carriers,
            lends=signature.lends,
            dofs=signature.dofs,
            on_ground=signature.on_ground,
            condensed=signature.condensed,
            abreast=signature in walk.side_by_side,
            in_memory=signature.in_memory and walk.e.folds,
            outward=outward_places(signature),
            closures=[] if signature.link else held,
            closing=held if signature.link else [],
            link=signature.link,
            **condensed_facts(signature),
        )

    def _numbers(self, name: str, size: int, skipped: int = 0) -> list[Integer]:
        """Integers of the node, from its list."""
        start, ints = self.places[name] + skipped, self.walk.array("node_ints")
        return [ints[self.first + (start + k)] for k in range(size)]

    def _columns(self, place: int) -> dict[str, Integer]:
        size = len(BODY_COLUMNS)
        found = dict(zip(BODY_COLUMNS, self._numbers("columns", size, place * size), strict=True))
        return found | {"row": self._row(found["row"])}

    def _row(self, row: Integer) -> Integer:
        """Of data that nodes of a group share: the same for all, or that of each."""
        return first_of(row) if self.walk.side_by_side.get(self.signature) else row

    def __setattr__(self, name: str, value: Any) -> None:
        self._workspace.keep(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._workspace.recall(self, name)

    # what a record asks for

    def load(self, array: str, k: int, place: int) -> Number:
        """Of the body or the closure at a place."""
        owners = self.closures or self.closing if array.endswith(OF_CLOSURES) else self.bodies
        return owners[place].load(array, k)

    def memory(self, column: str = "memory") -> str:
        """Address of the numbers that steps keep on this node, or of the matrices, in machine code."""
        e, index = self.walk.e, first_of(self.index)
        column = "abreast" if column == "memory" and self.abreast else column
        key = column, str(index)
        if key not in e.known:
            start = self.walk.array("node_table")[index, column]
            e.known[key] = self.walk.array("node_work").row(start)
        return str(e.known[key])

    def slot(self, k: int) -> int:
        """Where the k-th kept number is: beside those of the other nodes of a group, of which it is one or a vector of all."""
        nodes = self.walk.plan.nodes
        return k * nodes.abreast if nodes and self.abreast and self.walk.e.lanes == 1 else k

    def kept_number(self, k: int, wide: bool) -> str:
        e = self.walk.e
        return str((e.load_wide if wide else e.load)(self.memory(), self.slot(k)))

    # the node

    def above(self, place: int) -> int:
        return self.signature.above[place]

    def dof(self, place: int, k: int) -> int:
        return next(i for i, (p, j, _) in enumerate(self.signature.dofs) if (p, j) == (place, k))

    @property
    def base(self) -> Integer:
        return self._numbers("base", 1)[0]

    @property
    def spin(self) -> Vector:
        return ZERO if self.on_ground else self.walk.node_messages.get("spin", self.base)

    @property
    def tolerance(self) -> Number:
        return self.walk.setting("tolerance")

    @property
    def known_acceleration(self) -> Motion:
        return Motion(ZERO, -self.walk.gravity) if self.on_ground else Motion.zero()

    @property
    def base_acceleration(self) -> Motion:
        return self.walk.node_messages.get("motion", self.base)

    def borrowed(self, k: int) -> Placed:
        body, channels = self.body_numbers[len(self.bodies) + k], self.walk.node_messages
        R, p, V, c = channels.get("frame", body)
        lines = tuple(channels.get(f"line{i}", body) for i in range(self.signature.borrowed[k]))
        return Placed(R, p, V, c, lines)

    def lend(self, place: int, at: Placed) -> None:
        body, channels = self.body_numbers[place], self.walk.node_messages
        channels.put("frame", body, (at.R, at.p, at.V, at.c))
        for k, s in enumerate(at.s):
            channels.put(f"line{k}", body, s)

    def send_spin(self, place: int, w: Vector) -> None:
        self.walk.node_messages.put("spin", self.body_numbers[place], w)

    def felt(self, place: int) -> Any:
        return self.walk.node_messages.get("felt", self.body_numbers[place])

    def report(self, inertia: Any, force: Force) -> None:
        self.walk.node_messages.put("felt", self.base, (inertia, force), add=not self.signature.opens)

    def report_pivot(self, pivot: Number) -> None:
        self._put_out((pivot, 0.0, 0.0), 0)

    def report_errors(self, error: Number, residual: Number) -> None:
        self._put_out((error, residual), 1)

    def _put_out(self, numbers: Sequence[Number], first: int) -> None:
        if "block" in self.walk.program.outputs:
            for k, x in enumerate(numbers, start=first):
                self.walk.array("block")[self.index * 3 + k] = x

    def send_acceleration(self, place: int, motion: Motion) -> None:
        self.walk.node_messages.put("motion", self.body_numbers[place], motion)

    def slides(self, dof: int) -> bool:
        return joint_slides(self.signature, dof)

    def note_rows(self, directions: Sequence[Sequence[Number]], pivots: Sequence[Number]) -> None:
        """Where the watch of a time loop reads them: rows of ``left`` and the pivots of ``rows``; of the closures' equations,
        then of those that say that children agree."""
        walk, width = self.walk, block_width(self.walk.plan)
        left, rows, tolerance = walk.array("left"), walk.array("rows"), walk.setting("tolerance")
        found = iter(zip(directions, pivots, strict=True))

        def note(row: Integer, way: Sequence[Number], pivot: Number) -> None:
            rows[row, "pivot"] = select(is_redundant(tolerance, pivot), 0.0, pivot)
            for j, x in enumerate(way):
                left[row * width + j] = x

        for closure in self.closures:
            first = walk.array("closure_table")[closure.index, "row"]
            for k in range(closure.rows):
                note(first + k, *(next(found) if k in closure.kept else ([0.0] * len(self.dofs), 0.0)))
        for k, (way, pivot) in enumerate(found):
            note(self._numbers("agreements", 1)[0] + k, way, pivot)

    def _coordinate(self, dof: int) -> Integer:
        """Which of the model's degrees of freedom a coordinate is."""
        _, k, joint = self.signature.dofs[dof]
        return self._numbers("joints", 1, joint)[0] + k

    def joint_values(self, name: str, whole: bool = False) -> list[Number]:
        skipped = 0 if whole else self.signature.separator
        own = range(skipped, len(self.dofs))
        return [0.0] * skipped + [self.walk.given(name, self._coordinate(j)) for j in own]

    def output_joints(self, name: str, values: Sequence[Number]) -> None:
        for j in range(self.signature.separator, len(self.dofs)):
            self.walk.output(name, self._coordinate(j), values[j])


def nodes(walk: Walk, step: Callable[[Any], None], inward: bool) -> None:
    e, tables, table = walk.e, walk.plan.nodes, walk.array("node_table")
    assert tables is not None
    walk.node_messages.learn(tables.signatures, lambda signature: _rehearse(walk, step, signature))
    e.start_pass()

    def one(k: Integer) -> None:
        i = e.count("nodes") - 1 - k if inward else k
        code, first = table[i, "code"], table[i, "first"]

        def arm(signature: NodeSignature) -> list[Number]:
            step(WalkedNode(signature, walk, i, first))
            return []

        e.switch(code, [lambda s=s: arm(s) for s in tables.signatures])

    e.each(0, e.count("nodes"), one)


def _rehearse(walk: Walk, step: Callable[[Any], None], signature: NodeSignature) -> None:
    kept, e = walk.node_workspaces, walk.e
    with e.rehearsal():
        walk.node_workspaces = kept | {signature: kept[signature].copy()}
        try:
            step(WalkedNode(signature, walk, e.unknown_integer(), e.unknown_integer()))
        finally:
            walk.node_workspaces = kept


def fresh_workspaces(walk: Walk) -> dict[NodeSignature, Any]:
    signatures = () if walk.plan.nodes is None else walk.plan.nodes.signatures
    return {signature: make_workspace(walk.e, ("node", k), walk.memory) for k, signature in enumerate(signatures)}


def joint_slides(signature: NodeSignature, dof: int) -> bool:
    place, k, _ = signature.dofs[dof]
    return JOINTS_BY_KEY[signature.bodies[place].joint].v_units[k] == "m/s"


def condensed_facts(signature: NodeSignature) -> dict[str, Any]:
    """What formulations.Node says of nodes of a block with a clique tree."""
    return {
        "has_parent": signature.has_parent,
        "children": len(signature.forms),
        "separator": signature.separator,
        "shared": [form.shared for form in signature.forms],
        "form_sizes": [form.size for form in signature.forms],
        "form_rows": [len(form.shared) + form.own for form in signature.forms],
        "reported": signature.reported,
        "equations": signature.equations,
        "kept_unknowns": signature.kept,
    }


def outward_places(signature: NodeSignature) -> tuple[int, ...]:
    """Places so that parents come first: borrowed bodies may carry own ones, and the other way round."""
    done: list[int] = []
    waiting = list(range(len(signature.above)))
    while waiting:
        ready = [k for k in waiting if signature.above[k] < 0 or signature.above[k] in done]
        done += ready
        waiting = [k for k in waiting if k not in ready]
    return tuple(done)
