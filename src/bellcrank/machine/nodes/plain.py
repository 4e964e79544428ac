"""The walk over nodes as a Python loop, on any number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...forces import BodyState
from ...formulations.base import Placed
from ...joints import JOINTS_BY_KEY, along_given_axes
from ...kernels.messages import added
from ...numbers import Number
from ...plan.closures import CLOSURE_SLOTS, CLOSURE_TABLE
from ...plan.nodes import ClosureShape, Nodes, NodeSignature
from ...spatial import ArticulatedInertia, Force, Matrix, Motion, Vector
from ...spatial.matrices import Unrolled
from ...spatial.vector import ZERO
from ..plain_closures import _coupled, _driven
from ..prepass import ClosureView, body_state, closure_view

if TYPE_CHECKING:
    from ..plain import PlainWalk

Turn = tuple[tuple[Number, ...], ...]

_COLUMN = {name: k for k, name in enumerate(CLOSURE_TABLE)}


def body_state_of(at: Placed) -> BodyState:
    """A placed body as closures see it: velocity of its own origin."""
    return BodyState(at.R, at.p, at.V.w, at.V.v + at.V.w.cross(at.p))


def _matrix(data: list[float]) -> Matrix:
    rows = [Vector(*data[k : k + 3]) for k in range(CLOSURE_SLOTS["world"], CLOSURE_SLOTS["world"] + 9, 3)]
    return Matrix(*rows)


def to_base(at: Placed, state: BodyState, world: Matrix) -> Matrix:
    """The world's axes (columns) as the base has them, from a body that is known in both."""
    return at.R.times(state.R.transpose().times(world))


def turn_of(world: Matrix, own: Matrix) -> Turn:
    """From components along the closure's own axes to the world's; all axes are columns."""
    return tuple(tuple(row) for row in world.transpose().times(own))


class PlainNodeClosure:
    """Implements formulations.NodeClosure."""

    def __init__(self, walk: PlainWalk, shape: ClosureShape, index: int, size: int, on_ground: bool):
        self.walk, self.shape, self.index, self.size, self.on_ground = walk, shape, index, size, on_ground
        self.a, self.b, self.path_a, self.path_b, self.kept = shape.a, shape.b, shape.path_a, shape.path_b, shape.kept
        self.checked, self.rows = shape.checked, shape.signature.rows
        self.data: list[float] = walk.node_tables.closure_data[index].tolist()

    @property
    def scales(self) -> list[Number]:
        return list(self.data[CLOSURE_SLOTS["scale"] :][: self.rows])

    def turn(self, a: Placed, b: Placed) -> Turn:
        if not along_given_axes(self.shape.signature.kind):
            return ()
        closing = self.walk.plan.loads.closing
        world = _matrix(closing.data[self.index].tolist())
        if not self.on_ground:
            state = body_state(self.walk.states[int(closing.table[self.index, _COLUMN["state_b"]])])
            world = to_base(b, state, world)
        return turn_of(world, _matrix(self.data))

    def output(self, name: str, values: Sequence[Number]) -> None:
        closing = self.walk.plan.loads.closing
        first = int(closing.table[self.index, _COLUMN["row"]])
        out = self.walk.outputs.setdefault(name, [0.0] * closing.rows)
        out[first : first + len(values)] = values

    def view(self, a: Placed, b: Placed) -> ClosureView:
        walk, signature = self.walk, self.shape.signature
        entry = walk.plan.loads.closing.table[self.index].tolist()
        sums = _coupled(walk, entry) if signature.kind == "coupler" else (0.0, 0.0)
        driven = _driven(walk, signature, entry[_COLUMN["driven_q"]], entry[_COLUMN["driven_v"]])
        return closure_view(signature, self.data.__getitem__, body_state_of(a), body_state_of(b), driven, sums)

    def factors(self) -> list[Number]:
        row: list[Number] = [0.0] * self.size
        closing = self.walk.plan.loads.closing
        first = int(closing.table[self.index, _COLUMN["grip"]])
        for k, dof in enumerate(self.shape.terms):
            row[dof] = row[dof] + float(closing.factors[first + k])
        return row


class PlainNode:
    """Implements formulations.Node."""

    def __init__(self, walk: PlainWalk, tables: Nodes, index: int):
        node = tables.nodes[index]
        signature: NodeSignature = tables.signatures[int(tables.table[index, 0])]
        self.__dict__.update(walk=walk, index=index, node=node, signature=signature, kept={})
        self.__dict__.update(
            bodies=[walk.bodies[i] for i in node.bodies],
            borrows=len(node.borrowed),
            carriers=signature.carriers,
            lends=signature.lends,
            dofs=signature.dofs,
            on_ground=signature.on_ground,
            apart=signature.apart,
            closures=[
                PlainNodeClosure(walk, shape, k, len(signature.dofs), signature.on_ground)
                for shape, k in zip(signature.closures, node.closures, strict=True)
            ],
            places=(*node.bodies, *node.borrowed),
            outward=outward_places(signature),
            **apart_facts(signature),
        )

    def __setattr__(self, name: str, value: Any) -> None:
        self.kept[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.kept[name]

    def above(self, place: int) -> int:
        return self.signature.above[place]

    def dof(self, place: int, k: int) -> int:
        return next(i for i, (p, j, _) in enumerate(self.signature.dofs) if (p, j) == (place, k))

    @property
    def spin(self) -> Vector:
        return ZERO if self.on_ground else self.walk.spins[self.node.base]

    @property
    def tolerance(self) -> Number:
        return self.walk.tolerance

    @property
    def known_acceleration(self) -> Motion:
        return Motion(ZERO, -self.walk.gravity) if self.on_ground else Motion.zero()

    @property
    def base_acceleration(self) -> Motion:
        return self.walk.motions[self.node.base]

    def borrowed(self, k: int) -> Placed:
        return self.walk.lent[self.node.borrowed[k]]

    def lend(self, place: int, at: Placed) -> None:
        self.walk.lent[self.node.bodies[place]] = at

    def send_spin(self, place: int, w: Vector) -> None:
        self.walk.spins[self.node.bodies[place]] = w

    def felt(self, place: int) -> Any:
        return self.walk.felts.get(self.node.bodies[place], (ArticulatedInertia.zero(), Force.zero()))

    def report(self, inertia: Any, force: Force) -> None:
        felt = self.walk.felts.get(self.node.base, (ArticulatedInertia.zero(), Force.zero()))
        self.walk.felts[self.node.base] = added(felt, (inertia, force))

    def report_pivot(self, pivot: Number) -> None:
        self._told(self.walk)[3 * self.index] = pivot

    def report_errors(self, error: Number, residual: Number) -> None:
        self._told(self.walk)[3 * self.index + 1 : 3 * self.index + 3] = [error, residual]

    @staticmethod
    def _told(walk: PlainWalk) -> list[Number]:
        return walk.outputs.setdefault("block", [1.0, 0.0, 0.0] * walk.node_tables.count)

    def send_acceleration(self, place: int, motion: Motion) -> None:
        self.walk.motions[self.node.bodies[place]] = motion

    def slides(self, dof: int) -> bool:
        return joint_slides(self.signature, dof)

    def note_rows(self, directions: Any, pivots: Any) -> None:
        """The plain walk keeps no lookout."""

    def joint_values(self, name: str, whole: bool = False) -> list[Number]:
        known, skipped = self.walk.outputs[name], 0 if whole else self.signature.separator
        own = [known[self.walk.bodies[self.node.joints[joint]]._first("v") + k] for _, k, joint in self.dofs[skipped:]]
        return [0.0] * skipped + own

    def output_joints(self, name: str, values: Sequence[Number]) -> None:
        out = self.walk.outputs.setdefault(name, [0.0] * self.walk.plan.model.nv)
        for (_, k, joint), x in list(zip(self.dofs, values, strict=True))[self.signature.separator :]:
            out[self.walk.bodies[self.node.joints[joint]]._first("v") + k] = x

    # parts of a block that is taken apart

    wide = False

    def zeros(self, rows: int, columns: int) -> Unrolled:
        return Unrolled.zeros(rows, columns)

    room = zeros

    def matrix(self, entries: Sequence[Sequence[Number]], columns: int) -> Unrolled:
        return Unrolled(entries, columns)

    def image(self, k: int, T: tuple[int, int], H: tuple[int, int]) -> Any:
        return self.walk.images[self.node.children[k]]

    def report_image(self, T: Unrolled, H: Unrolled) -> None:
        self.walk.images[self.index] = T, H

    def send_unknowns(self, k: int, values: Unrolled) -> None:
        self.walk.unknowns[self.node.children[k]] = values

    def given_unknowns(self, size: int) -> Unrolled:
        return self.walk.unknowns[self.index]


def joint_slides(signature: NodeSignature, dof: int) -> bool:
    place, k, _ = signature.dofs[dof]
    return JOINTS_BY_KEY[signature.bodies[place].joint].v_units[k] == "m/s"


def apart_facts(signature: NodeSignature) -> dict[str, Any]:
    """What formulations.Node says of nodes of a block that is taken apart."""
    return {
        "hangs": signature.hangs,
        "children": len(signature.images),
        "separator": signature.separator,
        "shared": [image.shared for image in signature.images],
        "image_sizes": [image.size for image in signature.images],
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


def nodes(walk: PlainWalk, step: Callable[[Any], None], inward: bool) -> None:
    if not walk.nodes_made:
        tables = walk.node_tables
        walk.nodes_made = [PlainNode(walk, tables, i) for i in range(tables.count)]
    for node in reversed(walk.nodes_made) if inward else walk.nodes_made:
        step(node)
