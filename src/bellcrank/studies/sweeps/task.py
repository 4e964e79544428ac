"""What a sweep computes: runs first .. last-1, the same numbers on whatever machine and in whatever company they run.

A task is data and pickles; what is compiled for it is made where it runs (runners.py).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError
from ...integrate import METHODS
from ...model import Model
from ...run import Event
from ...run.arguments import AUTO, sample_times, span
from ..output_names import Output, parsed
from ..study import Study
from .points import Points, asked_of
from .values import units_of_outputs

Array = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]

GROUP = 64  # chunks are multiples of it: lanes are shared by runs of the same group of eight
REASON = 240  # bytes of the reason of a run that failed
EVENTS = ("event", "event_time")


@dataclass(frozen=True)
class Task:
    """A study and its designs. ``trajectories``: coordinates and velocities at all samples are kept too."""

    study: Study
    model: Model
    points: Points
    trajectories: bool = False

    @property
    def count(self) -> int:
        return self.points.count * len(self.study.cases)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self.study.parameters)

    @cached_property
    def outputs(self) -> dict[str, Output]:
        """By the names of the study."""
        texts, events = self.study.outputs, list(self.study.events)
        found = parsed(list(texts.values()), events, self.span[0])
        return dict(zip(texts, found, strict=True))

    @cached_property
    def span(self) -> tuple[float, float]:
        """Duration, and interval of the samples."""
        return span(self.model, self.study.duration, self.study.run.step)

    @cached_property
    def times(self) -> Array:
        return sample_times(*self.span)

    @cached_property
    def fingerprint(self) -> str:
        """Of all that decides the numbers, but for the processor."""
        model, *options = self._without_designs
        return _hash_of([model, repr(self.points), *options])

    @cached_property
    def code(self) -> str:
        """Of what machine code is made for: other designs of the same parameters share it."""
        return _hash_of([*self._without_designs, repr(self.parameters)])

    @cached_property
    def _without_designs(self) -> list[str]:
        study = self.study
        options = (study.run, study.cases, study.outputs, study.events, study.duration, self.trajectories)
        return [_text_of(self.model), *map(repr, options)]

    def designs(self, first: int, last: int) -> Array:
        """Parameters of runs first .. last-1: the cases of a design follow each other."""
        cases = len(self.study.cases)
        rows = self.points.rows(first // cases, -(-last // cases))
        return np.repeat(rows, cases, axis=0)[first % cases :][: last - first]

    def named(self, designs: Array) -> dict[str, Array]:
        """Columns of designs by the names of the parameters."""
        return dict(zip(self.parameters, designs.T, strict=True))

    def case_numbers(self, first: int, last: int) -> NDArray[np.int64]:
        return np.arange(first, last) % len(self.study.cases)

    @property
    def events(self) -> list[Event]:
        """What a single run watches."""
        events: Any = self.study.events.items()
        return [Event(x.of, x.value, direction=x.direction, then=x.then, name=name) for name, x in events]

    def starts(self, case: int, what: str) -> dict[str, float]:
        """Of "inputs", "q" or "v", what the study and a case of it name."""
        return {**getattr(self.study.run, what), **getattr(self.study.cases[case], what)}

    def options(self, case: int) -> dict[str, Any]:
        """Further arguments of ``simulate``."""
        given = {name: x for name, x in self.study.run.given().items() if name not in ("control", "step")}
        return given | {what: self.starts(case, what) or None for what in ("inputs", "q", "v")}

    @property
    def in_lanes(self) -> bool:
        """Whether lanes have the method and all outputs; stops under steps of a fixed length are found when it is compiled."""
        method = self.study.run.method or AUTO
        known = method == AUTO or (method in METHODS and (METHODS[method].adaptive or not METHODS[method].implicit))
        plain = self.study.run.on_singular in (None, "stop", "warn") and self.study.run.projection in (None, "minimum_norm")
        events = any(x.taken in EVENTS for x in self.outputs.values()) or any(
            x.then == "stop" for x in self.study.events.values()
        )
        cases = range(len(self.study.cases))
        closed = bool(self.model.closures) and any(self.starts(k, what) for k in cases for what in ("q", "v"))
        return known and plain and not events and not closed and not self.model.bearings

    def shapes(self) -> dict[str, tuple[tuple[str, ...], str, str]]:
        """Of each column: dimensions after the run, type, unit."""
        unit = self._units
        found: dict[str, tuple[tuple[str, ...], str, str]] = {
            name: (("time",) if output.taken == "series" else (), "f8", unit.get(name, ""))
            for name, output in self.outputs.items()
        }
        if self.trajectories:
            found |= {"q": (("time", "coordinate"), "f8", ""), "v": (("time", "dof"), "f8", "")}
        return found | {"reached": ((), "f8", "s"), "reason": (("byte",), "u1", "")}

    @cached_property
    def _units(self) -> dict[str, str]:
        return units_of_outputs(self.model, self.outputs)


def _hash_of(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _text_of(model: Model) -> str:
    written = model.written
    if written is None:
        raise StudyError(f'"{model.name}" was made from arrays and has no parameters: build it by a Mechanism, or a file')
    return f"{written.spec!r}\n{sorted(written.changes.items())!r}"


def described(task: Task) -> dict[str, Any]:
    """What a store says of the sweep, as JSON."""
    study = task.study
    return {
        "study": study.name,
        "model": task.model.name,
        "design": task.points.kind,
        "seed": task.points.seed,
        "points": None if task.points.kind in ("grid", "list") else asked_of(task.points),
        "parameters": list(task.parameters),
        "runs": task.count,
        "cases": [case.name for case in study.cases],
        "outputs": dict(study.outputs),
        "duration": task.span[0],
        "options": json.loads(json.dumps(study.run.given())),
        "fingerprint": task.fingerprint,
    }
