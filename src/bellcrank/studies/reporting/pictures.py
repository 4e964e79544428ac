"""Pictures of derivatives: histories, with others laid over, and tornado charts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import StateError
from ...figures import NotebookFigure
from ...results.plots import LEGEND, PALETTE, save_figure, tidy
from .tables import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..outcome import Sensitivity
    from .tolerances import Tolerances

PM = "\N{PLUS-MINUS SIGN}"
POINTS = 40  # marks of the derivatives that are laid over


def draw(found: Sensitivity, names: Sequence[str], over: Sensitivity | None, scaled: bool, path: Any, keep: bool) -> Figure:
    if over is not None and not hasattr(over, "d"):
        raise StateError(f"differences must be the result of bc.finite_differences; it is {over!r}")
    figure = NotebookFigure(figsize=(8, 2.6 * len(names)), layout="constrained")
    for name, axes in zip(names, np.atleast_1d(figure.subplots(len(names), 1)).ravel(), strict=True):
        size = np.where(found.at == 0, 1.0, np.abs(found.at)) if scaled else np.ones(len(found.at))
        other = None if over is None else np.asarray(over.d(name)) * size
        slopes, unit = np.asarray(found.d(name)) * size, found.unit(name)
        if slopes.ndim == 2:
            _lines(axes, found, name, slopes, other)
        else:
            _bars(axes, found.parameters, slopes, other)
        tidy(axes)
        axes.set_title(f"derivatives of {name}{', times each parameter' if scaled else ''}", loc="left", fontsize="medium")
        (axes.set_ylabel if slopes.ndim == 2 else axes.set_xlabel)(f"({unit})" if unit else "")
    if path is not None:
        save_figure(figure, Path(path), keep=keep)
    return figure


def _lines(axes: Any, found: Sensitivity, name: str, slopes: Any, other: Any) -> None:
    at, label = found.axis_of(name)
    axes.set_prop_cycle(color=PALETTE)
    lines = axes.plot(at, slopes, label=list(map(short, found.parameters)), marker="o" if len(at) < 2 else None)
    if other is not None:
        every = max(1, len(at) // POINTS)
        for line, column in zip(lines, other.T, strict=True):
            axes.plot(at[::every], column[::every], "o", mfc="none", ms=4, color=line.get_color())
        axes.plot([], [], "o", mfc="none", ms=4, color="gray", label="differences")
    axes.set_xlabel(label)
    axes.legend(**LEGEND)


def _bars(axes: Any, names: Sequence[str], slopes: Any, other: Any) -> None:
    axes.barh(list(map(short, names)), slopes, color=PALETTE[0])
    axes.invert_yaxis()  # the first one on top
    if other is not None:
        axes.plot(other, list(map(short, names)), "o", mfc="none", color="black", label="differences", clip_on=False)
        axes.legend(**LEGEND)
    axes.axvline(0.0, color="black", lw=0.8)


def draw_tornado(spread: Tolerances, names: Sequence[str], path: Any, keep: bool) -> Figure:
    """For each output, a bar from below to above for each parameter, those with most influence on top."""
    found = spread.of
    for name in names:
        if np.ndim(found.value(name)):
            raise StateError(f"a tornado chart is of numbers, and {name!r} is a curve: ask for 'max({name})' or '{name}@end'")
    height = 1.0 + 0.35 * len(found.parameters)
    figure = NotebookFigure(figsize=(8, height * len(names)), layout="constrained")
    for name, axes in zip(names, np.atleast_1d(figure.subplots(len(names), 1)).ravel(), strict=True):
        _tornado(axes, spread, name)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower right", ncols=2, fontsize="small")
    if path is not None:
        save_figure(figure, Path(path), keep=keep)
    return figure


def _tornado(axes: Any, spread: Tolerances, name: str) -> None:
    found, parts, value = spread.of, spread.parts(name), spread.of.value(name)
    tidy(axes)
    order = np.argsort(np.abs(parts))
    places = np.arange(len(order))
    for sign, color, label in ((1.0, PALETTE[1], "parameter larger"), (-1.0, PALETTE[0], "parameter smaller")):
        axes.barh(places, sign * parts[order], left=value, color=color, label=label)
    units = zip(found.parameters, spread.sizes, found.parameter_units, strict=True)
    labels = [f"{short(name)} {PM}{size:.3g}{f' {unit}' if unit else ''}" for name, size, unit in units]
    axes.set_yticks(places, [labels[k] for k in order])
    axes.axvline(value, color="black", lw=0.8)
    unit = found.unit(name)
    rss, worst = spread.rss(name), spread.worst(name)
    axes.set_title(
        f"{name} = {value:.5g} {unit}: {PM}{rss:.3g} root sum of squares, {PM}{worst:.3g} at worst", fontsize="medium"
    )
    axes.set_xlabel(f"{name}{f' ({unit})' if unit else ''}")
