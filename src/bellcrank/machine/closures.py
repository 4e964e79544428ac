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
from ..numbers.spline import Curve, Lookup
from ..plan.closures import CLOSURE_SLOTS, ActionSignature, ClosureSignature
from ..spatial import Force
from ..spatial.rank import keeps
from .arrays import IMPULSE, WRENCH
from .at_state import (
    ClosureView,
    action_wrench,
    along_motion,
    closure_view,
    curve_at,
    driven_along_motion,
    impulses_of,
    power_of,
)
from .body import Body
from .dense import to_ground
from .loads import add_to, add_wrench, data_of, pool_of, state_of
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
    sums = coupled(walk, signature, k) if coupler else (0.0, 0.0, 0.0)
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


def coupled(walk: Walk, signature: ClosureSignature, k: Integer) -> tuple[Number, Number, Number]:
    """sum of factor * q, its rate, and what is known of its second derivative; less the curve of its last coordinate."""
    position, velocity, known = _sums(walk, k)
    if signature.curve is None:
        return position, velocity, known
    curve, v, a = _curve(walk, signature, k)
    return position - curve.value, velocity - curve.slope * v, known - (curve.slope * a + curve.bend * v * v)


def _curve(walk: Walk, signature: ClosureSignature, k: Integer) -> tuple[Curve, Number, Number]:
    """The curve of a coupler, and velocity and known acceleration of the coordinate that it is of."""
    table = walk.array("closure_table")
    if signature.curve_driven:
        given, last = walk.array("given_table"), table[k, "given"] + table[k, "givens"] - 1
        q, v, a = (walk.array(f"driven_{x}")[given[last, column]] for x, column in (("q", "q"), ("v", "v"), ("a", "v")))
    else:
        last = last_attachment(walk, k)
        q, v, a = walk.given("q", _coordinate(walk, last, "q")), walk.given("v", _coordinate(walk, last, "v")), 0.0
    return curve_of(walk, signature.curve, k, q), v, a


def curve_of(walk: Walk, lookup: Lookup | None, k: Integer, x: Number) -> Curve:
    """The curve of a closure; a design may change its points, in the pool, and not where they are."""
    assert lookup is not None
    return curve_at(lookup, lambda slot: walk.data("closure_data", (k, slot), False), CLOSURE_SLOTS["table"], x, pool_of(walk))


def last_attachment(walk: Walk, k: Integer) -> Integer:
    table = walk.array("closure_table")
    return table[k, "attachment"] + table[k, "attachments"] - 1


def slope_of(walk: Walk, signature: ClosureSignature, k: Integer) -> Number:
    """What a curve adds to the factor of the last term of a coupler."""
    return 0.0 if signature.curve is None or signature.curve_driven else -_curve(walk, signature, k)[0].slope


def _sums(walk: Walk, k: Integer) -> tuple[Number, Number, Number]:
    """sum of factor * q, of factor * v, and of factor * a over what is driven."""
    carried = walk.array("carried")
    for name in ("position", "velocity", "acceleration"):
        carried[0, name] = 0.0

    def term(attachment: Integer) -> None:
        factor = factor_of(walk, attachment)
        for name, array in (("position", "q"), ("velocity", "v")):
            add_to(carried, (0, name), factor * walk.given(array, _coordinate(walk, attachment, array)))

    _each_attachment(walk, k, term)
    if not len(walk.plan.loads.closing.givens):
        return carried[0, "position"], carried[0, "velocity"], 0.0
    table, given = walk.array("closure_table"), walk.array("given_table")

    def driven(i: Integer) -> None:
        factor = walk.data("given_factors", i, walk.plan.varies("given_factors"))
        for name, array, column in (("position", "q", "q"), ("velocity", "v", "v"), ("acceleration", "a", "v")):
            add_to(carried, (0, name), factor * walk.array(f"driven_{array}")[given[i, column]])

    walk.e.each(table[k, "given"], table[k, "given"] + table[k, "givens"], driven)
    return carried[0, "position"], carried[0, "velocity"], carried[0, "acceleration"]


def _action_data(walk: Walk, i: Integer) -> Callable[[int], Number]:
    return lambda slot: walk.data("action_data", (i, slot), walk.plan.varies("action_data"))


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
    rows, table, curves = walk.array("rows"), walk.array("closure_table"), walk.plan.loads.closing.curves
    walk.closure_states()
    if curves:
        walk.e.each(0, walk.e.count("attachments"), lambda i: walk.array("slopes").__setitem__(i, 0.0))

    def one(signature: ClosureSignature, index: Integer, view: ClosureView) -> None:
        row, attachment = table[index, "row"], table[index, "attachment"]
        if signature.curve is not None and not signature.curve_driven:
            walk.array("slopes")[last_attachment(walk, index)] = slope_of(walk, signature, index)
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
        factor, e = self.walk.array("carried")[0, "factor"], self.walk.e
        return [e.where(self.dof, k, factor) for k in range(n)]

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
        if walk.plan.loads.closing.curves:
            add_to(carried, (0, "factor"), walk.array("slopes")[attachment])
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
            power = given[0] * coupled(walk, signature, index)[1] if coupler else _power(view, total)
            for k, x in enumerate([*total[1].f, *total[1].n, power]):
                walk.output("closing", index * 7 + k, x)
        if output and not (also_output or walk.forces):
            return
        if coupler:
            if not signature.acts:
                _each_attachment(walk, index, lambda attachment: _push_coordinate(walk, attachment, given[0]))
                if signature.curve is not None and not signature.curve_driven:
                    place = _coordinate(walk, last_attachment(walk, index), "v")
                    add_to(walk.array("effort"), place, slope_of(walk, signature, index) * given[0])
            return
        grounds = (signature.ground_a, signature.ground_b)
        for ground, state, held, (n, f) in zip(grounds, ("state_a", "state_b"), (view.i, view.j), total, strict=True):
            if not ground:
                add_wrench(walk, table[index, state], Force(n + (held.p - held.r).cross(f), f))

    each_closure(walk, one)
    _each_action(walk, output, pushes=also_output or walk.forces or not output)


def _each_action(walk: Walk, output: bool, pushes: bool) -> None:
    """Wrenches of gears, belts and the like, and of couplers on driven joints: on the bodies, or put out, or both."""
    e, closing, table = walk.e, walk.plan.loads.closing, walk.array("action_table")

    def act(signature: ActionSignature, i: Integer) -> list[Number]:
        carrier = BodyState.ground() if signature.ground_c else state_of(walk, table[i, "state_c"])
        multiplier = walk.given("lambda", table[i, "row"])
        if signature.curve is not None:
            multiplier = -multiplier * _driven_slope(walk, signature.curve, table[i, "closure"])
        p, (n, f) = action_wrench(_action_data(walk, i), carrier, multiplier)
        if output and signature.reports:
            for k, x in enumerate([*f, *n]):
                walk.output("closing", table[i, "closure"] * 7 + k, -x)
        sides = ((signature.ground_a, "state_a", 1.0), (signature.ground_b, "state_b", -1.0))
        for ground, column, sign in sides if pushes else ():
            if not ground:
                row = table[i, column]
                add_wrench(walk, row, Force(n + (p - state_of(walk, row).r).cross(f), f) * sign)
        return []

    def one(i: Integer) -> None:
        e.switch(table[i, "code"], [lambda s=s: act(s, i) for s in closing.action_signatures])

    if closing.action_signatures:
        e.each(0, e.count("actions"), one)


def _driven_slope(walk: Walk, signature: Lookup, k: Integer) -> Number:
    """Slope of a curve at its coordinate, which is driven."""
    table, given = walk.array("closure_table"), walk.array("given_table")
    last = table[k, "given"] + table[k, "givens"] - 1
    return curve_of(walk, signature, k, walk.array("driven_q")[given[last, "q"]]).slope


def push_impulses(walk: Walk) -> None:
    """Multipliers are impulses, reversed; those of couplers are on coordinates, in directions that change along a curve only:

    the rate of its factor, -bend v, times the impulse is an effort.
    """
    e, impulses, table = walk.e, walk.array("impulses"), walk.array("closure_table")
    e.each(0, e.count("held") * IMPULSE, lambda k: impulses.__setitem__(k, 0.0))

    def one(signature: ClosureSignature, index: Integer, view: ClosureView) -> None:
        if signature.kind == "coupler":
            if signature.curve is not None and not signature.curve_driven:
                curve, v, _ = _curve(walk, signature, index)
                place = _coordinate(walk, last_attachment(walk, index), "v")
                add_to(walk.array("effort"), place, walk.given("lambda", table[index, "row"]) * curve.bend * v)
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
