"""Passages of a run, found in the steps that it took: those that are as short as those across surfaces (steps.cuts)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ...machine.adjoint.log import times_seen
from ...machine.steps.layout import VECTOR
from ..adjoint.backward import Backward
from ..adjoint.passages import Passages
from ..adjoint.stretch import Stretch
from .passing import PLACES, Passage

Array = NDArray[np.float64]

BESIDE, FARTHER = 1e-3, 1 / 32  # of the steps around a passage: how far samples are from it
AROUND = 16  # steps, on either side


def passages(backward: Backward, times: Array, progress: Callable[[float], None] | None) -> list[Passage]:
    """The passages of a run through these times, which is made for it without derivatives.

    Fixed steps to a sample that is too near would have stages behind the passage, and no error estimate shows it.
    """
    part = BESIDE if backward.scheme.adaptive else FARTHER
    backward.run(times, progress)
    found = sorted((found for stretch in backward.stretches for found in _of_stretch(stretch, backward)), key=lambda x: x[0])
    apart = np.diff([times[0], *(t for t, _ in found), times[-1]]) / (4 * PLACES[-1])
    near = [np.minimum(part * steps, pair) for (_, steps), *pair in zip(found, apart, apart[1:], strict=False)]
    return [Passage(t, t + np.repeat(width, len(PLACES) // 2) * PLACES) for (t, _), width in zip(found, near, strict=True)]


def _of_stretch(stretch: Stretch, backward: Backward) -> Iterator[tuple[float, Array]]:
    """Times, and the lengths of steps before and behind."""
    log, model = stretch.log, stretch.dyn.model
    looking = Passages(stretch.dyn, stretch.start, *backward.limits[:2])
    assert log.trajectory is not None
    first, lengths, found = VECTOR + log.trajectory.layout.v_start, list[Array](), list[tuple[float, int]]()
    for piece, rows in zip(reversed(log.pieces), log.backward(), strict=True):
        lengths.append(rows[-2::-1, 1])  # from the last step on
        if len(rows) < 2 or piece.short is None:
            continue
        q, v = rows[:, VECTOR : VECTOR + model.nq], rows[:, first : first + model.nv]
        states = np.hstack([q, stretch.dyn.velocities(q, v, t=rows[:, 0]) if stretch.momenta else v])
        ends, last = times_seen(rows), sum(map(len, lengths)) - 1
        crossed = (n for n in looking.found(ends, states, piece.short) if looking.jumps(ends[n], states[n : n + 2]))
        found += [(float(ends[n].mean()), last - n) for n in crossed]
    steps = np.concatenate(lengths)
    for t, k in found:
        yield t, np.array([steps[k : k + AROUND].max(), steps[max(k - AROUND, 0) : k + 1].max()])
