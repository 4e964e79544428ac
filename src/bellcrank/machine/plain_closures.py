"""The equations that close loops, in Python over any number: what the plain walk does for formulations.Walk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..forces import BodyState
from ..joints import JOINTS
from ..joints.base import Driven
from ..kernels.messages import leaves
from ..numbers import Number, select, sqrt
from ..plan.closures import CLOSURE_TABLE, ClosureSignature
from ..plan.row_selection import least_kept, order_of_rows
from ..spatial import Force, Matrix, Motion, Vector
from ..spatial.rank import keeps
from .prepass import (
    ClosureView,
    along_motion,
    body_state,
    closure_view,
    driven_along_motion,
    impulses_of,
    power_of,
    world_state,
)

if TYPE_CHECKING:
    from .plain import PlainBody, PlainWalk

_COLUMN = {name: k for k, name in enumerate(CLOSURE_TABLE)}


class PlainRow:
    """Implements formulations.Row: one equation, on its way from one grip."""

    def __init__(self, walk: PlainWalk, row: int, dof: int, factor: float):
        self.walk, self.row, self.dof, self.factor = walk, row, dof, factor

    def own(self, body: PlainBody) -> list[Number]:
        factors: list[Number] = [0.0] * len(body.directions)
        if self.factor:
            factors[self.dof] = self.factor
        return factors

    def leave(self, body: PlainBody, values: Sequence[Number], bound: Number, known: Number) -> None:
        rows, left = self.walk.rows, self.walk.left[self.row]
        first = body._first("v")
        for k, x in enumerate(values):
            left[first + k] = left[first + k] + x
        rows["bound"][self.row] = rows["bound"][self.row] + bound
        rows["right"][self.row] = rows["right"][self.row] - known
        self.factor = 0.0


def leave_states(walk: PlainWalk) -> None:
    walk.outward(world_state, (Matrix.identity(), Vector(0.0, 0.0, 0.0), Motion.zero()))


def views(walk: PlainWalk, *, rated: bool = False) -> list[tuple[int, ClosureView]]:
    """Every closure with its first equation; ``rated``: its numbers carry their rates along the motion."""
    closing = walk.plan.loads.closing
    found = []
    for entry, data in zip(closing.table.tolist(), closing.data.tolist(), strict=True):
        signature = closing.signatures[entry[0]]
        a = _state(walk, signature.ground_a or signature.kind == "coupler", entry[_COLUMN["state_a"]])
        b = _state(walk, signature.ground_b or signature.kind == "coupler", entry[_COLUMN["state_b"]])
        driven = _driven(walk, signature, entry[_COLUMN["driven_q"]], entry[_COLUMN["driven_v"]])
        sums = _coupled(walk, entry) if signature.kind == "coupler" else (0.0, 0.0)
        if rated:
            a, b, driven = along_motion(a), along_motion(b), driven_along_motion(signature, driven)
        found.append((entry[_COLUMN["row"]], closure_view(signature, data.__getitem__, a, b, driven, sums)))
    return found


def _state(walk: PlainWalk, ground: bool, row: int) -> BodyState:
    return BodyState.ground() if ground else body_state([*walk.states[row], *walk.known.get(row, [])])


def _driven(walk: PlainWalk, signature: ClosureSignature, q: int, v: int) -> Driven:
    if not signature.driven:
        return Driven((), (), ())
    nq, nv = driven_sizes(signature)
    given = walk.driven
    return Driven(tuple(given["q"][q : q + nq]), tuple(given["v"][v : v + nv]), tuple(given["a"][v : v + nv]))


def driven_sizes(signature: ClosureSignature) -> tuple[int, int]:
    if signature.driven == "value":
        return 1, 1
    return JOINTS[signature.driven].nq, JOINTS[signature.driven].nv


def closures(walk: PlainWalk, step: Callable[[Any], Sequence[tuple[Force, Force, Number]]]) -> None:
    closing = walk.plan.loads.closing
    if not walk.forces:
        leave_states(walk)
    m = closing.rows
    walk.rows = {name: [0.0] * m for name in ("right", "error", "rate", "bound", "pivot", "residual", "multiplier")}
    walk.grips = [Force.zero()] * len(closing.grips)
    for (first, view), entry in zip(views(walk), closing.table.tolist(), strict=True):
        signature, grip = closing.signatures[entry[0]], entry[_COLUMN["grip"]]
        for k, (equation, (on_i, on_j, right)) in enumerate(zip(view.equations, step(view), strict=True)):
            for name, x in (("right", right), ("error", equation.error), ("rate", equation.rate)):
                walk.rows[name][first + k] = x
            for on_ground, force in ((signature.ground_a, on_i), (signature.ground_b, on_j)):
                if not on_ground and signature.kind != "coupler":
                    walk.grips[grip] = force
                    grip += 1


def _coupled(walk: PlainWalk, entry: list[int]) -> tuple[Number, Number]:
    """sum of factor * q, and of factor * v."""
    closing = walk.plan.loads.closing
    position: Number = 0.0
    velocity: Number = 0.0
    for grip in range(entry[_COLUMN["grip"]], entry[_COLUMN["grip"]] + entry[_COLUMN["grips"]]):
        _, body, dof = closing.grips[grip].tolist()
        q, v = (walk.given(name)[walk.bodies[body]._first(name) + dof] for name in ("q", "v"))
        position, velocity = position + closing.factors[grip] * q, velocity + closing.factors[grip] * v
    return position, velocity


def haul(walk: PlainWalk, step: Callable[[Any, Any, Force], Force]) -> None:
    closing = walk.plan.loads.closing
    walk.left = [[0.0] * walk.plan.model.nv for _ in range(closing.rows)]
    for (number, body, dof), factor, force in zip(closing.grips.tolist(), closing.factors.tolist(), walk.grips, strict=True):
        row = PlainRow(walk, number, dof, factor)
        while body >= 0:
            force = step(walk.bodies[body], row, force)
            body = walk.plan.tree.parent[body]


def reduce(walk: PlainWalk) -> None:
    """left = L Q, row by row; a row that is nothing new beside the tolerance is redundant and has no multiplier."""
    rows, left, order, least = walk.rows, walk.left, order_of_rows(walk.plan), least_kept(walk.plan).tolist()
    m = len(order)
    L: list[list[Number]] = [[0.0] * m for _ in range(m)]
    kept: list[Any] = [None] * m
    answer: list[Number] = [0.0] * m
    for place, r in enumerate(order):
        before = order[:place]
        for _ in range(2):  # twice is enough
            for s in before:
                along = _dot(left[r], left[s])
                L[r][s] = L[r][s] + along
                left[r] = [x - along * y for x, y in zip(left[r], left[s], strict=True)]
        square = _dot(left[r], left[r])
        keep = keeps(least[r] * rows["bound"][r], square)
        length = sqrt(select(keep, square, 1.0))
        rest = rows["right"][r] - _total(L[r][s] * answer[s] for s in before)
        left[r] = [select(keep, x / length, 0.0) for x in left[r]]
        answer[r] = select(keep, rest / length, 0.0)
        rows["residual"][r] = select(keep, 0.0, rest)
        rows["pivot"][r] = sqrt(select(keep, square / select(keep, rows["bound"][r], 1.0), 0.0))
        L[r][r], kept[r] = length, keep
    walk.pushes = [_total(answer[r] * left[r][k] for r in range(m)) for k in range(walk.plan.model.nv)]
    for place, r in reversed(list(enumerate(order))):
        rest = answer[r] - _total(L[s][r] * rows["multiplier"][s] for s in order[place + 1 :])
        rows["multiplier"][r] = select(kept[r], rest / L[r][r], 0.0)


def _dot(a: list[Number], b: list[Number]) -> Number:
    return _total(x * y for x, y in zip(a, b, strict=True))


def _total(terms: Any) -> Number:
    result: Number = 0.0
    for term in terms:
        result = result + term
    return result


def tell(walk: PlainWalk, name: str, fields: Sequence[str]) -> None:
    m = walk.plan.loads.closing.rows
    walk.outputs[name] = [walk.rows[field][r] for r in range(m) for field in fields]


def push(walk: PlainWalk) -> None:
    """Given multipliers push on the bodies like forces; wrenches on the second body of each closure are told."""
    closing, given = walk.plan.loads.closing, walk.inputs["lambda"]
    told: list[Number] = []
    for (first, view), entry in zip(views(walk), closing.table.tolist(), strict=True):
        signature = closing.signatures[entry[0]]
        if signature.kind == "coupler":
            _push_coupler(walk, entry, given[first])
            told += [0.0] * 6 + [_coupled(walk, entry)[1] * given[first]]
            continue
        on_i, on_j = Force.zero(), Force.zero()
        for k, equation in enumerate(view.equations):
            ends = (
                (signature.ground_a, "state_a", view.i, equation.on_i),
                (signature.ground_b, "state_b", view.j, equation.on_j),
            )
            for ground, state, held, (moment, force) in ends:
                if not ground and walk.applied:
                    wrench = Force(moment + (held.p - held.r).cross(force), force) * given[first + k]
                    at = entry[_COLUMN[state]]
                    walk.applied[at] = [x + y for x, y in zip(walk.applied[at], leaves(wrench), strict=True)]
            on_i, on_j = on_i + equation.on_i * given[first + k], on_j + equation.on_j * given[first + k]
        told += [*on_j.f, *on_j.n, power_of(view.i, on_i) + power_of(view.j, on_j)]
    walk.outputs["closing"] = told


def push_impulses(walk: PlainWalk) -> None:
    """Multipliers are impulses, reversed; those of couplers are on coordinates, in directions that do not change."""
    closing, given = walk.plan.loads.closing, walk.outputs["lambda"]
    walk.impulses = [[0.0] * 12 for _ in walk.plan.loads.touched]
    for (first, view), entry in zip(views(walk, rated=True), closing.table.tolist(), strict=True):
        signature = closing.signatures[entry[0]]
        if signature.kind == "coupler":
            continue
        sigma = [-given[first + k] for k in range(len(view.equations))]
        grounds = (signature.ground_a, signature.ground_b)
        for ground, state, (impulse, rate) in zip(grounds, ("state_a", "state_b"), impulses_of(view, sigma), strict=True):
            if not ground:
                at = walk.impulses[entry[_COLUMN[state]]]
                at[:] = [x + y for x, y in zip(at, [*impulse, *rate], strict=True)]


def _push_coupler(walk: PlainWalk, entry: list[int], multiplier: Number) -> None:
    closing = walk.plan.loads.closing
    efforts = list(walk.inputs.get("effort", []))
    for grip in range(entry[_COLUMN["grip"]], entry[_COLUMN["grip"]] + entry[_COLUMN["grips"]]):
        _, body, dof = closing.grips[grip].tolist()
        k = walk.bodies[body]._first("v") + dof
        if efforts:
            efforts[k] = efforts[k] + closing.factors[grip] * multiplier
    walk.inputs = {**walk.inputs, "effort": efforts}
