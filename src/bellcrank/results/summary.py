"""The few numbers that say how a run went: for people a table, for machines a dict."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BellcrankError

if TYPE_CHECKING:
    from rich.table import Table

    from .run import Run


@dataclass(frozen=True)
class Peak:
    """The largest magnitude that a reaction reached: at which joint, when."""

    joint: str
    value: float
    time: float


@dataclass(frozen=True)
class Summary:
    """A run in numbers. What a run does not know (the tolerances of a fixed step, say) is None."""

    model: str
    bodies: int
    dof: int
    formulation: str | None
    reference: str | None
    method: str | None
    rtol: float | None
    atol: float | None
    samples: int
    final_time: float | None
    steps: int | None
    rejected: int | None
    evaluations: int | None
    wall_time: float | None
    energy_drift: float | None
    largest_force: Peak | None
    largest_moment: Peak | None
    stopped: str | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON: numbers that are not finite become None."""
        return {name: _plain(value) for name, value in dataclasses.asdict(self).items()}

    def rows(self) -> list[tuple[str, str]]:
        """What a person wants to read, as (name, value)."""
        rows = [
            ("bodies", str(self.bodies)),
            ("degrees of freedom", str(self.dof)),
            ("formulation", _words(self.formulation, self.reference and f"about the {self.reference}")),
            ("method", _words(self.method, self._tolerances())),
            ("simulated", _words(_number(self.final_time, "s"), f"{self.samples} samples")),
            ("steps", _words(_count(self.steps), self.rejected is not None and f"{_count(self.rejected)} rejected")),
            ("evaluations", _count(self.evaluations)),
            ("wall time", _duration(self.wall_time)),
            ("energy drift", _number(self.energy_drift, "of the largest kinetic energy")),
            ("largest force", _peak(self.largest_force, "N")),
            ("largest moment", _peak(self.largest_moment, "N m")),
        ]
        return rows + ([("stopped early", self.stopped)] if self.stopped else [])

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
    time = run.values("time")
    keys = ("formulation", "reference", "method", "rtol", "atol", "steps", "rejected", "evaluations", "wall_time")
    return Summary(
        model=run.labels.model,
        bodies=len(run.labels.bodies),
        dof=len(run.labels.dofs),
        samples=time.size,
        final_time=float(time[-1]) if time.size else None,
        energy_drift=_drift(run),
        largest_force=_largest(run, slice(0, 3)),
        largest_moment=_largest(run, slice(3, 6)),
        stopped=run.stopped,
        **{key: run.settings.get(key) for key in keys},
    )


def _drift(run: Run) -> float | None:
    try:
        return run.energy_drift
    except BellcrankError:
        return None


def _largest(run: Run, part: slice) -> Peak | None:
    """The largest magnitude of the force or the moment, over all joints and samples."""
    try:
        magnitude = np.linalg.norm(run.values("reactions")[..., part], axis=-1)
    except BellcrankError:
        return None
    if not np.isfinite(magnitude).any():
        return None
    sample, joint = np.unravel_index(np.nanargmax(magnitude), magnitude.shape)
    return Peak(run.labels.joints[joint], float(magnitude[sample, joint]), float(run.values("time")[sample]))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
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


def _peak(peak: Peak | None, unit: str) -> str:
    return "-" if peak is None else f"{peak.value:.4g} {unit} at {peak.joint}, t = {peak.time:.4g} s"
