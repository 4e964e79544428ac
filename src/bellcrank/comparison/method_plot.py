"""Errors of energy and momenta over time, all methods of a comparison in one picture.

Each line is the largest error in each of 200 stretches of time: a method without a trend draws a level band, one with a trend a
rising line, however many steps there were.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..figures import NotebookFigure
from ..results.plots import LEGEND, PALETTE, save_figure, tidy
from .trends import envelope

if TYPE_CHECKING:
    from .methods import MethodComparison

TITLES = {"energy": "Energy error", "momentum": "Change of conserved momenta"}
UNITS = {"energy": "relative to the largest kinetic energy", "momentum": "relative to sqrt(2 m T)"}
LEAST = 1e-17  # where a logarithm of zero is drawn


def plot_methods(found: MethodComparison, path: str | Path | None = None, *, keep: bool = False) -> Figure:
    """A panel for the energy, and one for momenta if the model keeps any."""
    panels = ["energy", *(["momentum"] if found.kept else [])]
    figure = NotebookFigure(figsize=(9, 3.3 * len(panels)), layout="constrained")
    for k, what in enumerate(panels):
        _panel(found, what, figure.add_subplot(len(panels), 1, k + 1))
    figure.axes[-1].set_xlabel("time (s)")
    figure.axes[0].legend(**LEGEND)
    figure.suptitle(found.model.replace("$", r"\$"), x=0.01, ha="left", fontsize=13, weight="bold")
    if path is not None:
        save_figure(figure, Path(path), keep=keep)
    return figure


def _panel(found: MethodComparison, what: str, axes: Axes) -> None:
    for k, (name, run) in enumerate(found.runs.items()):
        t, error = envelope(run.values("time")[1:], found.errors[name][what][1:])
        axes.semilogy(t, np.maximum(error, LEAST), color=PALETTE[k % len(PALETTE)], lw=1.3, label=name)
    axes.set_title(TITLES[what], loc="left", weight="bold")
    axes.set_ylabel(UNITS[what])
    tidy(axes)
    axes.margins(x=0.01)
