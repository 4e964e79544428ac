"""The joints that exist, by the name they have in model files. A new one is a class and a line ``register(TheClass)``."""

from __future__ import annotations

from ..constraints import TIES, Equation, Frame, Given
from ..errors import ModelError
from .base import Joint, reversed_axis
from .cylindrical import Cylindrical
from .derived import equations_along_given_axes, is_reversed_by_its_axis
from .fixed import Fixed
from .free import Free
from .planar import Planar, TurnedPlanar
from .prismatic import Prismatic
from .registration import export_problems, identity_of, problems_of
from .revolute import Revolute
from .screw import Screw
from .spherical import Spherical
from .state import State
from .turned import from_far_side
from .universal import TurnedUniversal, Universal

_OWN = (Fixed, Revolute, Prismatic, Cylindrical, Screw, Universal, Planar, Spherical, Free)

JOINTS: dict[str, type[Joint]] = {joint.kind: joint for joint in _OWN}

# by their keys, those included that are written from their far side
JOINTS_BY_KEY: dict[str, type[Joint]] = {
    joint.key: joint for joint in (*_OWN, TurnedUniversal, TurnedPlanar, from_far_side(Spherical), State)
}  # fmt: skip


def register(joint: type[Joint]) -> type[Joint]:
    """Make a kind of joint known, from then on and everywhere: in model files, trees, loops, formulations and analyses.

    ``joint`` is a class as those of this folder (``Joint`` says what it must have), so that this may stand above it as a
    decorator. What it lacks, and what in it contradicts the rest, is an error that names it. A name that is taken is refused,
    unless the class computes the same as the one that has it, which stays.
    """
    problems = problems_of(joint) or list(export_problems(joint))
    if problems:
        raise ModelError("\n  ".join([f"the joint {joint.__name__} cannot be registered:", *problems]))
    joint.identity = identity_of(joint)
    taken = JOINTS.get(joint.kind)
    if taken is not None and taken.identity == joint.identity:
        return taken
    if taken is not None or joint.kind in (*TIES, "coupler"):
        raise ModelError(f'there is a "{joint.kind}" already: give the joint {joint.__name__} another kind')
    JOINTS[joint.kind] = JOINTS_BY_KEY[joint.key] = joint
    if not is_reversed_by_its_axis(joint):
        turned = from_far_side(joint)
        JOINTS_BY_KEY[turned.key] = turned
    return joint


def turned_round(joint: Joint) -> Joint:
    """The joint from its child's side, with the coordinates that it has from its parent's."""
    turned = JOINTS_BY_KEY.get(f"turned {joint.kind}")
    return type(joint)(reversed_axis(joint.axis), pitch=joint.pitch) if turned is None else turned.of(joint)


def closing_equations(kind: str, i: Frame, j: Frame, given: Given) -> list[Equation]:
    """The closing equations of a kind of joint, or of another closure."""
    return (JOINTS[kind].closing if kind in JOINTS else TIES[kind])(i, j, given)


def along_given_axes(kind: str) -> bool:
    """Whether the first three equations of a closure are along axes that may be chosen: components of one vector."""
    return kind in JOINTS and equations_along_given_axes(JOINTS[kind]) != ()
