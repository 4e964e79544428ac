"""The numbers of the body or joint that was selected."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...characters import visible
from ...errors import BellcrankError
from .playback import Playback

HINT = "Click a body or a joint to see its numbers."
_SPECIAL = {mark: f"\\{mark}" for mark in "\\`*_{}[]()<>#+-.!|$"}


class Details:
    """A text about what was selected, at the sample that is shown."""

    def __init__(self, server: Any, playback: Playback) -> None:
        self.playback, self.name = playback, ""
        self.text = server.gui.add_markdown(HINT)
        playback.listeners.append(lambda _: self.refresh())

    def select(self, name: str) -> None:
        self.name = name
        self.refresh()

    def refresh(self) -> None:
        run, sample = self.playback.recording.run, self.playback.sample
        model = self.playback.recording.scene.model
        if self.name in model.body_names[: model.body_count]:
            lines = self._body(model.body_names.index(self.name), sample)
        elif self.name in run.labels.joints:
            lines = self._joint(self.name, sample)
        else:
            return
        content = "\n".join([f"**{as_plain(self.name)}**", "", *(f"- {line}" for line in lines)])
        if content != self.text.content:
            self.text.content = content

    def _body(self, body: int, sample: int) -> list[str]:
        recording = self.playback.recording
        model, placement = recording.scene.model, recording.placement(sample)
        center = placement.points(body, model.center[body])
        return [
            f"mass {model.mass[body]:.6g} kg",
            f"centre of mass {_vector(center)} m",
            f"origin {_vector(placement.positions[body])} m",
        ]

    def _joint(self, name: str, sample: int) -> list[str]:
        run, labels = self.playback.recording.run, self.playback.recording.run.labels
        lines = []
        for quantity, names, units in (
            ("q", labels.coordinates, labels.coordinate_units),
            ("v", labels.dofs, labels.dof_units),
        ):
            own = [k for k, entry in enumerate(names) if entry == name or entry.startswith(f"{name}.")]
            lines += [f"{as_plain(names[k])} = {run.values(quantity)[sample, k]:.6g} {units[k]}" for k in own]
        try:
            wrench = run.values("reactions")[sample, labels.joints.index(name)]
        except BellcrankError as error:
            return [*lines, as_plain(str(error))]
        return [*lines, f"force {_vector(wrench[:3])} N", f"moment {_vector(wrench[3:])} N m"]


def as_plain(name: str) -> str:
    """A name as it is written, whatever it would mean in Markdown."""
    return "".join(_SPECIAL.get(mark, mark) for mark in visible(name))


def _vector(values: Any) -> str:
    """Components in parentheses; one that is only rounding of the largest is zero."""
    x = np.asarray(values)
    x = np.where(np.abs(x) < 1e-12 * np.abs(x).max(), 0.0, x)
    return "(" + ", ".join(f"{value:.4g}" for value in x + 0.0) + ")"
