"""The loop over fixed steps that both methods share: samples, works, progress, and what to say when it ends early."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import BellcrankError
from .outcome import Passed, Report
from .passages import PassageFinder
from .records import EnergyBalance, States

Array = NDArray[np.float64]
Progress = Callable[[float], None]
Look = Callable[[States], float | None]  # at both ends of a step: the time inside it at which the run is to end, if it is

BATCH = 256  # steps


class Stepper(Protocol):
    """A state on its way through time."""

    report: Report
    watch: PassageFinder

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
    """Takes the steps, keeps each until a batch is full, and of each batch the samples."""

    def __init__(self, stepper: Stepper, balance: EnergyBalance, look: Look | None):
        self.stepper, self.balance, self.look, self.steps = stepper, balance, look, 0
        self.waiting: list[Any] = []
        self.wanted: list[int] = []  # of those that wait, which are samples
        self.samples: list[Any] = []
        self.rows: list[tuple[Array, Array, Array, Array]] = []

    def step(self, until: float) -> bool:
        """One step, and whether the run ends with it: the step in which that happens is taken again, to end there."""
        before = None if self.look is None else _twin(self.stepper)
        with np.errstate(all="ignore"):  # what is not finite is found, and said, by the step
            self.stepper.step(until)
            self.steps += 1
            if self.look is None or before is None:
                return False
            end = self.look(self.stepper.states([before.now(), self.stepper.now()]))
            if end is not None and end < until:
                self.stepper = before
                self.stepper.step(end)
        return end is not None

    def keep(self, sample: bool) -> None:
        if sample:
            self.wanted.append(len(self.waiting))
            self.samples.append(self.stepper.now())
        self.waiting.append(self.stepper.now())
        if len(self.waiting) >= (BATCH if self.look is None else 1):  # angles are counted on from the last that was entered
            self.enter()

    def enter(self) -> None:
        if not self.waiting:
            return
        states = self.stepper.states(self.waiting)
        works = self.balance.enter(states)
        at = self.wanted
        self.rows.append((states.t[at], states.q[at], states.v[at], works[at]))
        self.waiting, self.wanted = [], []


def _twin(stepper: Stepper) -> Stepper:
    """The same state, which stays as it is while the other goes on."""
    twin = copy(stepper)
    twin.watch = copy(stepper.watch)
    twin.watch.passages = list(stepper.watch.passages)
    return twin


def march(
    stepper: Stepper,
    balance: EnergyBalance,
    times: Array,
    longest: float | None,
    progress: Progress | None,
    look: Look | None = None,
) -> Passed:
    """Equal steps of at most ``longest`` between the samples; the interval of the samples unless given."""
    keeper, problem = Keeper(stepper, balance, look), None
    keeper.keep(True)
    try:
        _march(keeper, times, longest, progress)
    except BellcrankError as trouble:
        problem = f"stopped at t = {keeper.stepper.t:.9g} s: {trouble}. What was computed until then is kept."
    except KeyboardInterrupt:
        problem = f"interrupted at t = {keeper.stepper.t:.6g} s"
    if problem is not None and keeper.waiting and len(keeper.waiting) - 1 not in keeper.wanted:
        keeper.wanted.append(len(keeper.waiting) - 1)
        keeper.samples.append(keeper.waiting[-1])
    keeper.enter()
    stepper = keeper.stepper
    stepper.report.energy_error = balance.energy_error
    stepper.finish(keeper.samples)
    t, q, v, works = (np.concatenate(part) for part in zip(*keeper.rows, strict=True))
    return Passed(t, q, v, works, {"steps": keeper.steps, **stepper.counts()}, problem, stepper.report)


def _march(keeper: Keeper, times: Array, longest: float | None, progress: Progress | None) -> None:
    for before, until in pairwise(times):
        count = max(1, int(np.ceil((until - before) / (longest or np.inf) * (1 - 1e-9))))
        for k in range(1, count + 1):
            ended = keeper.step(float(until if k == count else before + (until - before) * (k / count)))
            keeper.keep(k == count or ended)
            if ended:
                return
        if progress is not None:
            progress(float((until - times[0]) / (times[-1] - times[0])))
