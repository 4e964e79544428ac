"""A run as a moving picture: GIF, or MP4 where ffmpeg is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter

from ...errors import MissingExtraError, StateError
from ...results.plots import PALETTE
from ...wording import did_you_mean
from ...writing import refuse_to_replace, write_whole
from ..scene import Anchor, Array, Placement, Scene
from .colors import FORCE, INK
from .picture import Picture
from .sketch import SPRINGS, Sketch
from .views import view_of

if TYPE_CHECKING:
    from ...results import Run

MOST_FRAMES = 20_000
LONGEST_ARROW = 90.0  # points
DOTS_PER_INCH = 100
ENDINGS = (".gif", ".mp4")


def animate_run(
    run: Run,
    path: str | Path,
    *,
    points: Sequence[str],
    forces: Sequence[str],
    fps: float,
    speed: float,
    view: str,
    names: bool,
    keep: bool,
    progress: Callable[[float], None] | None,
) -> Path:
    """See Run.animate."""
    path = Path(path)
    frames = _frames(run, fps, speed)
    film = Film(run, frames, points, forces, view)
    writer = _writer(path, fps)
    refuse_to_replace([path], keep=keep)

    def write(file: Path) -> None:
        with writer.saving(film.picture.sheet.figure, str(file), DOTS_PER_INCH):
            for k in range(len(frames)):
                film.draw(k, names=names)
                writer.grab_frame()
                if progress is not None:
                    progress((k + 1) / len(frames))

    return write_whole(path, write, keep=keep)


def _frames(run: Run, fps: float, speed: float) -> Array:
    """Samples that are shown, one for each frame: the nearest to its time."""
    for name, value in (("fps", fps), ("speed", speed)):
        if not (np.isfinite(value) and value > 0):
            raise StateError(f"{name} is {value}: give a number above zero")
    time = run.values("time")
    if run.model is None:
        raise StateError("this run was loaded without its model, and cannot be drawn: give it, Run.load(path, model)")
    if not time.size:
        raise StateError(f"the run of {run.labels.model!r} has no samples, and so nothing to show")
    count = int((time[-1] - time[0]) * fps / speed) + 1
    if count > MOST_FRAMES:
        raise StateError(
            f"{count} frames are too many: {MOST_FRAMES} at most. Show it faster (speed) or with fewer frames (fps)"
        )
    wanted = time[0] + np.arange(count) * speed / fps
    after = np.clip(np.searchsorted(time, wanted), 1, max(time.size - 1, 1))
    before = after - 1
    if time.size == 1:
        return np.zeros(count, dtype=np.intp)
    return np.where(wanted - time[before] < time[after] - wanted, before, after)


def _writer(path: Path, fps: float) -> AbstractMovieWriter:
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise StateError(f"cannot animate {path}: its ending must be one of {', '.join(ENDINGS)}")
    if ending == ".gif":
        return PillowWriter(fps=fps)  # type: ignore[arg-type]
    if not FFMpegWriter.isAvailable():
        raise MissingExtraError("MP4 needs the program ffmpeg, which is not installed. Install it, or write a GIF: x.gif")
    return FFMpegWriter(fps=fps, bitrate=2400)  # type: ignore[arg-type]


class Film:
    """The frames of a run on one sheet, with the traces of points and the forces that are wanted."""

    def __init__(self, run: Run, frames: Array, points: Sequence[str], forces: Sequence[str], view: str) -> None:
        assert run.model is not None
        scene = Scene(run.model)
        self.run, self.frames = run, frames
        self.positions, self.rotations = run.values("positions"), run.values("rotations")
        self.traces = {name: self._trace(scene.place(name)) for name in points}
        self.arrows = {name: self._arrow(scene, name) for name in forces}
        largest = max(
            (float(np.nanmax(np.linalg.norm(force[frames], axis=1))) for _, force in self.arrows.values()), default=0.0
        )
        self.per_newton = LONGEST_ARROW / largest if largest > 0 else 0.0
        some = frames[np.linspace(0, len(frames) - 1, min(len(frames), 60)).astype(np.intp)]
        paths = np.vstack([path[frames] for path in self.traces.values()]) if self.traces else None
        self.picture = Picture(scene, view_of(scene, view), [self._placement(int(k)) for k in some], paths)

    def draw(self, frame: int, *, names: bool) -> None:
        """Draw a frame on the sheet, instead of the one that is on it."""
        sheet, sample = self.picture.sheet, int(self.frames[frame])
        for axes in (sheet.axes, sheet.foot):
            for artist in [*axes.lines, *axes.patches, *axes.collections, *axes.texts]:
                artist.remove()
        for text in list(sheet.figure.texts):
            text.remove()
        sketch = self.picture.draw(self._placement(sample), names=names)
        for k, path in enumerate(self.traces.values()):
            seen = path[self.frames[0] : sample + 1]
            sketch.line(
                sketch.flat(seen[:: max(len(seen) // 600, 1)]), color=PALETTE[(k + 1) % len(PALETTE)], width=1.3, z=SPRINGS
            )
        for at, force in self.arrows.values():
            self._draw_force(sketch, at[sample], force[sample])
        sketch.finish()
        height = 1 - 0.28 / sheet.figure.get_figheight()
        time = float(self.run.values("time")[sample])
        sheet.figure.text(0.5, height, f"t = {time:.2f} s", ha="center", va="baseline", fontsize=9, color=INK)

    def _draw_force(self, sketch: Sketch, at: Array, force: Array) -> None:
        start, pull = sketch.flat(at), sketch.flat(force) * self.per_newton * sketch.unit
        if np.isfinite(pull).all() and np.linalg.norm(pull) > 3 * sketch.unit:
            sketch.arrow(start, start + pull, color=FORCE)

    def _placement(self, sample: int) -> Placement:
        return Placement(self.positions[sample], self.rotations[sample])

    def _trace(self, anchor: Anchor) -> Array:
        """Where a point is at every sample, (T, 3)."""
        if anchor.body < 0:
            return np.tile(anchor.point, (len(self.positions), 1))
        return np.asarray(self.positions[:, anchor.body] + self.rotations[:, anchor.body] @ anchor.point)

    def _arrow(self, scene: Scene, name: str) -> tuple[Array, Array]:
        """Where a force acts and what it is, (T, 3) each: that of a joint or spring on its second body."""
        joints, elements = self.run.labels.joints, {mark.name: mark for mark in scene.elements}
        marks = {mark.name: mark for mark in scene.joints}
        if name in joints and name in marks:
            return self._trace(marks[name].b), self.run.values("reactions")[:, joints.index(name), :3]
        mark = elements.get(name)
        if mark is None or mark.kind not in ("spring_damper", "force"):
            known = [*marks, *(e.name for e in scene.elements if e.kind in ("spring_damper", "force"))]
            text = f"{scene.model.name!r} has no force {name!r}{did_you_mean(name, known)}"
            raise StateError(
                f"{text}; forces that can be drawn are those of joints, springs between points and constant forces"
            )
        start, end = self._trace(mark.a), self._trace(mark.b)
        if mark.force is not None:
            turned = self.rotations[:, mark.force_body] @ mark.force if mark.force_body >= 0 else mark.force
            return end, np.broadcast_to(turned, end.shape)
        along = start - end
        tension = self.run.values("forces")[:, self.run.labels.elements.index(name)]
        return end, tension[:, None] * along / np.linalg.norm(along, axis=1, keepdims=True)
