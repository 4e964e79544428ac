"""The joints that exist, by the name they have in model files."""

from __future__ import annotations

from .base import Joint
from .fixed import Fixed
from .free import Free
from .prismatic import Prismatic
from .revolute import Revolute
from .spherical import Spherical

JOINTS: dict[str, type[Joint]] = {joint.kind: joint for joint in (Fixed, Revolute, Prismatic, Spherical, Free)}
