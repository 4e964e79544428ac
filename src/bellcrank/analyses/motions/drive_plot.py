"""The figure of a drive: coordinates, velocities and accelerations over the input, with its dead centres and change points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...figures import NotebookFigure
from ...results.labels import Labels
from ...results.plots import AXIS, PALETTE, QUATERNION, STOP_COLOR, by_unit, draw_lines, literal, tidy
from .driving import TIME, Drive, drive

SMOOTH = 201  # values of a curve at least, however few were asked for
BESIDE = 0.01  # of the range is not drawn beside a dead centre
ACCELERATION = {"rad/s": "angular acceleration (rad/s2)", "m/s": "acceleration (m/s2)"}


def smoothed(found: Drive) -> Drive:
    """The same motion at enough values for smooth curves, as far as it reaches."""
    first, last = _reach(found) if found.given else (0.0, 0.0)
    if first == last:
        return found
    part = (1 - np.cos(np.linspace(0, np.pi, max(len(found.values), SMOOTH)))) / 2  # closer at the ends, where dead centres are
    values = (1 - part) * first + part * last
    if found.input == TIME:
        again = drive(found.model, times=values, q=found.given["q"], states=found.given["states"])
    else:
        again = drive(found.model, found.input, values, **found.given)
    return replace(again, limits=found.limits, change_points=found.change_points)


def _reach(found: Drive) -> tuple[float, float]:
    """First and last value, up to the dead centres, less a little beside them, where velocities grow without bound."""
    if not len(found.values):
        return 0.0, 0.0
    low, high = found.values.min(), found.values.max()
    below = [limit.value for limit in found.limits if limit.value <= low]
    above = [limit.value for limit in found.limits if limit.value >= high]
    ends = max(below, default=low), min(above, default=high)
    margin = BESIDE * (ends[1] - ends[0])
    ends = ends[0] + (margin if below else 0.0), ends[1] - (margin if above else 0.0)
    return ends if found.values[0] < found.values[-1] else ends[::-1]


def draw_drive(found: Drive) -> Figure:
    """A panel for each quantity and unit; see Drive.plot."""
    labels = Labels.of(found.model)
    panels: list[tuple[str, np.ndarray, list[str]]] = []
    for values, names, units, words in (
        (found.q, labels.coordinates, labels.coordinate_units, AXIS),
        (found.v, labels.dofs, labels.dof_units, AXIS),
        (found.a, labels.dofs, labels.dof_units, ACCELERATION),
    ):
        for unit, places in by_unit(units).items():
            if unit != QUATERNION:
                panels.append((words.get(unit, unit), values[:, places], [names[k] for k in places]))
    figure = NotebookFigure(figsize=(9, 1.0 + 2.4 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (title, columns, named) in zip(axes, panels, strict=True):
        draw_lines(panel, found.values, columns, named)
        panel.set_ylabel(title)
        tidy(panel)
        _mark(panel, found, named=panel is axes[0])
    axes[-1].set_xlabel(f"{literal(found.input)} ({found.unit})")
    figure.suptitle(literal(found.model.name, 80), x=0.01, ha="left", fontsize=14, weight="bold")
    return figure


def _mark(axes: Axes, found: Drive, named: bool) -> None:
    """Lines where the input cannot go on and where branches meet, named in the first panel."""
    dead, end = ("dead centre", {"color": STOP_COLOR, "ls": "--"}), ("end of reach", {"color": STOP_COLOR, "ls": ":"})
    marks: list[tuple[float, str, dict[str, Any]]] = [(limit.value, *(dead if limit.toggle else end)) for limit in found.limits]
    marks += [(value, "change point", {"color": PALETTE[0], "ls": "-."}) for value in found.change_points]
    for value, name, style in marks:
        axes.axvline(value, lw=1.2, **style)
        if named:
            where = axes.get_xaxis_transform()
            text = f"{name} {value:.4g} {found.unit}"
            axes.text(value, 1.02, text, transform=where, ha="center", va="bottom", fontsize=8, color=style["color"])
