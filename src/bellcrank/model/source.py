"""Where an imported model came from: what its file says and is not simulated, and how other programs write its states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

LEVERS = 4.0  # numbers that add up

Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True)
class Limits:
    """Limits of a joint, kept for other programs and for stops that are added; they are not simulated."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True)
class Look:
    """How a part of a body looks, as the file of another program has it; for pictures only.

    kind       what its size is, m
    box        edges along its own x, y, z
    sphere     radius
    cylinder   radius, length along its own z
    capsule    radius, length along its own z between the middles of its round ends
    ellipsoid  half axes
    mesh       scales of x, y and z of the ``file``; or, without one, of the ``points`` whose hull it is

    Its position and its axes (columns) are in the frame of the body, and the colour is red, green, blue, opacity from 0 to 1.
    """

    body: str
    kind: str
    size: tuple[float, ...]
    position: tuple[float, float, float]
    axes: tuple[tuple[float, ...], ...]
    color: tuple[float, ...] | None = None
    file: str = ""
    points: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class Source:
    """The file of another program.

    format       "mjcf" or "urdf"
    file         its name, without folders
    unsimulated  what it says and is not simulated, a line each
    remarks      what was changed to say the same here, a line each
    names        names there, of bodies and joints that have another one here
    frames       axes of bodies there, in the design position: quaternions w, x, y, z; those left out are the world's
    references   of joints: the coordinate there, in the design position; of a free joint, where it is then in its parent's
                 frame, which is zero there; those left out are zero
    order        joints in the order of Pinocchio's q, where it is not the usual one
    impossible   whether masses and inertias that no body can have are taken as they are
    rounding     of its places and directions, relative, where they look rounded: how far out of line redundant parts may be
    undetermined joints that move nothing that has mass: such a model can be driven, assembled and drawn, but has no
                 accelerations
    looks        of bodies: shapes, colours, files of meshes; drawn, and written to URDF and MJCF files
    """

    format: str
    file: str = ""
    unsimulated: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    frames: Mapping[str, Quaternion] = field(default_factory=dict)
    references: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    impossible: bool = False
    rounding: float = 0.0
    undetermined: tuple[str, ...] = ()
    looks: tuple[Look, ...] = field(default=(), compare=False, repr=False)

    @property
    def misalignment(self) -> float:
        """The misalignment that rounding leaves of aligned parts: the errors of several numbers add up."""
        return LEVERS * self.rounding

    def problems(self) -> Iterator[str]:
        """Problems of the source."""
        for body, (w, x, y, z) in self.frames.items():
            if abs((w * w + x * x + y * y + z * z) ** 0.5 - 1) > 1e-6:
                yield f'source.frames: the quaternion of "{body}" is not of unit length.'
        if not 0 <= self.rounding < 1e-2:
            yield f"source.rounding is {self.rounding:g}. Give zero, or what numbers are rounded by: 5e-6 of six digits."
