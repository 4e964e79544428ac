"""Coulomb friction on a coordinate, smooth around rest: effort = -F v / sqrt(v^2 + e^2)."""

from ..numbers import sqrt
from .base import Effort, JointForce, JointState, Settings


class JointFriction(JointForce):
    kind = "joint_friction"
    values = ("effort", "velocity")

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        v, e = state.v, given.value("velocity")
        effort = -(given.value("effort") * v / sqrt(v * v + e * e))
        return Effort(effort, 0.0, effort * v)
