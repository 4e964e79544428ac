"""A fit as a problem of least squares: what the model misses of each measurement, in its standard deviations."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError
from ...model import Model
from ..optimisation.evaluation import CaseOutputs, CaseValue
from ..optimisation.problem import Point, Problem
from ..study import Study
from ..study.spec import Case
from .curves import Curves, curves_of

Array = NDArray[np.float64]


class FitProblem(Problem):
    """cost = 1/2 sum r_i^2,   r_i = (model - measured)/deviation

    Where a study gives no deviations, ``deviations`` are the ranges of the curves at first, so that all of them count alike,
    and what is left over after a fit later.
    """

    def __init__(self, study: Study, mode: str = "auto", data: Any = None) -> None:
        if study.fit is None or not study.fit.columns:
            raise StudyError("the study has no [fit] with columns. Say which output each measured column shows.")
        self._data, self.columns = data, dict(study.fit.columns)
        self.curves = curves_of(study.cases, study.fit, study.folder, data)
        self.known = all(name in study.fit.deviation for name in self.columns.values())
        self.deviations = {name: study.fit.deviation.get(name) or self._range(name) for name in self.columns.values()}
        super().__init__(study, mode)

    @property
    def identity(self) -> str:
        arrays = [x for curves in self.curves for x in (curves.times, *curves.columns.values())]
        data = b"".join(np.ascontiguousarray(x).tobytes() for x in arrays) + repr(self.deviations).encode()
        return super().identity + hashlib.sha256(data).hexdigest()[:16]

    def of(self, study: Study) -> FitProblem:
        other = type(self)(study, data=self._data)
        other.deviations = dict(self.deviations)
        return other

    def _range(self, column: str) -> float:
        values = np.concatenate([curves.columns[column] for curves in self.curves])
        return float(np.nanmax(values) - np.nanmin(values)) or 1.0

    def _case(self, case: Case, model: Model, mode: str) -> CaseOutputs:
        curves = self.curves[self.study.cases.index(case)]
        return _Sampled(self.study, model, case, self.texts(case), mode, curves, list(self.columns))

    def measured(self, curves: Curves) -> tuple[Array, Array]:
        """All measured values, column by column, and their standard deviations; those that are missing are left out later."""
        values = np.concatenate([curves.columns[name] for name in self.columns.values()])
        return values, np.repeat([self.deviations[name] for name in self.columns.values()], len(curves.times))

    def _evaluated(self, x: Array) -> Point:
        point = super()._evaluated(x)
        rows, slopes = [], []
        for case, curves in zip(self._cases, self.curves, strict=True):
            assert isinstance(case, _Sampled)
            values, along = case.sampled(x)
            measured, deviation = self.measured(curves)
            there = np.isfinite(measured)
            weight = np.sqrt(case.case.weight) / deviation[there]
            rows.append((values[there] - measured[there]) * weight)
            slopes.append(along[there] * weight[:, None])
        r, J = np.concatenate(rows), np.concatenate(slopes)
        cost, gradient = point.cost + 0.5 * float(r @ r), point.gradient + J.T @ r
        return Point(x, cost, gradient, point.limits, point.slopes, r, J)


class _Sampled(CaseOutputs):
    """A case whose outputs are asked for at the times of the measurement too."""

    def __init__(
        self, study: Study, model: Model, case: Case, texts: list[str], mode: str, curves: Curves, shown: list[str]
    ) -> None:
        super().__init__(study, model, case, texts, mode)
        self.curves, self.shown = curves, shown
        end = float(curves.times[-1])
        of_run = case.analysis == "run"
        duration = max(self._options.get("duration") or end, end)
        self._whole = not of_run or (curves.even and abs(duration - end) <= 1e-9 * end)
        if not of_run:
            self._options["values"] = curves.times.tolist()
        elif self._whole:
            self._options |= {"duration": duration, "step": float(end / (len(curves.times) - 1))}
        else:
            self._options["duration"] = duration
        if self._whole:
            self.texts = [*self.texts, *shown]
        else:
            self.texts = [*self.texts, *(f"{text}@t={t!r}" for text in shown for t in curves.times.tolist())]
        self._found: tuple[Array, dict[str, CaseValue]] | None = None

    def at(self, x: Array, more: Any = None) -> dict[str, CaseValue]:
        found = super().at(x, more)
        self._found = x, found
        return found

    def sampled(self, x: Array) -> tuple[Array, Array]:
        """Values of all shown outputs at all times, output by output, and their derivatives."""
        assert self._found is not None and self._found[0] is x
        found = self._found[1]
        if self._whole:
            parts = [found[text] for text in self.shown]
            return np.concatenate([one.value for one in parts]), np.concatenate([one.along for one in parts])
        parts = [found[f"{text}@t={t!r}"] for text in self.shown for t in self.curves.times.tolist()]
        return np.array([float(one.value) for one in parts]), np.array([one.along for one in parts])
