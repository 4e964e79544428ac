"""Accepted steps of a run, written down: a run is gone through backward along the steps that it took.

Of a step: the time at which it starts, its length, the time that the equations see at its start and the latest one that they
may see in it (they differ at corners), then q and v, padded as a state is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...kernels.llvm.flow import each, when
from ...numbers import Condition, Number
from ..steps.adaptive import AdaptiveStepper
from ..steps.cuts.corners import start_of_step
from ..steps.fixed import FixedStepper
from ..steps.memory import WIDE
from ..steps.stepper import Stepper

if TYPE_CHECKING:
    from ..steps.trajectory import Trajectory

Array = NDArray[np.float64]

ROOM = 256  # steps between two looks of the host


def note_step(s: Stepper, h: Number, where: Condition) -> None:
    e, w = s.e, s.words

    def note() -> None:
        place = s.count("logged")
        row = e.pointer(w["log"], e.integer("mul", place, w["log_row"]))
        for k, x in enumerate((s.real("t"), h, start_of_step(s), s.real("latest"))):
            s.put_number(x, row, k)
        state = e.pointer(row, WIDE)
        each(e, 0, w["controlled"], lambda i: e.store(s.get(w["y"], i), state, i))
        s.add_count("logged")
        full = e.emit("icmp sge i64 $, $", s.count("logged"), w["log_room"])
        when(e, full, lambda: s.set_count("budget", 0))

    when(e, s.any(where), note)


class LoggedAdaptive(AdaptiveStepper):
    with_works = False

    def note_step(self, h: Number, where: Condition) -> None:
        note_step(self, h, where)


class LoggedFixed(FixedStepper):
    with_works = False

    def note_step(self, h: Number, where: Condition) -> None:
        note_step(self, h, where)


@dataclass
class Log:
    """All accepted steps of a run, and the state after the last of them."""

    room: int = ROOM
    parts: list[Array] = field(default_factory=list)
    last: Array = field(default_factory=lambda: np.zeros(0))

    def take_over(self, trajectory: Trajectory) -> None:
        layout, count = trajectory.layout, trajectory.count("logged")
        rows = trajectory.arrays["log"][: count * layout.log_row].reshape(count, layout.log_row)
        self.parts.append(rows.copy())
        trajectory.set_count("logged", 0)
        t = trajectory.real("t")
        self.last = np.concatenate([[t, 0.0, t, t], trajectory.arrays["y"][: layout.w_start]])

    def rows(self) -> Array:
        """(steps + 1, doubles of a row)"""
        return np.vstack([*self.parts, self.last[None]])
