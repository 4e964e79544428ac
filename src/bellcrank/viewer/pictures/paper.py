"""The sheet that a mechanism is drawn on: its size and scale, title, scale bar, arrow of gravity, axes, legend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

from ...figures import NotebookFigure
from ..scene import Array, Scene
from .colors import DRIVEN, GAP, INK, PAPER, loop_color
from .views import View

POINT = 1 / 72  # inch
WIDTH, LEAST_HEIGHT, MOST_HEIGHT = 7.6, 1.6, 7.2  # of the drawing, inch
HEAD, FOOT = 0.42, 0.74  # inch
BORDER = (62.0, 34.0)  # left and right, above and below, points: room for names and supports
LEGEND = 5  # loops that the legend names one by one


@dataclass(frozen=True)
class Sheet:
    """A figure with axes whose unit is the metre, and axes below in inches. ``unit`` is the length (m) of a point of paper."""

    figure: Figure
    axes: Axes
    foot: Axes
    unit: float
    low: Array
    high: Array


def new_sheet(bounds: Array) -> Sheet:
    """A sheet for what lies within ``bounds``, lower and upper corner in m; one scale for both directions."""
    border = np.array(BORDER)
    room = np.array([WIDTH, MOST_HEIGHT]) / POINT - 2 * border
    size = np.maximum(bounds[1] - bounds[0], 1e-9)
    unit = float((size / room).max())
    height = max(float(size[1] / unit + 2 * border[1]) * POINT, LEAST_HEIGHT)
    half = np.array([WIDTH, height]) / POINT * unit / 2
    middle = bounds.mean(axis=0)
    whole = height + HEAD + FOOT
    figure = NotebookFigure(figsize=(WIDTH, whole), facecolor=PAPER)
    axes = figure.add_axes((0, FOOT / whole, 1, height / whole))
    foot = figure.add_axes((0, 0, 1, FOOT / whole))
    for each, low, high in ((axes, middle - half, middle + half), (foot, np.zeros(2), np.array([WIDTH, FOOT]))):
        each.set_xlim(low[0], high[0])
        each.set_ylim(low[1], high[1])
        each.axis("off")
    return Sheet(figure, axes, foot, unit, middle - half, middle + half)


def draw_surroundings(sheet: Sheet, scene: Scene, view: View, gaps: bool) -> None:
    """Title, scale, gravity, axes and legend."""
    title = scene.model.name if len(scene.model.name) < 70 else scene.model.name[:69] + "\N{HORIZONTAL ELLIPSIS}"
    whole = sheet.figure.get_figheight()
    at = {"y": 1 - 0.28 / whole, "va": "baseline", "parse_math": False}
    sheet.figure.text(0.2 / WIDTH, s=title, fontsize=12, weight="bold", color=INK, **at)  # type: ignore[arg-type]
    sheet.figure.text(1 - 0.2 / WIDTH, s=view.title, fontsize=8, color="0.4", ha="right", **at)  # type: ignore[arg-type]
    left = _scale_bar(sheet)
    left = _axes(sheet.foot, view, left + 0.55)
    left = _gravity(sheet.foot, scene, view, left + 0.35)
    _legend(sheet.foot, scene, gaps, left + 0.3)


def _scale_bar(sheet: Sheet) -> float:
    """A round length, about a fifth of the sheet; returns where it ends."""
    longest = 1.6 / POINT * sheet.unit
    power = 10.0 ** np.floor(np.log10(longest))
    length = max(step * power for step in (1, 2, 5) if step * power <= longest * (1 + 1e-12))
    inches = length / sheet.unit * POINT
    left, y = 0.25, 0.3
    for x in (left, left + inches):
        sheet.foot.plot([x, x], [y - 0.05, y + 0.05], color=INK, lw=1.2)
    sheet.foot.plot([left, left + inches], [y, y], color=INK, lw=1.2)
    text = f"{length:g} m" if length >= 0.1 else f"{1000 * length:g} mm"
    sheet.foot.text(left + inches / 2, y + 0.07, text, ha="center", va="bottom", fontsize=8, color=INK)
    return left + inches


def _axes(foot: Axes, view: View, left: float) -> float:
    """The world's axes; one that looks at the eye is a dot in a circle, one that looks away a cross."""
    origin, size = np.array([left, 0.28]), 0.3
    for name, direction in zip("xyz", view.axes.T, strict=True):
        flat = direction[:2]
        if np.linalg.norm(flat) > 0.1:
            end = origin + size * flat
            foot.add_patch(arrow_between(origin, end, INK, 1.0))
            x, y = end + 0.08 * flat / np.linalg.norm(flat)
        else:
            _normal_to_paper(foot, origin, toward=direction[2] > 0)
            x, y = origin - 0.1
        foot.text(x, y, name, ha="center", va="center", fontsize=8, color=INK)
    return left + size


def _gravity(foot: Axes, scene: Scene, view: View, left: float) -> float:
    size = float(np.linalg.norm(scene.model.gravity))
    if size == 0:
        return left
    direction = view.axes @ scene.model.gravity / size
    middle, flat = np.array([left, 0.36]), direction[:2]
    if np.linalg.norm(flat) > 0.1:
        foot.add_patch(arrow_between(middle - 0.2 * flat, middle + 0.2 * flat, "#2e6f40", 1.6))
    else:
        _normal_to_paper(foot, middle, toward=direction[2] > 0)
    foot.text(left + 0.1, 0.36, "g", ha="left", va="center", fontsize=9, style="italic", color="#2e6f40")
    return left + 0.25


def _normal_to_paper(foot: Axes, at: Array, *, toward: bool) -> None:
    foot.add_patch(Circle((at[0], at[1]), 0.05, facecolor=PAPER, edgecolor=INK, lw=0.9, zorder=3))
    foot.plot(*at, marker="." if toward else "x", ms=2.5, color=INK, zorder=4)


def _legend(foot: Axes, scene: Scene, gaps: bool, left: float) -> None:
    """The meaning of rings and fills, in columns of three."""
    closing = [mark for mark in scene.joints if mark.loop is not None]
    entries: list[tuple[str, str, str]] = []
    if len(closing) <= LEGEND:
        entries += [("none", loop_color(k), f"loop closed by {mark.name}") for k, mark in enumerate(closing)]
    else:
        entries.append(("none", loop_color(0), f"closes one of {len(closing)} loops"))
    if any(mark.driven for mark in scene.joints):
        entries.append((DRIVEN, INK, "driven"))
    if gaps:
        entries.append((GAP, GAP, "loop that does not close"))
    for k, (face, edge, text) in enumerate(entries):
        column, row = divmod(k, 3)
        x, y = left + 2.1 * column, FOOT - 0.16 - 0.2 * row
        foot.add_patch(Circle((x, y), 0.055, facecolor=face, edgecolor=edge, lw=1.6))
        short = text if len(text) < 36 else text[:35] + "\N{HORIZONTAL ELLIPSIS}"
        foot.text(x + 0.12, y - 0.01, short, fontsize=7.5, va="center", color=INK, parse_math=False)


def arrow_between(start: Array, end: Array, color: str, width: float) -> FancyArrowPatch:
    style = "-|>,head_length=4,head_width=1.8"
    ends = (float(start[0]), float(start[1])), (float(end[0]), float(end[1]))
    return FancyArrowPatch(*ends, arrowstyle=style, color=color, lw=width, shrinkA=0, shrinkB=0, mutation_scale=1)
