"""A run played in the browser: time, speed, traces of points, forces as arrows."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np

from ...results.plots import PALETTE
from ..pictures.colors import FORCE
from ..recording import Recording
from ..scene import Array
from .stage import LINE, Stage, color_of

FRAMES = 30.0  # a second, at most
PANEL = 10.0  # times a second that plots, numbers and the slider of time follow while it plays: a browser draws them slowly
SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "5")
ARROW = 0.25  # length of a usual force, as a part of the mechanism's extent
LONGEST_ARROW = 4 * ARROW
MOST_SEGMENTS = 2000  # of a trace
MANY = 12  # points to choose from, beyond which only measured ones are offered


class Playback:
    """Shows one sample of a recording at a time, and goes on by itself while it plays."""

    def __init__(self, server: Any, stage: Stage, recording: Recording) -> None:
        self.server, self.stage, self.recording = server, stage, recording
        self.listeners: list[Callable[[int], None]] = []  # called with the sample that is shown
        self.sample = 0
        self.time = float(recording.time[0])  # while it plays, between two samples
        self._notified = 0.0  # when listeners were called last, on the clock of a thread
        self._closed = threading.Event()
        gui, end = server.gui, float(recording.time[-1])
        start = float(recording.time[0])
        self.play = gui.add_checkbox("Play", False)
        self.slider = gui.add_slider("Time (s)", start, _above(start, end), max((end - start) / 1000, 1e-9), start)
        self.speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        with gui.add_folder("Forces", expand_by_default=False):
            self.joint_forces = gui.add_checkbox("Joint forces", False)
            self.element_forces = gui.add_checkbox("Springs and applied forces", False)
            self.force_scale = gui.add_slider("Scale", 0.1, 5.0, 0.1, 1.0)
        with gui.add_folder("Traces", expand_by_default=False):
            self.traces = {name: gui.add_checkbox(name, False) for name in self._points()}
        self._arrows: Any = None
        self._forces: tuple[tuple[str, ...], list[tuple[Array, Array]], float] | None = None  # by names, and their usual size
        self._paths: dict[str, Any] = {}
        self.slider.on_update(lambda event: None if event.client is None else self.show_time(self.slider.value))
        self.play.on_update(lambda _: self._rest())
        for box in (self.joint_forces, self.element_forces, self.force_scale):
            box.on_update(lambda _: self.show(self.sample))
        for box in self.traces.values():
            box.on_update(lambda _: self.draw_traces())
        self._thread = threading.Thread(target=self._run, name="bellcrank-playback", daemon=True)

    def start(self) -> None:
        self.show(0)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()

    def replace(self, recording: Recording) -> None:
        """Another run of the same length, in the place of this one."""
        self.recording, self._forces = recording, None
        self.draw_traces()
        self.show(min(self.sample, len(recording.time) - 1))

    def show_time(self, time: float) -> None:
        """Show what is at a time, and go on from there."""
        self.time = time
        self.show(int(self.recording.nearest(np.array([time]))[0]))

    def show(self, sample: int) -> None:
        """Show a sample, in the scene and beside it."""
        self._show_scene(sample)
        for listener in self.listeners:
            listener(sample)

    def _show_scene(self, sample: int) -> None:
        self.sample = sample
        self.stage.show(self.recording.placement(sample))
        self._draw_arrows(sample)

    def _run(self) -> None:
        """Go on while it plays; at the end, from the start again."""
        last = due = clock.monotonic()
        while not self._closed.wait(max(0.0, due - clock.monotonic())):
            now = clock.monotonic()
            passed, last = now - last, now
            due = max(due + 1 / FRAMES, now)
            if self.play.value:
                self.go_on(passed, now)

    def _rest(self) -> None:
        """After the last frame: what is beside the scene shows the same time as the scene."""
        if not self.play.value:
            self.slider.value = self.time
            self.show(self.sample)

    def go_on(self, passed: float, now: float) -> None:
        """The next frame, after so many seconds; what is beside the scene follows less often."""
        begin, end = float(self.recording.time[0]), float(self.recording.time[-1])
        time = self.time + passed * float(self.speed.value)
        self.time = begin if time > end else time
        sample = int(self.recording.nearest(np.array([self.time]))[0])
        if now - self._notified < 1 / PANEL:
            self._show_scene(sample)
        else:
            self._notified, self.slider.value = now, self.time
            self.show(sample)

    def _points(self) -> list[str]:
        """Points whose paths can be shown: measured ones, and of a small mechanism the bodies and joints too."""
        places = self.recording.scene.places()
        measured = [name for name, _ in self.recording.scene.measured()]
        return list(places) if len(places) <= MANY else measured or list(self.recording.scene.bodies)[:MANY]

    def draw_traces(self) -> None:
        for name, box in self.traces.items():
            if name in self._paths:
                self._paths.pop(name).remove()
            if box.value:
                self._paths[name] = self._trace(name)

    def _trace(self, name: str) -> Any:
        scene = self.recording.scene
        path = self.recording.path(scene.place(name))
        path = path[:: max(1, len(path) // MOST_SEGMENTS)]
        color = color_of(PALETTE[(list(self.traces).index(name) + 1) % len(PALETTE)])
        segments = np.stack([path[:-1], path[1:]], axis=1) if len(path) > 1 else np.repeat(path[None], 2, axis=1)
        label = f"/traces/{list(self.traces).index(name)}"
        return self.server.scene.add_line_segments(label, segments, color, thickness=LINE / 2 * scene.extent)

    def _draw_arrows(self, sample: int) -> None:
        joints, elements = self.recording.force_names()
        names = (joints if self.joint_forces.value else []) + (elements if self.element_forces.value else [])
        arrows = self._arrows_at(tuple(names), sample)
        if self._arrows is not None and len(self._arrows.points) != len(arrows):
            self._arrows.remove()
            self._arrows = None
        if self._arrows is not None:
            self._arrows.points = arrows.astype(np.float32)
        elif len(arrows):
            extent = self.recording.scene.extent
            size = {"shaft_radius": 0.008 * extent, "head_radius": 0.02 * extent, "head_length": 0.045 * extent}
            self._arrows = self.server.scene.add_arrows("/forces", arrows, color_of(FORCE), **size)

    def _arrows_at(self, names: tuple[str, ...], sample: int) -> Array:
        """Arrows (k, 2, 3): a usual force, the median over time of the largest one, has the length ARROW."""
        if not names:
            return np.zeros((0, 2, 3))
        if self._forces is None or self._forces[0] != names:
            found = [self.recording.force(name) for name in names]
            sizes = np.array([np.linalg.norm(np.nan_to_num(force), axis=1) for _, force in found])
            self._forces = names, found, float(np.median(sizes.max(axis=0)))
        _, found, usual = self._forces
        extent = self.recording.scene.extent
        at = np.array([place[sample] for place, _ in found])
        force = np.nan_to_num(np.array([value[sample] for _, value in found]))
        along = force * (self.force_scale.value * ARROW * extent / usual if usual > 0 else 0.0)
        length = np.linalg.norm(along, axis=1, keepdims=True)
        along *= np.minimum(1.0, LONGEST_ARROW * extent / np.maximum(length, 1e-300))
        return np.stack([at, at + along], axis=1)


def _above(start: float, end: float) -> float:
    return end if end > start else start + 1.0
