"""The default figure of a run: coordinates and velocities by unit, energy, the largest reactions, works, measures.

Made of plain matplotlib Figures, without pyplot: it works without a display and leaves no global state behind.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import hsv_to_rgb
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from ..errors import BellcrankError, StateError
from ..figures import NotebookFigure
from ..writing import write_whole

if TYPE_CHECKING:
    from .run import Run

Draw = Callable[["Run", Axes], None]

QUATERNION = "1"  # unit of its entries, of which nobody reads curves: angular velocities are drawn
NAMED = 12  # names that a legend can hold and stay legible
DRAWN = 40  # lines that an axes can hold and stay legible
JOINTS = 4  # joints in the panel of reactions
STOP_COLOR = "#c1272d"
STYLES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)))  # of lines beyond the palette
PALETTE = ["#1f5fa8", "#d9730d", "#2e8b57", "#8e44ad", "#b8860b", "#17869e", "#c2185b", "#5d6d7e"]
LEGEND: dict[str, Any] = {
    "fontsize": 8,
    "title_fontsize": 7,
    "frameon": False,
    "alignment": "left",
    "loc": "center left",
    "bbox_to_anchor": (1.0, 0.5),
}
AXIS = {
    "rad": "angle (rad)",
    "m": "length (m)",
    "rad/s": "angular velocity (rad/s)",
    "m/s": "velocity (m/s)",
    "N": "force (N)",
    "N m": "moment (N m)",
    "m/s2": "acceleration (m/s2)",
    "rad/s2": "angular acceleration (rad/s2)",
    "J": "energy (J)",
    "W": "power (W)",
    "Pa": "pressure (Pa)",
}


def plot_run(run: Run, path: str | Path | None = None, *, keep: bool = False) -> Figure:
    """Draw a run; write it to ``path`` if given, in the format that its ending names."""
    q = {unit: places for unit, places in by_unit(run.labels.coordinate_units).items() if unit != QUATERNION}
    v = by_unit(run.labels.dof_units)
    below = [_energy, _reactions, *_more(run)]
    tall, lower = max(len(q), len(v)), (len(below) + 1) // 2
    rows = math.lcm(len(q) or 1, len(v) or 1) if tall else 0
    figure = NotebookFigure(figsize=(11, 2.2 * tall + 3.2 + 2.6 * (lower - 1)), layout="constrained")
    grid = figure.add_gridspec(rows + lower, 2, height_ratios=[tall] * rows + [1.15 * max(rows, 1)] * lower)
    _states(run, "q", q, _panels(figure, grid, rows, 0, len(q)))
    _states(run, "v", v, _panels(figure, grid, rows, 1 if q else slice(None), len(v)))
    for k, draw in enumerate(below):
        draw(run, figure.add_subplot(grid[rows + k // 2, k % 2]))
    finish(run, figure)
    if path is not None:
        save_figure(figure, Path(path), keep=keep)
    return figure


def save_figure(figure: Figure, path: Path, *, keep: bool) -> None:
    """Write a figure in the format that the ending of its name says; with ``keep``, never over an existing file."""
    formats = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise StateError(f"cannot draw {path}: its ending must be one of {', '.join(sorted(formats))}")
    drawn = BytesIO()  # on a full disk the writers of some formats end with errors of their own
    figure.savefig(drawn, format=path.suffix[1:].lower(), dpi=140)
    write_whole(path, lambda file: file.write(drawn.getbuffer()), keep=keep)


def by_unit(units: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Indices of the entries that share a unit, in the order in which the units first appear."""
    return {unit: np.flatnonzero(np.array(units) == unit) for unit in dict.fromkeys(units)}


def _more(run: Run) -> list[Draw]:
    """Panels that only some runs have: works, efforts of drives, and measures, a panel for each unit."""
    more: list[Draw] = []
    if _moves(run, "work"):
        more.append(_works)
    if run.labels.drives:
        more += [partial(_efforts, indices=indices) for indices in by_unit(run.labels.drive_units).values()]
    if run.labels.measures:
        more += [partial(_measures, indices=indices) for indices in by_unit(run.labels.measure_units).values()]
    return more


def _moves(run: Run, name: str) -> bool:
    try:
        return bool(run.values(name).any())
    except BellcrankError:
        return False


def _panels(figure: Figure, grid: GridSpec, rows: int, column: int | slice, count: int) -> list[Axes]:
    """Panels that share a column of the grid, or both of them, in its upper rows."""
    span = rows // count if count else 0
    panels = [figure.add_subplot(grid[i * span : (i + 1) * span, column]) for i in range(count)]
    for upper in panels[:-1]:
        upper.tick_params(labelbottom=False)
    return panels


def _states(run: Run, name: str, groups: dict[str, np.ndarray], panels: list[Axes]) -> None:
    """One panel a unit, so that angles and lengths never share an axis."""
    names = run.labels.coordinates if name == "q" else run.labels.dofs
    for axes, (unit, indices) in zip(panels, groups.items(), strict=True):
        draw_lines(axes, run.values("time"), run.values(name)[:, indices], [names[i] for i in indices])
        axes.set_ylabel(AXIS.get(unit, f"state ({unit})"))
    if panels:
        velocities = "Velocities and states" if run.settings.get("states") else "Velocities"
        panels[0].set_title("Coordinates" if name == "q" else velocities, loc="left", weight="bold")


def draw_lines(axes: Axes, time: np.ndarray, values: np.ndarray, names: list[str]) -> None:
    """Draw columns of ``values``. When there are too many, the ones that move most; what is left out is said."""
    chosen = most_moving(values, DRAWN)
    many = len(chosen) > NAMED
    named = set(np.linspace(0, len(chosen) - 1, NAMED).round().astype(int)) if many else set(range(NAMED))
    for k, column in enumerate(chosen):
        label = literal(names[column]) if k in named else "_"
        look = {"color": PALETTE[k % len(PALETTE)], "ls": STYLES[k // len(PALETTE) % len(STYLES)], "lw": 0.9 if many else 1.4}
        axes.plot(time, values[:, column], label=label, **look, **_dot(time))
    axes.legend(**LEGEND, title=_legend_title(len(chosen), len(names)))


def color_cycle(count: int) -> list[Any]:
    """Colours of so many lines: neighbours differ in hue, also where the list is longer than the palette."""
    if count <= len(PALETTE):
        return list(PALETTE)
    hues = (np.arange(count) * 0.381966) % 1.0  # steps of the golden ratio never come near where they were
    shades = np.where(np.arange(count) % 2, 0.62, 0.85)
    return [hsv_to_rgb((hue, 0.75, shade)) for hue, shade in zip(hues, shades, strict=True)]


def most_moving(values: np.ndarray, limit: int) -> np.ndarray:
    """Indices of at most ``limit`` columns with the largest range, in their own order."""
    if values.shape[1] <= limit or not values.shape[0]:
        return np.arange(values.shape[1])[:limit]
    spread = np.nan_to_num(np.max(values, axis=0) - np.min(values, axis=0), nan=np.inf)
    return np.sort(np.argsort(-spread, kind="stable")[:limit])


def _legend_title(drawn: int, total: int) -> str | None:
    if drawn < total:
        return f"{drawn} of {total}: those that\nmove most; {NAMED} named"
    return f"{NAMED} of {total} named" if total > NAMED else None


def _energy(run: Run, axes: Axes) -> None:
    axes.set_title("Energy", loc="left", weight="bold")
    axes.set_ylabel("energy (J)")
    colors = {"kinetic": PALETTE[0], "potential": PALETTE[1]}
    colors |= {"stored": PALETTE[2], "total": "black"} if run.labels.elements else {"total": "black"}
    try:
        for name, color in colors.items():
            axes.plot(run.values("time"), run.values(name), color=color, lw=1.4, label=name, **_dot(run.values("time")))
        error = run.energy_error
    except BellcrankError as trouble:
        _note(axes, str(trouble))
        return
    axes.legend(**LEGEND, title=f"energy error\n{error:.1g}")


def _works(run: Run, axes: Axes) -> None:
    """Works of the sources that do any; the sum is what the total energy should have gained."""
    axes.set_title("Work since the start", loc="left", weight="bold")
    axes.set_ylabel("work (J)")
    work = run.values("work")
    busy = np.flatnonzero(work.any(axis=0))
    draw_lines(axes, run.values("time"), work[:, busy], [run.labels.sources[k] for k in busy])


def _efforts(run: Run, axes: Axes, indices: np.ndarray) -> None:
    axes.set_title("Efforts of the drives", loc="left", weight="bold")
    axes.set_ylabel(f"effort ({run.labels.drive_units[indices[0]]})")
    _entries(run, axes, "drives", run.labels.drives, indices)


def _measures(run: Run, axes: Axes, indices: np.ndarray) -> None:
    unit = run.labels.measure_units[indices[0]]
    axes.set_title("Measures", loc="left", weight="bold")
    axes.set_ylabel(AXIS.get(unit, f"measure ({unit})" if unit else "formula"))
    _entries(run, axes, "measures", run.labels.measures, indices)


def _entries(run: Run, axes: Axes, name: str, names: tuple[str, ...], indices: np.ndarray) -> None:
    try:
        values = run.values(name)[:, indices]
    except BellcrankError as error:
        _note(axes, str(error))
        return
    draw_lines(axes, run.values("time"), values, [names[k] for k in indices])


def _reactions(run: Run, axes: Axes) -> None:
    """Magnitude of the joint force at the joints where it grows largest."""
    axes.set_title("Joint forces", loc="left", weight="bold")
    axes.set_ylabel("reaction (N)")
    try:
        force = np.linalg.norm(run.values("reactions")[..., :3], axis=-1)
    except BellcrankError as error:
        _note(axes, str(error))
        return
    if not force.size:
        _note(axes, "no samples")
        return
    peaks = np.nanmax(np.where(np.isfinite(force), force, 0.0), axis=0)
    largest = np.argsort(-peaks, kind="stable")[:JOINTS]
    for joint, color in zip(largest, PALETTE, strict=False):
        name = literal(run.labels.joints[joint])
        axes.plot(run.values("time"), force[:, joint], color=color, lw=1.4, label=name, **_dot(run.values("time")))
    if len(peaks) > JOINTS:
        axes.legend(**LEGEND, title=f"the {JOINTS} largest\nof {len(peaks)} joints")
    else:
        axes.legend(**LEGEND)


def finish(run: Run, figure: Figure) -> None:
    """Common looks of all panels, the title, and the mark of a run that stopped early."""
    time = run.values("time")
    for axes in figure.axes:
        tidy(axes)
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 5), useMathText=True)
        axes.margins(x=0.01)
        if axes.xaxis.get_tick_params()["labelbottom"]:
            axes.set_xlabel("time (s)")
        if run.stopped and time.size:
            _mark_stop(axes, float(time[-1]), run.settings.get("duration"))
    title, size, color = literal(run.labels.model, 80), 14, "black"
    if run.stopped:
        reason = textwrap.wrap(literal(f"stopped early: {run.stopped}", 330), 110)
        title, size, color = "\n".join([title, *reason]), 11, STOP_COLOR
    figure.suptitle(title, x=0.01, ha="left", fontsize=size, color=color, weight="bold")


def tidy(axes: Axes) -> None:
    """The looks that all plots share: a light grid behind the curves, and no frame above and on the right."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", lw=0.6)
    axes.set_axisbelow(True)


def _mark_stop(axes: Axes, end: float, duration: float | None) -> None:
    axes.axvline(end, color=STOP_COLOR, lw=1.2, ls="--")
    if duration and duration > end:
        axes.axvspan(end, duration, color=STOP_COLOR, alpha=0.06, lw=0)


def _dot(time: np.ndarray) -> dict[str, Any]:
    """A run of one sample shows as a dot, since a line of one point shows as nothing."""
    return {"marker": "o"} if time.size == 1 else {}


def literal(name: str, limit: int = 28) -> str:
    """A name as it is written, for matplotlib takes $ for mathematics and hides labels that begin with _."""
    short = name if len(name) <= limit else name[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")


def _note(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, textwrap.fill(text, 50), transform=axes.transAxes, ha="center", va="center", color="0.4")
