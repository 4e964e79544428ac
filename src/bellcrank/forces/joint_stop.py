"""Stops at the limits of a coordinate: one-sided spring-dampers that push and never pull.

Beyond a limit by d > 0, at the rate d':  force = max(0, stiffness d + damping d')
"""

from ..numbers import Number, less, maximum, select
from .base import Effort, JointForce, JointState, Settings


class JointStop(JointForce):
    kind = "joint_stop"
    values = ("lower", "upper", "stiffness", "damping")
    gates = 2

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        k, c = given.value("stiffness"), given.value("damping")
        below, stored_below = _push(given.value("lower") - state.q, -state.v, k, c)
        above, stored_above = _push(state.q - given.value("upper"), state.v, k, c)
        effort, energy = below - above, stored_below + stored_above
        elastic = k * (_depth(given.value("lower") - state.q) - _depth(state.q - given.value("upper")))
        return Effort(effort, energy, (effort - elastic) * state.v)

    @staticmethod
    def openings(state: JointState, given: Settings) -> list[Number]:
        return [given.value("lower") - state.q, state.q - given.value("upper")]


def _depth(d: Number) -> Number:
    return maximum(d, 0.0)


def _push(d: Number, rate: Number, k: Number, c: Number) -> tuple[Number, Number]:
    """Force of one stop, and what it stores."""
    depth = _depth(d)
    force = select(less(0.0, d), maximum(k * d + c * rate, 0.0), 0.0)
    return force, 0.5 * k * depth * depth
