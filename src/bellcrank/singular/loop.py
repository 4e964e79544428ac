"""The loop over fixed steps that both methods share: samples, works, progress, and what to say when it ends early."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import BellcrankError
from .outcome import Passed, Report
from .records import EnergyBalance, States

Array = NDArray[np.float64]
Progress = Callable[[float], None]

BATCH = 256  # steps


class Stepper(Protocol):
    """A state on its way through time."""

    report: Report

    @property
    def t(self) -> float: ...
    def step(self, until: float) -> None: ...
    def now(self) -> Any:
        """What is to be kept of the present state."""

    def states(self, kept: list[Any]) -> States:
        """The same as rows of a batch."""

    def finish(self, samples: list[Any]) -> None:
        """Write the report."""

    def counts(self) -> dict[str, int]: ...


class Keeper:
    """Keeps every step until a batch is full, and of each batch the samples."""

    def __init__(self, stepper: Stepper, balance: EnergyBalance):
        self.stepper, self.balance = stepper, balance
        self.waiting: list[Any] = []
        self.wanted: list[int] = []  # of those that wait, which are samples
        self.samples: list[Any] = []
        self.rows: list[tuple[Array, Array, Array, Array]] = []

    def keep(self, sample: bool) -> None:
        if sample:
            self.wanted.append(len(self.waiting))
            self.samples.append(self.stepper.now())
        self.waiting.append(self.stepper.now())
        if len(self.waiting) >= BATCH:
            self.enter()

    def enter(self) -> None:
        if not self.waiting:
            return
        states = self.stepper.states(self.waiting)
        works = self.balance.enter(states)
        at = self.wanted
        self.rows.append((states.t[at], states.q[at], states.v[at], works[at]))
        self.waiting, self.wanted = [], []


def march(stepper: Stepper, balance: EnergyBalance, times: Array, longest: float | None, progress: Progress | None) -> Passed:
    """Equal steps of at most ``longest`` between the samples; the interval of the samples unless given."""
    keeper, steps, problem = Keeper(stepper, balance), 0, None
    keeper.keep(True)
    try:
        for before, until in pairwise(times):
            count = max(1, int(np.ceil((until - before) / (longest or np.inf) * (1 - 1e-9))))
            for k in range(1, count + 1):
                with np.errstate(all="ignore"):  # what is not finite is found, and said, by the step
                    stepper.step(float(until if k == count else before + (until - before) * (k / count)))
                steps += 1
                keeper.keep(k == count)
            if progress is not None:
                progress(float((until - times[0]) / (times[-1] - times[0])))
    except BellcrankError as trouble:
        problem = f"stopped at t = {stepper.t:.9g} s: {trouble}. What was computed until then is kept."
    except KeyboardInterrupt:
        problem = f"interrupted at t = {stepper.t:.6g} s"
    if problem is not None and keeper.waiting and len(keeper.waiting) - 1 not in keeper.wanted:
        keeper.wanted.append(len(keeper.waiting) - 1)
        keeper.samples.append(keeper.waiting[-1])
    keeper.enter()
    stepper.report.energy_error = balance.energy_error
    stepper.finish(keeper.samples)
    t, q, v, works = (np.concatenate(part) for part in zip(*keeper.rows, strict=True))
    return Passed(t, q, v, works, {"steps": steps, **stepper.counts()}, problem, stepper.report)
