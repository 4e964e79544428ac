"""Looks of links as <visual> elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...model.source import Look
from ..exchange.export import Array, Export, closed, numbers, roll_pitch_yaw
from ..exchange.looks import parts_of_capsule


def visuals(looks: list[Look], R: Array, export: Export) -> Iterator[str]:
    """The <visual> elements of one link, whose axes are the columns of R; a shape that URDF does not have is noted."""
    for look in looks:
        if look.kind == "ellipsoid" or (look.kind == "mesh" and not look.file):
            what = "an ellipsoid" if look.kind == "ellipsoid" else "a mesh without a file"
            export.lost.append(f'{what} that shows "{look.body}"')
            continue
        for part in parts_of_capsule(look) if look.kind == "capsule" else [look]:
            yield from _visual(part, R)


def _visual(look: Look, R: Array) -> Iterator[str]:
    yield "<visual>"
    place, turn = R.T @ np.array(look.position), roll_pitch_yaw(R.T @ np.array(look.axes))
    yield closed("origin", xyz=numbers(place), rpy=numbers(turn))
    yield "<geometry>"
    if look.kind == "mesh":
        yield closed("mesh", filename=look.file, scale=numbers(look.size))
    elif look.kind == "box":
        yield closed("box", size=numbers(look.size))
    else:
        yield closed(look.kind, **dict(zip(("radius", "length"), map(numbers, look.size), strict=False)))
    yield "</geometry>"
    if look.color is not None:
        yield from ('<material name="">', closed("color", rgba=numbers(look.color)), "</material>")
    yield "</visual>"
