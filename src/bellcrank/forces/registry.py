"""The kinds of force element that exist."""

from __future__ import annotations

from .actuator import Actuator
from .base import BodyForce, JointForce
from .bearing_friction import BearingFriction
from .bushing import Bushing
from .contact import CylinderContact, PlaneContact
from .force import ConstantForce
from .joint_damper import JointDamper
from .joint_effort import JointEffort, JointInput
from .joint_friction import JointFriction
from .joint_spring import JointSpring
from .joint_stiction import JointStiction
from .joint_stop import JointStop
from .one_sided import OneSidedSpring, PointStop
from .spring_damper import SpringDamper
from .state_rate import StateRate
from .turning_spring import TurningSpring
from .tyre import Tyre

_ALL: tuple[type[JointForce] | type[BodyForce], ...] = (
    JointSpring,
    JointDamper,
    JointFriction,
    JointStiction,
    JointStop,
    JointEffort,
    JointInput,
    SpringDamper,
    Bushing,
    TurningSpring,
    ConstantForce,
    Actuator,
    OneSidedSpring,
    PointStop,
    PlaneContact,
    CylinderContact,
    Tyre,
    StateRate,
    BearingFriction,
)

FORCES: dict[str, type[JointForce] | type[BodyForce]] = {force.kind: force for force in _ALL}
