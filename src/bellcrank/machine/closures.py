"""The equations that close loops, in machine code: what the traced walk does for formulations.Walk.

Loops over closures and over their grips on the tree, with a switch on signatures, and dense loops over the equations. Numbers
in memory carry their tangents along (TracedWalk.get, put).

rows    FIELDS of every equation             left   what each equation left at the degrees of freedom (m by nv), then Q
grips   wrench at every grip                 lower  L (m by m)             kept   equations that are not redundant in all lanes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..forces import BodyState
from ..joints.base import Driven
from ..kernels.emitter import Emitter, Int
from ..kernels.flow import each, folded, switch, when, while_
from ..kernels.messages import leaves, parts, rebuild, whole
from ..numbers import Dual, Number, select, sqrt
from ..plan import Signature
from ..plan.closures import CLOSURE_ROW, CLOSURE_TABLE, GRIP_TABLE, ClosureSignature
from ..plan.plan import TABLE
from ..spatial import Force, Matrix, Motion, Vector
from ..spatial.rank import keeps
from .loads import IMPULSE, add_wrench, count, ints_of, row_of, state_of
from .plain_closures import driven_sizes
from .prepass import ClosureView, along_motion, closure_view, driven_along_motion, impulses_of, power_of, world_state

if TYPE_CHECKING:
    from .body import TracedBody
    from .walk import TracedWalk

FIELDS = ("right", "error", "rate", "bound", "pivot", "residual", "multiplier", "answer", "length", "keep")
SETTINGS = ("tolerance", "length", "damping", "stiffness")
SCRATCH = 32  # numbers of the buffer in which an equation is carried: 6 of the wrench, a coupler's factor, two sums
_FACTOR, _SUM = 6, 7
_COLUMN = {name: k for k, name in enumerate(TABLE)}


def setting(walk: TracedWalk, name: str) -> Number:
    e = walk.e
    return e.symbol(e.splat(e.load_double("%settings", SETTINGS.index(name))))


def left_base(walk: TracedWalk) -> str:
    return "%G" if "G" in walk.program.outputs else "%left"


def _field(walk: TracedWalk, row: Int, name: str) -> Int:
    e = walk.e
    return e.integer("add", e.integer("mul", row, len(FIELDS)), FIELDS.index(name))


def get_field(walk: TracedWalk, row: Int, name: str) -> Number:
    return walk.get("%rows", _field(walk, row, name))


def put_field(walk: TracedWalk, row: Int, name: str, x: Number) -> None:
    walk.put(x, "%rows", _field(walk, row, name))


# closures -----------------------------------------------------------------------------------------------------------


def leave_states(walk: TracedWalk) -> None:
    if walk.plan.loads.closing.tied:
        walk.outward(world_state, (Matrix.identity(), Vector(0.0, 0.0, 0.0), Motion.zero()))


Acting = Callable[[ClosureSignature, Callable[[str], str], ClosureView, str], None]


def each_closure(walk: TracedWalk, body: Acting, rated: bool = False) -> None:
    """body(signature, integers of the closure, the closure, its index); ``rated``: with rates along the motion."""
    e, closing = walk.e, walk.plan.loads.closing
    if not closing.closures:
        return

    def case(signature: ClosureSignature, k: str) -> list[str]:
        ints = ints_of(e, "%closure_table", k, CLOSURE_TABLE)
        body(signature, ints, _view(walk, signature, ints, k, rated), k)
        return []

    def one(k: str) -> None:
        code = ints_of(e, "%closure_table", k, CLOSURE_TABLE)("code")
        switch(e, code, [lambda s=s: case(s, k) for s in closing.signatures])  # type: ignore[misc]

    each(e, 0, count(e, "closures"), one)


def _view(
    walk: TracedWalk, signature: ClosureSignature, ints: Callable[[str], str], k: str, rated: bool = False
) -> ClosureView:
    e = walk.e
    data = row_of(e, "%closure_data", k, CLOSURE_ROW)
    coupler = signature.kind == "coupler"
    sums = coupled(walk, ints) if coupler else (0.0, 0.0)
    known = "gamma" in walk.program.outputs
    a = BodyState.ground() if signature.ground_a or coupler else state_of(walk, ints("state_a"), known)
    b = BodyState.ground() if signature.ground_b or coupler else state_of(walk, ints("state_b"), known)
    nq, nv = driven_sizes(signature) if signature.driven else (0, 0)

    def driven(name: str, first: str, size: int) -> tuple[Number, ...]:
        return tuple(e.symbol(e.load(f"%driven_{name}", e.integer("add", first, j))) for j in range(size))

    q, v = ints("driven_q"), ints("driven_v")
    state = Driven(driven("q", q, nq), driven("v", v, nv), driven("a", v, nv))
    if rated:
        a, b, state = along_motion(a), along_motion(b), driven_along_motion(signature, state)
    return closure_view(signature, data, a, b, state, sums)


def coupled(walk: TracedWalk, ints: Callable[[str], str]) -> tuple[Number, Number]:
    """sum of factor * q, and of factor * v."""
    for k in (0, 1):
        walk.put(0.0, "%climbing", _SUM + k)

    def term(grip: str) -> None:
        body, dof, factor = _grip(walk, grip)
        for k, name in enumerate(("q", "v")):
            at = walk.e.integer("add", _entry(walk.e, body, name), dof)
            walk.put(walk.get("%climbing", _SUM + k) + factor * walk.given(name, at), "%climbing", _SUM + k)

    _each_grip(walk, ints, term)
    return walk.get("%climbing", _SUM), walk.get("%climbing", _SUM + 1)


def _each_grip(walk: TracedWalk, ints: Callable[[str], str], body: Callable[[str], None]) -> None:
    first = ints("grip")
    each(walk.e, first, walk.e.integer("add", first, ints("grips")), body)


def _grip(walk: TracedWalk, grip: str) -> tuple[str, str, Number]:
    """Body, degree of freedom and factor of a coupler's term."""
    e = walk.e
    ints = ints_of(e, "%grip_table", grip, GRIP_TABLE)
    return ints("body"), ints("dof"), e.symbol(e.splat(e.load_double("%factors", grip)))


def _entry(e: Emitter, body: str, column: str) -> str:
    return e.load_int("%table", e.integer("add", e.integer("mul", body, len(TABLE)), _COLUMN[column]))


def closures(walk: TracedWalk, step: Callable[[Any], Sequence[tuple[Force, Force, Number]]]) -> None:
    e = walk.e
    if not walk.forces:
        leave_states(walk)

    def one(signature: ClosureSignature, ints: Callable[[str], str], view: ClosureView, _: str) -> None:
        row, grip = ints("row"), ints("grip")
        held = [] if signature.kind == "coupler" else [x for x in (0, 1) if not (signature.ground_a, signature.ground_b)[x]]
        for k, (equation, carried) in enumerate(zip(view.equations, step(view), strict=True)):
            at = e.integer("add", row, k)
            for name, x in (("right", carried[2]), ("error", equation.error), ("rate", equation.rate), ("bound", 0.0)):
                put_field(walk, at, name, x)
            for j, side in enumerate(held):
                _put_wrench(walk, e.integer("add", grip, k * len(held) + j), carried[side])

    each_closure(walk, one)


def _put_wrench(walk: TracedWalk, grip: Int, force: Force) -> None:
    e = walk.e
    for j, x in enumerate(leaves(force)):
        walk.put(x, "%grips", e.integer("add", e.integer("mul", grip, 6), j))


# inward -------------------------------------------------------------------------------------------------------------


class TracedRow:
    """Implements formulations.Row."""

    def __init__(self, walk: TracedWalk, row: str, dof: str):
        self.walk, self.row, self.dof = walk, row, dof

    def own(self, body: TracedBody) -> list[Number]:
        walk, n = self.walk, len(body.directions)
        if not walk.plan.loads.closing.couplers:
            return [0.0] * n
        factor = walk.get("%climbing", _FACTOR)
        return [self._where(self.dof, k, factor) for k in range(n)]

    def _where(self, dof: str, k: int, factor: Number) -> Number:
        e = self.walk.e
        here = e.emit(f"icmp eq i64 {dof}, {k}")
        chosen = [e.emit(f"select i1 {here}, {e.type} {e.operand(x)}, {e.type} {e.constant(0.0)}") for x in parts(factor, 0)]
        return e.symbol(chosen[0])

    def leave(self, body: TracedBody, values: Sequence[Number], bound: Number, known: Number) -> None:
        walk, e = self.walk, self.walk.e
        start = e.integer("add", e.integer("mul", self.row, "%nv"), body.entry("v"))
        for k, x in enumerate(values):
            at = e.integer("add", start, k)
            walk.put(walk.get(left_base(walk), at) + x, left_base(walk), at)
        for name, x in (("bound", bound), ("right", -known)):
            if not (isinstance(x, float) and x == 0):
                put_field(walk, self.row, name, get_field(walk, self.row, name) + x)
        if walk.plan.loads.closing.couplers:
            walk.put(0.0, "%climbing", _FACTOR)


def haul(walk: TracedWalk, step: Callable[[Any, Any, Force], Force]) -> None:
    from .body import TracedBody

    e, like = walk.e, Force.zero()
    size = len(leaves(like))
    walk.dense = True
    each(e, 0, e.integer("mul", count(e, "rows"), "%nv"), lambda k: walk.put(0.0, left_base(walk), k))

    def per_grip(grip: str) -> None:
        ints = ints_of(e, "%grip_table", grip, GRIP_TABLE)
        row, dof = ints("row"), ints("dof")
        first = e.integer("mul", grip, size)
        for j in range(size):
            walk.put(walk.get("%grips", e.integer("add", first, j)), "%climbing", j)
        if walk.plan.loads.closing.couplers:
            walk.put(e.symbol(e.splat(e.load_double("%factors", grip))), "%climbing", _FACTOR)
        e.do(f"store i64 {ints('body')}, ptr %ancestor, align 8")
        while_(e, lambda: e.emit(f"icmp sge i64 {e.load_int('%ancestor', 0)}, 0"), lambda: per_body(row, dof))

    def per_body(row: str, dof: str) -> None:
        i = e.load_int("%ancestor", 0)
        code = e.load_int("%table", e.integer("mul", i, len(TABLE)))

        def arm(signature: Signature) -> list[str]:
            body = TracedBody(signature, walk, i)
            force = rebuild(like, iter([walk.get("%climbing", j) for j in range(size)]))
            for j, x in enumerate(leaves(step(body, TracedRow(walk, row, dof), force))):
                walk.put(x, "%climbing", j)
            e.do(f"store i64 {body.entry('parent')}, ptr %ancestor, align 8")
            return []

        switch(e, code, [lambda s=s: arm(s) for s in walk.signatures])  # type: ignore[misc]

    each(e, 0, count(e, "grips"), per_grip)


# the equations among themselves ---------------------------------------------------------------------------------------


class _Rows:
    """Dense algebra on what the equations left; plain_closing.reduce says the same in a page of Python."""

    def __init__(self, walk: TracedWalk):
        self.walk, self.e, self.base = walk, walk.e, left_base(walk)

    def at(self, r: Int, k: Int) -> Int:
        return self.e.integer("add", self.e.integer("mul", r, "%nv"), k)

    def lower(self, r: Int, s: Int) -> Int:
        return self.e.integer("add", self.e.integer("mul", r, count(self.e, "rows")), s)

    def fold(self, stop: Int, term: Callable[[str], Number], start: Int = 0) -> Number:
        walk, e = self.walk, self.e
        zeros = [e.constant(0.0)] * (1 + walk.tangents)

        def add(k: str, sums: list[str]) -> list[str]:
            total = whole([e.symbol(x) for x in sums]) + term(k)
            return [e.operand(x) for x in parts(total, walk.tangents)]

        return whole([e.symbol(x) for x in folded(e, start, stop, zeros, add)])

    def dot(self, r: Int, s: Int) -> Number:
        get = self.walk.get
        return self.fold("%nv", lambda k: get(self.base, self.at(r, k)) * get(self.base, self.at(s, k)))

    def kept(self) -> str:
        return self.e.load_int("%kept_count", 0)

    def kept_row(self, k: str) -> str:
        return self.e.load_int("%kept", k)

    def each_kept(self, body: Callable[[str], None]) -> None:
        each(self.e, 0, self.kept(), lambda k: body(self.kept_row(k)))

    def any_lane(self, condition: Any) -> str:
        e = self.e
        if e.lanes == 1:
            return str(condition.ref)
        name = f"llvm.vector.reduce.or.v{e.lanes}i1"
        e.declarations[name] = f"declare i1 @{name}({e.bool_type})"
        return e.emit(f"call i1 @{name}({e.bool_type} {condition.ref})")

    def row(self, r: str) -> None:
        walk, e = self.walk, self.e
        least = e.symbol(e.splat(e.load_double("%row_least", r)))
        new = keeps(least * get_field(walk, r, "bound"), self.dot(r, r))
        self.each_kept(lambda s: walk.put(0.0, "%lower", self.lower(r, s)))
        when(e, self.any_lane(new), lambda: self.orthogonalise(r))
        square, bound = self.dot(r, r), get_field(walk, r, "bound")
        keep = keeps(least * bound, square)
        length = sqrt(select(keep, square, 1.0))
        rest = get_field(walk, r, "right") - self.fold(self.kept(), lambda k: self._known(r, k))
        scale = select(keep, 1.0 / length, 0.0)
        each(e, 0, "%nv", lambda k: walk.put(walk.get(self.base, self.at(r, k)) * scale, self.base, self.at(r, k)))
        put_field(walk, r, "answer", rest * scale)
        put_field(walk, r, "length", length)
        put_field(walk, r, "keep", select(keep, 1.0, 0.0))
        put_field(walk, r, "residual", select(keep, 0.0, rest))
        put_field(walk, r, "pivot", sqrt(select(keep, square / select(keep, bound, 1.0), 0.0)))
        when(e, self.any_lane(keep), lambda: self.append(r))

    def _known(self, r: str, k: str) -> Number:
        s = self.kept_row(k)
        return self.walk.get("%lower", self.lower(r, s)) * get_field(self.walk, s, "answer")

    def orthogonalise(self, r: str) -> None:
        """Take away what earlier rows have; twice is enough."""
        walk, e = self.walk, self.e

        def against(s: str) -> None:
            along = self.dot(r, s)
            walk.put(walk.get("%lower", self.lower(r, s)) + along, "%lower", self.lower(r, s))

            def one(k: str) -> None:
                x = walk.get(self.base, self.at(r, k)) - along * walk.get(self.base, self.at(s, k))
                walk.put(x, self.base, self.at(r, k))

            each(e, 0, "%nv", one)

        each(e, 0, 2, lambda _: self.each_kept(against))

    def append(self, r: str) -> None:
        e, size = self.e, self.kept()
        e.do(f"store i64 {r}, ptr {e.pointer('%kept', size)}, align 8")
        e.do(f"store i64 {e.integer('add', size, 1)}, ptr %kept_count, align 8")

    def push(self, k: str) -> None:
        def term(j: str) -> Number:
            s = self.kept_row(j)
            return get_field(self.walk, s, "answer") * self.walk.get(self.base, self.at(s, k))

        self.walk.put(self.fold(self.kept(), term), "%push", k)

    def multiplier(self, down: str) -> None:
        """L^T lambda = answer, from the last kept row up."""
        walk, e = self.walk, self.e
        place = e.integer("sub", e.integer("sub", self.kept(), 1), down)
        r = self.kept_row(str(place))

        def later(k: str) -> Number:
            s = self.kept_row(k)
            return walk.get("%lower", self.lower(s, r)) * get_field(walk, s, "multiplier")

        rest = get_field(walk, r, "answer") - self.fold(self.kept(), later, start=e.integer("add", place, 1))
        put_field(walk, r, "multiplier", rest / get_field(walk, r, "length") * get_field(walk, r, "keep"))


def reduce(walk: TracedWalk) -> None:
    e, rows = walk.e, _Rows(walk)
    e.do("store i64 0, ptr %kept_count, align 8")
    each(e, 0, count(e, "rows"), lambda k: rows.row(e.load_int("%row_order", k)))
    each(e, 0, "%nv", rows.push)


def tell(walk: TracedWalk, name: str, fields: Sequence[str]) -> None:
    e, rows = walk.e, _Rows(walk)
    if "multiplier" in fields:
        each(e, 0, count(e, "rows"), lambda r: put_field(walk, r, "multiplier", 0.0))
        each(e, 0, rows.kept(), rows.multiplier)

    def one(r: str) -> None:
        for k, field in enumerate(fields):
            x = get_field(walk, r, field)
            x = x.value if isinstance(x, Dual) else x
            e.store(x, f"%{name}", e.integer("add", e.integer("mul", r, len(fields)), k))

    each(e, 0, count(e, "rows"), one)


# given multipliers ----------------------------------------------------------------------------------------------------


def push(walk: TracedWalk, also_tell: bool = False) -> None:
    """Multipliers push on the bodies like forces, or tell the wrenches on the second body of each closure, or both."""
    e = walk.e
    tell = "closing" in walk.program.outputs

    def given(row: str, k: int) -> Number:
        return e.symbol(e.load("%lambda", e.integer("add", row, k)))

    def one(signature: ClosureSignature, ints: Callable[[str], str], view: ClosureView, index: str) -> None:
        row, total = ints("row"), [Force.zero(), Force.zero()]
        for k, equation in enumerate(view.equations):
            for side, wrench in enumerate((equation.on_i, equation.on_j)):
                total[side] = total[side] + wrench * given(row, k)
        if tell:
            coupler = signature.kind == "coupler"
            power = given(row, 0) * coupled(walk, ints)[1] if coupler else _power(view, total)
            for k, x in enumerate([*total[1].f, *total[1].n, power]):
                e.store(x, "%closing", e.integer("add", e.integer("mul", index, 7), k))
        if tell and not also_tell:
            return
        if signature.kind == "coupler":
            _each_grip(walk, ints, lambda grip: _push_coordinate(walk, grip, given(row, 0)))
        else:
            grounds = (signature.ground_a, signature.ground_b)
            for ground, state, held, (n, f) in zip(grounds, ("state_a", "state_b"), (view.i, view.j), total, strict=True):
                if not ground:
                    add_wrench(walk, ints(state), Force(n + (held.p - held.r).cross(f), f))

    each_closure(walk, one)


def push_impulses(walk: TracedWalk) -> None:
    """Multipliers are impulses, reversed; those of couplers are on coordinates, in directions that do not change."""
    e = walk.e
    each(e, 0, e.integer("mul", count(e, "touched"), IMPULSE), lambda k: walk.put(0.0, "%impulses", k))

    def one(signature: ClosureSignature, ints: Callable[[str], str], view: ClosureView, _: str) -> None:
        if signature.kind == "coupler":
            return
        row, grounds = ints("row"), (signature.ground_a, signature.ground_b)
        sigma = [-e.symbol(e.load("%lambda", e.integer("add", row, k))) for k in range(len(view.equations))]
        for ground, state, (impulse, rate) in zip(grounds, ("state_a", "state_b"), impulses_of(view, sigma), strict=True):
            first = e.integer("mul", ints(state), IMPULSE)
            for k, x in enumerate([*impulse, *rate] if not ground else []):
                at = e.integer("add", first, k)
                walk.put(walk.get("%impulses", at) + x, "%impulses", at)

    each_closure(walk, one, rated=True)


def _power(view: ClosureView, total: Sequence[Force]) -> Number:
    """What the wrenches bring to the two bodies: nothing, unless the closure is driven."""
    return power_of(view.i, total[0]) + power_of(view.j, total[1])


def _push_coordinate(walk: TracedWalk, grip: str, multiplier: Number) -> None:
    body, dof, factor = _grip(walk, grip)
    at = walk.e.integer("add", _entry(walk.e, body, "v"), dof)
    walk.put(walk.get("%effort", at) + factor * multiplier, "%effort", at)
