"""A scene in the browser: a frame for each body, which carries its solids and joints; springs and rods between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from scipy.spatial.transform import Rotation

from ..fixed_lines import Line, lines_of
from ..pictures.colors import DRIVEN, INK, body_colors, loop_color, mixed
from ..pictures.symbols import BETWEEN, LINES
from ..pictures.views import up_of, view_of
from ..scene import Array, ElementMark, JointMark, Placement, Scene
from ..solids import Solid, box_about, cylinder_between, solids_of
from .triangles import FINE, bands_for, triangles_of

Color = tuple[int, int, int]

PIN = 0.014  # radius of a joint's symbol, as a part of the mechanism's extent
LINE = 0.008  # radius of a rod without mass
COILS = 9
DEEPER = 0.45  # of a body's edge colour in its fill: in the light of a scene colours are paler than on paper
AMBIENT, LAMP = 1.3, 2.2  # strengths of the lights
VIEW_ANGLE = float(np.radians(35.0))  # a narrow one: a wide one makes what is near much larger than what is far
NEAR = 1.75  # distance of the camera, in extents of what is seen


def color_of(name: str) -> Color:
    r, g, b = (round(255 * x) for x in to_rgb(name))
    return r, g, b


class Stage:
    """The objects in a browser's scene; ``show`` places them. ``select`` is called with the name of what is clicked."""

    def __init__(self, server: Any, select: Callable[[str], None] | None = None) -> None:
        self.server, self.select = server, select
        self.scene: Scene | None = None
        self._frames: list[Any] = []
        self._lines: list[tuple[JointMark | ElementMark, Any]] = []
        self._drawn: dict[str, tuple[Array, ...]] = {}  # what was sent of each solid, so that only changes are sent again
        self._handles: dict[str, Any] = {}
        self._bands = FINE

    def set(self, scene: Scene, moments: Sequence[Placement] = ()) -> None:
        """Show another scene: of another model, or of the same with other numbers, of which only the changes are sent.

        The grid lies below everything that moves: below the design position and all of the given moments.
        """
        first = self.scene is None
        self.scene = scene
        kept: set[str] = set()
        colors = [color_of(mixed(fill, edge, DEEPER)) for fill, edge in body_colors(scene)]
        while len(self._frames) < len(scene.bodies):
            self._frames.append(self.server.scene.add_frame(f"/bodies/{len(self._frames)}", show_axes=False))
        solids = solids_of(scene)
        self._bands = bands_for(len(solids))
        for k, solid in enumerate(solids):
            name = scene.bodies[solid.body] if solid.body >= 0 else "ground"
            color = colors[solid.body] if solid.color is None else color_of(solid.color)
            kept.add(self._put(f"{self._parent(solid.body)}/solid{k}", solid, color, name))
        loops = {mark.name: k for k, mark in enumerate(m for m in scene.joints if m.loop is not None)}
        for k, mark in enumerate(scene.joints):
            symbol = _symbol(mark, PIN * scene.extent)
            if symbol is not None:
                loop = loops.get(mark.name)
                color = color_of(DRIVEN if mark.driven else INK if loop is None else loop_color(loop))
                kept.add(self._put(f"{self._parent(mark.a.body)}/joint{k}", symbol, color, mark.name))
        for k, line in enumerate(lines_of(scene, PIN * scene.extent)):
            kept.add(self._put_line(f"{self._parent(line.body)}/line{k}", line, scene.extent))
        for name in set(self._handles) - kept:
            self._handles.pop(name).remove()
            del self._drawn[name]
        self._draw_lines(scene)
        if first:
            self._look(scene, moments)

    def show(self, placement: Placement) -> None:
        """Move everything to where it is."""
        turns = Rotation.from_matrix(placement.rotations).as_quat(scalar_first=True) if len(placement.rotations) else ()
        with self.server.atomic():
            for frame, position, turn in zip(self._frames, placement.positions, turns, strict=False):
                frame.position, frame.wxyz = position, turn
            for mark, handle in self._lines:
                handle.points = _segments(placement.point(mark.a), placement.point(mark.b), mark, PIN * self._extent)

    def position(self, body: int) -> Array:
        """Where the browser has been told that a body is."""
        return np.asarray(self._frames[body].position)

    @property
    def _extent(self) -> float:
        assert self.scene is not None
        return self.scene.extent

    def _parent(self, body: int) -> str:
        return f"/bodies/{body}" if body >= 0 else "/ground"

    def _put(self, path: str, solid: Solid, color: Color, name: str) -> str:
        """Draw a solid, unless it is drawn already."""
        now = (solid.vertices, np.array([solid.radius, *color]))
        before = self._drawn.get(path)
        if before is not None and all(np.array_equal(a, b) for a, b in zip(now, before, strict=True)):
            return path
        if path in self._handles:
            self._handles[path].remove()
        vertices, faces = triangles_of(solid, self._bands)
        drawn = {
            "flat_shading": bool(solid.faces) or solid.mesh is not None,
            "side": "front" if solid.mesh is None else "double",
        }
        handle = self.server.scene.add_mesh_simple(path, vertices, faces, color=color, **drawn)
        if self.select is not None:
            handle.on_click(lambda _, name=name: self.select(name))
        self._handles[path], self._drawn[path] = handle, now
        return path

    def _put_line(self, path: str, line: Line, extent: float) -> str:
        """Draw a line that moves with a body, unless it is drawn already."""
        before = self._drawn.get(path)
        if before is not None and np.array_equal(before[0], line.points):
            return path
        if path in self._handles:
            self._handles[path].remove()
        points = np.stack([line.points[:-1], line.points[1:]], axis=1)
        color, width = LINES[line.role]
        thickness = LINE * extent * width / 2
        self._handles[path] = self.server.scene.add_line_segments(path, points, color_of(color), thickness=thickness)
        self._drawn[path] = (line.points,)
        return path

    def _draw_lines(self, scene: Scene) -> None:
        """Springs, rods without mass, and other things that are stretched between two bodies; ``show`` places them."""
        between = [mark for mark in scene.marks if mark.kind in ("distance", "bushing", *BETWEEN)]
        if [(mark.name, mark.kind) for mark in between] == [(mark.name, mark.kind) for mark, _ in self._lines]:
            self._lines = [(mark, handle) for mark, (_, handle) in zip(between, self._lines, strict=True)]
            return
        for _, handle in self._lines:
            handle.remove()
        self._lines = []
        for k, mark in enumerate(between):
            rod = isinstance(mark, JointMark) or mark.kind == "actuator"
            color = color_of(_color_between(mark))
            points = _segments(scene.design.point(mark.a), scene.design.point(mark.b), mark, PIN * scene.extent)
            thickness = (LINE if rod else LINE / 3) * 2 * scene.extent
            handle = self.server.scene.add_line_segments(f"/between/{k}", points, color, thickness=thickness)
            self._lines.append((mark, handle))

    def _look(self, scene: Scene, moments: Sequence[Placement]) -> None:
        """The camera where the picture of the mechanism is taken from; a grid below all that moves."""
        toward, up = view_of(scene, "auto").axes[2], up_of(scene)
        low, high = _bounds(scene, [scene.design])
        middle, size = (low + high) / 2, max(float(np.linalg.norm(high - low)), scene.extent)
        self.server.scene.set_up_direction(tuple(up))
        camera = self.server.initial_camera
        camera.fov = VIEW_ANGLE
        camera.position = tuple(middle + NEAR * size * toward + 0.3 * size * up)
        camera.look_at = tuple(middle)
        camera.up = tuple(up)
        self._light(toward, up)
        self._grid(up, middle, _bounds(scene, [scene.design, *moments]), size)

    def _grid(self, up: Array, middle: Array, bounds: tuple[Array, Array], size: float) -> None:
        """A grid on the ground, where up is along an axis of the world."""
        axis = int(np.abs(up).argmax())
        if abs(up[axis]) < 0.99:
            return
        at = middle.copy()
        at[axis] = bounds[0 if up[axis] > 0 else 1][axis] - 0.02 * size * np.sign(up[axis])
        cell = float(10.0 ** np.round(np.log10(size / 5)))
        looks = {
            "cell_color": (232, 235, 238),
            "section_color": (205, 210, 216),
            "cell_size": cell,
            "section_size": 10 * cell,
        }
        plane = ("yz", "xz", "xy")[axis]
        self.server.scene.add_grid("/grid", width=4 * size, height=4 * size, plane=plane, position=tuple(at), **looks)

    def _light(self, toward: Array, up: Array) -> None:
        """Two lamps and light from all sides.

        viser's own lights cast shadows and reflect an environment, which without a graphics card takes three times as long.
        """
        lights = self.server.scene
        lights.configure_default_lights(enabled=False, cast_shadow=False)
        lights.configure_environment_map(None)
        right = np.cross(up, toward)
        lights.add_light_ambient("/light/ambient", intensity=AMBIENT)
        for k, (direction, strength) in enumerate(((toward + up + 0.6 * right, LAMP), (0.4 * up - toward - right, 0.4 * LAMP))):
            lights.add_light_directional(f"/light/lamp{k}", intensity=strength, position=tuple(direction))


def _bounds(scene: Scene, placements: Sequence[Placement]) -> tuple[Array, Array]:
    """The least and largest coordinates of all solids at some moments."""
    corners = [placement.points(s.body, s.vertices) for s in solids_of(scene) for placement in placements]
    points = np.vstack(corners) if corners else np.zeros((1, 3))
    return points.min(axis=0), points.max(axis=0)


def _symbol(mark: JointMark, size: float) -> Solid | None:
    """A joint's symbol, in the frame of its first body: pin, ball, block or sleeve; rods and guides have none."""
    if mark.kind in ("distance", "point_on_line", "point_on_plane", "perpendicular", "fixed"):
        return None
    at = mark.a.point
    if mark.axis is None or mark.kind in ("spherical", "universal"):
        return Solid(mark.a.body, at[None, :], 1.4 * size)
    along = 2.2 * size * mark.axis
    if mark.kind == "prismatic":
        return box_about(at, size * np.array([2.4, 2.4, 5.0]), mark.axis)
    return cylinder_between(at - along, at + along, size)


def _color_between(mark: JointMark | ElementMark) -> str:
    if isinstance(mark, JointMark):
        return loop_color(mark.loop or 0)
    return DRIVEN if mark.kind in ("actuator", "coupler") else INK


def _segments(start: Array, end: Array, mark: JointMark | ElementMark, size: float) -> Array:
    """A straight line, or the zigzag of a spring, as segments (k, 2, 3)."""
    length = float(np.linalg.norm(end - start))
    if isinstance(mark, JointMark) or not mark.stiff or mark.is_cable or length < 1e-12:
        return np.array([[start, end]])
    along = (end - start) / length
    across = np.cross(along, np.eye(3)[np.abs(along).argmin()])
    across /= np.linalg.norm(across)
    second = np.cross(along, across)
    turns = np.linspace(0, 2 * np.pi * COILS, 12 * COILS + 1)
    parts = np.linspace(0.12, 0.88, turns.size)
    coil = (
        start + np.outer(parts, end - start) + 1.6 * size * (np.outer(np.cos(turns), across) + np.outer(np.sin(turns), second))
    )
    points = np.vstack([start, coil, end])
    return np.stack([points[:-1], points[1:]], axis=1)
