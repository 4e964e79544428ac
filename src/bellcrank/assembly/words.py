"""Texts for messages: errors of closures in millimetres and degrees, loops by the names of their joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model import Closure, Model
from ..model.order import ancestors
from ..plan.closures import row_scales
from .loops import Loops

Array = NDArray[np.float64]


class Gap(NamedTuple):
    """The gap of a closure: m, rad; of a coupler the sum itself; of a rod, the length that it should have."""

    closure: Closure
    distance: float
    angle: float
    length: float = 0.0
    is_longer: bool = False  # than it should be

    @property
    def words(self) -> str:
        if self.closure.kind == "coupler":
            return f"its sum is off by {self.distance:.3g}"
        if self.closure.kind == "distance" and self.closure.motion is not None:
            got = self.length + (self.distance if self.is_longer else -self.distance)
            asked = f"its law asks for {length_words(self.length)}, and {length_words(got)} is as near as it gets"
            return f"its length is off by {length_words(self.distance)}: {asked}"
        parts = []
        if self.distance > 1e-3 * self.angle or not self.angle:
            parts.append(f"{apart[self.closure.kind]} {length_words(self.distance)}")
        if self.angle > 1e-3 * self.distance:
            parts.append(f"its axes are {math.degrees(self.angle):.3g} degrees out of line")
        return " and ".join(parts)


apart = {
    "joint": "its points are apart by",
    "distance": "its length is off by",
    "point_on_line": "its point is off the line by",
    "point_on_plane": "its point is off the plane by",
    "perpendicular": "",
}


def gaps(loops: Loops, q: Array, t: float) -> list[Gap]:
    """The gap of every closure, the largest first."""
    phi, turns = loops.phi(q, t), row_scales(loops.model, 2.0) == 2.0
    found = []
    for closure, first in zip(loops.model.closures, loops.model.closure_index, strict=False):
        rows = slice(int(first), int(first) + closure.rows)
        turning = turns[rows] if closure.joint is not None or closure.kind == "perpendicular" else np.zeros(closure.rows, bool)
        angles, lengths = phi[rows][turning] / loops.length, phi[rows][~turning]
        angle = math.asin(min(1.0, float(np.linalg.norm(angles))))
        if closure.kind == "distance":
            length, wanted = _lengths(loops, closure, q, t, phi[rows])
            found.append(Gap(closure, abs(length - wanted), angle, wanted, length > wanted))
        else:
            found.append(Gap(closure, float(np.linalg.norm(lengths)), angle))
    return sorted(found, key=lambda gap: -(gap.distance + loops.length * gap.angle))


def _lengths(loops: Loops, closure: Closure, q: Array, t: float, phi: Array) -> tuple[float, float]:
    """d and L of a rod, whose equation is (d^2 - L^2) times its scale."""
    positions, rotations = loops.dynamics.poses(q, t=t)
    ends = [
        np.array(point) if body < 0 else positions[body] + rotations[body] @ np.array(point)
        for body, point in ((closure.body_a, closure.point_a), (closure.body_b, closure.point_b))
    ]
    d = float(np.linalg.norm(ends[1] - ends[0]))
    scale = 1 / (2 * (closure.value or loops.length))
    return d, math.sqrt(max(0.0, d * d - float(phi[0]) / scale))


def open_loops(loops: Loops, q: Array, t: float, most: int = 3) -> str:
    """The loops that do not close, and by how much."""
    found = gaps(loops, q, t)
    worst = found[0].distance + loops.length * found[0].angle
    shown = [gap for gap in found if gap.distance + loops.length * gap.angle > 0.1 * worst]
    texts = [f"{closure_words(loops.model, gap.closure)}: {gap.words}" for gap in shown[:most]]
    return "; ".join(texts) + (f"; and {len(shown) - most} more" if len(shown) > most else "")


def closure_words(model: Model, closure: Closure) -> str:
    kind = closure.mesh or {"joint": "joint", "coupler": "coupler"}.get(closure.kind, "constraint")
    inside = loop_joints(model, closure)
    through = f" (loop {' - '.join(inside)})" if inside and len(inside) <= 8 else ""
    return f"{kind} {closure.name!r}{through}"


def loop_joints(model: Model, closure: Closure) -> list[str]:
    """Names of the tree joints that a closure makes a loop with, from its body a to its body b."""
    if closure.kind == "coupler":
        return [model.joint_names[row] for row, _, _ in closure.terms]
    up_a, up_b = (ancestors(model.parents, body) for body in (closure.body_a, closure.body_b))
    common = set(up_a) & set(up_b)
    return [
        model.joint_names[row] for row in (*(r for r in up_a if r not in common), *(r for r in up_b[::-1] if r not in common))
    ]


def length_words(x: float) -> str:
    return f"{x:.3g} m" if x >= 1 else f"{1e3 * x:.3g} mm"


def values(model: Model, q: Array, names: Sequence[str]) -> str:
    """'crank' = 0.7 rad, 'slide' = 0.02 m."""
    return ", ".join(f"{name!r} = {q[model.q_names.index(name)]:.6g} {unit_of(model, name)}".rstrip() for name in names)


def unit_of(model: Model, name: str) -> str:
    units = [u for joint, driven in zip(model.joints, model.driven, strict=True) if not driven for u in joint.q_units]
    unit = units[model.q_names.index(name)]
    return "" if unit == "1" else unit


def velocity_unit(model: Model, name: str) -> str:
    units = [u for joint, driven in zip(model.joints, model.driven, strict=True) if not driven for u in joint.v_units]
    return units[model.v_names.index(name)]
