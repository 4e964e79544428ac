"""The joints that exist, by the name they have in model files."""

from __future__ import annotations

from .base import Joint
from .cylindrical import Cylindrical
from .fixed import Fixed
from .free import Free
from .planar import Planar
from .prismatic import Prismatic
from .revolute import Revolute
from .screw import Screw
from .spherical import Spherical
from .turned import TURNED
from .universal import Universal

_ALL = (Fixed, Revolute, Prismatic, Cylindrical, Screw, Universal, Planar, Spherical, Free)

JOINTS: dict[str, type[Joint]] = {joint.kind: joint for joint in _ALL}

# by their keys, those included that are written from their far side
JOINTS_BY_KEY: dict[str, type[Joint]] = {joint.key: joint for joint in [*JOINTS.values(), *TURNED.values()]}
