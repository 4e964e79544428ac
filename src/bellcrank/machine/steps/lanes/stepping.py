"""Several runs at a time, one in each lane, each with its own time and step: what differs from the loop for one state.

All lanes take a step together; each accepts or rejects its own by selection. A lane that has arrived, or failed, stands
still. The state is (q, v), one vector of lanes for each number; works are not integrated, and efforts and inputs are given.
"""

from __future__ import annotations

from typing import Self

from ....kernels.llvm.elementary import any_lane, per_lane
from ....kernels.llvm.emitter import Emitter, Int
from ....kernels.llvm.flow import each
from ....numbers import Condition, Number, Symbol
from ..adaptive import AdaptiveStepper
from ..stepper import Stepper


class InLanes(Stepper):
    """What differs in lanes, whatever the method."""

    lanes = 4
    with_works = False

    @classmethod
    def of(cls, lanes: int) -> type[Self]:
        """The same for so many lanes."""
        return type(f"{cls.__name__}{lanes}", (cls,), {"lanes": lanes})

    def write(self) -> tuple[str, dict[str, str]]:
        """advance(), and the same for memories that follow each other."""
        text, declarations = super().write()
        return text + write_advance_each(), declarations

    def number(self, base: str, i: Int) -> Symbol:
        return self.e.symbol(self.e.load(base, i))

    def put_number(self, x: Number, base: str, i: Int) -> None:
        self.e.store(x, base, i)

    def any(self, condition: Condition) -> str:
        return any_lane(self.e, condition.ref)

    def added_up(self, vector: str) -> Symbol:
        """Each place is a run of its own."""
        return self.e.symbol(vector)

    largest = added_up

    def power(self, x: Number, exponent: float) -> Symbol:
        e = self.e
        return e.symbol(per_lane(e, "pow", e.operand(x), e.constant(exponent)))

    def ask(self, y: str) -> None:
        """Nobody: functions of the caller's run one at a time."""

    def row_of_sample(self, lane: int, row: Int) -> str:
        """Each lane has its own rows, one behind the other, and one more for what nobody asked for."""
        e, w = self.e, self.words
        first = e.integer("mul", e.integer("add", self.count("samples"), 1), lane)
        return e.pointer(w["out"], e.integer("mul", e.integer("add", first, row), w["vectors"]))

    def put_sample(self, value: Number, rows: list[str], i: str) -> None:
        e = self.e
        for lane, row in enumerate(rows):
            x = e.emit(f"extractelement {e.type} {e.operand(value)}, i32 {lane}")
            e.do(f"store double {x}, ptr {e.pointer(row, i)}, align 8")


def write_advance_each() -> str:
    """@advance_each(bound, words, count): advance() with each of ``count`` arrays of so many words."""
    e = Emitter(1)
    each(e, 0, "%count", lambda k: e.do(f"call void @advance(ptr {e.pointer('%bound', e.integer('mul', k, '%words'))})"))
    e.do("ret void")
    return f"define void @advance_each(ptr %bound, i64 %words, i64 %count) {{\nentry:\n{e.text()}\n}}\n"


class LaneStepper(InLanes, AdaptiveStepper):
    """Writes advance() for lanes; methods with an error estimate."""

    def stand_still(self, good: Condition) -> None:
        self.replace(self.words["new"], self.words["y"], ~good)

    def rows_of_samples(self, due: Condition) -> list[str]:
        """A lane in which no sample is due writes into the row after its last."""
        e, w = self.e, self.words
        rows = []
        for lane in range(self.lanes):
            taken = self.bit(due, lane)
            s = e.load_int(w["sampled"], lane)
            following = e.integer("add", s, e.emit(f"zext i1 {taken} to i64"))
            e.do(f"store i64 {following}, ptr {e.pointer(w['sampled'], lane)}, align 8")
            rows.append(self.row_of_sample(lane, e.emit(f"select i1 {taken}, i64 {s}, i64 {self.count('samples')}")))
        return rows
