"""A run as a moving picture: GIF, or MP4 by the program ffmpeg, of the system or of the package imageio-ffmpeg."""

from __future__ import annotations

import errno
import shutil
from base64 import b64encode
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.animation import FFMpegWriter, PillowWriter

from ...errors import MissingExtraError, StateError
from ...results.plots import PALETTE
from ...writing import as_path, refuse_to_replace, write_whole
from ..recording import Recording
from ..scene import Array
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


class MovingPicture(NamedTuple):
    """A GIF in memory, which notebooks show."""

    gif: bytes

    def _repr_html_(self) -> str:
        return f'<img src="data:image/gif;base64,{b64encode(self.gif).decode()}" alt="the motion">'

    def __repr__(self) -> str:
        return f"<MovingPicture: {len(self.gif)} bytes>"


def animate_run(
    run: Run,
    path: str | Path | None,
    *,
    points: Sequence[str],
    forces: Sequence[str],
    fps: float,
    speed: float,
    view: str,
    names: bool,
    keep: bool,
    progress: Callable[[float], None] | None,
) -> Path | MovingPicture:
    """See Run.animate."""
    target = as_path("film.gif" if path is None else path)
    recording = Recording(run)
    frames = recording.frames(fps, speed, MOST_FRAMES)
    film = Film(recording, frames, points, forces, view)
    writer = _writer(target, fps)
    if path is not None:
        refuse_to_replace([target], keep=keep)

    def write(file: BinaryIO) -> None:
        """Writes the file through a folder of its own: the program that makes MP4 takes a name."""
        with TemporaryDirectory() as folder:
            made = Path(folder) / f"film{target.suffix.lower()}"
            writer.setup(film.picture.sheet.figure, str(made), DOTS_PER_INCH)
            try:
                for k in range(len(frames)):
                    film.draw(k, names=names)
                    writer.grab_frame()
                    if progress is not None:
                        progress((k + 1) / len(frames))
                writer.finish()
            except BaseException:  # the writer's own ``saving`` would encode the frames so far before an interrupt got through
                writer.give_up()
                raise
            with made.open("rb") as source:
                shutil.copyfileobj(source, file)

    if path is not None:
        return write_whole(target, write, keep=keep)
    made = BytesIO()
    write(made)
    return MovingPicture(made.getvalue())


def _writer(path: Path, fps: float) -> GifWriter | Mp4Writer:
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise StateError(f"cannot animate {path}: its ending must be one of {', '.join(ENDINGS)}")
    if ending == ".gif":
        return GifWriter(fps=fps)  # type: ignore[arg-type]
    return Mp4Writer(_ffmpeg(), fps)


class GifWriter(PillowWriter):
    """Encodes the frames when all are there."""

    def give_up(self) -> None:
        """The frames are forgotten."""


class Mp4Writer(FFMpegWriter):
    """Hands the frames to a given ffmpeg program."""

    def __init__(self, program: str, fps: float) -> None:
        super().__init__(fps=fps, bitrate=2400)  # type: ignore[arg-type]
        self.program = program

    def bin_path(self) -> str:  # type: ignore[override]
        return self.program

    def finish(self) -> None:
        try:
            super().finish()
        except CalledProcessError as error:
            said = str(error.stderr or "").strip().splitlines() or [f"it ended with code {error.returncode}"]
            raise OSError(errno.EIO, f"ffmpeg: {said[-1]}") from error

    def give_up(self) -> None:
        """The program ends at once."""
        process = self._proc  # type: ignore[attr-defined]
        process.kill()
        process.communicate()


def _ffmpeg() -> str:
    """The program that encodes MP4: that of the system first, then that of imageio-ffmpeg."""
    found = shutil.which(str(rcParams["animation.ffmpeg_path"]))
    if found is not None:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        raise MissingExtraError(
            "MP4 needs the program ffmpeg, which is not installed. "
            'Install it with: pip install "bellcrank[video]", or write a GIF: x.gif'
        ) from None
    return str(get_ffmpeg_exe())


class Film:
    """The frames of a run on one sheet, with the traces of points and the forces that are wanted."""

    def __init__(self, recording: Recording, frames: Array, points: Sequence[str], forces: Sequence[str], view: str) -> None:
        scene = recording.scene
        self.recording, self.frames = recording, frames
        self.traces = {name: recording.path(scene.place(name)) for name in points}
        self.arrows = {name: recording.force(name) for name in forces}
        largest = max(
            (float(np.nanmax(np.linalg.norm(force[frames], axis=1))) for _, force in self.arrows.values()), default=0.0
        )
        self.per_newton = LONGEST_ARROW / largest if largest > 0 else 0.0
        some = frames[np.linspace(0, len(frames) - 1, min(len(frames), 60)).astype(np.intp)]
        paths = np.vstack([path[frames] for path in self.traces.values()]) if self.traces else None
        self.picture = Picture(scene, view_of(scene, view), [recording.placement(int(k)) for k in some], paths)

    def draw(self, frame: int, *, names: bool) -> None:
        """Draw a frame on the sheet, instead of the one that is on it."""
        sheet, sample = self.picture.sheet, int(self.frames[frame])
        for axes in (sheet.axes, sheet.foot):
            for artist in [*axes.lines, *axes.patches, *axes.collections, *axes.texts]:
                artist.remove()
        for text in list(sheet.figure.texts):
            text.remove()
        sketch = self.picture.draw(self.recording.placement(sample), names=names)
        for k, path in enumerate(self.traces.values()):
            seen = path[self.frames[0] : sample + 1]
            sketch.line(
                sketch.flat(seen[:: max(len(seen) // 600, 1)]), color=PALETTE[(k + 1) % len(PALETTE)], width=1.3, z=SPRINGS
            )
        for at, force in self.arrows.values():
            self._draw_force(sketch, at[sample], force[sample])
        sketch.finish()
        height = 1 - 0.28 / sheet.figure.get_figheight()
        time = float(self.recording.time[sample])
        sheet.figure.text(0.5, height, f"t = {time:.2f} s", ha="center", va="baseline", fontsize=9, color=INK)

    def _draw_force(self, sketch: Sketch, at: Array, force: Array) -> None:
        start, pull = sketch.flat(at), sketch.flat(force) * self.per_newton * sketch.unit
        if np.isfinite(pull).all() and np.linalg.norm(pull) > 3 * sketch.unit:
            sketch.arrow(start, start + pull, color=FORCE)
