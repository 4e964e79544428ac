"""Before a recursion: states of driven joints from their laws, and forces of the elements from the states of the bodies.

These are steps like those of the formulations, over any number; the executors loop over them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..constraints import Equation, Frame, Given, Law
from ..forces import FORCES, BodyForce, BodyState, Effort, JointForce, JointState, Wrenches
from ..forces.base import Settings
from ..joints import JOINTS, JOINTS_BY_KEY, JointData, closing_equations
from ..joints.base import Driven
from ..joints.laws import LAWS, added, curve_of
from ..model.motion import Law as PrescribedLaw
from ..numbers import Number, Rate, maximum
from ..numbers.spline import Curve, Lookup, gates, spline
from ..plan.closures import ACTION_SLOTS, CLOSURE_SLOTS, ClosureSignature
from ..plan.loads import ELEMENT_SLOTS, MOTION_AXIS, ElementSignature, MotionSignature
from ..spatial import Force, Matrix, Motion, Vector
from ..spatial.vector import ZERO

Data = Callable[[int], Number]  # a number of the row, by its place
World = tuple[Matrix, Vector, Motion]


def driven_state(signature: MotionSignature, data: Data, t: Number, pool: Any) -> Driven:
    """q, v and dv/dt of a driven joint."""
    axis = Vector(*[data(j) for j in range(MOTION_AXIS)])
    laws, slot = [], MOTION_AXIS
    for terms in signature.laws:
        curves = []
        for term in terms:
            values = [data(slot + j) for j in range(term.size)]
            if term.kind == "formula":
                law = PrescribedLaw(term.kind, tuple(values), expression=term.expression, names=term.names)
                curves.append(curve_of(law.of_time, t))
            else:
                curves.append(LAWS[term.kind](values, t, _lookup(term.table, data, slot + term.size, pool)))
            slot += term.width
        laws.append(added(curves))
    return JOINTS_BY_KEY[signature.joint].driven(laws, axis)


def _lookup(table: Lookup | None, data: Data, slot: int, pool: Any) -> Callable[[Number], Curve]:
    def curve(x: Number) -> Curve:
        assert table is not None
        return spline(pool, data(slot), data(slot + 1), table, x)

    return curve


def _gates(table: Lookup | None, data: Data, slot: int, pool: Any, x: Number) -> list[Number]:
    return [] if table is None else gates(pool, data(slot), data(slot + 1), table, x)


def world_state(body: Any, parent: World) -> World:
    """Pose and velocity of every body; those that elements act on leave them in the ground's axes."""
    R, r, V = parent
    X = body.transform
    R, r = X.pose(R, r)
    V = X.down(V) + body.velocity
    if body.attached:
        body.world_axes = R
        body.leave_state([*R.x, *R.y, *R.z, *r, *(R @ V.w), *(R @ V.v)])
    return R, r, V


def body_state(numbers: list[Number]) -> BodyState:
    R = Matrix(Vector(*numbers[:3]), Vector(*numbers[3:6]), Vector(*numbers[6:9]))
    known = Motion(Vector(*numbers[18:21]), Vector(*numbers[21:24])) if len(numbers) > 18 else None
    return BodyState(R, Vector(*numbers[9:12]), Vector(*numbers[12:15]), Vector(*numbers[15:18]), known)


class ElementInputs(NamedTuple):
    """Inputs of an element besides its row and the states: the time, its input, tables, measures."""

    t: Number = 0.0
    u: Number = 0.0
    pool: Any = None
    arguments: tuple[Number, ...] = ()


def _settings(signature: ElementSignature, data: Data, around: ElementInputs) -> Settings:
    names = FORCES[signature.kind].values

    def vector(slot: str) -> Vector:
        return Vector(*[data(ELEMENT_SLOTS[slot] + j) for j in range(3)])

    def matrix(slot: str) -> Matrix:
        start = ELEMENT_SLOTS[slot]
        return Matrix(*[Vector(*[data(start + 3 * i + j) for j in range(3)]) for i in range(3)])

    def value(name: str) -> Number:
        live = signature.live
        return around.arguments[live.index(name)] if name in live else data(names.index(name))

    return Settings(
        value=value,
        t=around.t,
        u=around.u,
        table=None if signature.table is None else _lookup(signature.table, data, ELEMENT_SLOTS["table"], around.pool),
        table_gates=lambda x: _gates(signature.table, data, ELEMENT_SLOTS["table"], around.pool, x),
        point_a=vector("point_a"),
        point_b=vector("point_b"),
        axes_a=matrix("axes_a"),
        axes_b=matrix("axes_b"),
    )


def summed(factors: Sequence[Number], values: Sequence[Number]) -> Number:
    """The sum of coordinates with their factors, or of their rates."""
    total: Number = 0.0
    for factor, value in zip(factors, values, strict=True):
        total = total + factor * value
    return total


def joint_effort(signature: ElementSignature, data: Data, state: JointState, around: ElementInputs) -> Effort:
    force = FORCES[signature.kind]
    assert issubclass(force, JointForce)
    return force.effort(state, _settings(signature, data, around))


def closing_wrenches(signature: ElementSignature, data: Data, a: BodyState, b: BodyState, around: ElementInputs) -> Wrenches:
    """An element on a joint that closes a loop: its coordinate from the poses, its effort as wrenches on both bodies."""
    given = _settings(signature, data, around)
    joint, force = JOINTS[signature.closing], FORCES[signature.kind]
    assert issubclass(force, JointForce)
    q, A_b, p_b, pdot_b = closing_coordinates(signature, given, a, b)
    arm_b, inward = p_b - b.r, A_b.transpose()
    slip = pdot_b - (a.v + a.w.cross(p_b - a.r))
    E = joint.efforts(q)[signature.dof]
    v = Motion(inward @ (b.w - a.w), inward @ slip).dot(E)
    answer = force.effort(JointState(q[signature.dof] if signature.scalar else 0.0, v), given)
    n, f = (A_b @ E.n) * answer.effort, (A_b @ E.f) * answer.effort
    on_a, on_b = Force(-(n + (p_b - a.r).cross(f)), -f), Force(n + arm_b.cross(f), f)
    return Wrenches(on_a, on_b, answer.energy, answer.power, answer.effort)


def openings_of(
    signature: ElementSignature, around: ElementInputs, data: Data, on: JointState | tuple[BodyState, BodyState]
) -> list[Number]:
    """Numbers that change their sign where an element's force begins or ends, or has a kink."""
    given, force = _settings(signature, data, around), FORCES[signature.kind]
    if issubclass(force, BodyForce):
        assert not isinstance(on, JointState)
        return force.openings(*on, given)
    if not isinstance(on, JointState):  # of a joint that closes a loop
        q, _, _, _ = closing_coordinates(signature, given, *on)
        on = JointState(q[signature.dof], 0.0)
    return force.openings(on, given)


def closing_coordinates(
    signature: ElementSignature, given: Settings, a: BodyState, b: BodyState
) -> tuple[Sequence[Number], Matrix, Vector, Vector]:
    """Coordinates of a joint that closes a loop, its axes on b, its point there and the velocity of that."""
    _, p_b, pdot_b = b.point(given.point_b)
    _, p_a, _ = a.point(given.point_a)
    A_a, A_b = a.R.times(given.axes_a), b.R.times(given.axes_b)
    q = JOINTS[signature.closing].coordinates(A_a.transpose().times(A_b), A_a.transpose() @ (p_b - p_a))
    return q, A_b, p_b, pdot_b


class AttachedBodyView(NamedTuple):
    """Implements formulations.AttachedBody."""

    r: Vector
    v: Vector
    w: Vector
    rho: Vector
    p: Vector
    known: Motion | None = None


class ClosureView(NamedTuple):
    """Implements formulations.Closure."""

    i: AttachedBodyView
    j: AttachedBodyView
    equations: list[Equation]


def closure_view(
    signature: ClosureSignature, data: Data, a: BodyState, b: BodyState, driven: Driven, coupled: Sequence[Number]
) -> ClosureView:
    """A closure at the present states of its two bodies; ``coupled``: sum of factor * q of a coupler, its rate, and what is
    known of its second derivative."""
    if signature.kind == "coupler":
        nobody = AttachedBodyView(ZERO, ZERO, ZERO, ZERO, ZERO)
        return ClosureView(nobody, nobody, [_coupler(signature, data, driven, coupled)])

    def vector(name: str) -> Vector:
        return Vector(*[data(CLOSURE_SLOTS[name] + k) for k in range(3)])

    def matrix(name: str) -> Matrix:
        start = CLOSURE_SLOTS[name]
        return Matrix(*[Vector(*[data(start + 3 * i + k) for k in range(3)]) for i in range(3)])

    (_, p_a, pdot_a), (_, p_b, pdot_b) = a.point(vector("point_a")), b.point(vector("point_b"))
    i = Frame(a.R.times(matrix("axes_a")), p_a, pdot_a, a.w)
    j = Frame(b.R.times(matrix("axes_b")), p_b, pdot_b, b.w)
    value, pitch = Law(data(CLOSURE_SLOTS["value"])), data(CLOSURE_SLOTS["pitch"])
    if signature.driven == "value":
        value = Law(driven.q[0], driven.v[0], driven.a[0])
    elif signature.driven:
        i = _moved(signature.driven, i, a, driven, pitch)
    equations = closing_equations(signature.kind, i, j, Given(matrix("world"), value, pitch))
    ends = (("a", a, i), ("b", b, j))
    sides = [AttachedBodyView(x.r, x.v, x.w, x.R @ vector(f"center_{end}"), frame.p, x.known) for end, x, frame in ends]
    return ClosureView(sides[0], sides[1], equations)


def along_motion(state: BodyState) -> BodyState:
    """Pose with its rate, as dual numbers."""

    def rated(x: Vector, rate: Vector) -> Vector:
        return Vector(*[Rate(value, [slope]) for value, slope in zip(x, rate, strict=True)])

    columns = [rated(column, state.w.cross(column)) for column in state.R.transpose().rows()]
    return BodyState(Matrix(*columns).transpose(), rated(state.r, state.v), state.w, state.v)


def driven_along_motion(signature: ClosureSignature, driven: Driven) -> Driven:
    if not signature.driven:
        return driven
    rates = driven.v if signature.driven == "value" else JOINTS[signature.driven].rates(driven.q, driven.v)
    return driven._replace(q=tuple(Rate(x, [rate]) for x, rate in zip(driven.q, rates, strict=True)))


def impulses_of(view: ClosureView, multipliers: Sequence[Number]) -> list[tuple[list[Number], list[Number]]]:
    """Impulses of a closure whose numbers carry their rates: for both bodies, impulse and rate, each moment and force.

    About the body's origin, but the rate is that of the impulse about a point that stands still.
    """
    answers = []
    for side, body in enumerate((view.i, view.j)):
        total = Force.zero()
        for equation, multiplier in zip(view.equations, multipliers, strict=True):
            total = total + equation[side] * multiplier
        r = Vector(*[_value(x) for x in body.r])
        f, about_ground = total.f, total.n + body.p.cross(total.f)
        push, rate = (Vector(*[part(x) for x in f]) for part in (_value, _slope))
        moment, moment_rate = (Vector(*[part(x) for x in about_ground]) for part in (_value, _slope))
        answers.append(([*(moment - r.cross(push)), *push], [*(moment_rate - r.cross(rate)), *rate]))
    return answers


def _value(x: Number) -> Number:
    return x.value if isinstance(x, Rate) else x


def _slope(x: Number) -> Number:
    return x.tangents[0] if isinstance(x, Rate) else 0.0


def power_of(body: AttachedBodyView, wrench: Force) -> Number:
    """Power of a wrench at the closure's point on the body that it acts on."""
    return Motion(body.w, body.v + body.w.cross(body.p - body.r)).dot(wrench)


def _coupler(signature: ClosureSignature, data: Data, driven: Driven, coupled: Sequence[Number]) -> Equation:
    """sum of factor * q = value; its row is not on bodies but on the coordinates themselves."""
    position, velocity, known = coupled
    value = Law(data(CLOSURE_SLOTS["value"]))
    if signature.driven:
        value = Law(driven.q[0], driven.v[0], driven.a[0])
    return Equation(Force.zero(), Force.zero(), value.bend - known, position - value.value, velocity - value.slope)


def curve_at(table: Lookup, data: Data, slot: int, x: Number, pool: Any) -> Curve:
    """The curve of a coupler, a cam, at the coordinate of its last term."""
    return _lookup(table, data, slot, pool)(x)


def action_wrench(data: Data, carrier: BodyState, multiplier: Number) -> tuple[Vector, Force]:
    """The point at which a coupler acts, and its wrench: lambda linear + |lambda| size + always, in the axes of the carrier."""

    def vector(slot: int) -> Vector:
        return Vector(*[data(slot + k) for k in range(3)])

    size, (_, point, _) = maximum(multiplier, -multiplier), carrier.point(vector(ACTION_SLOTS["point"]))
    weights = (("linear", multiplier), ("size", size), ("always", 1.0))
    f, n = ZERO, ZERO
    for name, weight in weights:
        f, n = f + vector(ACTION_SLOTS[name]) * weight, n + vector(ACTION_SLOTS[name] + 3) * weight
    return point, Force(carrier.R @ n, carrier.R @ f)


def _moved(kind: str, i: Frame, a: BodyState, driven: Driven, pitch: Number) -> Frame:
    """The frame that a prescribed motion moves on its body; what it adds to the body's acceleration is known."""
    joint, data = JOINTS[kind], JointData(pitch=pitch)
    slide, turns = joint.motion(driven.q, data)
    p = i.p + (i.A @ slide)
    A = i.A
    for turn in turns:
        A = turn.columns(A)
    own, change = Motion.zero(), joint.bias(driven.q, driven.v, data)
    for S, v, accelerated in zip(joint.directions(driven.q, data), driven.v, driven.a, strict=True):
        own, change = own + S * v, change + S * accelerated
    w, v = A @ own.w, A @ own.v
    known = Motion(a.w.cross(w) + (A @ change.w), 2.0 * a.w.cross(v) + w.cross(v) + (A @ change.v))
    return Frame(A, p, a.v + a.w.cross(p - a.r) + v, a.w + w, known)


def body_wrenches(signature: ElementSignature, data: Data, a: BodyState, b: BodyState, around: ElementInputs) -> Wrenches:
    force = FORCES[signature.kind]
    assert issubclass(force, BodyForce)
    return force.wrenches(a, b, _settings(signature, data, around))
