"""Friction of a bearing, which grows with its load: effort = -(F + mu r R) v / sqrt(v^2 + e^2).

R, the magnitude of the joint's reaction force, is an input of the element: a run finds it by iteration (run.control).
"""

from ..numbers import sqrt
from .base import Effort, JointForce, JointState, Settings


class BearingFriction(JointForce):
    kind = "bearing_friction"
    values = ("effort", "coefficient", "radius", "velocity")

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        v, e = state.v, given.value("velocity")
        largest = given.value("effort") + given.value("coefficient") * given.value("radius") * given.u
        effort = -(largest * v / sqrt(v * v + e * e))
        return Effort(effort, 0.0, effort * v)
