"""A process that computes pieces of a sweep (worker.py), seen from the one that it works for."""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...processes import started, why_it_ended
from ..task import Columns

Array = NDArray[np.float64]


class Answer(NamedTuple):
    """Columns of a piece, or what went wrong."""

    columns: Columns | None = None
    problem: Exception | None = None


class Ended(Exception):
    """The process ended before it answered."""


class Process:
    """It is asked by one thread, and answers."""

    def __init__(self) -> None:
        self._process = started(f"{__package__}.worker")

    def prepare(self, with_task: bytes) -> None:
        """Waits until the task is compiled there."""
        self._ask(with_task)

    def run(self, first: int, last: int, designs: Array) -> Columns:
        columns = self._ask((first, last, designs)).columns
        assert columns is not None
        return columns

    def _ask(self, question: Any) -> Answer:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            pickle.dump(question, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            answer: Answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):  # ValueError: a pipe that is closed
            process.kill()
            raise Ended(why_it_ended(process) or "exit code 0") from None
        if answer.problem is not None:
            raise answer.problem
        return answer

    def kill(self) -> None:
        """Whoever waits for an answer gets none."""
        self._process.kill()

    def close(self) -> None:
        """When nobody waits any more."""
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):  # what nobody reads any more may be left in it
                    pipe.close()
