"""What a body is made of, and the mass, centre and inertia that follow.

A new shape is one more frozen class with ``mass_properties`` and ``problems``, in the global frame, in the design position,
and a line in SHAPES. A shape as written may hold formulas and names of points; its methods are for evaluated ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ...numbers.variable import as_array, as_number, is_finite, length_of
from .fields import Direction, Inertia, Number, Place, Position, Scalar, Triple, Vector3

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]
Array = NDArray[np.float64]

ORIGIN: Vector = (0.0, 0.0, 0.0)
NO_INERTIA: Matrix = (ORIGIN, ORIGIN, ORIGIN)
INERTIA = "[Ixx, Iyy, Izz], three rows of three, or { xx = , yy = , zz = , xy = , xz = , yz = } about the centre of mass"


class Shape(Protocol):
    """Anything that has mass properties; ``shape`` is its key in files."""

    shape: ClassVar[str]

    def mass_properties(self) -> MassProperties: ...

    def problems(self) -> list[str]: ...


@dataclass(frozen=True)
class MassProperties:
    """Mass (kg), centre of mass (m), inertia about it (kg m2); without inertia, a point mass.

    ``center`` may be None for a body without mass, whose centre has no meaning.
    """

    mass: Annotated[Scalar, Number("its mass", unit="kg")]
    center: Annotated[Any, Position("its centre of mass")]  # Place or None
    inertia: Annotated[Any, Inertia(f"its inertia: {INERTIA}")] = NO_INERTIA  # three rows of three scalars

    shape: ClassVar[str] = ""

    def mass_properties(self) -> MassProperties:
        return self

    def problems(self) -> list[str]:
        if self.center is None and self.mass:
            return ["it has a mass but no centre. Give center = [x, y, z]."]
        return []


MASS = Number("its mass; or give its density", unit="kg", remedy="Give its mass in kg, or its density in kg/m3.")
DENSITY = Number("its density, instead of the mass", unit="kg/m3")
FROM = Position("where it begins", key="from", remedy="Give the point where it begins.")
TO = Position("where it ends", key="to", remedy="Give the point where it ends.")
MIDDLE = Position("its middle", remedy="Give the point in its middle.")
AXIS = Direction("direction of its own z; world axes unless given")
AXIS2 = Direction("direction of its own x, perpendicular to axis")


class Solid:
    """A body of uniform density, of a given mass or a given density."""

    mass: Scalar | None
    density: Scalar | None
    shape: ClassVar[str]

    @property
    def volume(self) -> Any:
        raise NotImplementedError

    @property
    def middle(self) -> Array:
        raise NotImplementedError

    def squares(self) -> Array:
        """(3,3) mean of r r^T over the volume, r from the middle."""
        raise NotImplementedError

    def total(self) -> float:
        return as_number(self.density or 0.0) * self.volume if self.mass is None else as_number(self.mass)

    def mass_properties(self) -> MassProperties:
        """I = m (tr(C) 1 - C), C the mean of r r^T."""
        mass, squares = self.total(), self.squares()
        x, y, z = self.middle.tolist()
        return MassProperties(mass, (x, y, z), rows_of(mass * (np.trace(squares) * np.eye(3) - squares)))

    def problems(self) -> list[str]:
        found = self.measures()
        if (self.mass is None) == (self.density is None):
            what = "neither mass nor" if self.mass is None else "both mass and"
            found.append(f"its {self.shape} has {what} density. Give one of them.")
        elif self.density is not None and not found:
            density = as_number(self.density)
            if not density >= 0:
                found.append(f"the density of its {self.shape} is {density:g} kg/m3. Give zero or more.")
            elif self.volume == 0:
                found.append(f"its {self.shape} has a density but no volume. Give a radius, or the mass.")
        return found

    def measures(self) -> list[str]:
        """Problems of its lengths."""
        raise NotImplementedError

    def _length(self, what: str, value: Any, *, zero: bool = False) -> list[str]:
        if value >= 0 if zero else value > 0:
            return []
        least = "zero or more" if zero else "more than zero"
        return [f"the {what} of its {self.shape} is {value:g} m. Give a {what} of {least}."]


class _Straight(Solid):
    """Something round between two points."""

    start: Place
    end: Place

    @property
    def length(self) -> float:
        return length_of(_vector(self.end) - _vector(self.start))

    @property
    def middle(self) -> Array:
        return (_vector(self.start) + _vector(self.end)) / 2

    def squares_of(self, radius_square: float) -> Array:
        """C = L^2/12 u u^T + r^2/4 (1 - u u^T),  u along it."""
        u = (_vector(self.end) - _vector(self.start)) / self.length
        along = np.outer(u, u)
        return np.asarray(self.length**2 / 12 * along + radius_square / 4 * (np.eye(3) - along))

    def measures(self) -> list[str]:
        return [] if self.length > 0 else [f"its {self.shape} begins and ends at {self.start}. Give it two different points."]


@dataclass(frozen=True)
class Rod(_Straight):
    """A uniform straight rod between two points; a radius makes it a solid cylinder."""

    start: Annotated[Place, FROM]
    end: Annotated[Place, TO]
    mass: Annotated[Scalar | None, MASS] = None
    radius: Annotated[Scalar, Number("thin without one", unit="m")] = 0.0
    density: Annotated[Scalar | None, DENSITY] = None

    shape: ClassVar[str] = "rod"

    @property
    def volume(self) -> float:
        return math.pi * as_number(self.radius) ** 2 * self.length

    def squares(self) -> Array:
        return self.squares_of(as_number(self.radius) ** 2)

    def measures(self) -> list[str]:
        return super().measures() + self._length("radius", self.radius, zero=True)


@dataclass(frozen=True)
class Cylinder(_Straight):
    """A disc, roller or tube between the middles of its ends."""

    start: Annotated[Place, FROM]
    end: Annotated[Place, TO]
    radius: Annotated[Scalar, Number("its outer radius", unit="m", remedy="Give its radius in m.")]
    mass: Annotated[Scalar | None, MASS] = None
    inner_radius: Annotated[Scalar, Number("of a tube", unit="m")] = 0.0
    density: Annotated[Scalar | None, DENSITY] = None

    shape: ClassVar[str] = "cylinder"

    @property
    def volume(self) -> float:
        return math.pi * (as_number(self.radius) ** 2 - as_number(self.inner_radius) ** 2) * self.length

    def squares(self) -> Array:
        return self.squares_of(as_number(self.radius) ** 2 + as_number(self.inner_radius) ** 2)

    def measures(self) -> list[str]:
        found = super().measures() + self._length("radius", self.radius)
        found += self._length("inner_radius", self.inner_radius, zero=True)
        inner, outer = as_number(self.inner_radius), as_number(self.radius)
        if not found and inner >= outer:
            found.append(f"the inner_radius of its cylinder is {inner:g} m, and its radius {outer:g} m. Make it smaller.")
        return found


class _Centred(Solid):
    """Something around a point in its middle."""

    center: Place

    @property
    def middle(self) -> Array:
        return _vector(self.center)


@dataclass(frozen=True)
class Box(_Centred):
    """A cuboid: its size along its own x, y, z, which are the world's unless it is given axes."""

    center: Annotated[Place, MIDDLE]
    size: Annotated[Triple, Vector3("its edges", unit="m", remedy="Give its edges: size = [x, y, z].")]
    mass: Annotated[Scalar | None, MASS] = None
    density: Annotated[Scalar | None, DENSITY] = None
    axis: Annotated[Triple | None, AXIS] = None
    axis2: Annotated[Triple | None, AXIS2] = None

    shape: ClassVar[str] = "box"

    @property
    def volume(self) -> float:
        return as_number(np.prod(_vector(self.size)))

    def squares(self) -> Array:
        turn = axes_of(self.axis, self.axis2)
        return np.asarray(turn @ np.diag(_vector(self.size) ** 2 / 12) @ turn.T)

    def measures(self) -> list[str]:
        found = [text for x in self.size for text in self._length("size", x)]
        return found + axes_problems(self.axis, self.axis2, "its box")


@dataclass(frozen=True)
class Sphere(_Centred):
    """A solid ball."""

    center: Annotated[Place, MIDDLE]
    radius: Annotated[Scalar, Number("its radius", unit="m", remedy="Give its radius in m.")]
    mass: Annotated[Scalar | None, MASS] = None
    density: Annotated[Scalar | None, DENSITY] = None

    shape: ClassVar[str] = "sphere"

    @property
    def volume(self) -> float:
        return 4 / 3 * math.pi * as_number(self.radius) ** 3

    def squares(self) -> Array:
        return as_number(self.radius) ** 2 / 5 * np.eye(3)

    def measures(self) -> list[str]:
        return self._length("radius", self.radius)


SOLIDS: tuple[type[Any], ...] = (Rod, Cylinder, Box, Sphere)
DERIVED = ("mass", "volume", "length")  # what formulas may ask of a shape besides what is written in it


def axes_of(axis: Any, axis2: Any) -> Array:
    """(3,3) columns of a frame by the directions of its z and x; the world's where they are not given."""
    if axis is None and axis2 is None:
        return np.eye(3)
    z, x = (None if a is None else _vector(a) / length_of(_vector(a)) for a in (axis, axis2))
    if x is None:
        assert z is not None
        x = np.cross(np.eye(3)[1], z) if abs(z[1]) < 0.9 else np.cross(z, np.eye(3)[2])
        x = x / length_of(x)
    if z is None:
        z = np.cross(x, np.eye(3)[1]) if abs(x[1]) < 0.9 else np.eye(3)[2]
        z = z / length_of(z)
    x = x - (x @ z) * z
    x = x / length_of(x)
    return np.column_stack([x, np.cross(z, x), z])


def axes_problems(axis: Any, axis2: Any, owner: str) -> list[str]:
    given = {name: _vector(a) for name, a in (("axis", axis), ("axis2", axis2)) if a is not None}
    for name, a in given.items():
        if not (all(map(is_finite, a)) and length_of(a) > 0):
            return [f"the {name} of {owner} is {a.tolist()}. Give a vector that is not zero."]
    if len(given) == 2:
        z, x = given["axis"], given["axis2"]
        if abs(z @ x) > 1e-6 * length_of(z) * length_of(x):
            return [f"the axis and axis2 of {owner} are not perpendicular. Turn one of them."]
    return []


def _vector(place: Any) -> Array:
    """An evaluated place."""
    return as_array(place)


def rows_of(matrix: Array) -> Matrix:
    """Rows as tuples, without negative zeros, which would spoil comparisons and print badly."""
    (a, b, c), (d, e, f), (g, h, i) = (matrix + 0.0).tolist()
    return (a, b, c), (d, e, f), (g, h, i)
