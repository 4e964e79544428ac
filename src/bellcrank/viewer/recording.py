"""A run as it is drawn: poses of the bodies at its samples, paths of points, forces at their points of action."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StateError
from ..wording import did_you_mean
from .scene import Anchor, Array, ElementMark, JointMark, Placement, Scene

if TYPE_CHECKING:
    from ..results import Run

# elements with a force that has a place and a direction
PULLS = ("spring_damper", "one_sided_spring", "point_stop", "actuator", "force")
MOMENTS = 40  # that show where a mechanism goes
PUSHES = ("plane_contact", "tyre")  # along the normal of what they touch


class Recording:
    """The samples of a run and the scene of its model."""

    def __init__(self, run: Run) -> None:
        if run.model is None:
            raise StateError("this run was loaded without its model, and cannot be drawn: give it, Run.load(path, model)")
        if not run.values("time").size:
            raise StateError(f"the run of {run.labels.model!r} has no samples, and so nothing to show")
        self.run, self.scene = run, Scene(run.model)
        self.time: Array = run.values("time")

    @cached_property
    def positions(self) -> Array:
        return np.asarray(self.run.values("positions"))

    @cached_property
    def rotations(self) -> Array:
        return np.asarray(self.run.values("rotations"))

    @cached_property
    def _joints(self) -> dict[str, JointMark]:
        known = set(self.run.labels.joints)
        return {mark.name: mark for mark in self.scene.joints if mark.name in known}

    @cached_property
    def _elements(self) -> dict[str, ElementMark]:
        return {mark.name: mark for mark in self.scene.elements if mark.kind in (*PULLS, *PUSHES)}

    def frames(self, fps: float, speed: float, most: int) -> Array:
        """The samples that a film shows, so many a second, one for each frame: the nearest to its time."""
        for name, value in (("fps", fps), ("speed", speed)):
            if not (np.isfinite(value) and value > 0):
                raise StateError(f"{name} is {value}: give a number above zero")
        count = int((self.time[-1] - self.time[0]) * fps / speed) + 1
        if count > most:
            raise StateError(f"{count} frames are too many: {most} at most. Show it faster (speed) or with fewer frames (fps)")
        return self.nearest(self.time[0] + np.arange(count, dtype=np.float64) * speed / fps)

    def nearest(self, times: Array) -> Array:
        """The samples that are nearest to some times."""
        time = self.time
        if time.size == 1:
            return np.zeros(len(times), dtype=np.intp)
        after = np.clip(np.searchsorted(time, times), 1, time.size - 1)
        before = after - 1
        return np.where(times - time[before] < time[after] - times, before, after)

    def placement(self, sample: int) -> Placement:
        """One sample by itself: of a long run, the poses of all samples take seconds and a gigabyte."""
        return Placement(*self.run.dynamics.poses(self.run.values("q")[sample], t=float(self.time[sample])))

    def some_moments(self) -> list[Placement]:
        """A few moments, which show where the mechanism goes during the run."""
        return [self.placement(k) for k in np.unique(np.linspace(0, len(self.time) - 1, MOMENTS).astype(int))]

    def path(self, anchor: Anchor) -> Array:
        """Positions of a point at every sample, (T, 3)."""
        if anchor.body < 0:
            return np.tile(anchor.point, (len(self.time), 1))
        return np.asarray(self.positions[:, anchor.body] + self.rotations[:, anchor.body] @ anchor.point)

    def force_names(self) -> tuple[list[str], list[str]]:
        """Joints, and elements, whose forces can be drawn."""
        return list(self._joints), list(self._elements)

    def force(self, name: str) -> tuple[Array, Array]:
        """The point of action of a force and the force, (T, 3) each: that of a joint or spring on its second body."""
        if name in self._joints:
            index = self.run.labels.joints.index(name)
            return self.path(self._joints[name].b), self.run.values("reactions")[:, index, :3]
        mark = self._elements.get(name)
        if mark is None:
            known = [*self._joints, *self._elements]
            text = f"{self.scene.model.name!r} has no force {name!r}{did_you_mean(name, known)}"
            raise StateError(
                f"{text}; forces that can be drawn are those of joints, of springs, cables and actuators between points, of "
                "contacts and tyres, and constant forces"
            )
        start, end = self.path(mark.a), self.path(mark.b)
        if mark.force is not None:
            turned = self.rotations[:, mark.force_body] @ mark.force if mark.force_body >= 0 else mark.force
            return end, np.broadcast_to(turned, end.shape)
        if mark.axes is not None:
            normal = self.rotations[:, mark.b.body] @ mark.axes[:, 2] if mark.b.body >= 0 else mark.axes[:, 2]
            push = self.run.values("forces")[:, self.run.labels.elements.index(name)]
            return start - mark.radius * normal, push[:, None] * normal
        along = start - end
        tension = self.run.values("forces")[:, self.run.labels.elements.index(name)]
        return end, tension[:, None] * along / np.linalg.norm(along, axis=1, keepdims=True)
