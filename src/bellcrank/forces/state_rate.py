"""Rate of a user-defined state: the effort on its entry of v, which does no work."""

from .base import Effort, JointForce, JointState, Settings


class StateRate(JointForce):
    kind = "state_rate"
    values = ("value",)

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        return Effort(given.value("value"), 0.0, 0.0)
