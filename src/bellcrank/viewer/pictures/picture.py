"""A picture of a mechanism: everything of a scene, placed, on a sheet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ...assembly import assemble
from ...dynamics import compile
from ...results.plots import save_figure
from ...writing import as_path
from ..fixed_lines import lines_of
from ..scene import Anchor, Array, ElementMark, JointMark, Placement, Scene
from ..solids import Solid, solids_of
from .colors import GAP, INK, body_colors, mixed
from .labels import Label, place_labels
from .outline import outline
from .paper import Sheet, draw_surroundings, new_sheet
from .sketch import NAMES, Sketch
from .symbols import (
    BETWEEN,
    PIN,
    SOCKET,
    cable,
    draw_element,
    draw_gap,
    draw_ground,
    draw_joint,
    draw_line,
    draw_rail,
    side_for_ground,
)
from .views import View, view_of

if TYPE_CHECKING:
    from ...model import Model

FEW_BODIES = 12  # up to so many bodies have their names beside them
UNDER = ("prismatic", "cylindrical", "screw", "planar")  # symbols that would hide those of other joints
UNSUPPORTED = ("force", "coupler", "tyre", "plane_contact", "cylinder_contact", "joint_damper", "joint_effort", "joint_input")
SAME = 5.0  # joints nearer to each other than this, in points, share a label


def draw_model(
    model: Model,
    path: str | Path | None = None,
    *,
    q: ArrayLike | Mapping[str, float] | None = None,
    view: str = "auto",
    names: bool = True,
    as_drawn: bool = False,
    t: float = 0.0,
    keep: bool = False,
) -> Figure:
    """See Model.draw."""
    scene = Scene(model)
    looked = view_of(scene, view)
    placement = scene.design if as_drawn else placed(model, q, t)
    picture = Picture(scene, looked, [placement])
    picture.draw(placement, names=names)
    if path is not None:
        save_figure(picture.sheet.figure, as_path(path), keep=keep)
    return picture.sheet.figure


def placed(model: Model, q: ArrayLike | Mapping[str, float] | None, t: float) -> Placement:
    """The bodies at a state: the model's start, one by names, whose loops are closed, or an array as it is."""
    if q is None:
        state = model.initial_q
    elif isinstance(q, Mapping):
        state = assemble(model, q, t=t).q
    else:
        state = np.asarray(q, dtype=float)
    return Placement(*compile(model, optimisation=0).poses(state, t=t))


class Picture:
    """A sheet that is large enough for the scene in all of some placements, on which each of them can be drawn."""

    def __init__(self, scene: Scene, view: View, placements: list[Placement], also: Array | None = None) -> None:
        self.scene, self.view = scene, view
        self.solids = solids_of(scene)
        self.colors = body_colors(scene)
        self._sides: dict[tuple[float, ...], Array] = {}  # where ground is at its joints: chosen once, so that it stays there
        corners = [point for placement in placements for point in self._extremes(placement)]
        everything = np.vstack([*corners, *([] if also is None else [view.project(also)])])
        self.sheet: Sheet = new_sheet(np.array([everything.min(axis=0), everything.max(axis=0)]))
        self.lines = lines_of(scene, PIN * self.sheet.unit)

    def draw(self, placement: Placement, *, names: bool) -> Sketch:
        """Draw one placement on the empty sheet."""
        sketch = Sketch(self.sheet.axes, self.view, placement, self.sheet.unit)
        sketch.solids(self.solids, self.colors)
        labels: list[Label] = []
        self._supports(sketch)
        for line in self.lines:
            draw_line(sketch, line)
        for element in self.scene.elements:
            draw_element(sketch, element)
        loops = {mark.name: k for k, mark in enumerate(m for m in self.scene.joints if m.loop is not None)}
        for mark in sorted(self.scene.joints, key=lambda mark: mark.kind in UNDER, reverse=True):
            draw_joint(sketch, mark, loops.get(mark.name))
        gaps = [(mark, draw_gap(sketch, mark)) for mark in self.scene.joints if mark.loop is not None]
        open_ = [(mark, gap) for mark, gap in gaps if gap is not None]
        labels += [self._gap_label(sketch, mark.name, mark.b.body, mark.b.point, gap) for mark, gap in open_]
        for _, anchor in self.scene.measured():
            sketch.circle(sketch.flat(placement.point(anchor)), 1.7, face=INK)
        if names:
            labels += self._names(sketch, {mark.name for mark, _ in open_})
        if labels:
            self._write(sketch, labels)
        sketch.finish()
        draw_surroundings(self.sheet, self.scene, self.view, bool(open_))
        return sketch

    def _extremes(self, placement: Placement) -> list[Array]:
        found = [outline(solid, placement, self.view) for solid in self.solids]
        ends = [placement.point(end) for mark in self.scene.marks for end in (mark.a, mark.b)]
        found += [cable(mark, placement, self.view) for mark in self.scene.elements if mark.is_cable]
        return [*found, self.view.project(np.array(ends).reshape(-1, 3))]

    def _supports(self, sketch: Sketch) -> None:
        """Ground at each place where a joint, a rod or a spring is on it, once."""
        at: dict[tuple[float, ...], list[Array]] = {}
        for mark in self.scene.marks:
            ends = [end for end in (mark.a, mark.b) if end.body < 0]
            if len(ends) != 1 or mark.kind in UNSUPPORTED or (isinstance(mark, JointMark) and draw_rail(sketch, mark)):
                continue
            other = mark.b if mark.a.body < 0 else mark.a
            beside = at.setdefault(tuple(ends[0].point.round(9).tolist()), [])
            away = sketch.flat(sketch.placement.point(other) - ends[0].point)
            size = float(np.linalg.norm(away))
            beside += [away / size] if size > 8 * sketch.unit else self._beside(sketch, other)
        for point, beside in at.items():
            side = self._sides.setdefault(point, side_for_ground(beside))
            draw_ground(sketch, sketch.flat(np.array(point)), side)

    def _beside(self, sketch: Sketch, anchor: Anchor) -> list[Array]:
        """Directions of the paper in which a body extends from its joint with ground."""
        body = anchor.body
        here = sketch.flat(sketch.placement.point(anchor))
        ends = [sketch.flat(sketch.placement.points(body, point)) for point in self.scene.attachments(body)]
        ends.append(sketch.flat(sketch.placement.points(body, self.scene.model.center[body])))
        away = [end - here for end in ends]
        return [a / np.linalg.norm(a) for a in away if np.linalg.norm(a) > 8 * sketch.unit]

    def _names(self, sketch: Sketch, but: set[str]) -> list[Label]:
        """Names of joints, springs and measured points, those at one place together; and of bodies, if they are few."""
        unit, at = sketch.unit, sketch.placement.point
        marks = [(mark.name, sketch.flat(at(mark.b)), INK) for mark in self.scene.joints if mark.kind != "distance"]
        between = [m for m in self.scene.marks if m.kind in ("distance", "force", "bushing", *BETWEEN)]
        marks += [(m.name, _between(sketch, m), INK) for m in between]
        meshes = {line.name: line for line in reversed(self.lines) if line.role in ("gear", "belt", "tyre", "contact")}
        marks += [(name, sketch.flat(sketch.placement.points(line.body, line.points[0])), INK) for name, line in meshes.items()]
        marks += [(name, sketch.flat(at(anchor)), "#555555") for name, anchor in self.scene.measured()]
        groups: list[tuple[list[str], Array, str]] = []
        for name, where, color in [mark for mark in marks if mark[0] not in but]:
            near = next((g for g in groups if np.linalg.norm(g[1] - where) < SAME * unit), None)
            if near is None:
                groups.append(([name], where, color))
            elif name not in near[0]:
                near[0].append(name)
        size = 8.0 if len(groups) <= 16 else 7.0 if len(groups) <= 26 else 6.0
        labels = [Label("\n".join(texts), where / unit, color, size, clear=SOCKET) for texts, where, color in groups]
        return labels + (self._body_names(sketch) if len(self.scene.bodies) <= FEW_BODIES else [])

    def _body_names(self, sketch: Sketch) -> list[Label]:
        found = []
        for row, name in enumerate(self.scene.bodies):
            own = [solid for solid in self.solids if solid.body == row]
            if own:
                middle = _middle(sketch, own)
                color = mixed(self.colors[row][1], "#000000", 0.1)
                found.append(Label(name, middle / sketch.unit, color, 8.0, italic=True, clear=-1.0))
        return found

    def _gap_label(self, sketch: Sketch, name: str, body: int, point: Array, gap: float) -> Label:
        text = f"{gap:.3g} m apart" if gap >= 0.1 else f"{1000 * gap:.3g} mm apart"
        where = sketch.flat(sketch.placement.points(body, point))
        return Label(f"{name}: {text}", where / sketch.unit, GAP, 8.0, clear=SOCKET)

    def _write(self, sketch: Sketch, labels: list[Label]) -> None:
        unit, covered = sketch.unit, sketch.covered() / sketch.unit
        frame = np.array([self.sheet.low / unit + 3, self.sheet.high / unit - 3])
        for written in place_labels(labels, covered, frame):
            label = written.label
            x, y = (written.corner + written.box / 2) * unit
            self.sheet.axes.text(
                x, y, label.text, fontsize=label.size, color=label.color, style="italic" if label.italic else "normal",
                ha="center", va="center", zorder=NAMES, parse_math=False, linespacing=1.2,
            )  # fmt: skip
            if written.leader:
                near = np.clip(label.at, written.corner, written.corner + written.box)
                toward = (near - label.at) / np.linalg.norm(near - label.at)
                ends = np.array([label.at + max(label.clear, 0) * toward, near - 1.5 * toward]) * unit
                self.sheet.axes.plot(ends[:, 0], ends[:, 1], color="0.45", lw=0.5, zorder=NAMES, scalex=False, scaley=False)


def _between(sketch: Sketch, mark: JointMark | ElementMark) -> Array:
    """The middle of what is between two points."""
    if isinstance(mark, ElementMark) and mark.is_cable:
        line = cable(mark, sketch.placement, sketch.view)
        return np.asarray(line[len(line) // 2])
    return sketch.flat((sketch.placement.point(mark.a) + sketch.placement.point(mark.b)) / 2)


def _middle(sketch: Sketch, solids: list[Solid]) -> Array:
    points = np.vstack([sketch.placement.points(solid.body, solid.vertices) for solid in solids])
    flat = sketch.flat(points)
    return np.asarray((flat.min(axis=0) + flat.max(axis=0)) / 2)
