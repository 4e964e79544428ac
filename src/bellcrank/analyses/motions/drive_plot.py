"""The figure of a drive: coordinates, velocities and accelerations over the input, with its dead centres and change points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...figures import NotebookFigure
from ...results.labels import Labels
from ...results.plots import AXIS, PALETTE, QUATERNION, STOP_COLOR, by_unit, draw_lines, literal

if TYPE_CHECKING:
    from .driving import Drive

ACCELERATION = {"rad/s": "angular acceleration (rad/s2)", "m/s": "acceleration (m/s2)"}


def draw_drive(drive: Drive) -> Figure:
    """A panel for each quantity and unit; see Drive.plot."""
    labels = Labels.of(drive.model)
    panels: list[tuple[str, np.ndarray, list[str]]] = []
    for values, names, units, words in (
        (drive.q, labels.coordinates, labels.coordinate_units, AXIS),
        (drive.v, labels.dofs, labels.dof_units, AXIS),
        (drive.a, labels.dofs, labels.dof_units, ACCELERATION),
    ):
        for unit, places in by_unit(units).items():
            if unit != QUATERNION:
                panels.append((words.get(unit, unit), values[:, places], [names[k] for k in places]))
    figure = NotebookFigure(figsize=(9, 1.0 + 2.4 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (title, columns, named) in zip(axes, panels, strict=True):
        draw_lines(panel, drive.values, columns, named)
        panel.set_ylabel(title)
        panel.grid(color="0.9", lw=0.6)
        panel.spines[["top", "right"]].set_visible(False)
        _mark(panel, drive, named=panel is axes[0])
    axes[-1].set_xlabel(f"{literal(drive.input)} ({drive.unit})")
    figure.suptitle(literal(drive.model.name, 80), x=0.01, ha="left", fontsize=14, weight="bold")
    return figure


def _mark(axes: Axes, drive: Drive, named: bool) -> None:
    """Lines where the input cannot go on and where branches meet, named in the first panel."""
    dead, end = ("dead centre", {"color": STOP_COLOR, "ls": "--"}), ("end of reach", {"color": STOP_COLOR, "ls": ":"})
    marks: list[tuple[float, str, dict[str, Any]]] = [(limit.value, *(dead if limit.toggle else end)) for limit in drive.limits]
    marks += [(value, "change point", {"color": PALETTE[0], "ls": "-."}) for value in drive.change_points]
    for value, name, style in marks:
        axes.axvline(value, lw=1.2, **style)
        if named:
            where = axes.get_xaxis_transform()
            text = f"{name} {value:.4g} {drive.unit}"
            axes.text(value, 1.02, text, transform=where, ha="center", va="bottom", fontsize=8, color=style["color"])
