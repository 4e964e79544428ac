"""fit: parameters from measured curves, by least squares, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import StudyError
from ...model import Model
from ..optimisation.optimize import solved
from ..study import Study, load_study
from ..study.building import Over, checked, made_study
from ..study.spec import Fit, Search
from .fitted import Fitted, left_over
from .problem import FitProblem

REWEIGHTED = 2  # fits with deviations estimated from the one before, of several curves


def fit(
    model: str | Model | Study | Path,
    data: Any = None,
    over: Over | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    time: str = "time",
    deviation: float | Mapping[str, float] | None = None,
    duration: float | None = None,
    cases: Mapping[str, Any] | None = None,
    subject_to: Mapping[str, Any] | None = None,
    method: str = "auto",
    starts: int = 1,
    seed: int = 0,
    iterations: int = 200,
    tolerance: float = 1e-10,
    parallel: bool = True,
    mode: str = "auto",
    record: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[int, float], None] | None = None,
    **run: Any,
) -> Fitted:
    """Find parameters of a model from measured curves, by least squares with exact derivatives.

    model      a Model, its file or its name in the gallery; or a Study, or the path of a study file with [fit]
    data       a CSV file, or {column: values}; for several cases {case: file or mapping}
    over       {path: (min, max)} as for optimize
    columns    {output: column}: which measure each column shows, {"crank_pivot.q": "angle"}
    time       the column of times
    deviation  standard deviation of the measurement, one for all columns or by column. Where none is given it is estimated
               from the residuals

    The result has ``interval`` (95 %), ``deviation`` and ``covariance`` of the parameters besides what optimize gives. Options
    of optimize and of simulate may follow.
    """
    if isinstance(model, Study) or over is None:
        if isinstance(model, Model):
            raise StudyError("over is missing: say which parameters are to be found, {path: (min, max)}.")
        study = checked(model) if isinstance(model, Study) else load_study(model)
    else:
        known = deviation if isinstance(deviation, Mapping) else dict.fromkeys((columns or {}).values(), deviation)
        asked = Fit(None, time, dict(columns or {}), {name: float(x) for name, x in known.items() if x is not None})
        search = Search(method, starts, seed, iterations, tolerance, parallel)
        options = {"method" if name == "run_method" else name: value for name, value in run.items()}
        named = str(model) if isinstance(model, Path) else model
        more: dict[str, Any] = {"duration": duration, "cases": cases, "subject_to": subject_to, "fit": asked}
        longest = duration or _longest(data, time)
        study = made_study(named, over, search=search, run=options, **(more | {"duration": longest}))
    return _fitted(FitProblem(_shared(study, data), mode, data), {"record": record, "resume": resume, "progress": progress})


def _longest(data: Any, time: str) -> float | None:
    """A run is as long as the measurement, unless a duration is given."""
    try:
        last = float(data[time][-1])
    except (TypeError, KeyError, IndexError, ValueError):
        return None
    return last if 0 < last < np.inf else None  # what is wrong with the times is said when they are read


def _shared(study: Study, data: Any) -> Study:
    """Processes that share the starts read the file again; arrays stay in this one."""
    assert study.fit is not None
    if data is None:
        return study
    if isinstance(data, str | Path):
        return replace(study, fit=replace(study.fit, data=str(Path(data).absolute())))
    return replace(study, search=replace(study.search, parallel=False))


def _fitted(problem: FitProblem, given: dict[str, Any]) -> Fitted:
    """Once with the deviations that are given; else again with those that the fit before has left over."""
    best = solved(problem, **given)
    for _ in range(0 if problem.known or len(problem.columns) == 1 else REWEIGHTED):
        problem.deviations = left_over(problem, best.best)
        problem.start, first = best.best.x, best.first.x
        problem.forget()
        best = solved(problem, progress=given["progress"], search=replace(problem.study.search, starts=1.0))
        best.first = problem.evaluate(first)  # its cost by the same deviations
    return Fitted(**{name: value for name, value in vars(best).items() if name in Fitted.__dataclass_fields__})
