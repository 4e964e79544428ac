"""Force elements, one kind a file: their forces, the energy that they store and the power that they supply or dissipate.

An element acts on a joint's coordinate, or between two bodies. A new kind is a new file and a line in FORCES.
"""

from .base import BodyForce, BodyState, Effort, JointForce, JointState, Wrenches
from .registry import FORCES

__all__ = ["FORCES", "BodyForce", "BodyState", "Effort", "JointForce", "JointState", "Wrenches"]
