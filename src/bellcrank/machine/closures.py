"""The equations that close loops: loops over closures and over where they are attached to the tree, and dense algebra on rows.

machine.arrays says what rows, left, lower and kept are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..forces import BodyState
from ..joints import JOINTS
from ..joints.base import Driven
from ..kernels.executor import Integer
from ..kernels.messages import leaves, rebuild
from ..numbers import Number, select, sqrt
from ..plan.closures import ClosureSignature
from ..spatial import Force
from ..spatial.rank import keeps
from .arrays import IMPULSE, WRENCH
from .at_state import ClosureView, along_motion, closure_view, driven_along_motion, impulses_of, power_of
from .body import Body
from .dense import to_ground
from .loads import add_to, add_wrench, data_of, state_of
from .loads import leave_states as leave_all_states

if TYPE_CHECKING:
    from .walk import Walk

Acting = Callable[[ClosureSignature, Integer, ClosureView], None]  # the closure's signature, its index, and what it says


def left(walk: Walk) -> Any:
    """What each equation leaves at the degrees of freedom: the Jacobian itself, if that is asked for."""
    return walk.array("G" if "G" in walk.program.outputs else "left")


def leave_states(walk: Walk) -> None:
    if walk.plan.loads.closing.tied:
        leave_all_states(walk)


def each_closure(walk: Walk, act: Acting, rated: bool = False) -> None:
    """``rated``: numbers carry their rates along the motion."""
    e, closing, table = walk.e, walk.plan.loads.closing, walk.array("closure_table")

    def case(signature: ClosureSignature, k: Integer) -> list[Number]:
        act(signature, k, _view(walk, signature, k, rated))
        return []

    def one(k: Integer) -> None:
        e.switch(table[k, "code"], [lambda s=s: case(s, k) for s in closing.signatures])

    if closing.closures:
        e.each(0, e.count("closures"), one)


def _view(walk: Walk, signature: ClosureSignature, k: Integer, rated: bool) -> ClosureView:
    table, coupler = walk.array("closure_table"), signature.kind == "coupler"
    sums = coupled(walk, k) if coupler else (0.0, 0.0)
    known = "gamma" in walk.program.outputs
    a = BodyState.ground() if signature.ground_a or coupler else state_of(walk, table[k, "state_a"], known)
    b = BodyState.ground() if signature.ground_b or coupler else state_of(walk, table[k, "state_b"], known)
    state = driven_of(walk, signature, k)
    if rated:
        a, b, state = along_motion(a), along_motion(b), driven_along_motion(signature, state)
    return closure_view(signature, data_of(walk, "closure_data", k, signature), a, b, state, sums)


def driven_of(walk: Walk, signature: ClosureSignature, k: Integer) -> Driven:
    """The prescribed motion of a closure, if it has one."""
    if not signature.driven:
        return Driven((), (), ())
    nq, nv = (1, 1) if signature.driven == "value" else (JOINTS[signature.driven].nq, JOINTS[signature.driven].nv)
    q, v = (walk.array("closure_table")[k, name] for name in ("driven_q", "driven_v"))

    def numbers(name: str, first: Integer, size: int) -> tuple[Number, ...]:
        return tuple(walk.array(f"driven_{name}")[first + j] for j in range(size))

    return Driven(numbers("q", q, nq), numbers("v", v, nv), numbers("a", v, nv))


def coupled(walk: Walk, k: Integer) -> tuple[Number, Number]:
    """sum of factor * q, and of factor * v."""
    carried = walk.array("carried")
    for name in ("position", "velocity"):
        carried[0, name] = 0.0

    def term(attachment: Integer) -> None:
        factor = factor_of(walk, attachment)
        for name, array in (("position", "q"), ("velocity", "v")):
            add_to(carried, (0, name), factor * walk.given(array, _coordinate(walk, attachment, array)))

    _each_attachment(walk, k, term)
    return carried[0, "position"], carried[0, "velocity"]


def factor_of(walk: Walk, attachment: Integer) -> Number:
    """Of a term of a coupler."""
    return walk.data("factors", attachment, walk.plan.varies("factors"))


def _each_attachment(walk: Walk, k: Integer, act: Callable[[Integer], None]) -> None:
    table = walk.array("closure_table")
    first = table[k, "attachment"]
    walk.e.each(first, first + table[k, "attachments"], act)


def _coordinate(walk: Walk, attachment: Integer, column: str) -> Integer:
    """Which entry of q or v a coupler's term names."""
    table = walk.array("attachment_table")
    return walk.array("table")[table[attachment, "body"], column] + table[attachment, "dof"]


def closures(walk: Walk, step: Callable[[Any], Sequence[tuple[Force, Force, Number]]]) -> None:
    rows, table = walk.array("rows"), walk.array("closure_table")
    walk.closure_states()

    def one(signature: ClosureSignature, index: Integer, view: ClosureView) -> None:
        row, attachment = table[index, "row"], table[index, "attachment"]
        held = [] if signature.kind == "coupler" else [x for x in (0, 1) if not (signature.ground_a, signature.ground_b)[x]]
        for k, (equation, carried) in enumerate(zip(view.equations, step(view), strict=True)):
            for name, x in (("right", carried[2]), ("error", equation.error), ("rate", equation.rate), ("bound", 0.0)):
                rows[row + k, name] = x
            for j, side in enumerate(held):
                for i, x in enumerate(leaves(carried[side])):
                    walk.array("attachments")[attachment + (k * len(held) + j), i] = x

    each_closure(walk, one)


# to ground ------------------------------------------------------------------------------------------------------------


class Row:
    """Implements formulations.Row."""

    def __init__(self, walk: Walk, row: Integer, dof: Integer):
        self.walk, self.row, self.dof = walk, row, dof

    def own(self, body: Body) -> list[Number]:
        n = len(body.directions)
        if not self.walk.plan.loads.closing.couplers:
            return [0.0] * n
        factor = self.walk.array("carried")[0, "factor"]
        return [self.walk.e.where(self.dof, k, factor) for k in range(n)]

    def leave(self, body: Body, values: Sequence[Number], bound: Number, known: Number) -> None:
        walk, first = self.walk, body.entry("v")
        for k, x in enumerate(values):
            add_to(left(walk), (self.row, first + k), x)
        for name, x in (("bound", bound), ("right", -known)):
            if not (isinstance(x, float) and x == 0):
                add_to(walk.array("rows"), (self.row, name), x)
        if walk.plan.loads.closing.couplers:
            walk.array("carried")[0, "factor"] = 0.0


def carry_equations(walk: Walk, step: Callable[[Any, Any, Force], Force]) -> None:
    e, like, carried, table = walk.e, Force.zero(), walk.array("carried"), walk.array("attachment_table")
    walk.dense = True
    e.each(0, e.count("rows") * e.count("nv"), lambda k: left(walk).__setitem__(k, 0.0))

    def one(attachment: Integer) -> None:
        row = Row(walk, table[attachment, "row"], table[attachment, "dof"])
        for j in range(WRENCH):
            carried[j] = walk.array("attachments")[attachment, j]
        if walk.plan.loads.closing.couplers:
            carried[0, "factor"] = factor_of(walk, attachment)
        to_ground(walk, table[attachment, "body"], lambda body: per_body(body, row))

    def per_body(body: Body, row: Row) -> None:
        force = rebuild(like, iter([carried[j] for j in range(WRENCH)]))
        for j, x in enumerate(leaves(step(body, row, force))):
            carried[j] = x

    e.each(0, e.count("attachments"), one)


# the equations among themselves ---------------------------------------------------------------------------------------


class Orthonormal:
    """Rows made orthonormal one after the other: left = L Q. One that is nothing new beside the tolerance is redundant and has
    no multiplier; those that are kept in any of the lanes are listed."""

    def __init__(self, walk: Walk):
        self.walk, self.e, self.Q, self.L = walk, walk.e, left(walk), walk.array("lower")
        self.rows, self.kept, self.cursor = walk.array("rows"), walk.array("kept"), walk.array("cursor")

    def dot(self, r: Integer, s: Integer) -> Number:
        return self.e.total(0, self.e.count("nv"), lambda k: self.Q[r, k] * self.Q[s, k])

    def each_kept(self, act: Callable[[Integer], None]) -> None:
        self.e.each(0, self.cursor[0, "kept"], lambda k: act(self.kept[k]))

    def over_kept(self, term: Callable[[Integer], Number], start: Integer = 0) -> Number:
        return self.e.total(start, self.cursor[0, "kept"], lambda k: term(self.kept[k]))

    def row(self, r: Integer) -> None:
        e, rows, Q, L = self.e, self.rows, self.Q, self.L
        least = self.walk.array("row_least")[r]
        new = keeps(least * rows[r, "bound"], self.dot(r, r))
        self.each_kept(lambda s: L.__setitem__((r, s), 0.0))
        e.when(e.any_lane(new), lambda: self.orthogonalise(r))
        square, bound = self.dot(r, r), rows[r, "bound"]
        keep = keeps(least * bound, square)
        length = sqrt(select(keep, square, 1.0))
        rest = rows[r, "right"] - self.over_kept(lambda s: L[r, s] * rows[s, "answer"])
        scale = select(keep, 1.0 / length, 0.0)
        e.each(0, e.count("nv"), lambda k: Q.__setitem__((r, k), Q[r, k] * scale))
        rows[r, "answer"] = rest * scale
        rows[r, "length"] = length
        rows[r, "keep"] = select(keep, 1.0, 0.0)
        rows[r, "residual"] = select(keep, 0.0, rest)
        rows[r, "pivot"] = sqrt(select(keep, square / select(keep, bound, 1.0), 0.0))
        e.when(e.any_lane(keep), lambda: self.append(r))

    def orthogonalise(self, r: Integer) -> None:
        """Take away what earlier rows have; twice is enough."""
        e, Q = self.e, self.Q

        def against(s: Integer) -> None:
            along = self.dot(r, s)
            add_to(self.L, (r, s), along)
            e.each(0, e.count("nv"), lambda k: Q.__setitem__((r, k), Q[r, k] - along * Q[s, k]))

        e.each(0, 2, lambda _: self.each_kept(against))

    def append(self, r: Integer) -> None:
        size = self.cursor[0, "kept"]
        self.kept[size] = r
        self.cursor[0, "kept"] = size + 1

    def push(self, k: Integer) -> None:
        self.walk.array("push")[k] = self.over_kept(lambda s: self.rows[s, "answer"] * self.Q[s, k])

    def multiplier(self, down: Integer) -> None:
        """L^T lambda = answer, from the last kept row up."""
        rows = self.rows
        place = self.cursor[0, "kept"] - 1 - down
        r = self.kept[place]
        rest = rows[r, "answer"] - self.over_kept(lambda s: self.L[s, r] * rows[s, "multiplier"], start=place + 1)
        rows[r, "multiplier"] = rest / rows[r, "length"] * rows[r, "keep"]


def orthonormalise(walk: Walk) -> None:
    e, rows, order = walk.e, Orthonormal(walk), walk.array("row_order")
    walk.array("cursor")[0, "kept"] = 0
    e.each(0, e.count("rows"), lambda k: rows.row(order[k]))
    e.each(0, e.count("nv"), rows.push)


def output_equations(walk: Walk, name: str, fields: Sequence[str]) -> None:
    e, rows = walk.e, walk.array("rows")
    if "multiplier" in fields:
        e.each(0, e.count("rows"), lambda r: rows.__setitem__((r, "multiplier"), 0.0))
        e.each(0, walk.array("cursor")[0, "kept"], Orthonormal(walk).multiplier)

    def one(r: Integer) -> None:
        for k, field in enumerate(fields):
            walk.output(name, r * len(fields) + k, rows[r, field])

    e.each(0, e.count("rows"), one)


# given multipliers ----------------------------------------------------------------------------------------------------


def push(walk: Walk, also_output: bool = False) -> None:
    """Multipliers push on the bodies like forces; or their wrenches on the second body of each closure are put out; or both."""
    table, output = walk.array("closure_table"), "closing" in walk.program.outputs

    def one(signature: ClosureSignature, index: Integer, view: ClosureView) -> None:
        row, total, coupler = table[index, "row"], [Force.zero(), Force.zero()], signature.kind == "coupler"
        given = [walk.given("lambda", row + k) for k in range(len(view.equations))]
        for multiplier, equation in zip(given, view.equations, strict=True):
            for side, wrench in enumerate((equation.on_i, equation.on_j)):
                total[side] = total[side] + wrench * multiplier
        if output:
            power = given[0] * coupled(walk, index)[1] if coupler else _power(view, total)
            for k, x in enumerate([*total[1].f, *total[1].n, power]):
                walk.output("closing", index * 7 + k, x)
        if output and not (also_output or walk.forces):
            return
        if coupler:
            _each_attachment(walk, index, lambda attachment: _push_coordinate(walk, attachment, given[0]))
            return
        grounds = (signature.ground_a, signature.ground_b)
        for ground, state, held, (n, f) in zip(grounds, ("state_a", "state_b"), (view.i, view.j), total, strict=True):
            if not ground:
                add_wrench(walk, table[index, state], Force(n + (held.p - held.r).cross(f), f))

    each_closure(walk, one)


def push_impulses(walk: Walk) -> None:
    """Multipliers are impulses, reversed; those of couplers are on coordinates, in directions that do not change."""
    e, impulses, table = walk.e, walk.array("impulses"), walk.array("closure_table")
    e.each(0, e.count("held") * IMPULSE, lambda k: impulses.__setitem__(k, 0.0))

    def one(signature: ClosureSignature, index: Integer, view: ClosureView) -> None:
        if signature.kind == "coupler":
            return
        row, grounds = table[index, "row"], (signature.ground_a, signature.ground_b)
        sigma = [-walk.given("lambda", row + k) for k in range(len(view.equations))]
        for ground, state, (impulse, rate) in zip(grounds, ("state_a", "state_b"), impulses_of(view, sigma), strict=True):
            for k, x in enumerate([*impulse, *rate] if not ground else []):
                add_to(impulses, (table[index, state], k), x)

    each_closure(walk, one, rated=True)


def _power(view: ClosureView, total: Sequence[Force]) -> Number:
    """What the wrenches bring to the two bodies: nothing, unless the closure is driven."""
    return power_of(view.i, total[0]) + power_of(view.j, total[1])


def _push_coordinate(walk: Walk, attachment: Integer, multiplier: Number) -> None:
    add_to(walk.array("effort"), _coordinate(walk, attachment, "v"), factor_of(walk, attachment) * multiplier)
