"""Rotations in the implicit midpoint rule: a variational integrator on the group, so that momentum maps are kept.

A quaternion joint has an attitude g and quasi-momenta mu in the child's axes; a free joint besides a position x and a linear
momentum l in the child's axes. Adding increments to them is not symplectic. Instead take the discrete Lagrangian

    L_d(g0, g1) = h L(gm, xi/h),   g0 = gm cay(-xi/2),  g1 = gm cay(xi/2)

with the Cayley map, in quaternions cay(x) = (1, x/2)/|.|. Its discrete equations of motion are, with w and mu' from Hamilton's
equations at the middle (gm, mu_m), h the step,

    xi = h w                   turn = (1, xi/4)/|.|,  gm = g0 turn,  g1 = gm turn
    pi0 = turn^-1 mu0          momentum at the start, seen from the middle
    torque = mu' + w x mu_m
    pi1 = pi0 + h torque       mu1 = turn^-1 pi1
    mu_m = (pi0 + h torque/2 - h xi x torque/8)/(1 + xi.xi/16)

The last line is the mean of the momenta that belong to xi/2 and -xi/2 as coordinates, dcay^T pi. x and the linear momentum in
the axes of the joint, P = g l, change as other coordinates and momenta do. Since L_d is invariant wherever L is, linear
momentum, and angular momentum about gravity's axis, are kept to rounding (Noether); the map is symplectic, of order two.
For another derivation see N. Bou-Rabee & J. Marsden, Hamilton-Pontryagin integrators on Lie groups, 2009.

The stepper stores as slopes k what does not depend on the axes at hand: x', w, P' in the joint's axes, torque.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....kernels.llvm.emitter import Emitter, Int
from ....kernels.llvm.flow import each, when
from ....numbers import Number
from ....spatial import Vector, quaternion_turn
from ..layout import TURNING

if TYPE_CHECKING:
    from ..stepper import Stepper


def write_turning() -> list[tuple[str, dict[str, str]]]:
    """Two functions: ``turn_slopes`` after an evaluation at the middle, ``turn_state`` for the middle or the end of a step."""
    return [_write_slopes(), _write_state()]


class TurningJoint:
    """A joint of the table, in the arrays of a step."""

    def __init__(self, e: Emitter, i: str):
        self.e = e
        row = e.pointer("%turning", e.integer("mul", i, len(TURNING)))
        self.at = {name: e.load_int(row, k) for k, name in enumerate(TURNING)}

    def get(self, array: str, name: str, count: int = 3) -> Sequence[Number]:
        e = self.e
        return [e.symbol(e.load(array, e.integer("add", self.at[name], k))) for k in range(count)]

    def vector(self, array: str, name: str) -> Vector:
        return Vector(*self.get(array, name))

    def put(self, array: str, name: str, values: Sequence[Number]) -> None:
        for k, x in enumerate(values):
            self.e.store(x, array, self.e.integer("add", self.at[name], k))

    def if_placed(self, act: Callable[[], None]) -> None:
        when(self.e, self.e.emit("icmp sge i64 $, 0", self.at["position"]), act)


def _write_slopes() -> tuple[str, dict[str, str]]:
    """k at the middle state y, velocities v: w, torque and P' in the place of g', mu' and l'."""
    e = Emitter(1)

    def one(i: str) -> None:
        joint = TurningJoint(e, i)
        turn_slopes(joint, Vector(*[e.symbol(e.load("%v", _velocity(e, joint.at["spin"], k))) for k in range(3)]))

    each(e, 0, "%count", one)
    return _function(e, "turn_slopes", "ptr noalias %y, ptr noalias %k, ptr noalias %v, i64 %v_start")


def turn_slopes(joint: TurningJoint, w: Vector) -> None:
    """The slopes of one joint, with its angular velocity; over any number."""
    torque = joint.vector("%k", "spin") + w.cross(joint.vector("%y", "spin"))
    turn = quaternion_turn(joint.get("%y", "attitude", 4))

    def placed() -> None:
        push = joint.vector("%k", "push") + w.cross(joint.vector("%y", "push"))
        joint.put("%k", "push", turn.up(push))

    joint.if_placed(placed)
    joint.put("%k", "attitude", (*w, 0.0))
    joint.put("%k", "spin", torque)


def _velocity(e: Emitter, spin: Int, k: int) -> Int:
    return e.integer("add", e.integer("sub", spin, "%v_start"), k)


def _write_state() -> tuple[str, dict[str, str]]:
    """``new`` at the middle (%end = 0) or at the end (%end = 1) of a step of length h from y with slopes k."""
    e = Emitter(1)
    h = e.symbol("%h")
    at_end = e.emit("icmp ne i64 %end, 0")
    each(e, 0, "%count", lambda i: turn_state(TurningJoint(e, i), h, at_end))
    return _function(e, "turn_state", "ptr noalias %y, ptr noalias %k, ptr noalias %new, double %h, i64 %end")


def turn_state(joint: TurningJoint, h: Number, at_end: str | bool) -> None:
    """The state of one joint; over any number. ``at_end``: an i1, or known beforehand."""
    w, torque = joint.vector("%k", "attitude"), joint.vector("%k", "spin")
    start, mu = joint.get("%y", "attitude", 4), joint.vector("%y", "spin")
    xi = w * h
    quarter = xi * 0.25
    turn = (1.0, *quarter)
    middle = product(start, turn)
    seen = quaternion_turn(turn).down(mu)

    def at_middle() -> None:
        mean = seen + torque * (0.5 * h) - xi.cross(torque) * (0.125 * h)
        place(middle, mean * (1.0 / (1.0 + quarter.dot(quarter))), 0.5)

    def at_the_end() -> None:
        place(product(middle, turn), quaternion_turn(turn).down(seen + torque * h), 1.0)

    def place(attitude: Sequence[Number], spin: Vector, part: float) -> None:
        joint.put("%new", "attitude", unit(attitude))
        joint.put("%new", "spin", spin)

        def placed() -> None:
            push = quaternion_turn(start).up(joint.vector("%y", "push")) + joint.vector("%k", "push") * (part * h)
            joint.put("%new", "push", quaternion_turn(attitude).down(push))

        joint.if_placed(placed)

    if isinstance(at_end, str):
        when(joint.e, at_end, at_the_end, at_middle)
    else:
        (at_the_end if at_end else at_middle)()


def product(a: Sequence[Number], b: Sequence[Number]) -> tuple[Number, ...]:
    """The product of quaternions."""
    u, v = Vector(*a[1:]), Vector(*b[1:])
    return a[0] * b[0] - u.dot(v), *(v * a[0] + u * b[0] + u.cross(v))


def unit(q: Sequence[Number]) -> list[Number]:
    scale = 1.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt()
    return [x * scale for x in q]


def _function(e: Emitter, name: str, arguments: str) -> tuple[str, dict[str, str]]:
    e.do("ret void")
    head = f"define internal void @{name}({arguments}, ptr noalias %turning, i64 %count)"
    return f"{head} {{\nentry:\n{e.text()}\n}}\n", e.declarations


# calls ------------------------------------------------------------------------------------------------------------------


def call_turn_state(s: Stepper, start: str, h: Number, into: str, *, end: bool, along: bool = True) -> None:
    """The middle or the end of a step from ``start``, perhaps with its tangents (machine.tangents.turning)."""
    arrays = f"ptr {start}, ptr {s.k[0]}, ptr {into}, double {s.e.first(h)}, i64 {int(end)}"
    if s.tangents and along:
        s.e.do(f"call void @turn_state_along({arrays}, {_layout_of_tangents(s)})")
    s.e.do(f"call void @turn_state({arrays}, {_table(s)})")
    s.e.forget()


def call_turn_slopes(s: Stepper, state: str, k: str, *, along: bool = True) -> None:
    """Turns slopes that were just evaluated, with the velocities that came with them."""
    along = bool(s.tangents) and along
    if along:
        s.e.do(f"call void @turn_slopes_along(ptr {state}, ptr {k}, {_layout_of_tangents(s)})")
    v = s.words["moved" if along else "buffer:v"]
    s.e.do(f"call void @turn_slopes(ptr {state}, ptr {k}, ptr {v}, i64 {s.words['v_start']}, {_table(s)})")
    s.e.forget()


def _table(s: Stepper) -> str:
    return f"ptr {s.words['turning']}, i64 {s.words['quaternion_count']}"


def _layout_of_tangents(s: Stepper) -> str:
    sizes = ", ".join(f"i64 {s.words[name]}" for name in ("t_start", "tangent_block", "tangent_chunks", "v_start", "nq"))
    return f"{sizes}, {_table(s)}"
