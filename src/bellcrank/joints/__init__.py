"""Joints, one a file. A new joint is a new file and a line in the registry."""

from .base import NO_DATA, Joint, JointData, JointMotion, make_joint
from .registry import JOINTS, JOINTS_BY_KEY
from .turned import turned_round

__all__ = ["JOINTS", "JOINTS_BY_KEY", "NO_DATA", "Joint", "JointData", "JointMotion", "make_joint", "turned_round"]
