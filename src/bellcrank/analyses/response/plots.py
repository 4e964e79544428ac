"""Bode plots, and spectra."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...results.plots import LEGEND, PALETTE, literal, save_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE: dict[str, Any] = {"x": 0.01, "ha": "left", "fontsize": 14, "weight": "bold"}
MOST = 12  # lines that a legend can tell apart


def bode(response: Any, path: str | Path | None, *, keep: bool) -> Figure:
    """Magnitudes, outputs of one unit together, and below them all phases."""
    from ...figures import NotebookFigure

    pairs = [(i, j) for j in range(len(response.excitations)) for i in range(len(response.outputs))]
    unit_of = {(i, j): (response.output_units[i] or "1", response.excitation_units[j] or "1") for i, j in pairs}
    units = list(dict.fromkeys(unit_of.values()))
    figure = NotebookFigure(figsize=(9, 4.2 + 2.4 * len(units)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(units) + 1, 1, sharex=True))
    one = len(response.excitations) == 1
    for k, (i, j) in enumerate(pairs):
        label = response.outputs[i] if one else f"{response.outputs[i]} / {response.excitations[j]}"
        values = response.values[:, i, j]
        shown = np.where(np.abs(values) > 0, np.abs(values), np.nan)
        axes[units.index(unit_of[i, j])].loglog(response.frequencies, shown, label=label, color=PALETTE[k % len(PALETTE)])
        axes[-1].semilogx(response.frequencies, _phase(values), color=PALETTE[k % len(PALETTE)])
    for axis, unit in zip(axes, units, strict=False):
        _finish(axis, " per ".join(unit), list(unit_of.values()).count(unit))
    _finish(axes[-1], "phase (deg)", 0)
    axes[-1].set_xlabel("frequency (Hz)")
    title = f"{response.model.name}: frequency response{f' to {response.excitations[0]}' if one else ''}"
    figure.suptitle(literal(title, 80), **TITLE)
    return _saved(figure, path, keep)


def _phase(values: Any) -> Any:
    """The phase in degrees, without jumps of whole turns; none where the response is zero."""
    size = np.abs(values)
    there = size > 1e-12 * np.nanmax(size, initial=0.0)
    phase = np.full(len(values), np.nan)
    phase[there] = np.degrees(np.unwrap(np.angle(values[there])))
    return phase


def plot_spectrum(response: Any, path: str | Path | None, *, keep: bool) -> Figure:
    from ...figures import NotebookFigure

    units = list(dict.fromkeys(response.units))
    figure = NotebookFigure(figsize=(9, 1.5 + 2.6 * len(units)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(units), 1, sharex=True))
    for k, (name, unit, values) in enumerate(zip(response.outputs, response.units, response.densities.T, strict=True)):
        shown = np.where(values > 0, values, np.nan)
        label, color = f"{name}, rms {response.rms[name]:.3g} {unit}", PALETTE[k % len(PALETTE)]
        axes[units.index(unit)].loglog(response.frequencies, shown, label=label, color=color)
    for axis, unit in zip(axes, units, strict=True):
        _finish(axis, f"({unit})$^2$/Hz", response.units.count(unit))
    axes[-1].set_xlabel("frequency (Hz)")
    figure.suptitle(literal(f"{response.model}: response to the spectrum of {response.excitation}", 80), **TITLE)
    return _saved(figure, path, keep)


def _finish(axis: Any, label: str, lines: int) -> None:
    axis.set_ylabel(label)
    tidy(axis)
    axis.margins(x=0)
    if 0 < lines <= MOST:
        axis.legend(**LEGEND)


def _saved(figure: Figure, path: str | Path | None, keep: bool) -> Figure:
    if path is not None:
        save_figure(figure, Path(path), keep=keep)
    return figure
