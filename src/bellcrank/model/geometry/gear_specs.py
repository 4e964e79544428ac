"""Gears, racks and belts as the user writes them: what couples two bodies, and where their force acts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from ..spec.fields import Flag, Name, Names, Number, Numbers, Place, Position, Scalar
from ..spec.items import Item

TWENTY_DEGREES = math.radians(20)
Two = Annotated[tuple[str, ...], Names("the two bodies", to="body", remedy='Name them: bodies = ["pinion", "wheel"]')]
Pressure = Annotated[
    Scalar, Number("pressure angle in the normal section; 20 degrees unless given", unit="rad", sign="zero or more")
]
Helix = Annotated[
    Scalar, Number("helix angle of the first body, positive if right-handed; zero for straight teeth", unit="rad")
]
Height = Annotated[Place | None, Position("the middle of the teeth along the axis; the first joint's point unless given")]
Teeth = Annotated[
    Place | None,
    Position("the middle of the teeth: its position along the axis counts; for bevel gears, where the teeth touch"),
]


class GearItem(Item):
    """Anything that couples two bodies by a force at a known place."""


@dataclass(frozen=True)
class GearSpec(GearItem, section="gears"):
    """Two toothed wheels, on parallel axes or as bevel gears on axes that meet. The tooth force acts at the pitch point."""

    bodies: Two
    radii: Annotated[Any, Numbers("radii of the pitch circles", unit="m")] = None
    teeth: Annotated[Any, Numbers("numbers of teeth, instead of radii")] = None
    module: Annotated[Scalar | None, Number("module of the teeth; checked against the distance of the axes", unit="m")] = None
    internal: Annotated[bool, Flag("whether the larger wheel has its teeth inside")] = False
    pressure_angle: Pressure = TWENTY_DEGREES
    helix_angle: Helix = 0.0
    point: Teeth = None


@dataclass(frozen=True)
class RackSpec(GearItem, section="racks"):
    """A pinion and a rack that slides. The radius of the pinion follows from the point."""

    pinion: Annotated[str, Name("the body that turns", remedy='Name a body: pinion = "..."')]
    rack: Annotated[str, Name("the body that slides", remedy='Name a body: rack = "..."')]
    point: Annotated[Place, Position("a point of the rack's pitch line", remedy="Say where the rack is: point = ...")]
    pressure_angle: Pressure = TWENTY_DEGREES
    helix_angle: Helix = 0.0


@dataclass(frozen=True)
class BeltSpec(GearItem, section="belts"):
    """A belt or chain around two pulleys on parallel axes, without stretch or mass."""

    bodies: Two
    radii: Annotated[Any, Numbers("radii of the pulleys", unit="m", remedy="Give two: radii = [0.05, 0.1]")]
    crossed: Annotated[bool, Flag("whether its two sides cross, so that the pulleys turn in opposite directions")] = False
    tension: Annotated[
        Scalar | None,
        Number("tension of both sides at rest; without it the slack side has no tension", unit="N", sign="zero or more"),
    ] = None
    point: Height = None


GEARS: tuple[type[Any], ...] = (GearSpec, RackSpec, BeltSpec)
