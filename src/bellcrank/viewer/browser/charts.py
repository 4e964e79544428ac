"""Plots beside the scene, in step with its time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from ...errors import BellcrankError
from ...results import Run
from ...results.plots import PALETTE, by_unit, most_moving
from ..scene import Array
from .playback import Playback

POINTS = 800  # of a curve
CURVES = 8  # of a chart
LABELS = 64  # pixels for the numbers beside a chart: -10,000
PADDING = (10, 14, 0, 0)  # pixels above, right, below and left, so that no number at an end of an axis is cut off
Chart = dict[str, Array]  # curves by name
Groups = dict[str, Callable[[], Chart]]  # computed when they are first shown


class Charts:
    """A chart of a group of quantities, chosen from a list, with a line at the time that is shown."""

    def __init__(self, server: Any, playback: Playback) -> None:
        self.playback = playback
        self.groups = groups_of(playback.recording.run)
        self._shown = -1
        self._curves: tuple[str, Chart] | None = None
        with server.gui.add_folder("Plot"):
            self.choice = server.gui.add_dropdown("Quantity", tuple(self.groups), initial_value=next(iter(self.groups)))
            chart = self._chart()
            self._names = tuple(chart)
            scales = {"x": {"time": False}, "now": {"auto": False, "range": (0, 1)}}
            data, axes = _data(chart, self._time(), 0.0), cast(Any, ({}, {"size": LABELS}))
            self.plot = server.gui.add_uplot(data, _series(chart), aspect=1.4, scales=scales, axes=axes, padding=PADDING)
        self.choice.on_update(lambda _: self._draw())
        playback.listeners.append(self.mark)

    def refresh(self) -> None:
        """After another run."""
        self.groups, self._curves = groups_of(self.playback.recording.run), None
        self._draw()

    def mark(self, sample: int) -> None:
        """Move the line to a sample, where that is another place of the chart."""
        place = sample // self._stride()
        if place != self._shown:
            self._shown = place
            self.plot.data = _data(self._chart(), self._time(), float(self.playback.recording.time[sample]))

    def _draw(self) -> None:
        chart = self._chart()
        now = float(self.playback.recording.time[self.playback.sample])
        if self._names != tuple(chart):  # the browser makes a new plot for other series, and takes its time for that
            self._names, self.plot.series = tuple(chart), _series(chart)
        self.plot.data = _data(chart, self._time(), now)

    def _stride(self) -> int:
        return max(1, -(-len(self.playback.recording.time) // POINTS))

    def _time(self) -> Array:
        return self.playback.recording.time[:: self._stride()]

    def _chart(self) -> Chart:
        chosen = self.choice.value if self.choice.value in self.groups else next(iter(self.groups))
        if self._curves is None or self._curves[0] != chosen:
            curves = self.groups[chosen]()
            self._curves = chosen, {name: np.asarray(y[:: self._stride()], dtype=float) for name, y in curves.items()}
        return self._curves[1]


def _data(chart: Chart, time: Array, now: float) -> tuple[Array, ...]:
    """Times, the curves, and an upright line at the present time: of a curve that is above and below the chart elsewhere."""
    place = int(np.searchsorted(time, now))
    lines = [np.insert(values, place, [np.interp(now, time, values)] * 2) for values in chart.values()]
    mark = np.where(np.arange(time.size + 2) <= place, -1.0, 2.0)  # on a scale of its own, from 0 to 1
    return np.insert(time, place, [now, now]), *lines, mark


def _series(chart: Chart) -> tuple[Any, ...]:
    lines = [{"label": name, "stroke": PALETTE[k % len(PALETTE)], "width": 1.5} for k, name in enumerate(chart)]
    mark = {"label": "now", "scale": "now", "stroke": "#888888", "width": 1.0, "points": {"show": False}}
    return {"label": "time (s)"}, *lines, mark


def groups_of(run: Run) -> Groups:
    """The quantities of a run that can be plotted, by units."""
    labels = run.labels
    found: Groups = {}
    sets = [
        ("Coordinates", "q", labels.coordinates, labels.coordinate_units),
        ("Velocities", "v", labels.dofs, labels.dof_units),
        ("Measures", "measures", labels.measures, labels.measure_units),
        ("Efforts of drives", "drives", labels.drives, labels.drive_units),
    ]
    for title, name, names, units in sets:
        for unit, indices in by_unit(units).items():
            if unit != "1":  # of quaternions no one reads curves
                found[f"{title} ({unit})" if unit else title] = partial(_entries, run, name, names, indices)
    found["Energy (J)"] = lambda: {name: run.values(name) for name in ("kinetic", "potential", "stored", "total")}
    found["Joint forces (N)"] = lambda: _joint_forces(run)
    if labels.equations:
        found["Closure error (log10 of m)"] = lambda: {"largest": _decades(np.abs(run.values("closure")).max(axis=1))}
    return found


def _entries(run: Run, name: str, names: tuple[str, ...], indices: Array) -> Chart:
    """The columns that move most."""
    values = run.values(name)[:, indices]
    return {names[indices[k]]: values[:, k] for k in most_moving(values, CURVES)}


def _decades(values: Array) -> Array:
    """Powers of ten: the labels of an axis have three decimals, and errors are far smaller. Zero is drawn as rounding."""
    return np.log10(np.maximum(values, np.finfo(float).eps ** 1.25))


def _joint_forces(run: Run) -> Chart:
    try:
        force = np.linalg.norm(run.values("reactions")[..., :3], axis=-1)
    except BellcrankError:
        return {"not determined": np.full(run.values("time").size, np.nan)}
    return {run.labels.joints[k]: force[:, k] for k in most_moving(force, CURVES)}
