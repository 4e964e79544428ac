"""Pictures of a sweep: outputs over parameters, and every run as a line through all of them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

MOST = 4000  # runs that are drawn: more would be a blot. Chosen at random: every tenth of a Sobol' sequence lies to one side


def plot_sweep(
    columns: Mapping[str, Array], parameters: int, kind: str, path: str | PathLike[str] | None, keep: bool
) -> Figure:
    from ...results.plots import save_figure

    draw = {"scatter": _scatter, "parallel": _parallel}.get(kind)
    if draw is None:
        raise StateError(f"kind is {kind!r}: use scatter or parallel")
    if len(columns) == parameters:
        raise StateError("there is nothing to draw: none of the outputs is a number")
    count = len(next(iter(columns.values())))
    some = np.sort(np.random.default_rng(0).choice(count, MOST, replace=False)) if count > MOST else np.arange(count)
    figure = draw({name: x[some] for name, x in columns.items()}, parameters)
    if path is not None:
        save_figure(figure, Path(path), keep=keep)
    return figure


def _scatter(columns: Mapping[str, Array], parameters: int) -> Figure:
    from ...figures import NotebookFigure
    from ...results.plots import PALETTE, tidy

    names = list(columns)
    across, down = names[:parameters], names[parameters:]
    figure = NotebookFigure(figsize=(2.6 * len(across) + 0.8, 2.2 * len(down) + 0.6), layout="constrained")
    axes = figure.subplots(len(down), len(across), squeeze=False, sharex="col", sharey="row")
    for i, output in enumerate(down):
        for j, parameter in enumerate(across):
            axes[i, j].plot(columns[parameter], columns[output], ".", markersize=2, alpha=0.5, color=PALETTE[0])
            tidy(axes[i, j])
        axes[i, 0].set_ylabel(output, fontsize=8)
    for j, parameter in enumerate(across):
        axes[-1, j].set_xlabel(parameter, fontsize=8)
    return figure


def _parallel(columns: Mapping[str, Array], parameters: int) -> Figure:
    """Each column is scaled to its range; lines are coloured by the last output."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    from ...figures import NotebookFigure
    from ...results.plots import STOP_COLOR

    names = list(columns)
    table = np.stack([columns[name] for name in names], axis=1)
    table = table[np.isfinite(table).all(axis=1)]
    low, high = table.min(axis=0, initial=np.inf), table.max(axis=0, initial=-np.inf)
    scaled = (table - low) / np.where(high > low, high - low, 1.0)
    order = np.argsort(scaled[:, -1], kind="stable")
    lines = np.stack([np.broadcast_to(np.arange(len(names)), scaled.shape), scaled], axis=2)[order]
    figure = NotebookFigure(figsize=(1.6 * len(names) + 1.0, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.add_collection(LineCollection(list(lines), colors=colormaps["viridis"](scaled[order, -1]), linewidths=0.6, alpha=0.5))
    axes.set_xlim(-0.2, len(names) - 0.8)
    axes.set_ylim(-0.02, 1.02)
    axes.set_yticks([])
    axes.set_xticks(
        range(len(names)), [f"{x}\n{a:.4g} … {b:.4g}" for x, a, b in zip(names, low, high, strict=True)], fontsize=8
    )
    for k in range(len(names)):
        axes.axvline(k, color="black" if k < parameters else STOP_COLOR, linewidth=0.8)
    return figure
