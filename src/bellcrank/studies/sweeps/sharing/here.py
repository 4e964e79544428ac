"""Chunks of a sweep on the processors of this machine.

A piece of a chunk is computed from its designs to its outputs by one thread of a team, so that threads wait for each other as
little as they can: pieces of the next chunk begin before the last of a chunk has ended, and those at the end of the sweep are
smaller. The thread that gives them out makes their designs, and packs and writes chunks, while the others compute.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import warn
from ..runners import compiled, joined
from ..store import Chunk, Store, packed
from ..task import Columns, Task
from .team import Team

AHEAD = 2  # chunks that are begun before the one at hand has ended


class _Begun(NamedTuple):
    """A chunk: its number, designs, and pieces."""

    k: int
    designs: NDArray[np.float64]
    pieces: list[Columns | Future[Columns]]


def chunks_here(task: Task, kept: Store, missing: list[int]) -> Generator[Chunk]:
    """In order."""
    made, left = compiled(task), sum(last - first for first, last in map(kept.bounds, missing))
    runner, team = made.runner, Team(task, made.runner, left)

    def begun(k: int) -> _Begun:
        start, end = kept.bounds(k)
        designs, pieces, few = task.designs(start, end), list[Columns | Future[Columns]](), 0
        if not made.warm:
            few, made.warm = min(runner.few, end - start), True
            pieces.append(team.here(start, start + few, designs[:few]))
        for a, b in runner.pieces(start + few, end, left - few):
            pieces.append(team.submit(a, b, designs[a - start : b - start]))
        return _Begun(k, designs, pieces)

    def finished(chunk: _Begun) -> Chunk:
        columns = joined([part.result() if isinstance(part, Future) else part for part in chunk.pieces])
        return packed(chunk.k, kept.rows, columns, task.named(chunk.designs))

    waiting: deque[_Begun] = deque()
    try:
        for k in missing:
            waiting.append(begun(k))
            left -= len(waiting[-1].designs)
            if len(waiting) > AHEAD:
                yield finished(waiting.popleft())
        while waiting:
            yield finished(waiting.popleft())
    finally:
        team.end()
        for note in dict.fromkeys(team.notes):
            warn(note)
