"""Effort on a coordinate: constant or by a formula, from a table of time, or an input that the caller sets."""

from .base import Effort, JointForce, JointState, Settings


class JointEffort(JointForce):
    kind = "joint_effort"
    values = ("value",)

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        effort = given.value("value") if given.table is None else given.table(given.t).value
        return Effort(effort, 0.0, effort * state.v)


class JointInput(JointForce):
    kind = "joint_input"
    values = ("gain",)

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        effort = given.value("gain") * given.u
        return Effort(effort, 0.0, effort * state.v)
