"""Spring on a coordinate: effort = preload - stiffness (q - rest)."""

from .base import Effort, JointForce, JointState, Settings


class JointSpring(JointForce):
    kind = "joint_spring"
    values = ("stiffness", "rest", "preload")

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        k, preload = given.value("stiffness"), given.value("preload")
        stretch = state.q - given.value("rest")
        return Effort(preload - k * stretch, 0.5 * k * stretch * stretch - preload * stretch, 0.0)
