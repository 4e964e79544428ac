"""Outputs of a design and their derivatives, in every load case; or why there are none."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...design import Design
from ...errors import (
    AssemblyError,
    BellcrankError,
    BellcrankWarning,
    DynamicsError,
    MissedEventError,
    ModelError,
    SimulationError,
    StudyError,
)
from ...model import Model
from ...run import Event
from ..asking import sensitivity
from ..study import Study
from ..study.spec import Case

Array = NDArray[np.float64]

NOT_FOR_DERIVATIVES = ("max_steps", "on_singular")
CANNOT_BE = (ModelError, AssemblyError, DynamicsError, SimulationError, MissedEventError)


class Infeasible(BellcrankError):
    """A design that cannot be assembled, locks, stops early or misses an event; the message says why."""


class CaseValue(NamedTuple):
    """An output of one case: its value, () or (time,), and its derivatives, (parameter,) or (time, parameter)."""

    value: Array
    along: Array


class CaseOutputs:
    """One load case: the model with its numbers, the design recorded once, and runs of other designs by the same code."""

    def __init__(self, study: Study, model: Model, case: Case, texts: Sequence[str], mode: str = "auto") -> None:
        self.case, self.texts, self.names = case, list(texts), list(study.parameters)
        self._model = model.with_parameters(dict(case.set)) if case.set else model
        of_run = case.analysis == "run"
        self._options: dict[str, Any] = self._of_a_run(study, mode) if of_run else self._of_an_analysis(study)

    def _of_a_run(self, study: Study, mode: str) -> dict[str, Any]:
        given = study.run.given()
        for name in NOT_FOR_DERIVATIVES:
            if name in given:
                raise StudyError(f"[run] has {name}, which runs with derivatives do not take. Leave it out.")
        if given.get("method") == "auto":
            del given["method"]
        for name in ("inputs", "q", "v"):
            own = given.get(name, {}) | dict(getattr(self.case, name))
            given |= {name: own} if own else {}
        duration = self.case.duration or study.duration or self._model.duration
        return given | {"duration": duration, "events": _events(study), "mode": mode}

    def _of_an_analysis(self, study: Study) -> dict[str, Any]:
        """Options of runs that also apply to an analysis: where the mechanism is, and what acts on it."""
        case, run = self.case, study.run
        q, inputs = dict(run.q) | dict(case.q), dict(run.inputs) | dict(case.inputs)
        given: dict[str, Any] = {"analysis": case.analysis}
        if case.analysis == "drive":
            given |= {name: getattr(case, name) for name in ("coordinate", "values", "speed", "acceleration", "hold")}
            return given | ({"q": q} if q else {})
        given |= {"q0": q} if q and case.analysis == "equilibrium" else {}
        return given | ({"inputs": inputs} if inputs else {})

    @cached_property
    def design(self) -> Design:
        return Design(self._model, self.names)

    def at(self, x: Array, more: Mapping[str, Any] | None = None) -> dict[str, CaseValue]:
        """Outputs at values of the parameters; raises Infeasible."""
        options = self._options | dict(more or {})
        try:
            moved = self.design.moved(x)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".* out of reach, from")  # it is infeasible, and says so below
                found = sensitivity(moved.base, moved, self.texts, **options)
        except CANNOT_BE as error:
            raise Infeasible(self._said(str(error))) from error
        if self.case.analysis == "drive" and len(found.time) < len(options["values"]):
            near, far = len(found.time), len(options["values"])
            raise Infeasible(self._said(f'only {near} of {far} values of "{self.case.coordinate}" are within reach'))
        taken = {text: CaseValue(one.value, one.along) for text, one in found.found.items()}
        for text, one in taken.items():
            if not (np.isfinite(one.value).all() and np.isfinite(one.along).all()):
                raise Infeasible(self._said(f'output "{text}" or its derivative is not a finite number'))
        return taken

    def _said(self, reason: str) -> str:
        return f'case "{self.case.name}": {reason}' if self.case.name else reason


def _events(study: Study) -> list[Event]:
    return [Event(watched.of, watched.value, watched.direction, "mark", name) for name, watched in study.events.items()]  # type: ignore[arg-type]


class OncePerWarning:
    """Gives each warning of many evaluations once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, evaluate: Any, *given: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                return evaluate(*given)
            finally:
                new = [one for one in caught if str(one.message) not in self._said]
                self._said.update(str(one.message) for one in new)
                self._new = [one for one in new if issubclass(one.category, BellcrankWarning)]

    @property
    def new(self) -> list[str]:
        found, self._new = [str(one.message) for one in getattr(self, "_new", [])], []
        return found
