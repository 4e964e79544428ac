"""The tangents of rotations that an implicit method turns as a group: steps.implicit.turning on dual numbers.

Values are those of the state and of its slopes; tangents, a vector at a time, stand behind them (tangents.steps), and only they
are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...kernels.llvm.emitter import Emitter, Int
from ...kernels.llvm.flow import each
from ...kernels.messages import parts
from ...numbers import Dual, Number
from ...spatial import Vector
from ..steps.implicit.turning import TurningJoint, product, turn_slopes, turn_state
from ..steps.layout import VECTOR

Text = tuple[str, dict[str, str]]

_LAYOUT = "i64 %t_start, i64 %block, i64 %chunks, i64 %v_start, i64 %nq, ptr noalias %turning, i64 %count"


def write_turning_tangents(tangents: int) -> list[Text]:
    """``turn_slopes_along``, to be called before turn_slopes, and ``turn_state_along``; ``tangents``: of a chunk."""
    return [_write_slopes(tangents), _write_state(tangents)]


class JointWithTangents(TurningJoint):
    """A joint of the table, with one vector of the tangents of a chunk."""

    def __init__(self, e: Emitter, i: str, chunk: str, tangents: int, part: int):
        super().__init__(e, i)
        self.tangents = tangents
        start = e.integer("add", "%t_start", e.integer("mul", chunk, "%block"))
        self.start = e.integer("add", start, part * VECTOR)

    def _place(self, name: str, k: int) -> Int:
        e, at = self.e, self.at[name]
        entry = at if name in ("attitude", "position") else e.integer("add", e.integer("sub", at, "%v_start"), "%nq")
        return e.integer("add", self.start, e.integer("mul", e.integer("add", entry, k), self.tangents))

    def get(self, array: str, name: str, count: int = 3) -> Sequence[Number]:
        return [self._dual(array, name, k) for k in range(count)]

    def _dual(self, array: str, name: str, k: int) -> Dual:
        e = self.e
        value = e.symbol(e.splat(e.load_double(array, e.integer("add", self.at[name], k))))
        place = e.pointer(array, self._place(name, k))
        return Dual(value, [e.symbol(e.emit(f"load {e.type}, ptr {place}, align 8"))])

    def put(self, array: str, name: str, values: Sequence[Number]) -> None:
        e = self.e
        for k, x in enumerate(values):
            place = e.pointer(array, self._place(name, k))
            e.do(f"store {e.type} {e.operand(parts(x, 1)[1])}, ptr {place}, align 8")


def _each_joint(e: Emitter, tangents: int, act: Callable[[JointWithTangents], None]) -> None:
    def chunk(c: str) -> None:
        for part in range(tangents // VECTOR):
            each(e, 0, "%count", lambda i, part=part: act(JointWithTangents(e, i, c, tangents, part)))  # type: ignore[misc]

    each(e, 0, "%chunks", chunk)


def _write_slopes(tangents: int) -> Text:
    """The angular velocity is that of the quaternion's rate, w = 2 g^-1 g'."""
    e = Emitter(VECTOR)

    def one(joint: JointWithTangents) -> None:
        g, rate = joint.get("%y", "attitude", 4), joint.get("%k", "attitude", 4)
        turn_slopes(joint, Vector(*product((g[0], *(-x for x in g[1:])), rate)[1:]) * 2.0)

    _each_joint(e, tangents, one)
    return _function(e, "turn_slopes_along", f"ptr noalias %y, ptr noalias %k, {_LAYOUT}")


def _write_state(tangents: int) -> Text:
    e = Emitter(VECTOR)
    h, at_end = e.symbol(e.splat("%h")), e.emit("icmp ne i64 %end, 0")
    _each_joint(e, tangents, lambda joint: turn_state(joint, h, at_end))
    arrays = "ptr noalias %y, ptr noalias %k, ptr noalias %new, double %h, i64 %end"
    return _function(e, "turn_state_along", f"{arrays}, {_LAYOUT}")


def _function(e: Emitter, name: str, arguments: str) -> Text:
    e.do("ret void")
    return f"define internal void @{name}({arguments}) {{\nentry:\n{e.text()}\n}}\n", e.declarations
