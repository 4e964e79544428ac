"""Force elements, constraints and couplers as the user writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from .fields import (
    Choice,
    Direction,
    Flag,
    Name,
    Names,
    Number,
    Numbers,
    Place,
    Position,
    Record,
    Rows,
    Scalar,
    Text,
    Triple,
    Vector3,
)
from .items import GROUND, End, Item, Start
from .laws import LAW_SPECS, Between, LawSpec, Outside, Pairs

JointName = Annotated[str, Name("the joint", to="joint", remedy='Name a joint: joint = "..."')]
Coordinate = Annotated[str | None, Text("which coordinate, if the joint has several (see the table of joints)")]
Coordinates = Annotated[
    tuple[str, ...], Names("the coordinates, by the names of their joints", remedy='Name them: joints = ["hip", "knee"]')
]
Factors = Annotated[
    Any, Numbers("one factor for each coordinate", remedy="Give one for each of the joints: factors = [1.0, -2.0]")
]
JointStiffness = Annotated[
    Scalar, Number("", unit="N m/rad or N/m", sign="zero or more", remedy="Give it in N m/rad, or in N/m.")
]
JointDamping = Annotated[
    Scalar, Number("", unit="N m s/rad or N s/m", sign="zero or more", remedy="Give it in N m s/rad, or in N s/m.")
]
Damping = Annotated[Scalar, Number("zero unless given", unit="N s/m or N m s/rad", sign="zero or more")]
Effort = Annotated[Scalar, Number("effort at rest", unit="N m or N")]
Bound = Annotated[Scalar | None, Number("limit", unit="rad or m")]
BodyName = Annotated[str, Name("a body", remedy=f'Name a body, or "{GROUND}".')]
ZERO3 = (0.0, 0.0, 0.0)


class ElementSpec(Item):
    """A force element."""


@dataclass(frozen=True)
class JointSpring(ElementSpec, section="springs"):
    """effort = preload - stiffness (q - rest); on the turn of a spherical or free joint -stiffness times its rotation vector"""

    joint: JointName
    stiffness: JointStiffness
    rest: Annotated[Scalar, Number("coordinate without force", unit="rad or m")] = 0.0
    preload: Effort = 0.0
    coordinate: Coordinate = None


@dataclass(frozen=True)
class LineSpring(ElementSpec, section="springs"):
    """Spring and damper between two points; in tension, force = preload + stiffness (l - length) + damping l'."""

    start: Start
    end: End
    stiffness: Annotated[Scalar | None, Number("stiffness; or give a table", unit="N/m", sign="zero or more")] = None
    damping: Damping = 0.0
    length: Annotated[
        Scalar | None,
        Number("length without force; the length in the design position unless given", unit="m", sign="zero or more"),
    ] = None
    preload: Annotated[Scalar, Number("tension at that length", unit="N")] = 0.0
    table: Annotated[Pairs | None, Rows("rows [elongation, force], instead of stiffness", columns=("elongation", "force"))] = (
        None
    )
    outside: Outside = "error"
    interpolation: Between = "pchip"
    only: Annotated[
        str | None, Choice('"push" or "pull": a spring that acts in one direction only', options=("push", "pull"))
    ] = None


@dataclass(frozen=True)
class SumSpring(ElementSpec, section="springs"):
    """effort = preload - stiffness (s - rest) along s, the sum of factor * coordinate; each joint gets its factor times it."""

    joints: Coordinates
    factors: Factors
    stiffness: JointStiffness
    rest: Annotated[Scalar, Number("sum without force", unit="rad or m")] = 0.0
    preload: Effort = 0.0


@dataclass(frozen=True)
class JointDamper(ElementSpec, section="dampers"):
    """effort = -damping v"""

    joint: JointName
    damping: JointDamping
    coordinate: Coordinate = None


@dataclass(frozen=True)
class LineDamper(ElementSpec, section="dampers"):
    """Damper between two points: tension = damping l'."""

    start: Start
    end: End
    damping: Annotated[Scalar, Number("", unit="N s/m", sign="zero or more", remedy="Give it in N s/m.")]


@dataclass(frozen=True)
class SumDamper(ElementSpec, section="dampers"):
    """effort = -damping s' along s, the sum of factor * coordinate; each joint gets its factor times it."""

    joints: Coordinates
    factors: Factors
    damping: JointDamping


CREEP = 0.01  # rad/s or m/s, where smooth friction has 70 % of its effort unless given


@dataclass(frozen=True)
class FrictionSpec(ElementSpec, section="frictions"):
    """Coulomb friction. Smooth, -effort v / sqrt(v^2 + velocity^2), which creeps; or, with a stiffness, one that holds.

    With a coefficient the effort grows by coefficient * radius * the joint's reaction force.
    """

    joint: JointName
    effort: Annotated[Scalar | None, Number("friction force or torque while sliding", unit="N m or N", sign="zero or more")] = (
        None
    )
    velocity: Annotated[
        Scalar | None,
        Number(
            f"velocity at which smooth friction has 70 % of its effort, {CREEP:g} unless given",
            unit="rad/s or m/s",
            sign="more than zero",
        ),
    ] = None
    stiffness: Annotated[
        Scalar | None,
        Number("stiffness of friction that holds, until its effort is reached", unit="N m/rad or N/m", sign="more than zero"),
    ] = None
    damping: Annotated[Scalar, Number("damping of friction that holds", unit="N m s/rad or N s/m", sign="zero or more")] = 0.0
    coordinate: Coordinate = None
    coefficient: Annotated[
        Scalar | None, Number("coefficient of friction that grows with the load of the joint", sign="zero or more")
    ] = None
    radius: Annotated[
        Scalar | None, Number("radius of the bearing, for a joint that turns", unit="m", sign="more than zero")
    ] = None


@dataclass(frozen=True)
class StopSpec(ElementSpec, section="stops"):
    """Limits: one-sided springs and dampers."""

    joint: JointName
    stiffness: JointStiffness
    lower: Bound = None
    upper: Bound = None
    damping: Damping = 0.0
    coordinate: Coordinate = None


@dataclass(frozen=True)
class LineStop(ElementSpec, section="stops"):
    """Limits of the distance between two points: one-sided springs and dampers."""

    start: Start
    end: End
    stiffness: Annotated[Scalar, Number("", unit="N/m", sign="zero or more", remedy="Give it in N/m.")]
    lower: Annotated[Scalar | None, Number("least distance", unit="m", sign="zero or more")] = None
    upper: Annotated[Scalar | None, Number("largest distance", unit="m", sign="zero or more")] = None
    damping: Damping = 0.0


@dataclass(frozen=True)
class CableSpec(ElementSpec, section="cables"):
    """An elastic cable between two points: it pulls where it is longer than its length, and else is slack."""

    start: Start
    end: End
    stiffness: Annotated[Scalar, Number("", unit="N/m", sign="zero or more", remedy="Give it in N/m.")]
    damping: Damping = 0.0
    length: Annotated[
        Scalar | None,
        Number("length without force; the length in the design position unless given", unit="m", sign="zero or more"),
    ] = None


@dataclass(frozen=True)
class MotorSpec(ElementSpec, section="motors"):
    """An effort on a joint: constant, a formula, a table of time, or an input that the caller sets."""

    joint: JointName
    effort: Annotated[
        Scalar | None,
        Number("constant, or a formula over the time, coordinates, measures and inputs", unit="N m or N", live=True),
    ] = None
    table: Annotated[Pairs | None, Rows("rows [time, effort]", columns=("time", "effort"))] = None
    outside: Outside = "error"
    interpolation: Between = "pchip"
    input: Annotated[str | None, Name("name of an input", to="input")] = None
    gain: Annotated[Scalar, Number("effort for an input of 1")] = 1.0
    coordinate: Coordinate = None


@dataclass(frozen=True)
class BushingSpec(ElementSpec, section="bushings"):
    """A soft joint: springs and dampers in all six directions, in axes fixed to the parent."""

    parent: BodyName
    child: BodyName
    point: Annotated[Place, Position("where it is", remedy="Say where it is: point = ...")]
    stiffness: Annotated[Triple, Vector3("along x, y, z", unit="N/m", sign="zero or more")] = ZERO3
    damping: Annotated[Triple, Vector3("along x, y, z", unit="N s/m", sign="zero or more")] = ZERO3
    turning_stiffness: Annotated[Triple, Vector3("about x, y, z", unit="N m/rad", sign="zero or more")] = ZERO3
    turning_damping: Annotated[Triple, Vector3("about x, y, z", unit="N m s/rad", sign="zero or more")] = ZERO3
    axis: Annotated[Triple | None, Direction("direction of its z; world axes unless given")] = None
    axis2: Annotated[Triple | None, Direction("direction of its x, perpendicular to axis")] = None


@dataclass(frozen=True)
class ForceSpec(ElementSpec, section="forces"):
    """A force and moment at a point of a body; each component is constant, or a formula as that of a motor."""

    body: Annotated[str, Name("a body", remedy="Name a body.")]
    point: Annotated[Place, Position("where it acts", remedy="Say where it acts: point = ...")]
    force: Annotated[Triple, Vector3("", unit="N", turns="polar", live=True)] = ZERO3
    moment: Annotated[Triple, Vector3("", unit="N m", turns="axial", live=True)] = ZERO3
    axes: Annotated[str, Choice('axes in which it is constant: "world" or "body"', options=("world", "body"))] = "world"


@dataclass(frozen=True)
class ActuatorSpec(ElementSpec, section="actuators"):
    """A force along the line between two points."""

    start: Start
    end: End
    force: Annotated[
        Scalar,
        Number("tension: constant, or a formula over the time, coordinates, measures and inputs", unit="N", live=True,
               remedy="Give it. Positive pulls the two points together."),
    ]  # fmt: skip


@dataclass(frozen=True)
class PlaneSpec:
    """A plane fixed to a body; what touches it is on the side to which its normal points."""

    body: BodyName
    point: Annotated[Place, Position("of the plane", remedy="Give one: point = ...")]
    normal: Annotated[Triple, Direction("normal, pointing out of the solid", remedy='Give it: normal = "z"')]


@dataclass(frozen=True)
class CylinderSpec:
    """A long cylinder fixed to a body, touched from outside, or from inside as a tube."""

    body: BodyName
    point: Annotated[Place, Position("of its axis", remedy="Give one: point = ...")]
    axis: Annotated[Triple, Direction("direction of its axis", remedy='Give it: axis = "y"')]
    radius: Annotated[Scalar, Number("", unit="m", sign="more than zero", remedy="Give it in m.")]
    inside: Annotated[bool, Flag("whether it is touched from inside")] = False


Friction = Annotated[Scalar, Number("coefficient; zero unless given", sign="zero or more")]
FrictionVelocity = Annotated[
    Scalar, Number("sliding velocity at which friction has 70 % of its force", unit="m/s", sign="more than zero")
]
CONTACT_LAWS = ("hunt_crossley", "linear")


@dataclass(frozen=True)
class ContactSpec(ElementSpec, section="contacts"):
    """A ball or a point of a body against a plane or a cylinder: it pushes and never pulls, with smooth friction."""

    body: BodyName
    point: Annotated[Place, Position("centre of the ball, or the point", remedy="Say which: point = ...")]
    stiffness: Annotated[
        Scalar,
        Number(
            "force = stiffness depth^exponent", unit="N/m^exponent", sign="more than zero", remedy="Give it in N/m^exponent."
        ),
    ]
    radius: Annotated[Scalar, Number("radius of the ball; zero for a point", unit="m", sign="zero or more")] = 0.0
    plane: Annotated[PlaneSpec | None, Record("what it touches", classes=(PlaneSpec,))] = None
    cylinder: Annotated[CylinderSpec | None, Record("what it touches, instead of a plane", classes=(CylinderSpec,))] = None
    law: Annotated[str, Choice('"hunt_crossley", or "linear"', options=CONTACT_LAWS)] = "hunt_crossley"
    exponent: Annotated[Scalar | None, Number("1.5 unless given; 1 if linear", sign="more than zero")] = None
    damping: Annotated[
        Scalar,
        Number(
            "damping by the rate of the depth: relative to the force, or a force if the law is linear",
            unit="s/m or N s/m",
            sign="zero or more",
        ),
    ] = 0.0
    friction: Friction = 0.0
    friction_velocity: FrictionVelocity = 0.01


@dataclass(frozen=True)
class TyreSpec(ElementSpec, section="tyres"):
    """A tyre on a road: a radial spring and damper that never pulls, with smooth friction or a traction of its own."""

    body: BodyName
    point: Annotated[Place, Position("centre of the wheel", remedy="Say where it is: point = ...")]
    radius: Annotated[Scalar, Number("radius without load", unit="m", sign="more than zero", remedy="Give it in m.")]
    stiffness: Annotated[Scalar, Number("radial", unit="N/m", sign="more than zero", remedy="Give it in N/m.")]
    damping: Annotated[Scalar, Number("radial", unit="N s/m", sign="zero or more")] = 0.0
    up: Annotated[Triple, Direction("direction out of the road")] = (0.0, 0.0, 1.0)
    forward: Annotated[Triple, Direction("direction along which the heights of the road are given, perpendicular to up")] = (
        1.0,
        0.0,
        0.0,
    )
    road: Annotated[Pairs | None, Rows("rows [place, height]; flat at zero unless given", columns=("place", "height"))] = None
    interpolation: Between = "pchip"
    outside: Outside = "clamp"
    friction: Friction = 0.0
    friction_velocity: FrictionVelocity = 0.05
    traction: Annotated[Scalar, Number("forward force divided by the load: a number or a formula", live=True)] = 0.0


ELEMENT_SPECS: tuple[type[Any], ...] = tuple(ElementSpec.__subclasses__())

# --- constraints besides joints

DRIVEN = "a law of time, instead of"
OffsetMotion = Annotated[LawSpec | None, Record(f"{DRIVEN} offset", classes=LAW_SPECS)]


@dataclass(frozen=True)
class ConstraintSpec(Item, section="constraints"):
    """Something without mass between two bodies."""

    start: Start
    end: End


@dataclass(frozen=True)
class DistanceSpec(ConstraintSpec, type="distance"):
    """Two points keep their distance: a rod without mass, between two balls."""

    length: Annotated[
        Scalar | None, Number("the value in the design position unless given", unit="m", sign="more than zero")
    ] = None
    motion: Annotated[LawSpec | None, Record(f"{DRIVEN} length", classes=LAW_SPECS)] = None


@dataclass(frozen=True)
class PointOnLineSpec(ConstraintSpec, type="point_on_line"):
    """The point where it ends stays on a line through the point where it begins, fixed to the body there."""

    axis: Annotated[Triple, Direction("direction of the line", remedy='Give it: axis = "x"')]


@dataclass(frozen=True)
class PointOnPlaneSpec(ConstraintSpec, type="point_on_plane"):
    """The point where it ends stays in a plane, fixed to the body where it begins: axis . (to - from) = offset."""

    axis: Annotated[Triple, Direction("normal of the plane", remedy='Give it: axis = "z"')]
    offset: Annotated[Scalar | None, Number("the value in the design position unless given", unit="m")] = None
    motion: OffsetMotion = None


@dataclass(frozen=True)
class PerpendicularSpec(ConstraintSpec, type="perpendicular"):
    """A direction of the body where it begins and one of the body where it ends stay perpendicular."""

    axis: Annotated[Triple, Direction("direction fixed to the body of from", remedy='Give it: axis = "x"')]
    axis2: Annotated[
        Triple, Direction("direction fixed to the body of to, perpendicular to axis", remedy='Give it: axis2 = "y"')
    ]


@dataclass(frozen=True)
class CoincidentSpec(ConstraintSpec, type="coincident"):
    """Two points stay in one place: what a spherical joint demands."""


CONSTRAINT_SPECS: tuple[type[Any], ...] = tuple(ConstraintSpec.__subclasses__())


@dataclass(frozen=True)
class CouplerSpec(Item, section="couplers"):
    """The sum of factor * coordinate over some joints is offset; or first = ratio * second; or first = table(second).

    Its effort acts on the coordinates alone and loads no bearings: a gear, a rack or a belt does.
    """

    joints: Annotated[
        tuple[str, ...], Names("the coordinates, by the names of their joints", remedy='Name them: joints = ["motor", "wheel"]')
    ]
    factors: Annotated[Any, Numbers("one factor for each coordinate")] = None
    ratio: Annotated[Scalar | None, Number("ratio of two coordinates, instead of factors")] = None
    offset: Annotated[Scalar | None, Number("value of the sum; zero unless given", unit="rad or m")] = None
    motion: OffsetMotion = None
    table: Annotated[
        Pairs | None,
        Rows("rows [second, first]: a cam and its follower, instead of factors", columns=("second", "first")),
    ] = None
    outside: Outside = "error"
    interpolation: Between = "cubic"
