"""Drawing in the plane of a picture: patches and lines on matplotlib's axes, with sizes in points where they are symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from ..scene import Array, Placement
from ..solids import Solid
from .colors import INK, PAPER, mixed
from .outline import CIRCLE, outline, visible_faces
from .paper import arrow_between
from .views import View

SOLIDS, SUPPORTS, SPRINGS, SYMBOLS, ARROWS, NAMES = 1.0, 2.0, 3.0, 4.0, 5.0, 6.0  # from the back to the front


class Sketch:
    """Axes on which a placed scene is drawn. ``unit`` is the length (m) of a point (1/72 inch) of paper."""

    def __init__(self, axes: Axes, view: View, placement: Placement, unit: float) -> None:
        self.axes, self.view, self.placement, self.unit = axes, view, placement, unit
        self._covered: list[tuple[Array, Array]] = []  # beginnings and ends of the edges that are drawn
        self._lines: dict[float, list[tuple[Array, str, float, Any]]] = {}
        self._polygons: dict[float, list[tuple[Array, str, str, float]]] = {}

    def solids(self, solids: Sequence[Solid], colors: Sequence[tuple[str, str]]) -> None:
        """Solids from the farthest to the nearest; flat faces that look away from the light are darker."""
        shapes, fills, edges = [], [], []
        outlines = [outline(solid, self.placement, self.view) for solid in solids]
        for k in self._from_the_back(solids, outlines):
            fill, edge = colors[solids[k].body]
            if solids[k].color is not None:
                fill, edge = mixed(str(solids[k].color), PAPER, 0.35), mixed(str(solids[k].color), INK, 0.5)
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

    def polygon(self, points: Array, *, face: str, edge: str = INK, width: float = 1.1, z: float = SYMBOLS) -> None:
        self._polygons.setdefault(z, []).append((points, face, edge, width))
        self.cover(points)

    def circle(self, at: Array, radius: float, *, face: str, edge: str = INK, width: float = 1.1, z: float = SYMBOLS) -> None:
        """A circle of a radius in points."""
        self.polygon(at + radius * self.unit * CIRCLE, face=face, edge=edge, width=width, z=z)

    def line(self, points: Array, *, color: str = INK, width: float = 1.1, z: float = SYMBOLS, style: Any = "-") -> None:
        self._lines.setdefault(z, []).append((points, color, width, style))
        self.cover(points, closed=False)

    def finish(self) -> None:
        """Put on paper what was drawn: at each height the lines, then the polygons."""
        for z, lines in self._lines.items():
            points, colors, widths, styles = zip(*lines, strict=True)
            drawn = LineCollection(
                points, colors=colors, linewidths=widths, linestyles=list(styles), zorder=z, capstyle="round"
            )
            self.axes.add_collection(drawn, autolim=False)
        for z, polygons in self._polygons.items():
            points, faces, edges, widths = zip(*polygons, strict=True)
            patches = PolyCollection(points, facecolors=faces, edgecolors=edges, linewidths=widths, zorder=z + 0.1)
            self.axes.add_collection(patches, autolim=False)
        self._lines, self._polygons = {}, {}

    def arrow(self, start: Array, end: Array, *, color: str) -> None:
        arrow = arrow_between(start, end, color, 1.8)
        arrow.set_zorder(ARROWS)
        self.axes.add_patch(arrow)
        self.cover(np.array([start, end]), closed=False)

    def cover(self, points: Array, *, closed: bool = True) -> None:
        """Note that an outline or a line is drawn."""
        self._covered.append((points, np.roll(points, -1, axis=0)) if closed else (points[:-1], points[1:]))

    def covered(self) -> Array:
        """Points (k, 2) where something is drawn, which names should leave free: every 2.5 points of paper."""
        if not self._covered:
            return np.zeros((0, 2))
        starts, ends = (np.vstack(each) for each in zip(*self._covered, strict=True))
        counts = np.clip(np.linalg.norm(ends - starts, axis=1) / (2.5 * self.unit), 1, 400).astype(int)
        edge = np.repeat(np.arange(len(counts)), counts)
        part = (np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts)) / counts[edge]
        return np.asarray(starts[edge] + part[:, None] * (ends - starts)[edge])

    def flat(self, point: Array) -> Array:
        return self.view.project(point)
