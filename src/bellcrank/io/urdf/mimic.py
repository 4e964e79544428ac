"""Mimic joints of a URDF: joint = multiplier * other + offset, a coupler each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import ModelError
from ...model import Where
from ...model.spec.problems import names
from .checks import KINDS


class Mimics:
    """The joints that follow others, by name; ``leaders`` are those that they follow. Raises ModelError for rings."""

    def __init__(self, joints: Sequence[Any], lines: Mapping[tuple[str, str], Where]) -> None:
        known = {joint.name: joint for joint in joints}
        self.of = {joint.name: joint.mimic for joint in joints if joint.mimic is not None}
        self.leaders = {
            name: mimic.joint
            for name, mimic in self.of.items()
            if mimic.joint in known and all(_single(known[end]) for end in (name, mimic.joint))
        }
        ring = self._ring()
        if ring:
            where = lines[("joint", ring[0])]
            what = (
                f'joint "{ring[0]}" mimics itself' if len(ring) == 1 else f"the joints {names(ring)} mimic each other in a ring"
            )
            raise ModelError(
                f"{where}: {what}, so that none of them is independent. Let one of them be free: remove its <mimic>."
            )

    def _ring(self) -> list[str]:
        """Joints of which each follows the next, and the last the first; or none."""
        done: set[str] = set()
        for start in self.leaders:
            path: list[str] = []
            name: str | None = start
            while name is not None and name not in done:
                done.add(name)
                path.append(name)
                name = self.leaders.get(name)
            if name in path:
                return path[path.index(name) :]
        return []

    def value(self, name: str) -> float:
        """The coordinate at the start: zero, but of joints that mimic others with an offset."""
        path = [name]
        while path[-1] in self.leaders:
            path.append(self.leaders[path[-1]])
        value = 0.0
        for follower in reversed(path[:-1]):
            value = float(self.of[follower].multiplier) * value + float(self.of[follower].offset)
        return value


def _single(joint: Any) -> bool:
    """Whether it has one coordinate."""
    return KINDS[joint.type] in ("revolute", "prismatic")
