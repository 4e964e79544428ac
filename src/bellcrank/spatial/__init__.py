"""A tiny spatial algebra over any number: vectors, rotations, motions, forces, inertias.

Six-vectors have named parts, so that the order of angular and linear never shows. All types are immutable tuples of
numbers; what is structurally zero folds away when the numbers are recorded ones.
"""

from .elimination import Pivot, eliminate, joint_acceleration
from .inertia import ArticulatedInertia, RigidInertia
from .matrix import Matrix, Symmetric
from .rotation import FullTurn, PlaneTurn, quaternion_rate, quaternion_turn
from .screw import Force, Motion
from .transform import Transform
from .vector import Vector

__all__ = [
    "ArticulatedInertia",
    "Force",
    "FullTurn",
    "Matrix",
    "Motion",
    "Pivot",
    "PlaneTurn",
    "RigidInertia",
    "Symmetric",
    "Transform",
    "Vector",
    "eliminate",
    "joint_acceleration",
    "quaternion_rate",
    "quaternion_turn",
]
