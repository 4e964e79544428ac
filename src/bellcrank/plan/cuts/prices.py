"""What a block of loops has in joints and equations, by their kinds, and the price of what is no algebra in it.

Prices are additions and multiplications of coordinate_reduction, fitted to counts of papers.operations over random trees of
the gallery, the generators and random meshes.
"""

from __future__ import annotations

from typing import NamedTuple

from ...joints import JOINTS

TURN, SLIDE = "turn", "slide"
MOVES = {
    kind: tuple(TURN if unit == "rad/s" else SLIDE for unit in joint.v_units) for kind, joint in JOINTS.items()
}  # directions of each kind of joint
MOVE_IN_A_PLANE = ("revolute", "prismatic", "planar", "fixed")


def _held(kind: str, turns: int, slides: int) -> tuple[str, ...]:
    """What the equations of a joint that closes are about, turning alone or anything, where so many motions are possible."""
    moves = MOVES[kind]
    turning = max(turns - moves.count(TURN), 0)
    return (SLIDE,) * max(turns + slides - len(moves) - turning, 0) + (TURN,) * turning


OTHER_TIES = {"distance": (SLIDE,), "point_on_line": (SLIDE, SLIDE), "point_on_plane": (SLIDE,), "coupler": (SLIDE,)}
IN_SPACE = OTHER_TIES | {kind: _held(kind, 3, 3) for kind in MOVES}
IN_A_PLANE = OTHER_TIES | {"point_on_line": (SLIDE,)} | {kind: _held(kind, 1, 2) for kind in MOVE_IN_A_PLANE}


class Feels(NamedTuple):
    """Operations of what a body's motion takes: inertia times a motion, with what the body carries, and its products."""

    inertia: int
    carried: int
    with_force: int
    with_motion: int


class Prices(NamedTuple):
    """Operations of what is no algebra.

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
    turning: Feels
    sliding: Feels
    at_origin: Feels
    single: Feels


_PLANAR = Feels(11, 15, 6, 6), Feels(2, 8, 4, 4), Feels(3, 6, 2, 2), Feels(7, 15, 4, 4)
_SPATIAL = Feels(42, 66, 12, 15), Feels(9, 30, 6, 6), Feels(5, 6, 2, 2), Feels(34, 66, 12, 12)
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
MOVING_AXES = ("prismatic", "cylindrical", "screw", "planar", "point_on_line", "point_on_plane")
ON_AXIS = ("revolute", "prismatic", "cylindrical", "screw")  # joints on which the frame of ground can be
CROSS_PRODUCT = 50  # null space of two rows of three
FILL = 0.7  # of the operations of full matrices, what those of a block that is split into a clique tree take, about
