"""Accepted steps of a run, written down: a run is gone through backward along the steps that it took.

Of a step: the time at which it starts, its length, the time that the equations see at its start and the latest one that they
may see in it (they differ at corners), then q and v (or p), padded as a state is; of an implicit method the slopes at its
stages, each padded likewise, part by part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.llvm.flow import each, when
from ...numbers import Condition, Number
from ..steps.adaptive import AdaptiveStepper
from ..steps.cuts.corners import start_of_step
from ..steps.fixed import FixedStepper
from ..steps.implicit.fixed import ImplicitStepper
from ..steps.implicit.radau import RadauStepper
from ..steps.memory import WIDE
from ..steps.stepper import Stepper

if TYPE_CHECKING:
    from ..steps.trajectory import Trajectory

Array = NDArray[np.float64]

ROOM = 2048  # steps at most in a piece
_CHANGING: tuple[str, ...] = ("y", "new", "aside", "origin", "k", "reals", "counts", "sampled", "corner", "before", "clock")
_CHANGING += ("opening_start", "opening_middle", "fastest")
_CHANGING += ("accepted", "linearised", "by_position", "by_velocity", "by_both", "upper", "below", "diagonal", "pivots")


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


def note_slopes(s: Stepper, part: int) -> None:
    """Of all stages of a part of a step, behind the row that will be written when the step stands."""
    e, w, stages = s.e, s.words, len(s.method.c)
    row = e.pointer(w["log"], e.integer("mul", s.count("logged"), w["log_row"]))
    for i in range(stages):
        place = e.integer("add", WIDE, e.integer("mul", w["w_start"], 1 + part * stages + i))
        into, k = e.pointer(row, place), s.k[i]
        each(e, 0, w["controlled"], lambda j, k=k, into=into: e.store(s.get(k, j), into, j))  # type: ignore[misc]


class LoggedRadau(RadauStepper):
    with_works = False

    def note_step(self, h: Number, where: Condition) -> None:
        note_slopes(self, 0)
        note_step(self, h, where)


class LoggedImplicit(ImplicitStepper):
    with_works = False

    def note_part(self, n: int) -> None:
        note_slopes(self, n)

    def note_step(self, h: Number, where: Condition) -> None:
        note_step(self, h, where)


@dataclass
class Piece:
    """Steps of one call of the machine code: what its memory was before, so that they can be taken again, and perhaps rows."""

    before: dict[str, NDArray[Any]]
    budget: int
    rows: Array | None


@dataclass
class Log:
    """All accepted steps of a run. Rows beyond ``limit`` bytes are not kept: the steps are taken again when they are needed."""

    limit: float = 256e6
    room: int = ROOM
    pieces: list[Piece] = field(default_factory=list)
    trajectory: Trajectory | None = None
    full: bool = False

    def begin(self, trajectory: Trajectory, budget: int) -> None:
        """Before some steps."""
        self.trajectory = trajectory
        self.pieces.append(Piece({name: trajectory.arrays[name].copy() for name in _CHANGING}, budget, None))

    def take_over(self) -> None:
        """After them."""
        self.pieces[-1].rows = self._rows()
        kept = [piece.rows.nbytes for piece in self.pieces if piece.rows is not None]
        if self.full or sum(kept) > self.limit:
            self.full = True
            for piece in self.pieces:
                piece.rows = None

    def _rows(self) -> Array:
        """What the machine code has written down, and the state after it as one row more."""
        trajectory = self.trajectory
        assert trajectory is not None
        layout, count, t = trajectory.layout, trajectory.count("logged"), trajectory.real("t")
        rows = trajectory.arrays["log"][: count * layout.log_row].reshape(count, layout.log_row)
        trajectory.set_count("logged", 0)
        end = np.zeros(layout.log_row)
        end[:WIDE] = t, 0.0, t, t
        end[WIDE : WIDE + layout.w_start] = trajectory.arrays["y"][: layout.w_start]
        return np.vstack([rows, end[None]])

    def backward(self) -> Iterator[Array]:
        """Pieces from the last to the first: a row for each accepted step, and one for the state after the last of them."""
        trajectory = self.trajectory
        assert trajectory is not None
        for piece in reversed(self.pieces):
            if piece.rows is not None:
                yield piece.rows
                continue
            for name, x in piece.before.items():
                trajectory.arrays[name][:] = x
            trajectory.take_steps(piece.budget)
            yield self._rows()

    @property
    def nbytes(self) -> int:
        """What is kept."""
        rows = sum(piece.rows.nbytes for piece in self.pieces if piece.rows is not None)
        return rows + sum(x.nbytes for piece in self.pieces for x in piece.before.values())
