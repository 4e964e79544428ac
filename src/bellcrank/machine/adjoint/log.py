"""The log of the accepted steps of a run: the backward pass follows the steps that the run took.

Of a step: the time at which it starts, its length, the time that the equations see at its start and the latest one that they
may see in it (they differ at corners), then q and v (or p), padded as a state is; of an implicit method the slopes at its
stages, each padded likewise, part by part. Of the midpoint rule for closed loops behind these the numbers of the rows that are
kept, and of every part the two pushes lambda and mu (steps.implicit.closed), in units of the closures, all padded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.executor import Integer
from ...numbers import Condition, Number
from ..steps.adaptive import AdaptiveStepper
from ..steps.cuts.corners import start_of_step
from ..steps.fixed import FixedStepper
from ..steps.implicit.closed import ClosedMidpointStepper
from ..steps.implicit.fixed import ImplicitStepper
from ..steps.implicit.radau import RadauStepper
from ..steps.layout import VECTOR
from ..steps.stepper import Stepper
from ..tangents.jumps import SHORT

if TYPE_CHECKING:
    from ..steps.trajectory import Trajectory

Array = NDArray[np.float64]

CAPACITY = 2048  # steps at most in a piece
_CHANGING: tuple[str, ...] = ("y", "new", "aside", "origin", "k", "reals", "counts", "sampled", "corner", "before", "clock")
_CHANGING += ("opening_start", "opening_middle", "fastest")
_CHANGING += ("accepted", "linearised", "by_position", "by_velocity", "by_both", "upper", "below", "diagonal", "pivots")
_CHANGING += ("pushes", "rest", "rows_at_end")


def note_step(s: Stepper, h: Number, where: Condition) -> None:
    e, w = s.e, s.words

    def note() -> None:
        place = s.count("logged")
        row = w["log"].at(place * w["log_row"])
        for k, x in enumerate((s.real("t"), h, start_of_step(s), s.real("latest"))):
            s.put_number(x, row, k)
        state = row.at(VECTOR)
        s.fill(state, w["y"].__getitem__, 0, w["controlled"])
        s.add_count("logged")
        e.when(s.count("logged") >= w["log_capacity"], lambda: s.set_count("budget", 0))

    e.when(s.any(where), note)


class LoggedAdaptive(AdaptiveStepper):
    with_works = False

    def note_step(self, h: Number, where: Condition) -> None:
        note_step(self, h, where)


class LoggedFixed(FixedStepper):
    with_works = False

    def note_step(self, h: Number, where: Condition) -> None:
        note_step(self, h, where)


def note_slopes(s: Stepper, part: Integer) -> None:
    """Notes the slopes at all stages of a part, behind the row that is written when the step is accepted."""
    w, stages = s.words, len(s.method.c)
    row, first = _next_row(s), part * stages + 1
    for i in range(stages):
        place = VECTOR + w["w_start"] * (first + i)
        into, k = row.at(place), s.k[i]
        s.fill(into, k.__getitem__, 0, w["controlled"])


def _next_row(s: Stepper) -> Any:
    return s.words["log"].at(s.count("logged") * s.words["log_row"])


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


class LoggedClosed(ClosedMidpointStepper):
    with_works = False

    def note_part(self, n: Integer) -> None:
        note_slopes(self, n)
        e, w = self.e, self.words
        behind = VECTOR + w["w_start"] * (1 + len(self.method.parts))
        rows = _next_row(self).at(behind)
        first = n * 2 + 1
        places = [rows.at(w["rows_stride"] * (first + k)) for k in range(2)]

        def note(r: Integer) -> None:
            row = w["kept_rows"].integer(r)
            self.put_number(e.number_of(row), rows, r)
            for name, place in zip(("pushes", "second_pushes"), places, strict=True):
                self.put_number(self.number(w["row_scale"], row) * self.number(w[name], r), place, r)

        e.each(0, w["kept_count"], note)

    def note_step(self, h: Number, where: Condition) -> None:
        note_step(self, h, where)


def times_seen(rows: Array) -> Array:
    """The times that the equations have seen at both ends of each step, (steps, 2); at corners they differ from its ends."""
    return np.stack([rows[:-1, 2], np.minimum(rows[1:, 0], rows[:-1, 3])], axis=1)


@dataclass
class Piece:
    """Steps of one call of the machine code: what its memory was before, so that they can be taken again, and perhaps rows."""

    before: dict[str, NDArray[Any]]
    budget: int
    rows: Array | None
    short: NDArray[np.bool_] | None = None  # steps as short as those across a surface (machine.tangents.jumps)


@dataclass
class Log:
    """All accepted steps of a run. Rows beyond ``limit`` bytes are not kept: the steps are taken again when they are needed."""

    limit: float = 256e6
    capacity: int = CAPACITY
    pieces: list[Piece] = field(default_factory=list)
    trajectory: Trajectory | None = None
    full: bool = False
    end: float = 0.0  # the time after the last step
    usual: float = 0.0  # a length of the steps before
    samples: tuple[Array, Array, Array] | None = None  # times, q, and v or p, as the steps left them

    def begin(self, trajectory: Trajectory, budget: int) -> None:
        """Before some steps."""
        self.trajectory = trajectory
        self.pieces.append(Piece({name: trajectory.arrays[name].copy() for name in _CHANGING}, budget, None))

    def take_over(self) -> None:
        """After them."""
        assert self.trajectory is not None
        rows, self.end = self._rows(), self.trajectory.real("t")
        self.pieces[-1].rows, self.pieces[-1].short = rows, self._short(rows[:-1, 1])
        kept = [piece.rows.nbytes for piece in self.pieces if piece.rows is not None]
        if self.full or sum(kept) > self.limit:
            self.full = True
            for piece in self.pieces:
                piece.rows = None

    def _short(self, lengths: Array) -> NDArray[np.bool_]:
        """For every step whether it is short: the usual length after each is u = max(h, u/2), as in machine.tangents.jumps."""
        places = np.arange(len(lengths) + 1)
        with np.errstate(divide="ignore"):
            usual = np.exp2(np.maximum.accumulate(np.log2(np.append(self.usual, lengths)) + places) - places)
        self.usual = float(usual[-1])
        return np.asarray(lengths <= SHORT * usual[:-1])

    def _rows(self) -> Array:
        """The rows that the machine code has written, and the state after them as one row more."""
        trajectory = self.trajectory
        assert trajectory is not None
        layout, count, t = trajectory.layout, trajectory.count("logged"), trajectory.real("t")
        rows = trajectory.arrays["log"][: count * layout.log_row].reshape(count, layout.log_row)
        trajectory.set_count("logged", 0)
        end = np.zeros(layout.log_row)
        end[:VECTOR] = t, 0.0, t, t
        end[VECTOR : VECTOR + layout.w_start] = trajectory.arrays["y"][: layout.w_start]
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
        """The memory of the rows that are kept, in bytes."""
        rows = sum(piece.rows.nbytes for piece in self.pieces if piece.rows is not None)
        return rows + sum(x.nbytes for piece in self.pieces for x in piece.before.values())
