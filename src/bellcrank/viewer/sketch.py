"""Drawing in the plane of a picture: patches and lines on matplotlib's axes, with sizes in points where they are symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import FancyArrowPatch, Polygon

from .colors import INK, PAPER, mixed
from .outline import CIRCLE, outline, visible_faces
from .scene import Array, Placement
from .solids import Solid
from .views import View

SOLIDS, SUPPORTS, SPRINGS, SYMBOLS, ARROWS, NAMES = 1.0, 2.0, 3.0, 4.0, 5.0, 6.0  # from the back to the front


class Sketch:
    """Axes on which a placed scene is drawn. ``unit`` is the length (m) of a point (1/72 inch) of paper."""

    def __init__(self, axes: Axes, view: View, placement: Placement, unit: float) -> None:
        self.axes, self.view, self.placement, self.unit = axes, view, placement, unit
        self.covered: list[Array] = []  # points (k, 2) where something is drawn, which names should leave free

    def solids(self, solids: Sequence[Solid], colors: Sequence[tuple[str, str]]) -> None:
        """Solids from the farthest to the nearest; flat faces that look away from the light are darker."""
        shapes, fills, edges = [], [], []
        outlines = [outline(solid, self.placement, self.view) for solid in solids]
        for k in self._from_the_back(solids, outlines):
            fill, edge = colors[solids[k].body]
            silhouette = outlines[k]
            shapes.append(silhouette)
            fills.append(fill)
            edges.append(edge)
            self.cover(silhouette)
            for face, facing in visible_faces(solids[k], self.placement, self.view):
                shapes.append(face)
                fills.append(mixed(fill, PAPER if facing > 0.5 else INK, abs(facing - 0.5) * 0.35))
                edges.append(edge)
        drawn = PolyCollection(shapes, facecolors=fills, edgecolors=edges, linewidths=0.8, zorder=SOLIDS)
        self.axes.add_collection(drawn, autolim=False)

    def _from_the_back(self, solids: Sequence[Solid], outlines: Sequence[Array]) -> list[int]:
        """The order in which solids are drawn: by depth, and of those that are equally deep the larger ones first."""
        depth = [float(self.view.depth(self.placement.points(s.body, s.vertices)).mean()) for s in solids]
        step = 20 * self.unit
        return sorted(range(len(solids)), key=lambda k: (round(depth[k] / step), -float(np.ptp(outlines[k], axis=0).prod())))

    def solid(self, solid: Solid, *, face: str, edge: str = INK, width: float = 1.1) -> None:
        """A symbol that is a solid in the world."""
        at = Placement(np.zeros((0, 3)), np.zeros((0, 3, 3)))
        self.polygon(outline(solid, at, self.view), face=face, edge=edge, width=width)
        for flat, _ in visible_faces(solid, at, self.view):
            self.polygon(flat, face=face, edge=edge, width=0.8 * width)

    def polygon(self, points: Array, *, face: str, edge: str = INK, width: float = 1.1, z: float = SYMBOLS, **more: Any) -> None:
        self.axes.add_patch(Polygon(points, closed=True, facecolor=face, edgecolor=edge, linewidth=width, zorder=z, **more))
        self.cover(points)

    def circle(self, at: Array, radius: float, *, face: str, edge: str = INK, width: float = 1.1, z: float = SYMBOLS) -> None:
        """A circle of a radius in points."""
        self.polygon(at + radius * self.unit * CIRCLE, face=face, edge=edge, width=width, z=z)

    def line(self, points: Array, *, color: str = INK, width: float = 1.1, z: float = SYMBOLS, style: Any = "-") -> None:
        self.axes.plot(
            points[:, 0], points[:, 1], color=color, lw=width, ls=style, zorder=z, solid_capstyle="round", scalex=False, scaley=False
        )
        for k in range(len(points) - 1):
            self.cover(points[k : k + 2], closed=False)

    def arrow(self, start: Array, end: Array, *, color: str, width: float = 1.8, z: float = ARROWS) -> None:
        style = "-|>,head_length=5,head_width=2.4"
        self.axes.add_patch(
            FancyArrowPatch(start, end, arrowstyle=style, color=color, lw=width, shrinkA=0, shrinkB=0, zorder=z, mutation_scale=1)
        )
        self.cover(np.array([start, end]), closed=False)

    def cover(self, points: Array, *, closed: bool = True) -> None:
        """Note that an outline or a line is drawn: every 4 points of paper."""
        ends = np.roll(points, -1, axis=0) if closed else points[1:]
        for a, b in zip(points, ends, strict=False):
            count = int(np.linalg.norm(b - a) / (4 * self.unit)) + 1
            self.covered.append(a + np.linspace(0, 1, min(count, 400), endpoint=False)[:, None] * (b - a))

    def flat(self, point: Array) -> Array:
        return self.view.project(point)
