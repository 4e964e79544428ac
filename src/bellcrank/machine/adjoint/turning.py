"""The adjoint of steps that turn rotations as a group: implicit_midpoint and midpoint4 with ball and free joints.

With T0 and T1 the states in the middle and at the end of a step, functions of its start y and its slope k, and S what is kept
as slope of a turning joint (steps.implicit.turning), a part of a step is

    Y = T0(y, k),   k = S(Y, f(Y)),   y' = T1(y, k)

Their transposed functions are written from the recorded ones, as those of kernels are. Backward, with bars for adjoints,

    y* = T1_y^T y'*,  k* = T1_k^T y'*;      m - T0_k^T F^T m = k*,   F = dS/dY;      y* += T0_y^T F^T m

The columns of T0_k^T F^T are found by going back with unit vectors; adjoints of data that this adds are thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...kernels.adjoint.transpose import Transposed, transposed
from ...kernels.llvm.emitter import Emitter
from ...kernels.llvm.flow import each
from ...numbers import Number, minimum
from ...spatial import Vector
from ..calls.bound import Text
from ..steps.implicit.turning import TurningJoint, turn_slopes, turn_state
from ..steps.layout import VECTOR
from .implicit import ImplicitRetrace

_OF_STATES = ("turning", "step", "y", "k", "new")
ARRAYS: dict[str, tuple[str, ...]] = {
    "turn_middle": _OF_STATES,
    "turn_end": _OF_STATES,
    "turn_slopes": ("turning", "y", "k", "v"),
}
_ENDS = 5  # places of the tape in a part: behind T0, the kernel, the rates, S, and T1


def transposed_turning() -> dict[str, Transposed]:
    """T0, T1 and S; the number of joints comes as n, the place of the speeds in a state as nv."""

    def state(e: Emitter, joint: TurningJoint, at_end: bool) -> None:
        turn_state(joint, e.symbol(e.load_double("%step", 0)), at_end)

    def slopes(e: Emitter, joint: TurningJoint) -> None:
        places = [e.integer("add", e.integer("sub", joint.at["spin"], "%nv"), k) for k in range(3)]
        turn_slopes(joint, Vector(*[e.symbol(e.load("%v", place)) for place in places]))

    return {
        "turn_middle": _transposed("turn_middle", ("y", "k"), lambda e, joint: state(e, joint, False)),
        "turn_end": _transposed("turn_end", ("y", "k"), lambda e, joint: state(e, joint, True)),
        "turn_slopes": _transposed("turn_slopes", ("y", "k", "v"), slopes),
    }


def _transposed(name: str, active: Sequence[str], write: Callable[[Emitter, TurningJoint], None]) -> Transposed:
    e = Emitter(1)
    each(e, 0, "%n", lambda i: write(e, TurningJoint(e, i)))
    e.do("ret void")
    return transposed(e, name, ARRAYS[name], active, ("turning", "step"))


def turning_texts() -> list[Text]:
    return [(found.text, found.declarations) for found in transposed_turning().values()]


class TurningRetrace(ImplicitRetrace):
    """One stage a part. ``thrown_away``: data whose adjoints are not wanted while columns are found, to where these go."""

    thrown_away: Mapping[str, str]

    # forward ---------------------------------------------------------------------------------------------------------------

    def stages(self, row: str, y: str, h: Number, stages: str, n: str) -> str:
        e, w = self.e, self.words
        t, latest, start, tape = self.get(row, 0), self.get(row, 3), y, w["tape"]
        self.starts: list[str] = []
        self.slopes_at: list[str] = []
        self.ends_of_parts: list[str] = []
        for part, share in enumerate(self.method.parts):
            k = e.pointer(row, e.integer("add", VECTOR, e.integer("mul", w["state"], 1 + part)))
            following = self.row("part_states", part)
            tape = self.part(part, start, k, following, t, latest, share * h, tape, n)
            t, start = t + share * h, following
        return tape

    def part(
        self, part: int, start: str, k: str, following: str, t: Number, latest: Number, h: Number, tape: str, n: str
    ) -> str:
        """Takes a state into the next one, with slopes that are known; returns the end of the tape."""
        w, Y = self.words, self.row("Y", part)
        for found, x in ((self.starts, start), (self.slopes_at, k), (self.ends_of_parts, following)):
            found.append(x)
        self.put(h, w["step"], part)
        self.moved(start, [k], [0.5 * h], Y)
        tape = self._turn("turn_middle", part, {"y": start, "k": k, "new": Y}, tape, n)
        self.put(minimum(t + 0.5 * h, latest), w["clocks"], part)
        self.put_end(tape, _ENDS * part)
        arrays = self.at_stage(part)
        tape = self.forward("kernel", arrays, tape, n)
        self.put_end(tape, _ENDS * part + 1)
        tape = self.forward("rates", arrays, tape, n)
        self.put_end(tape, _ENDS * part + 2)
        tape = self._turn("turn_slopes", part, {"y": Y, "k": arrays["qdot"], "v": arrays["v"]}, tape, n)
        self.put_end(tape, _ENDS * part + 3)
        self.moved(start, [k], [h], following)
        tape = self._turn("turn_end", part, {"y": start, "k": k, "new": following}, tape, n)
        self.put_end(tape, _ENDS * part + 4)
        return tape

    def _arguments(self, name: str, part: int, arrays: dict[str, str]) -> str:
        known = arrays | {"turning": self.words["turning"], "step": self.e.pointer(self.words["step"], part)}
        return ", ".join(f"ptr {known[x]}" for x in ARRAYS[name])

    def _turn(self, name: str, part: int, arrays: dict[str, str], tape: str, n: str) -> str:
        w, e = self.words, self.e
        taken = f"i64 {w['quaternion_count']}, i64 {w['v_start']}, {self._arguments(name, part, arrays)}"
        end = e.emit(f"call ptr @{name}_forward({taken}, ptr {tape}, ptr {w['tape']}, ptr {w['limit']})")
        e.forget()
        return self.unless_short(end, n)

    # backward --------------------------------------------------------------------------------------------------------------

    def _turn_back(self, name: str, part: int, arrays: dict[str, str], bars: dict[str, str], place: int) -> None:
        w, e = self.words, self.e
        own = ", ".join(f"ptr {bars[x]}" for x in ARRAYS[name] if x in bars)
        taken = f"i64 {w['quaternion_count']}, i64 {w['v_start']}, {self._arguments(name, part, arrays)}, {own}"
        e.do(f"call void @{name}_reverse({taken}, ptr {self.end(place)})")
        e.forget()

    def to_start(self, h: Number, stages: str, sample: Callable[[], None]) -> None:
        for part in reversed(range(len(self.method.parts))):
            self.back_part(part, self.method.parts[part] * h)

    def back_part(self, part: int, h: Number) -> None:
        w, k_bar, y_bar = self.words, self.row("k_bar", part), self.words["y_bar"]
        for bar in (k_bar, y_bar):
            self.clear(bar, w["state"])
        self.end_back(part, h, w["lam"], y_bar, k_bar)
        each(self.e, 0, w["order"], lambda b: self.column_of(part, h, b))
        self.factor()
        self.copy_packed(k_bar, w["right"])
        self.solve()
        self.slopes_back(part, h, y_bar)
        self.copy(y_bar, w["lam"], w["state"])

    def end_back(self, part: int, h: Number, new: str, y_bar: str, k_bar: str) -> None:
        """y* += T1_y^T y'* and k* += T1_k^T y'*; ``new``, which is y'*, is used up."""
        arrays = {"y": self.starts[part], "k": self.slopes_at[part], "new": self.ends_of_parts[part]}
        self._turn_back("turn_end", part, arrays, {"y": y_bar, "k": k_bar, "new": new}, _ENDS * part + 4)
        self.add(new, y_bar)
        self.add(new, k_bar, h)

    def slopes_back(self, part: int, h: Number, y_bar: str) -> None:
        """y* += T0_y^T F^T m, and the adjoints of data, of the m in ``right``."""
        w = self.words
        self.copy_unpacked(w["right"], w["unit"])
        self.clear(w["column"], w["state"])
        self._apply(part, h, w["unit"], y_bar, w["column"], {})

    def column_of(self, part: int, h: Number, b: str) -> None:
        """Column b of 1 - T0_k^T F^T."""
        e, w = self.e, self.words
        for name in ("unit", "column", "unused_state"):
            self.clear(w[name], w["state"])
        self.clear(w["right"], w["order"])
        self.put(1.0, w["right"], b)
        self.copy_unpacked(w["right"], w["unit"])
        self._apply(part, h, w["unit"], w["unused_state"], w["column"], dict(self.thrown_away))
        into = e.pointer(w["matrix"], e.integer("mul", b, w["stride"]))
        self.copy_packed(w["column"], into)
        each(e, 0, w["order"], lambda a: self.put(-self.get(into, a), into, a))

    def _apply(self, part: int, h: Number, m: str, y_bar: str, k_bar: str, data: dict[str, str]) -> None:
        """y* += T0_y^T F^T m and k* += T0_k^T F^T m; ``m`` is used up."""
        w, Y_bar, v_bar = self.words, self.words["Y_bar"], self.words["v_bar"]
        arrays = self.at_stage(part)
        self.clear(Y_bar, w["state"])
        self.clear(v_bar, w["nv"])
        turned = {"y": self.row("Y", part), "k": arrays["qdot"], "v": arrays["v"]}
        self._turn_back("turn_slopes", part, turned, {"y": Y_bar, "k": m, "v": v_bar}, _ENDS * part + 3)
        bars = data | {"q": Y_bar, "v": v_bar, "qdot": m}
        self.reverse("rates", arrays, bars, self.end(_ENDS * part + 2))
        momenta = {"p": self.speeds(Y_bar), "pdot": self.speeds(m)}
        self.reverse("kernel", arrays, bars | momenta, self.end(_ENDS * part + 1))
        self.e.forget()
        middle = {"y": self.starts[part], "k": self.slopes_at[part], "new": self.row("Y", part)}
        self._turn_back("turn_middle", part, middle, {"y": y_bar, "k": k_bar, "new": Y_bar}, _ENDS * part)
        self.add(Y_bar, y_bar)
        self.add(Y_bar, k_bar, 0.5 * h)

    # between states and packed numbers -------------------------------------------------------------------------------------

    def copy_packed(self, state: str, into: str) -> None:
        w = self.words
        self.copy(state, into, w["nq"])
        self.copy(self.speeds(state), self.e.pointer(into, w["nq"]), w["nv"])

    def copy_unpacked(self, packed: str, into: str) -> None:
        w = self.words
        self.copy(packed, into, w["nq"])
        self.copy(self.e.pointer(packed, w["nq"]), self.speeds(into), w["nv"])
