"""Displacements of joints with quaternions, inside Newton's method: functions over the table of these joints.

With E, q' = E v, of such a joint (x position, g quaternion, w and l angular and linear velocity in the child's axes),

    E+ q':  w = 2 vec(g^-1 g')/|g|^2,   l = R^T x'
    W d:    what E v changes by as q moves by E d, seen as a velocity: d x w/2 for the rotation, d x l for the position

The methods that turn rotations as a group (turning.py) keep w and a torque in place of g' and mu', and the rates of position
and momentum in the joint's axes.
"""

from __future__ import annotations

from collections.abc import Callable

from ....kernels.llvm.emitter import Emitter, Int
from ....kernels.llvm.flow import each
from ....numbers import Number
from ....spatial import Vector, quaternion_turn
from .turning import TurningJoint

Text = tuple[str, dict[str, str]]

_AXES = tuple(Vector(*(1.0 if k == j else 0.0 for k in range(3))) for j in range(3))


def write_tangents(lanes: int, *, group: bool) -> list[Text]:
    """``group``: those of methods that turn rotations as a group."""
    if group:
        return [_function(lanes, "group_velocities", _group_velocities), _function(lanes, "group_rates", _group_rates)]
    return [
        _function(lanes, "velocities_of_rates", _velocities_of_rates),
        _function(lanes, "subtract_spin", _subtract_spin),
        _write_add_spin(lanes),
    ]


def _function(lanes: int, name: str, one: Callable[[TurningJoint], None], more: str = "") -> Text:
    """name(at, from, into, v_place): ``at`` is the state of the Jacobian."""
    e = Emitter(lanes)
    each(e, 0, "%count", lambda i: one(TurningJoint(e, i)))
    e.do("ret void")
    arrays = "ptr noalias %at, ptr noalias %from, ptr noalias %into, i64 %v_place"
    head = f"define internal void @{name}({arrays}{more}, ptr noalias %turning, i64 %count)"
    return f"{head} {{\nentry:\n{e.text()}\n}}\n", e.declarations


def _put_displacement(joint: TurningJoint, name: str, values: Vector) -> None:
    e = joint.e
    for k, x in enumerate(values):
        e.store(x, "%into", e.integer("add", e.integer("sub", joint.at[name], "%v_place"), k))


def _displacement(joint: TurningJoint, base: str, name: str) -> Vector:
    e = joint.e
    places = [e.integer("add", e.integer("sub", joint.at[name], "%v_place"), k) for k in range(3)]
    return Vector(*[e.symbol(e.load(base, place)) for place in places])


def _velocities_of_rates(joint: TurningJoint) -> None:
    """E+ q', of the rates in %from."""
    g, rate = joint.get("%at", "attitude", 4), joint.get("%from", "attitude", 4)
    u, r = Vector(*g[1:]), Vector(*rate[1:])
    scale = 2.0 / (g[0] * g[0] + u.dot(u))
    _put_displacement(joint, "spin", (r * g[0] - u * rate[0] - u.cross(r)) * scale)
    turn = quaternion_turn(g)
    joint.if_placed(lambda: _put_displacement(joint, "push", turn.down(joint.vector("%from", "position"))))


def _subtract_spin(joint: TurningJoint) -> None:
    """Speeds in %into less W d, of the displacements in %from."""
    d = _displacement(joint, "%from", "spin")
    spin = d.cross(joint.vector("%at", "spin")) * 0.5
    joint.put("%into", "spin", joint.vector("%into", "spin") - spin)

    def placed() -> None:
        slide = d.cross(joint.vector("%at", "push"))
        joint.put("%into", "push", joint.vector("%into", "push") - slide)

    joint.if_placed(placed)


def _write_add_spin(lanes: int) -> Text:
    """add_spin(at, D, both, less, v_place, s, n): D + W, and D W added to -K, all by columns of s numbers."""
    e = Emitter(lanes)

    def place(row: Int, column: Int) -> Int:
        return e.integer("add", e.integer("mul", row, "%s"), column)

    def column(j: Int, rows: list[Int], entries: list[Number]) -> None:
        for row, x in zip(rows, entries, strict=True):
            at = place(j, row)
            e.store(e.symbol(e.load("%both", at)) + x, "%both", at)

        def one(i: str) -> None:
            value = e.symbol(e.load("%less", place(j, i)))
            for row, x in zip(rows, entries, strict=True):
                value = value + x * e.symbol(e.load("%D", place(row, i)))
            e.store(value, "%less", place(j, i))

        each(e, 0, "%n", one)

    def joint_of(i: str) -> None:
        joint = TurningJoint(e, i)
        first = e.integer("sub", joint.at["spin"], "%v_place")
        w = joint.vector("%at", "spin")
        for k, axis in enumerate(_AXES):
            rows = [e.integer("add", first, m) for m in range(3)]
            column(e.integer("add", first, k), rows, list(axis.cross(w) * 0.5))

        def placed() -> None:
            v, start = joint.vector("%at", "push"), e.integer("sub", joint.at["push"], "%v_place")
            for k, axis in enumerate(_AXES):
                rows = [e.integer("add", start, m) for m in range(3)]
                column(e.integer("add", first, k), rows, list(axis.cross(v)))

        joint.if_placed(placed)

    each(e, 0, "%count", joint_of)
    e.do("ret void")
    arrays = ", ".join(f"ptr noalias %{name}" for name in ("at", "D", "both", "less"))
    head = f"define internal void @add_spin({arrays}, i64 %v_place, i64 %s, i64 %n, ptr noalias %turning, i64 %count)"
    return f"{head} {{\nentry:\n{e.text()}\n}}\n", e.declarations


def _group_velocities(joint: TurningJoint) -> None:
    """Velocities of slopes as turning.py keeps them: all in the child's axes, mu' = torque - w x mu."""
    w = Vector(*joint.get("%from", "attitude", 3))
    _put_displacement(joint, "spin", w)
    joint.put("%into", "spin", joint.vector("%from", "spin") - w.cross(joint.vector("%at", "spin")))
    turn = quaternion_turn(joint.get("%at", "attitude", 4))

    def placed() -> None:
        _put_displacement(joint, "push", turn.down(joint.vector("%from", "position")))
        push = turn.down(joint.vector("%from", "push"))
        joint.put("%into", "push", push - w.cross(joint.vector("%at", "push")))

    joint.if_placed(placed)


def _group_rates(joint: TurningJoint) -> None:
    """Slopes as turning.py keeps them, of displacements and rates of momenta."""
    w = _displacement(joint, "%from", "spin")
    joint.put("%into", "attitude", (*w, 0.0))
    joint.put("%into", "spin", joint.vector("%from", "spin") + w.cross(joint.vector("%at", "spin")))
    turn = quaternion_turn(joint.get("%at", "attitude", 4))

    def placed() -> None:
        joint.put("%into", "position", turn.up(_displacement(joint, "%from", "push")))
        push = joint.vector("%from", "push") + w.cross(joint.vector("%at", "push"))
        joint.put("%into", "push", turn.up(push))

    joint.if_placed(placed)
