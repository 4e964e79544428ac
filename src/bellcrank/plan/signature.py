"""Which properties of a body are structure (folded while recording), and which are data (read at run time).

A body's data is one row of numbers; SLOTS says where each is. Its Signature is everything that decides which code it
needs: the kind of joint, how it is placed, its role in the tree, and which of its data are exactly zero
(or, in rotations, 1 or -1).
"""

from __future__ import annotations

from typing import NamedTuple

_SIZES = {
    "gamma": 6,  # plane turns: sin, cos, sin^2, sin cos, sin 2, cos 2
    "alpha": 6,
    "rest": 6,
    "rest_angle": 1,
    "offset": 3,
    "pitch": 1,
    "turn": 9,
    "J": 6,  # inertia about the frame's origin: xx xy xz yy yz zz
    "mc": 3,  # first moment
    "m": 1,
    "center": 3,
    "Jc": 6,  # inertia about the centre
    "armature": 6,
    "carried_m": 1,  # mass of the body with all that it carries
    "carried_mc": 3,  # its first moment, with the mass of what each joint carries put where that joint is at rest
}
SLOTS: dict[str, range] = {}
for _name, _size in _SIZES.items():
    _start = max((r.stop for r in SLOTS.values()), default=0)
    SLOTS[_name] = range(_start, _start + _size)
ROW = max(r.stop for r in SLOTS.values())
OWN = SLOTS["carried_m"].start  # from here on: what depends on where in the tree a body is


class Signature(NamedTuple):
    """The structure of a body. Bodies with equal signatures share their code."""

    joint: str
    style: str  # "plane" or "full" placement
    root: bool  # hangs on ground
    leaf: bool  # carries nothing
    adjacent: bool  # its parent is the body just before it in the walk
    branch: bool  # carries bodies that are not adjacent to it
    opens: bool  # not adjacent, and the last child of its parent: first to report to it on the way inward
    driven: bool  # its motion is prescribed
    attached: bool  # force elements or closures are attached to it
    constants: tuple[tuple[int, float], ...]  # slot of the data row, and its value
    varied: tuple[int, ...] = ()  # slots of the data row that a design may change
