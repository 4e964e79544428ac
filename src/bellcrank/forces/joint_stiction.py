"""Coulomb friction that holds: a stiff spring from the coordinate to an anchor, which slips when the effort is reached.

    e = q - anchor, within +-F / stiffness        effort = -(stiffness e + damping v), within +-F

The anchor stays while a step is taken; at the end of the step it is drawn along, so that q - anchor stays within its range
(machine.steps.anchors). Under a load that is less than F the joint rests where the spring balances the load, and does not
creep. The anchor comes as the element's input. Zero means that there is none, and nothing is stretched; an anchor at zero is
given as TINY.

P. R. Dahl, A solid friction model, 1968; P. Dupont et al., Single state elastoplastic friction models, IEEE Transactions on
Automatic Control 47, 2002, on why such a model does not drift where LuGre's does.
"""

from ..numbers import Number, less, maximum, minimum, select
from .base import Effort, JointForce, JointState, Settings

TINY = 1e-300
SLIPPING = 1e-6  # of the reach: an anchor that is drawn along is there but for rounding


class JointStiction(JointForce):
    kind = "joint_stiction"
    values = ("effort", "stiffness", "damping")
    gates = 1

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        most, k = given.value("effort"), given.value("stiffness")
        elastic = k * _within(_stretch(state, given), most / k)
        effort = _within(-(elastic + given.value("damping") * state.v), most)
        conserved = select(less(_beyond(state, given), 0.0), elastic, 0.0)
        return Effort(effort, 0.5 * elastic * elastic / k, (effort + conserved) * state.v)

    @staticmethod
    def openings(state: JointState, given: Settings) -> list[Number]:
        """The distance from the effort at which it begins to slip: there the power jumps."""
        return [_beyond(state, given)]


def _stretch(state: JointState, given: Settings) -> Number:
    return select(less(0.0, abs(given.u)), state.q - given.u, 0.0)


def _beyond(state: JointState, given: Settings) -> Number:
    """Less than zero where it holds, more where it slips."""
    return abs(_stretch(state, given)) - (1.0 - SLIPPING) * given.value("effort") / given.value("stiffness")


def _within(x: Number, bound: Number) -> Number:
    return minimum(maximum(x, -bound), bound)
