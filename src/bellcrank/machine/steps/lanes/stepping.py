"""Several runs at a time, one in each lane, each with its own time and step: what differs from the loop for one state.

All lanes take a step together; each accepts or rejects its own by selection. A lane that has arrived, or failed, stands
still. The state is (q, v), one vector of lanes for each number; works are not integrated, and efforts and inputs are given.
"""

from __future__ import annotations

from typing import Any, Self

from ....kernels.executor import Address, Integer
from ....numbers import Condition, Number, negated
from ..adaptive import AdaptiveStepper
from ..stepper import Stepper


class InLanes(Stepper):
    """What differs in lanes, whatever the method."""

    lanes = 4
    with_works = False

    @classmethod
    def of(cls, lanes: int) -> type[Self]:
        """The stepper for so many lanes."""
        return type(f"{cls.__name__}{lanes}", (cls,), {"lanes": lanes})

    def ask(self, y: Address) -> None:
        """Nobody: functions of the caller's run one at a time."""

    def row_of_sample(self, lane: int, row: Integer) -> Any:
        """Each lane has its own rows, one behind the other, and one more for what nobody asked for."""
        w = self.words
        return w["out"].at(((self.count("samples") + 1) * lane + row) * w["vectors"])

    def put_sample(self, value: Number, rows: list[Any], i: Integer) -> None:
        for lane, row in enumerate(rows):
            self.e.put_of_lane(value, lane, row, i)


class LaneStepper(InLanes, AdaptiveStepper):
    """Writes advance() for lanes; methods with an error estimate."""

    def stand_still(self, good: Condition) -> None:
        self.replace(self.words["new"], self.words["y"], negated(good))

    def rows_of_samples(self, due: Condition) -> list[Any]:
        """A lane in which no sample is due writes into the row after its last."""
        e, sampled, rows = self.e, self.words["sampled"], []
        for lane in range(self.lanes):
            s = sampled.integer(lane)
            sampled.put_integer(lane, s + e.one_if(due, lane))
            rows.append(self.row_of_sample(lane, e.place_if(due, lane, s, self.count("samples"))))
        return rows
