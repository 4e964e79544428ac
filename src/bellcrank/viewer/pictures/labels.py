"""Names beside what they name: each where it covers least, and no other name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from ..scene import Array

DISTANCES = (7.0, 12.0, 19.0, 28.0, 40.0, 56.0, 76.0)  # from what is named to its name, points
DIRECTIONS = 16
LEADER = 15.0  # beyond this distance a thin line leads from the name to what it names
COVERED, CROWDED, FAR = (
    1.0,
    60.0,
    0.06,
)  # costs: of a covered point of the drawing, of an overlap with a name, of a point's distance

_measure = TextToPath()


@dataclass(frozen=True)
class Label:
    """A name at a place of the picture, in points."""

    text: str
    at: Array
    color: str
    size: float = 8.0
    italic: bool = False
    clear: float = 0.0  # how far from the place anything may begin, points


@dataclass(frozen=True)
class PlacedLabel:
    """A placed name: its lower left corner and its size, and whether a line must lead to it; points."""

    label: Label
    corner: Array
    box: Array
    leader: bool


def place_labels(labels: list[Label], obstacles: Array, frame: Array) -> list[PlacedLabel]:
    """Place names one after the other. ``obstacles`` (k, 2) are points of the drawing; ``frame`` its lower and upper corner."""
    placed: list[PlacedLabel] = []
    for label in sorted(labels, key=lambda label: (-label.size, -len(label.text))):
        box = _size(label)
        corners, away = _candidates(label, box)
        near = (np.abs(obstacles - label.at) < DISTANCES[-1] + label.clear + box + 2).all(axis=1)
        cost = FAR * away + COVERED * _covered(corners, box, obstacles[near])
        for other in placed:
            cost += CROWDED * _overlap(corners, box, other)
        outside = np.maximum(frame[0] - corners, 0).sum(axis=1) + np.maximum(corners + box - frame[1], 0).sum(axis=1)
        best = int(np.argmin(cost + 10 * outside))
        placed.append(PlacedLabel(label, corners[best], box, bool(away[best] > label.clear + LEADER)))
    return placed


def _size(label: Label) -> Array:
    font = FontProperties(size=label.size, style="italic" if label.italic else "normal")
    lines = label.text.split("\n")
    width = max(_measure.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines)
    return np.array([width + 2.0, 1.3 * label.size * len(lines)])


def _candidates(label: Label, box: Array) -> tuple[Array, Array]:
    """Lower left corners of boxes around a place, and how far each box is from it."""
    angles = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False)
    toward = np.column_stack([np.cos(angles), np.sin(angles)])
    # the box touches the circle of the distance with the side or corner that looks at the place
    corners = [label.at + (label.clear + d) * toward - box * (1 - toward) / 2 for d in DISTANCES]
    if label.clear < 0:  # a name that may stand on its place
        corners.insert(0, (label.at - box / 2)[None, :])
    every = np.vstack(corners)
    gap = np.maximum(np.maximum(every - label.at, label.at - every - box), 0)
    return every, np.asarray(np.linalg.norm(gap, axis=1))


def _covered(corners: Array, box: Array, obstacles: Array) -> Array:
    """How many points of the drawing each box covers."""
    if not len(obstacles):
        return np.zeros(len(corners))
    inside = (obstacles[None] > corners[:, None] - 1.5) & (obstacles[None] < (corners + box)[:, None] + 1.5)
    return np.asarray(inside.all(axis=2).sum(axis=1), dtype=float)


def _overlap(corners: Array, box: Array, other: PlacedLabel) -> Array:
    low = np.maximum(corners, other.corner - 1.0)
    high = np.minimum(corners + box, other.corner + other.box + 1.0)
    return np.asarray((np.maximum(high - low, 0).prod(axis=1) > 0).astype(float))
