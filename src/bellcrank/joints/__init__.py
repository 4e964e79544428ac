"""Joints, one a file. A new joint is a new file and a line in JOINTS."""

from .base import Joint, JointMotion, Rest, make_joint
from .fixed import Fixed
from .free import Free
from .prismatic import Prismatic
from .registry import JOINTS
from .revolute import Revolute
from .spherical import Spherical

__all__ = ["JOINTS", "Fixed", "Free", "Joint", "JointMotion", "Prismatic", "Rest", "Revolute", "Spherical", "make_joint"]
