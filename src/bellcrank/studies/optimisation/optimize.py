"""optimize: the best design of a study."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import BellcrankError, StudyError, warn
from ...model import Model
from ...run import Event
from ..study import Study, load_study
from ..study.building import Over, checked, made_study
from ..study.spec import Search
from .optimum import Optimum, best_of
from .problem import Point, Problem
from .record import Record
from .searching import SearchResult, better, chosen_method
from .sharing import search_here, search_on_cluster, search_shared, starting_points

Progress = Callable[[int, float], None]

CONFIRMED = 1e-5  # relative: the cost of the best design, computed again by a model of its own


def optimize(
    model: str | Model | Study | Path,
    minimize: str | None = None,
    over: Over | None = None,
    *,
    subject_to: Mapping[str, Any] | None = None,
    outputs: Mapping[str, str] | None = None,
    duration: float | None = None,
    cases: Mapping[str, Any] | None = None,
    events: Iterable[Event] = (),
    method: str = "auto",
    starts: int = 1,
    seed: int = 0,
    iterations: int = 200,
    tolerance: float = 1e-8,
    parallel: bool = True,
    scheduler: Any = None,
    mode: str = "auto",
    record: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    **run: Any,
) -> Optimum:
    """Minimise a cost over parameters of a model, by an optimiser of scipy with exact gradients.

    model       a Model, its file or its name in the gallery; or a Study, or the path of a study file, which says all the rest
    minimize    an output, "rms(hub.az)", or a formula over named outputs, "=ride + 0.1*work"
    over        {path: (min, max)}, {path: (min, max, start)} or {path: {"min": ..., "max": ..., "start": ..., "scale": ...}}
    subject_to  {output or name: (min, max)}, a number for an equation, or {"of": "=formula", "max": ...}; what must never be
                above is max(...)
    outputs     {name: output}, which formulas may use
    cases       {name: {"set": {path: value}, "inputs": {...}, "weight": 1.0}}: load cases, whose costs are added up; a case may
                be another "analysis" than a run: "drive", "equilibrium" or "modes", and "minimize" something of its own
    method      "L-BFGS-B", "SLSQP" or "trust-constr" (with constraints), or "auto"
    starts      how many designs the search begins from: the model's own, then random ones within the bounds, shared among
                the processors
    scheduler   address of a Dask scheduler ("tcp://...:8786") or a Client: searches from several starts run on its workers
    record      a file of all evaluations; with ``resume`` the search continues from that file
    progress    is called with the number of evaluations and the best cost so far
    run         options of simulate: method is ``run_method`` there; step, rtol, atol, inputs, q, v ...

    Ctrl-C ends the search with the best design so far. A design that cannot be assembled, locks or stops is infeasible: the
    history has its reason.
    """
    if isinstance(model, Study) or over is None:
        study = _given_study(model, minimize)
    else:
        search = Search(method, starts, seed, iterations, tolerance, parallel)
        options = {"method" if name == "run_method" else name: value for name, value in run.items()}
        more: dict[str, Any] = {"outputs": outputs, "duration": duration, "cases": cases, "events": events}
        study = made_study(_named(model), over, minimize=minimize, subject_to=subject_to, search=search, run=options, **more)
    if not any(study.cost_of(case) for case in study.cases):
        cost = "Give what is minimised: minimize, or [cost] in the file."
        raise StudyError(f"the study has no cost. {'It is a fit: call fit instead.' if study.fit is not None else cost}")
    return solved(Problem(study, mode), record=record, resume=resume, progress=progress, scheduler=scheduler)


def _named(model: str | Model | Study | Path) -> str | Model:
    assert not isinstance(model, Study)
    return str(model) if isinstance(model, Path) else model


def _given_study(model: str | Model | Study | Path, minimize: str | None) -> Study:
    if isinstance(model, Model):
        raise StudyError("over is missing: say which parameters may change, {path: (min, max)}.")
    if minimize is not None:
        raise StudyError("a study says its cost itself. Leave minimize out, or change [cost].")
    return checked(model) if isinstance(model, Study) else load_study(model)


def solved(
    problem: Problem,
    *,
    record: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    search: Search | None = None,
    scheduler: Any = None,
) -> Optimum:
    """The optimum of a problem, from all of its starts."""
    if progress is not None and not callable(progress):
        raise StudyError(f"progress is {progress!r}. Give a function of the number of evaluations and the best cost so far.")
    search = search or problem.study.search
    method = chosen_method(problem, search)
    kept = Record.at(record, problem, resume=resume)
    follow = _Follow(problem, kept, progress)
    problem.seen, problem.noted = follow.find, follow.add
    interrupted, ended = False, []
    try:
        first = problem.evaluate(problem.start.clip(problem.lower, problem.upper))
        if first.reason is not None and search.starts == 1:
            raise StudyError(
                f"the design where the search starts is infeasible: {first.reason.rstrip('.')}. Give another start."
            )
        ended = _searched(problem, search, kept, follow, scheduler)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        problem.seen, problem.noted = lambda x: None, lambda point: None
        kept.close()
    best = best_of(problem, kept.points)
    if best is None:
        said = next((point.reason for point in kept.points if point.reason), "nothing was evaluated")
        raise StudyError(f"no feasible design was found from {int(search.starts)} starts. One of the reasons: {said}")
    first = kept.points[0]
    found = Optimum(problem, best, first, kept.points, ended, method, interrupted)
    _confirm(found)
    return found


def _searched(problem: Problem, search: Search, record: Record, follow: _Follow, scheduler: Any) -> list[SearchResult]:
    count = int(search.starts)
    points = list(enumerate(starting_points(problem, count, int(search.seed))))
    if scheduler is not None and count > 1:
        return search_on_cluster(problem, points, search, record, scheduler, follow)
    processes = min(os.cpu_count() or 1, count) if search.parallel else 1
    if processes < 2 or count < 4:
        return search_here(problem, points, search, lambda k: None)
    first = search_here(problem, points[:1], search, lambda k: None)  # compiles what all of them need
    return first + search_shared(problem, points[1:], search, record, processes, follow)


class _Follow:
    """Notes every evaluation, and reports the progress."""

    def __init__(self, problem: Problem, record: Record, progress: Progress | None) -> None:
        self.problem, self.record, self.progress, self.best = problem, record, progress, None

    best: Point | None

    def find(self, x: Any) -> Point | None:
        point = self.record.find(x)
        if point is not None:
            self._look(point)
        return point

    def add(self, point: Point) -> None:
        self.record.add(point)
        self._look(point)

    def _look(self, point: Point) -> None:
        if better(self.problem, point, self.best):
            self.best = point
        if self.progress is not None:
            self.progress(len(self.record.points), float("inf") if self.best is None else self.best.cost)


def _confirm(found: Optimum) -> None:
    """Computes the cost of the best model again, built and assembled by itself.

    A search follows the branch of the loops on which it began; the model alone may be assembled on another one.
    """
    study = replace(found.problem.study, model=found.model)
    try:
        again = found.problem.of(study).evaluate(found.best.x)
    except BellcrankError as error:
        again = Point(found.best.x, reason=str(error))
    missed = abs(again.cost - found.cost) > CONFIRMED * (abs(found.cost) + abs(found.first_cost) * 1e-3)
    if again.reason is not None or missed:
        said = again.reason or f"its cost is {again.cost:.6g}"
        found.notes.append(
            f"by itself, the best model gives another result: {said}. Its loops may be assembled on another branch: "
            "give its start in [initial]."
        )
        warn(f"study {study.name!r}: {found.notes[-1]}")
