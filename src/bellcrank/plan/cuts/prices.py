"""Joints and equations of a block of loops by their kinds, and the operations that it takes besides matrix algebra.

Prices are additions and multiplications of coordinate_reduction, fitted to counts of papers.operations over random trees of
the gallery, the generators and random meshes.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ...joints import JOINTS, along_given_axes
from ...joints.derived import moves_in_a_plane

TURN, SLIDE = "turn", "slide"
OTHER_TIES = {"distance": (SLIDE,), "point_on_line": (SLIDE, SLIDE), "point_on_plane": (SLIDE,), "coupler": (SLIDE,)}
OTHER_TIES |= {"perpendicular": (TURN,)}


@cache
def moves(kind: str) -> tuple[str, ...]:
    """Directions of a kind of joint."""
    return tuple(TURN if unit == "rad/s" else SLIDE for unit in JOINTS[kind].v_units)


def may_be_planar(kind: str) -> bool:
    return (kind in OTHER_TIES and kind != "perpendicular") or moves_in_a_plane(JOINTS[kind])


@cache
def equations(kind: str, planar: bool) -> tuple[str, ...]:
    """What the equations of a closure are about, turning alone or anything, where all moves in space, or in a plane."""
    if kind in OTHER_TIES:
        return (SLIDE,) if planar else OTHER_TIES[kind]
    turns, slides = (1, 2) if planar else (3, 3)
    free = moves(kind)
    turning = max(turns - free.count(TURN), 0)
    return (SLIDE,) * max(turns + slides - len(free) - turning, 0) + (TURN,) * turning


def axes_move(kind: str) -> bool:
    """Whether a closure's equations are along axes of its bodies."""
    return kind in ("point_on_line", "point_on_plane", "perpendicular") or (kind in JOINTS and not along_given_axes(kind))


class InertiaOperations(NamedTuple):
    """Operations of what a body's motion takes: inertia times a motion, with what the body carries, and its products."""

    inertia: int
    carried: int
    with_force: int
    with_motion: int


class Prices(NamedTuple):
    """Operations of what is not algebra.

    size      numbers of a motion
    body      every body
    first     each direction of a joint on the base
    shifted   a joint on a body that only slides: for each joint beneath it but one
    later     a joint on a body that turns: on the one at the origin of ground, on others; and each of its directions
    carrier   a body on which other blocks hang, unless its joint is the origin of ground
    end       of a closure on a body that turns; of one whose axes move
    entry     of all equations of a closure, for each direction in its loop, but that at the origin of ground
    scaled    a direction times a number
    turning   bodies that turn against the base; those that only slide; the one whose joint is the origin of ground
    single    as ``turning``, where a motion is the direction of one joint
    """

    size: int
    body: int
    first: int
    shifted: int
    later_near: int
    later: int
    later_each: int
    carrier: int
    end: int
    axes_end: int
    entry: int
    scaled: int
    turning: InertiaOperations
    sliding: InertiaOperations
    at_origin: InertiaOperations
    single: InertiaOperations


_PLANAR = (
    InertiaOperations(11, 15, 6, 6),
    InertiaOperations(2, 8, 4, 4),
    InertiaOperations(3, 6, 2, 2),
    InertiaOperations(7, 15, 4, 4),
)
_SPATIAL = (
    InertiaOperations(42, 66, 12, 15),
    InertiaOperations(9, 30, 6, 6),
    InertiaOperations(5, 6, 2, 2),
    InertiaOperations(34, 66, 12, 12),
)
PLANAR_GROUND = Prices(3, 10, 1, 12, 20, 30, 10, 75, 28, 34, 6, 2, *_PLANAR)
PLANAR_MOVING = PLANAR_GROUND._replace(first=8, later=40)
SPATIAL_GROUND = Prices(6, 100, 22, 40, 24, 30, 58, 150, 240, 290, 38, 6, *_SPATIAL)
SPATIAL_MOVING = SPATIAL_GROUND._replace(first=46, later_each=80, end=135, axes_end=210, entry=44)
PRICES = {  # by whether a block is planar, and whether it is on ground
    (True, True): PLANAR_GROUND,
    (True, False): PLANAR_MOVING,
    (False, True): SPATIAL_GROUND,
    (False, False): SPATIAL_MOVING,
}
CROSS_PRODUCT = 50  # null space of two rows of three
FILL = 0.7  # of the operations of full matrices, what those of a block that is split into a clique tree take, about
