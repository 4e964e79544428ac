"""The few numbers that say how a run went: for people a table, for machines a dict."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..errors import BellcrankError
from ..wording import counted
from .trust import energy_doubt, not_finite

if TYPE_CHECKING:
    from rich.table import Table

    from .run import Run

T = TypeVar("T")
SETTINGS = ("formulation", "reference", "method", "rtol", "atol", "steps", "rejected", "evaluations")
TIMES = ("wall_time", "compile_time")
SHOWN = 6  # works, efforts, measures that a person reads


@dataclass(frozen=True)
class Peak:
    """The largest magnitude that a reaction reached: at which joint, when, and whether it is unique there."""

    joint: str
    value: float
    time: float
    unique: bool = True


@dataclass(frozen=True)
class Work:
    """The work of a source by the end of a run, in J."""

    source: str
    value: float


@dataclass(frozen=True)
class Effort:
    """The largest effort of a drive, with its sign."""

    drive: str
    value: float
    unit: str
    time: float


@dataclass(frozen=True)
class EventRow:
    """An event that was watched for."""

    event: str
    time: float


@dataclass(frozen=True)
class Stiff:
    """Since when a run's steps were short for stability alone, the rate of the fastest motion, in 1/s, and of what it is."""

    time: float
    rate: float
    dof: str | None


@dataclass(frozen=True)
class Range:
    """The smallest and the largest value of a measure; None where it never is a number."""

    measure: str
    lowest: float | None
    highest: float | None
    unit: str


@dataclass(frozen=True)
class Summary:
    """A run in numbers. What a run does not know (the tolerances of a fixed step, say) is None.

    ``coordinates``: entries of v; ``dof``: what closed loops leave of them. ``compile_time`` is what planning and compiling
    took, or loading from the cache; ``wall_time`` is the run without it.

    ``methods``: what took the run on, and from when on; with "auto" there may be two.

    Of closed loops: ``formulations`` that took the run on after the first, and from when on; ``row_changes``, when the
    equations that close the loops were chosen again; ``passages`` of singular positions; samples whose accelerations are
    ``undetermined``, since they are in one.

    ``not_finite`` says what else of the run is not a finite number, and when.
    """

    model: str
    bodies: int
    dof: int | None
    coordinates: int
    formulation: str | None
    formulations: tuple[EventRow, ...]
    reference: str | None
    method: str | None
    methods: tuple[EventRow, ...]
    rtol: float | None
    atol: float | None
    samples: int
    final_time: float | None
    steps: int | None
    rejected: int | None
    evaluations: int | None
    stiff: Stiff | None
    compile_time: float | None
    wall_time: float | None
    energy_error: float | None
    closure_error: tuple[float, float, float] | None
    row_changes: tuple[EventRow, ...]
    passages: tuple[EventRow, ...]
    undetermined: tuple[EventRow, ...]
    largest_force: Peak | None
    largest_moment: Peak | None
    works: tuple[Work, ...]
    drives: tuple[Effort, ...]
    measures: tuple[Range, ...]
    events: tuple[EventRow, ...]
    not_finite: tuple[str, ...]
    stopped: str | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON: numbers that are not finite become None."""
        return {name: _plain(value) for name, value in dataclasses.asdict(self).items()} | {"doubt": self.doubt}

    @property
    def doubt(self) -> str | None:
        """The reason why the run is not to be trusted, if its energy does not add up."""
        return energy_doubt(self.energy_error)

    def rows(self) -> list[tuple[str, str]]:
        """The rows of the table, as (name, value)."""
        rows = [
            ("bodies", str(self.bodies)),
            ("degrees of freedom", _count(self.dof)),
            *([("coordinates", str(self.coordinates))] if self.dof != self.coordinates else []),
            ("formulation", _words(self._formulations(), self.reference and f"about the {self.reference}")),
            ("method", _words(self._methods(), self._tolerances())),
            ("simulated", _words(_number(self.final_time, "s"), counted(self.samples, "sample"))),
            ("steps", _words(_count(self.steps), self.rejected is not None and f"{_count(self.rejected)} rejected")),
            ("evaluations", _count(self.evaluations)),
            *([("stiff", _stiff(self.stiff, self.methods))] if self.stiff else []),
            *([("compile time", _duration(self.compile_time))] if self.compile_time is not None else []),
            ("wall time", _duration(self.wall_time)),
            ("energy error", _number(self.energy_error, "of what flows")),
            *([("warning", self.doubt)] if self.doubt else []),
            *_closures(self.closure_error),
            *_chosen_again(self.row_changes),
            ("largest force", _peak(self.largest_force, "N")),
            ("largest moment", _peak(self.largest_moment, "N m")),
        ]
        rows += _some([(f"work of {work.source}", f"{work.value:.4g} J") for work in self.works], "works")
        rows += _some([(f"effort on {drive.drive}", _effort(drive)) for drive in self.drives], "efforts")
        rows += _some([(item.measure, _range(item)) for item in self.measures], "measures")
        rows += _some([(item.event, f"at t = {item.time:.6g} s") for item in self.events], "events")
        rows += _some([("singular", f"at t = {item.time:.6g} s, loop of {item.event}") for item in self.passages], "singular")
        singular = [("no acceleration", f"at t = {item.time:.6g} s, loop of {item.event}") for item in self.undetermined]
        rows += _some(singular, "samples without acceleration")
        rows += _some([("not a number", words) for words in self.not_finite], "that are not finite")
        return rows + ([("stopped early", self.stopped)] if self.stopped else [])

    def _formulations(self) -> str | None:
        later = [f"{item.event} from t = {item.time:.6g} s" for item in self.formulations]
        return "; ".join([self.formulation, *later]) if self.formulation else None

    def _methods(self) -> str | None:
        if self.method != "auto" or not self.methods:
            return self.method
        first, *later = self.methods
        return f"auto: {'; '.join([first.event, *(f'{item.event} from t = {item.time:.4g} s' for item in later)])}"

    def _tolerances(self) -> str | None:
        return None if self.rtol is None else f"rtol {self.rtol:g}, atol {self.atol:g}"

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.model), title_justify="left", title_style="bold", show_header=False)
        table.add_column(style="dim", no_wrap=True)
        table.add_column()
        for name, value in self.rows():
            style = "bold red" if name == "stopped early" else ""
            table.add_row(Text(name, style=style), Text(value, style=style))
        return table

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        return "\n".join([self.model, *(f"  {name:<{width}}  {value}" for name, value in self.rows())])


def summarize(run: Run) -> Summary:
    """Collect a run's summary; what its last states do not allow to compute is None."""
    time, states = run.values("time"), len(run.settings.get("states", ()))
    return Summary(
        model=run.labels.model,
        bodies=len(run.labels.bodies),
        dof=run.settings.get("dof") if run.labels.equations else len(run.labels.dofs) - states,
        coordinates=len(run.labels.dofs) - states,
        samples=time.size,
        final_time=float(time[-1]) if time.size else None,
        energy_error=_if_known(lambda: run.energy_error),
        closure_error=_if_known(lambda: run.closure_error) if run.labels.equations else None,
        formulations=_happened(run, "formulations")[1:],
        methods=_happened(run, "methods"),
        row_changes=_happened(run, "row_changes"),
        passages=_happened(run, "passages"),
        undetermined=_happened(run, "undetermined"),
        largest_force=_largest(run, slice(0, 3)),
        largest_moment=_largest(run, slice(3, 6)),
        works=_works(run),
        drives=_drives(run),
        measures=_measures(run),
        events=tuple(EventRow(crossing.event, float(crossing.time)) for crossing in run.crossings),
        stiff=Stiff(*run.settings["stiff"][:3]) if run.settings.get("stiff") else None,
        not_finite=_not_finite(run),
        stopped=run.stopped,
        **{key: run.settings.get(key) for key in SETTINGS + TIMES},
    )


def _happened(run: Run, setting: str) -> tuple[EventRow, ...]:
    return tuple(EventRow(name, float(time)) for time, name in run.settings.get(setting) or ())


def _chosen_again(changes: tuple[EventRow, ...]) -> list[tuple[str, str]]:
    """A row of the table about equations that were chosen again."""
    times = [f"{item.time:.6g} s" for item in changes if item.event == "chosen again"]
    more = f" and {len(times) - SHOWN} more times" if len(times) > SHOWN else ""
    return [("equations", f"chosen again at t = {', '.join(times[:SHOWN])}{more}")] if times else []


def _closures(errors: tuple[float, float, float] | None) -> list[tuple[str, str]]:
    if errors is None:
        return []
    return [("loops open by", f"{errors[0]:.2g} m or rad, {errors[1]:.2g} m/s, {errors[2]:.2g} m/s2 at most")]


def _if_known(find: Callable[[], T]) -> T | None:
    """A result about a run; None where its states do not allow to compute it."""
    try:
        return find()
    except BellcrankError:
        return None


def _known(run: Run, name: str) -> np.ndarray | None:
    """A quantity of a run with samples, if it can be had."""
    values = _if_known(lambda: run.values(name))
    return None if values is None or not values.size else values


def _not_finite(run: Run) -> tuple[str, ...]:
    names = ("q", "v", "a", "forces", "drives", "reactions")
    return tuple(words for name in names if _known(run, name) is not None and (words := not_finite(run, name)) is not None)


def _works(run: Run) -> tuple[Work, ...]:
    """Works of the sources that did some, the largest first."""
    done = _known(run, "work")
    if done is None:
        return ()
    order = np.argsort(-np.abs(done[-1]), kind="stable")
    return tuple(Work(run.labels.sources[k], float(done[-1, k])) for k in order if done[-1, k] != 0)


def _drives(run: Run) -> tuple[Effort, ...]:
    efforts = _known(run, "drives")
    if efforts is None:
        return ()
    at = np.argmax(np.abs(np.nan_to_num(efforts)), axis=0)
    time, labels = run.values("time"), run.labels
    rows = zip(labels.drives, labels.drive_units, at, efforts.T, strict=True)
    return tuple(Effort(name, float(effort[k]), unit, float(time[k])) for name, unit, k, effort in rows)


def _measures(run: Run) -> tuple[Range, ...]:
    values = _known(run, "measures")
    if values is None:
        return ()
    rows = zip(run.labels.measures, run.labels.measure_units, values.T, strict=True)
    return tuple(Range(name, _end(np.nanmin, x), _end(np.nanmax, x), unit) for name, unit, x in rows)


def _end(which: Callable[[np.ndarray], Any], values: np.ndarray) -> float | None:
    return float(which(values)) if np.isfinite(values).any() else None


def _largest(run: Run, part: slice) -> Peak | None:
    """The largest magnitude of the force or the moment, over all joints and samples."""
    reactions = _known(run, "reactions")
    magnitude = np.zeros(0) if reactions is None else np.linalg.norm(reactions[..., part], axis=-1)
    if not np.isfinite(magnitude).any():
        return None
    sample, joint = np.unravel_index(np.nanargmax(magnitude), magnitude.shape)
    name = run.labels.joints[joint]
    return Peak(name, float(magnitude[sample, joint]), float(run.values("time")[sample]), name not in run.shared_reactions)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _words(first: str | None, second: str | bool | None) -> str:
    return f"{first or '-'}, {second}" if second else first or "-"


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _number(value: float | None, unit: str) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.4g} {unit}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _stiff(stiff: Stiff, methods: tuple[EventRow, ...]) -> str:
    where = f" in {stiff.dof}" if stiff.dof else ""
    how = "radau took over" if len(methods) > 1 else "radau takes longer steps"
    return f"from t = {stiff.time:.4g} s on, {stiff.rate:.2g} 1/s{where}: {how}"


def _peak(peak: Peak | None, unit: str) -> str:
    if peak is None or peak.value == 0:
        return "-" if peak is None else f"0 {unit}"
    shared = "" if peak.unique else " (not unique: joints share it, of least norm)"
    return f"{peak.value:.4g} {unit} at {peak.joint}, t = {peak.time:.4g} s{shared}"


def _effort(effort: Effort) -> str:
    value = f"{effort.value:.4g} {effort.unit}".rstrip()
    return f"up to {value} at t = {effort.time:.4g} s"


def _range(item: Range) -> str:
    if item.lowest is None or item.highest is None:
        return "never a number"
    rounding = 1e-12 * max(abs(item.lowest), abs(item.highest))
    lowest, highest = (0.0 if abs(x) < rounding else x for x in (item.lowest, item.highest))
    return f"{lowest:.4g} to {highest:.4g} {item.unit}".rstrip()


def _some(rows: list[tuple[str, str]], what: str) -> list[tuple[str, str]]:
    """No more rows than a person reads; how many are left out is said."""
    left = len(rows) - SHOWN
    return rows if left <= 0 else [*rows[:SHOWN], (f"more {what}", f"{left}, not shown")]
