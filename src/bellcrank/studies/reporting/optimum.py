"""Pictures of an optimisation: convergence, parameters on their ranges, curves and paths before and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...analyses.motions.driving import drive
from ...dynamics.dynamics import Dynamics
from ...model import Model
from ...model.measures.columns import unit_of
from ...model.measures.paths import built_in
from ...results.plots import LEGEND, PALETTE, STOP_COLOR, literal, save_figure, tidy
from ...run import simulate
from ..implicit.outputs import Axis, outputs_of
from ..optimisation.problem import Point, Problem
from ..optimisation.searching import better
from ..output_names import parsed
from ..study.spec import Case

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..optimisation.optimum import Optimum

Array = NDArray[np.float64]
BEFORE, AFTER, MEASURED = "0.6", PALETTE[0], STOP_COLOR
SAMPLES = 200  # of a curve at least
MOST_NAMED = 40  # parameters whose names can be read side by side


def optimum_figure(found: Optimum, path: str | Path | None, points: Sequence[str] = ()) -> Figure:
    from ...figures import NotebookFigure

    names, points = _curves(found.problem), list(points) or _points(found.problem)
    panels = 2 + len(names) + len(points)
    rows = -(-panels // 2)
    figure = NotebookFigure(figsize=(11, 3.2 * rows), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(rows, 2)).ravel())
    for extra in axes[panels:]:
        extra.set_visible(False)
    convergence(axes[0], found.problem, found.history)
    on_ranges(axes[1], found)
    if names or points:
        runs = [_sampled(found.problem, model, names, points) for model in (found.first_model, found.model)]
        for k, name in enumerate(names):
            _histories(axes[2 + k], found.problem, name, runs)
        for k, point in enumerate(points):
            _paths(axes[2 + len(names) + k], found.problem, point, runs)
    for panel in axes[:panels]:
        tidy(panel)
    axes[1].grid(visible=False)
    figure.suptitle(literal(found.model.name, 80), x=0.01, ha="left", fontsize=14, weight="bold")
    if path is not None:
        save_figure(figure, Path(path), keep=False)
    return figure


def convergence(axes: Axes, problem: Problem, history: Sequence[Point]) -> None:
    """Costs of all evaluations, and the best so far."""
    best: Point | None = None
    lowest = []
    for point in history:
        best = point if better(problem, point, best) else best
        lowest.append(np.nan if best is None else best.cost)
    count = np.arange(1, len(history) + 1)
    costs = np.array([point.cost if point.reason is None else np.nan for point in history])
    axes.plot(count, costs, ".", color=BEFORE, label="evaluated")
    axes.plot(count, lowest, color=AFTER, label="best so far")
    bad = [k for k, point in zip(count, history, strict=True) if point.reason is not None]
    if bad:
        axes.plot(bad, np.full(len(bad), np.nanmax(costs)), "x", color=MEASURED, label="infeasible")
    positive = costs[np.isfinite(costs)]
    if len(positive) and positive.min() > 0 and positive.max() > 20 * positive.min():
        axes.set_yscale("log")
    axes.set_xlabel("evaluation of the cost and its gradient")
    axes.set_title("Cost", loc="left", weight="bold")
    axes.legend(**LEGEND)


def on_ranges(axes: Axes, found: Optimum) -> None:
    """Each parameter from its lower to its upper bound; where one is missing, about its start and best value."""
    problem, n = found.problem, len(found.names)
    first, best = found.first.x, found.best.x
    reach = np.maximum(np.abs(best - first), 1e-3 * problem.scale)
    low = np.where(np.isfinite(problem.lower), problem.lower, np.minimum(first, best) - reach)
    high = np.where(np.isfinite(problem.upper), problem.upper, np.maximum(first, best) + reach)
    rows = np.arange(n)[::-1]
    many = n > MOST_NAMED
    axes.hlines(rows, 0, 1, color="0.85", linewidth=1 if many else 4)
    for x, color, label in ((first, BEFORE, "start"), (best, AFTER, "best")):
        axes.plot((x - low) / (high - low), rows, "." if many else "o", color=color, label=label)
    axes.set_yticks(rows, [name.removeprefix("parameters.") for name in found.names], fontsize="small" if n < 12 else 5)
    if many:
        axes.set_yticks([])
        axes.set_ylabel(f"{n} parameters, the first on top", fontsize="small")
    axes.set_xticks([0, 1], ["lower bound", "upper bound"])
    axes.set_ylim(-0.12 * n - 0.6, n - 0.5)
    axes.set_title("Parameters between their bounds", loc="left", weight="bold")
    axes.legend(fontsize="small", loc="lower center", ncols=2)


def _curves(problem: Problem) -> list[str]:
    """Measures that the cost and the constraints look at; of a fit, the measured ones that are not paths."""
    fit = problem.study.fit
    if fit is not None:
        return [] if _points(problem) else list(fit.columns)[:4]
    case = _drawn(problem)
    if case is None:
        return []
    if case.analysis == "drive":
        taken = outputs_of(Axis(case.coordinate or "", np.array(case.values), ""), problem.texts(case))
    else:
        taken = parsed(problem.texts(case), list(problem.study.events), np.inf)
    return list(dict.fromkeys(output.of for output in taken if output.of))[:4]


def _drawn(problem: Problem) -> Case | None:
    """The case whose curves are drawn: the first that has some."""
    return next((case for case in problem.study.cases if case.analysis in ("run", "drive")), None)


def _points(problem: Problem) -> list[str]:
    """Points whose x and y, or others, are measured."""
    fit = problem.study.fit
    if fit is None:
        return []
    stems = [text.rpartition(".")[0] for text in fit.columns if text.rpartition(".")[2] in ("x", "y", "z")]
    return [stem for stem in dict.fromkeys(stems) if stems.count(stem) > 1]


def _sampled(problem: Problem, model: Model, names: Sequence[str], points: Sequence[str]) -> dict[str, Array]:
    """Curves of a case, over time or over the input; none of cases without any."""
    study, case = problem.study, _drawn(problem)
    if case is None:
        return {}
    wanted = [f"={name}" for name in names] + [name for point in points for name in components(model, point)]
    changed = model.with_parameters(dict(case.set)) if case.set else model
    if case.analysis == "drive":
        return _driven(problem, case, changed, wanted)
    options: dict[str, Any] = {name: x for name, x in study.run.given().items() if name != "control"}
    for name in ("inputs", "q", "v"):
        own = options.get(name, {}) | dict(getattr(case, name))
        options |= {name: own} if own else {}
    span = case.duration or study.duration or changed.duration or 1.0
    options["step"] = min(options.get("step") or changed.step or span, span / SAMPLES)
    run = simulate(changed, span, **options)
    state = {name: run.values(name) for name in ("q", "v", "a")}
    inputs = [options.get("inputs", {}).get(name, 0.0) for name in model.inputs] or None
    table = Dynamics(changed, optimisation=0).measures(**state, t=run.values("time"), inputs=inputs, names=wanted)
    return {"time": run.values("time")} | dict(zip(wanted, np.asarray(table).T, strict=True))


def _driven(problem: Problem, case: Case, model: Model, wanted: Sequence[str]) -> dict[str, Array]:
    curves = getattr(problem, "curves", None)
    values = case.values if curves is None else curves[problem.study.cases.index(case)].times
    options: dict[str, Any] = {name: getattr(case, name) for name in ("speed", "acceleration", "hold")}
    options["q"] = dict(problem.study.run.q) | dict(case.q) or None
    found = drive(model, case.coordinate, values, **options)
    table = Dynamics(model, optimisation=0).measures(q=found.q, v=found.v, a=found.a, names=wanted)
    return {case.coordinate or "": found.values} | dict(zip(wanted, np.asarray(table).T, strict=True))


def components(model: Model, point: str) -> list[str]:
    names = [f"{point}.{axis}" for axis in "xyz"]
    return [name for name in names if name in model.measure_names or built_in(model, name) is not None]


def _with_unit(model: Model, name: str) -> str:
    """The name of a measure of the model, or of a path, with its unit; formulas over measures have none."""
    own = dict(zip(model.measure_names, model.measure_units, strict=True))
    path = built_in(model, name)
    unit = own.get(name, "" if path is None else unit_of(model, path))
    return f"{name} ({unit})" if unit else name


def _histories(axes: Axes, problem: Problem, name: str, runs: Sequence[dict[str, Array]]) -> None:
    over = next(iter(runs[0]))
    for run, color, label in zip(runs, (BEFORE, AFTER), ("before", "after"), strict=True):
        axes.plot(run[over], run[f"={name}"], color=color, label=label)
    curves = getattr(problem, "curves", None)
    if curves is not None:
        column = problem.study.fit.columns[name]  # type: ignore[union-attr]
        axes.plot(curves[0].times, curves[0].columns[column], ".", color=MEASURED, markersize=3, label="measured")
    axes.set_xlabel("time (s)" if over == "time" else _with_unit(problem.model, over))
    axes.set_ylabel(_with_unit(problem.model, name))
    axes.legend(**LEGEND)


def _paths(axes: Axes, problem: Problem, point: str, runs: Sequence[dict[str, Array]]) -> None:
    names = components(problem.model, point)
    spans = [float(np.ptp(runs[1][name])) for name in names]
    first, second = sorted(np.argsort(spans)[-2:])
    across, up = names[int(first)], names[int(second)]
    for run, color, label in zip(runs, (BEFORE, AFTER), ("before", "after"), strict=True):
        axes.plot(run[across], run[up], color=color, label=label)
    curves, fit = getattr(problem, "curves", None), problem.study.fit
    if curves is not None and fit is not None and across in fit.columns and up in fit.columns:
        columns = curves[0].columns
        axes.plot(columns[fit.columns[across]], columns[fit.columns[up]], "o", color=MEASURED, markersize=4, label="wanted")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel(_with_unit(problem.model, across))
    axes.set_ylabel(_with_unit(problem.model, up))
    axes.set_title(f"Path of {point}", loc="left", weight="bold")
    axes.legend(**LEGEND)
