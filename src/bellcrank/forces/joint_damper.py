"""Viscous damper on a coordinate: effort = -damping v."""

from .base import Effort, JointForce, JointState, Settings


class JointDamper(JointForce):
    kind = "joint_damper"
    values = ("damping",)

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        effort = -(given.value("damping") * state.v)
        return Effort(effort, 0.0, effort * state.v)
