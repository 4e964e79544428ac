"""What a body is made of, and the mass, centre and inertia that follow.

A new shape is one more frozen class with ``mass_properties`` and ``problems``, in the global frame, in the design position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

ORIGIN: Vector = (0.0, 0.0, 0.0)
NO_INERTIA: Matrix = (ORIGIN, ORIGIN, ORIGIN)


class Shape(Protocol):
    """Anything that has mass properties."""

    def mass_properties(self) -> MassProperties: ...

    def problems(self) -> list[str]: ...


@dataclass(frozen=True)
class MassProperties:
    """Mass (kg), centre of mass (m), inertia about it (kg m2); without inertia, a point mass.

    ``center`` may be None for a body without mass, whose centre has no meaning.
    """

    mass: float
    center: Vector | None
    inertia: Matrix = NO_INERTIA

    def mass_properties(self) -> MassProperties:
        return self

    def problems(self) -> list[str]:
        if self.center is None and self.mass != 0:
            return ["it has a mass but no centre. Give center = [x, y, z]."]
        return []


@dataclass(frozen=True)
class Rod:
    """A uniform straight rod between two points; a radius makes it a solid cylinder.

    I = m (3 r^2 + L^2)/12 (1 - u u^T) + m r^2/2 u u^T,  u along the rod
    """

    start: Vector
    end: Vector
    mass: float
    radius: float = 0.0

    def mass_properties(self) -> MassProperties:
        start, end = np.array(self.start), np.array(self.end)
        length = float(np.linalg.norm(end - start))
        u = (end - start) / length
        along = np.outer(u, u)
        across = self.mass * (3 * self.radius**2 + length**2) / 12
        inertia = across * (np.eye(3) - along) + self.mass * self.radius**2 / 2 * along
        x, y, z = ((start + end) / 2).tolist()
        return MassProperties(self.mass, (x, y, z), _rows(inertia))

    def problems(self) -> list[str]:
        found = []
        if np.linalg.norm(np.subtract(self.end, self.start)) == 0:
            found.append(f"its rod begins and ends at {self.start}. Give it two different points.")
        if not self.radius >= 0:
            found.append(f"the radius of its rod is {self.radius:g} m. Give a radius of zero or more.")
        return found


def _rows(matrix: NDArray[np.float64]) -> Matrix:
    """Rows as tuples, without negative zeros, which would spoil comparisons and print badly."""
    (a, b, c), (d, e, f), (g, h, i) = (matrix + 0.0).tolist()
    return (a, b, c), (d, e, f), (g, h, i)
