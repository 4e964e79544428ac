"""One model by several integrators: their costs, and how well they keep its energy and momenta over long times."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..defaults import TOLERANCE
from ..dynamics import Dynamics, compile
from ..errors import BellcrankError, BellcrankWarning, SimulationError, StateError
from ..extremes import in_our_errors
from ..integrate import METHODS
from ..model import Model
from ..run import simulate
from ..run.arguments import must_be_known, must_be_positive, span
from ..run.stiff.bdf import STIFF_METHODS
from ..wording import printed
from .engines import Array
from .kept_momenta import kept_momenta, momenta
from .trends import trend

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console, ConsoleOptions, RenderResult

    from ..results import Run

Wanted = Sequence[str] | Mapping[str, Mapping[str, Any]]
Progress = Callable[[float], None]

CLEARLY = 3.0  # standard errors
WARMING = 8  # samples of a run that only compiles: enough for code that takes several states at a time


@dataclass(frozen=True)
class MethodRow:
    """One method; None where there is no figure.

    wall_time    s, without compiling
    energy       largest imbalance of the energy over the run, over the largest kinetic energy
    trend        of that imbalance, 1/s, and the standard error of the trend
    momentum     largest change of a momentum that the model keeps, over sqrt(2 m T): total mass, largest kinetic energy
    note         why the run ended early, or did not begin
    """

    method: str
    steps: int | None = None
    evaluations: int | None = None
    wall_time: float | None = None
    energy: float | None = None
    trend: float | None = None
    trend_error: float | None = None
    momentum: float | None = None
    note: str = ""


@dataclass(frozen=True)
class MethodComparison:
    """The results; ``runs`` by the names of the rows, ``kept`` the momenta that the model keeps (see kept_momenta).

    ``interrupted``: by Ctrl-C, so that methods were not run, or not to their end.
    """

    model: str
    duration: float
    step: float
    kept: int
    rows: tuple[MethodRow, ...]
    runs: Mapping[str, Run]
    errors: Mapping[str, Mapping[str, Array]]
    interrupted: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        rows = [{key: _finite(x) for key, x in dataclasses.asdict(row).items()} for row in self.rows]
        return {"model": self.model, "duration": self.duration, "step": self.step, "kept_momenta": self.kept, "rows": rows}

    def plot(self, path: str | Path | None = None, *, keep: bool = False) -> Figure:
        """Errors of energy and of momenta over time, all methods in one picture; written to ``path`` if given."""
        from .method_plot import plot_methods

        return plot_methods(self, path, keep=keep)

    def __str__(self) -> str:
        return printed(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table
        from rich.text import Text

        table = Table(title=f"{self.model}: {self.duration:g} s", title_justify="left")
        table.add_column("method", no_wrap=True)
        headings = ("evaluations", "time", "energy", "trend, 1/s", *(["momentum"] if self.kept else []))
        for heading in headings:
            table.add_column(heading, justify="right", no_wrap=True)
        for row in self.rows:
            table.add_row(*_cells(row, momentum=bool(self.kept)))
        yield table
        yield from (Text(f"{row.method}: {row.note}") for row in self.rows if row.note)


def _cells(row: MethodRow, *, momentum: bool) -> list[str]:
    count = "" if row.evaluations is None else f"{row.evaluations:,}"
    wall = "" if row.wall_time is None else f"{row.wall_time:.3g} s" if row.wall_time >= 1 else f"{row.wall_time * 1e3:.3g} ms"
    return [row.method, count, wall, _figure(row.energy), _slope(row), *([_figure(row.momentum)] if momentum else [])]


def _slope(row: MethodRow) -> str:
    """A trend that is not clearly one is given by its bound."""
    if row.trend is None or row.trend_error is None:
        return ""
    size, doubt = abs(row.trend), row.trend_error
    return f"{row.trend:.1e}" if size > CLEARLY * doubt else f"< {size + 2 * doubt:.0e}"


def _figure(x: float | None) -> str:
    return "" if x is None else f"{x:.1e}" if x else "0"


def _finite(x: Any) -> Any:
    return None if isinstance(x, float) and not math.isfinite(x) else x


@in_our_errors(SimulationError)
def compare_methods(
    model: Model,
    duration: float | None = None,
    *,
    step: float | None = None,
    max_step: float | None = None,
    methods: Wanted = tuple(METHODS),
    rtol: float = TOLERANCE,
    atol: float = TOLERANCE,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    progress: Progress | None = None,
) -> MethodComparison:
    """Simulate a model by several methods, and compare their cost, energy errors and changes of conserved momenta.

    duration, step  of the run and between samples, in s, as in ``simulate``
    max_step        s; what methods of fixed step take. The interval of the samples unless given
    methods         names of methods; or names of rows, with options of ``simulate`` for each:
                    {"dop853, loose": {"method": "dop853", "rtol": 1e-5}}
    rtol, atol      of methods that adapt their step
    """
    wanted = _wanted(methods)
    duration, step = span(model, duration, step)
    must_be_positive(rtol=rtol, atol=atol, max_step=max_step)
    shared = {"step": step, "rtol": rtol, "atol": atol, "q": q, "v": v}
    dynamics = compile(model)
    found = _Found(dynamics, kept_momenta(dynamics, duration))
    for k, (name, options) in enumerate(wanted.items()):
        report = None if progress is None else _part(progress, k, len(wanted))
        method = options["method"]
        adapts = method in STIFF_METHODS or (method in METHODS and METHODS[method].adaptive)
        fixed = {} if adapts else {"max_step": max_step}
        found.try_one(name, duration, {**shared, **fixed, **options}, report)
    rows, runs = tuple(found.rows), found.runs
    if not runs:
        raise StateError(f"no method took model {model.name!r}: " + "; ".join(f"{row.method}: {row.note}" for row in rows))
    return MethodComparison(model.name, duration, step, len(found.kept), rows, runs, found.errors, found.interrupted)


@dataclass
class _Found:
    """The results of the methods so far; an interrupt ends the method that is at work, and those behind it do not begin."""

    dynamics: Dynamics
    kept: Array
    rows: list[MethodRow] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    errors: dict[str, Mapping[str, Array]] = field(default_factory=dict)
    interrupted: bool = False

    def try_one(self, name: str, duration: float, options: dict[str, Any], progress: Progress | None) -> None:
        if self.interrupted:
            self.rows.append(MethodRow(name, note="not run: interrupted before"))
            return
        try:
            self.rows.append(self._row_of(name, duration, options, progress))
        except KeyboardInterrupt:
            if not self.rows:
                raise
            self.rows.append(MethodRow(name, note="interrupted"))
            self.interrupted = True

    def _row_of(self, name: str, duration: float, options: dict[str, Any], progress: Progress | None) -> MethodRow:
        run, note = _run(self.dynamics.model, duration, options, progress)
        if run is None:
            return MethodRow(name, note=note)
        errors = _errors(run, self.dynamics, self.kept)
        row = _row(name, run, errors, note)
        self.runs[name], self.errors[name], self.interrupted = run, errors, run.interrupted
        return row


def _wanted(methods: Wanted) -> dict[str, dict[str, Any]]:
    if isinstance(methods, str) or not len(methods):
        raise StateError(f"methods is {methods!r}: give a list of names, such as ['rk4', 'implicit_midpoint']")
    if not isinstance(methods, Mapping):
        methods = {name: {"method": name} for name in methods}
    wanted = {name: {"method": "dopri5", **options} for name, options in methods.items()}
    for options in wanted.values():
        must_be_known(options["method"])
    return wanted


def _part(progress: Progress, k: int, count: int) -> Progress:
    return lambda fraction: progress((k + fraction) / count)


def _run(model: Model, duration: float, options: dict[str, Any], progress: Progress | None) -> tuple[Run | None, str]:
    """The run, as far as it came, and what is to be said about it. A short one comes first: it takes the time to compile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BellcrankWarning)
            simulate(model, min(duration, WARMING * options["step"]), **options)
    except SimulationError as error:
        if error.run is not None and error.run.interrupted:
            return error.run, str(error)
        # else so will the next one, and be kept
    except BellcrankError as error:
        return None, str(error)
    try:
        return simulate(model, duration, **options, progress=progress), ""
    except SimulationError as error:
        return error.run, str(error)


def _errors(run: Run, dynamics: Any, kept: Array) -> dict[str, Array]:
    """Imbalance of the energy and changes of the kept momenta at every sample, as parts of the largest of their kind."""
    kinetic = float(np.nanmax(run.values("kinetic"), initial=0.0)) or 1.0
    found = {"energy": run.values("balance") / kinetic}
    if len(kept):
        along = momenta(dynamics, run.values("q"), run.values("v"), run.values("time")) @ kept.T
        scale = math.sqrt(2.0 * float(np.sum(dynamics.model.mass)) * kinetic)
        found["momentum"] = np.linalg.norm(along - along[0], axis=1) / scale
    return found


def _row(name: str, run: Run, errors: Mapping[str, Array], note: str) -> MethodRow:
    slope, doubt = trend(run.values("time"), errors["energy"]) or (None, None)
    return MethodRow(
        name,
        steps=run.settings.get("steps"),
        evaluations=run.settings.get("evaluations"),
        wall_time=run.settings.get("wall_time"),
        energy=run.energy_error,
        trend=slope,
        trend_error=doubt,
        momentum=float(np.max(errors["momentum"])) if "momentum" in errors else None,
        note=note,
    )
