"""Figures of chosen quantities: a panel for each unit over time or over another measure, and curves in space; several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..errors import StateError
from ..figures import NotebookFigure
from ..writing import as_path
from .plots import AXIS, LEGEND, color_cycle, finish, literal, save_figure

if TYPE_CHECKING:
    from .run import Run

PATH = ".path"
STYLES = ("-", "--", ":", "-.")  # of the runs
SPACE = ("x", "y", "z")


def plot_chosen(
    run: Run, names: Sequence[str], path: str | Path | None, *, over: str, beside: Mapping[str, Run], keep: bool
) -> Figure:
    """See Run.plot."""
    if not names:
        raise StateError("names is empty: give at least one measure or path, such as 'crank_pivot.q'")
    curves = [name for name in names if name.endswith(PATH)]
    plain = [name for name in names if name not in curves]
    runs = {"": run} | dict(beside)
    panels = _panels(run, plain)
    count = len(panels) + len(curves)
    figure = NotebookFigure(figsize=(9, 0.6 + 2.6 * len(panels) + 4.2 * len(curves)), layout="constrained")
    axes = figure.subplots(count, 1, squeeze=False, height_ratios=[2.6] * len(panels) + [4.2] * len(curves))[:, 0]
    for panel, (unit, entries) in zip(axes, panels.items(), strict=False):
        _draw_panel(panel, runs, entries, unit, over)
    for panel, name in zip(axes[len(panels) :], curves, strict=True):
        _draw_path(panel, runs, name)
    finish(run, figure)
    for panel in axes[: len(panels)]:
        panel.set_xlabel(_axis(over, _unit(run, over)) if over != "time" else "time (s)")
    for panel in axes[len(panels) :]:
        panel.set_xlabel(panel.get_label())
    if path is not None:
        save_figure(figure, as_path(path), keep=keep)
    return figure


def _unit(run: Run, name: str) -> str:
    return str(run.measure(name).measures_unit.values[0])


def _panels(run: Run, names: Sequence[str]) -> dict[str, list[str]]:
    """Names by unit, in the order in which units first appear."""
    found: dict[str, list[str]] = {}
    if names:
        for name, unit in zip(names, run.measure(*names).measures_unit.values, strict=True):
            found.setdefault(str(unit), []).append(name)
    return found


def _draw_panel(axes: Axes, runs: Mapping[str, Run], names: list[str], unit: str, over: str) -> None:
    colors = color_cycle(len(names))
    for (title, run), style in zip(runs.items(), _styles(runs), strict=True):
        x = run.values("time") if over == "time" else run.measure(over).values[:, 0]
        values = run.measure(*names).values
        for k, name in enumerate(names):
            axes.plot(
                x, values[:, k], color=colors[k], ls=style, lw=1.4, label=literal(f"{name}, {title}" if title else name, 40)
            )
    axes.set_ylabel(_axis(names[0] if len(names) == 1 else "", unit))
    axes.legend(**LEGEND)


def _draw_path(axes: Axes, runs: Mapping[str, Run], name: str) -> None:
    """The curve of a point in the plane of the two axes along which it moves most."""
    point = name.removesuffix(PATH)
    columns = [f"{point}.{axis}" for axis in SPACE]
    found = [run.measure(*columns).values for run in runs.values()]
    spread = np.ptp(np.vstack(found), axis=0)
    right, up = sorted(np.argsort(-spread, kind="stable")[:2])
    for (title, _), values, style in zip(runs.items(), found, _styles(runs), strict=True):
        label = literal(f"{point}, {title}" if title else point, 40)
        (line,) = axes.plot(values[:, right], values[:, up], color=color_cycle(1)[0], ls=style, lw=1.4, label=label)
        axes.plot(values[:1, right], values[:1, up], "o", color=line.get_color(), ms=4)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_ylabel(f"{SPACE[up]} (m)")
    axes.set_label(f"{SPACE[right]} (m)")
    axes.legend(**LEGEND, title="a dot at the start")


def _styles(runs: Mapping[str, Run]) -> list[str]:
    return [STYLES[k % len(STYLES)] for k in range(len(runs))]


def _axis(name: str, unit: str) -> str:
    if not name:
        return AXIS.get(unit, f"({unit})" if unit else "")
    return f"{literal(name)} ({unit})" if unit else literal(name)
