"""Joints, one a file. A new joint is a new file and a line in the registry, or ``register`` from outside."""

from .base import NO_DATA, Joint, JointData, JointMotion, make_joint
from .registry import JOINTS, JOINTS_BY_KEY, along_given_axes, closing_equations, register, turned_round
from .state import State

__all__ = [
    "JOINTS",
    "JOINTS_BY_KEY",
    "NO_DATA",
    "Joint",
    "JointData",
    "JointMotion",
    "State",
    "along_given_axes",
    "closing_equations",
    "make_joint",
    "register",
    "turned_round",
]
