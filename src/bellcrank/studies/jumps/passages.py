"""Passages of a run, found in the steps that it took: those that are as short as those across surfaces (steps.cuts)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ...machine.adjoint.log import times_seen
from ...machine.steps.memory import WIDE
from ..adjoint.backward import Backward
from ..adjoint.passages import Passages
from ..adjoint.stretch import Stretch
from .passing import PLACES, Passage

Array = NDArray[np.float64]

BESIDE = 1e-5  # of the steps around a passage: how far samples are from it
AROUND = 3  # steps


def passages(backward: Backward, times: Array, progress: Callable[[float], None] | None) -> list[Passage]:
    """Of a run through these times, which is made for it without derivatives."""
    backward.run(times, progress)
    found = sorted((found for stretch in backward.stretches for found in _of_stretch(stretch, backward)), key=lambda x: x[0])
    apart = np.diff([times[0], *(t for t, _ in found), times[-1]])
    near = [min(step * BESIDE, 0.125 * min(pair)) for (_, step), *pair in zip(found, apart, apart[1:], strict=False)]
    return [Passage(t, t + width * PLACES) for (t, _), width in zip(found, near, strict=True)]


def _of_stretch(stretch: Stretch, backward: Backward) -> Iterator[tuple[float, float]]:
    """Times, and the length of steps there."""
    log, model = stretch.log, stretch.dyn.model
    looking = Passages(stretch.dyn, stretch.start, *backward.limits[:2])
    assert log.trajectory is not None
    first = WIDE + log.trajectory.layout.v_start
    for piece, rows in zip(reversed(log.pieces), log.backward(), strict=True):
        if len(rows) < 2 or piece.short is None:
            continue
        q, v = rows[:, WIDE : WIDE + model.nq], rows[:, first : first + model.nv]
        states = np.hstack([q, stretch.dyn.velocities(q, v, t=rows[:, 0]) if stretch.momenta else v])
        ends = times_seen(rows)
        for n in looking.found(ends, states, piece.short):
            if looking.jumps(ends[n], states[n : n + 2]):
                yield float(ends[n].mean()), float(rows[max(n - AROUND, 0) : n + 1 + AROUND, 1].max())
