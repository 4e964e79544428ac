"""Joints, one a file. A new joint is a new file and a line in the registry."""

from .base import NO_DATA, Joint, JointData, JointMotion, make_joint
from .registry import JOINTS

__all__ = ["JOINTS", "NO_DATA", "Joint", "JointData", "JointMotion", "make_joint"]
