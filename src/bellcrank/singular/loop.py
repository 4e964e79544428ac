"""The loop over fixed steps that both methods share: samples, works, progress, and what to say when it ends early."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import BellcrankError
from ..kernels.threads import look_for_stop
from ..machine.steps.cuts.corners import NEVER, just_after, just_before
from .outcome import Passed, Report
from .passages import PassageFinder
from .records import EnergyBalance, States

Array = NDArray[np.float64]
Progress = Callable[[float], None]


class Cut(NamedTuple):
    """A time inside a step at which it is to end; ``final``: and the run with it."""

    time: float
    final: bool


Look = Callable[[States], Cut | None]  # at both ends of a step

BATCH = 256  # steps
OFTEN = 20  # times that one step is made shorter


class Watched(NamedTuple):
    """The watches of every step, and times at which the equations of motion are not smooth: steps end there."""

    look: Look | None = None
    corners: tuple[float, ...] = ()


NOTHING = Watched()


class Stepper(Protocol):
    """A state on its way through time."""

    report: Report
    watch: PassageFinder

    @property
    def t(self) -> float: ...
    def step(self, until: float) -> None: ...
    def begin(self, window: tuple[float, float]) -> None:
        """A piece of the motion: forces are asked for at times of the window only, so that what begins there has begun."""

    def now(self) -> Any:
        """The record of the present state."""

    def states(self, kept: list[Any]) -> States:
        """States that were kept, as rows of a batch."""

    def finish(self, samples: list[Any]) -> None:
        """Write the report."""

    def counts(self) -> dict[str, int]: ...


class SampleRecorder:
    """Takes the steps, keeps each until a batch is full, and of each batch the samples."""

    def __init__(self, stepper: Stepper, balance: EnergyBalance, watched: Watched):
        self.stepper, self.balance, self.look, self.steps = stepper, balance, watched.look, 0
        self.corners = [*watched.corners, NEVER]
        self.waiting: list[Any] = []
        self.wanted: list[int] = []  # of those that wait, which are samples
        self.samples: list[Any] = []
        self.rows: list[tuple[Array, Array, Array, Array]] = []

    def begin(self) -> None:
        if self.corners[0] < NEVER:
            self._window(-np.inf)

    def step(self, until: float) -> bool:
        """Steps to ``until``, in pieces that end at corners and where a step was cut; returns whether the run ends with it."""
        with np.errstate(all="ignore"):  # what is not finite is found, and said, by the step
            while True:
                look_for_stop()
                if self.stepper.t >= self.corners[0]:
                    self._pass_corner()
                if self._piece(min(until, self.corners[0])):
                    return True
                if self.stepper.t >= until:
                    return False
                self.keep(False)

    def _piece(self, until: float) -> bool:
        """One step: taken again, to end where it is cut; whether the run ends with it."""
        for _ in range(OFTEN):
            before = None if self.look is None else _twin(self.stepper)
            self.stepper.step(until)
            self.steps += 1
            if self.look is None or before is None:
                return False
            cut = self.look(self.stepper.states([before.now(), self.stepper.now()]))
            if cut is None or cut.time >= until:
                return cut is not None and cut.final
            self.stepper, until = before, cut.time
            if cut.final:
                self.stepper.step(until)
                return True
        self.stepper.step(until)
        return False

    def _pass_corner(self) -> None:
        """Passes a corner: the state is entered once more, with the forces from there on."""
        self.enter()
        self._window(just_after(self.corners.pop(0)))
        self.keep(False)

    def _window(self, earliest: float) -> None:
        self.balance.window = (earliest, just_before(self.corners[0]))
        self.stepper.begin(self.balance.window)

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
    """A copy of the stepper, which stays as it is while the stepper goes on."""
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
    watched: Watched,
) -> Passed:
    """Equal steps of at most ``longest`` between the samples; the interval of the samples unless given."""
    keeper, problem = SampleRecorder(stepper, balance, watched), None
    try:
        keeper.begin()
        keeper.keep(True)
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


def _march(keeper: SampleRecorder, times: Array, longest: float | None, progress: Progress | None) -> None:
    for before, until in pairwise(times):
        count = max(1, int(np.ceil((until - before) / (longest or np.inf) * (1 - 1e-9))))
        for k in range(1, count + 1):
            ended = keeper.step(float(until if k == count else before + (until - before) * (k / count)))
            keeper.keep(k == count or ended)
            if ended:
                return
        if progress is not None:
            progress(float((until - times[0]) / (times[-1] - times[0])))
