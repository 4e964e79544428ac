"""Bodies of several shapes and holes: masses, centres and inertias added up, those of holes taken away.

M = sum m,   M c = sum m c_k,   I = sum I_k + m (|d|^2 1 - d d^T),   d = c_k - c         m < 0 for holes
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from ...numbers.variable import as_number
from ..spec.fields import Number, Parts, Scalar
from ..spec.shapes import MassProperties, Solid

Part = tuple[str, Any, float]  # how it is called, the shape, and 1, or -1 for a hole


@dataclass(frozen=True)
class Compound:
    """Several shapes that are one body; holes take away material of the body's density, or of their own."""

    parts: Annotated[tuple[Any, ...], Parts("shapes that it is made of", remedy="Give parts = [{ box = { ... } }, ...].")]
    holes: Annotated[tuple[Any, ...], Parts("shapes that are taken away")] = ()
    density: Annotated[
        Scalar | None, Number("of all that has no mass or density of its own", unit="kg/m3", sign="zero or more")
    ] = None

    shape: ClassVar[str] = ""

    def each(self) -> Iterator[Part]:
        """Every part and hole, with its density."""
        for what, shapes, sign in (("parts", self.parts, 1.0), ("holes", self.holes, -1.0)):
            for k, shape in enumerate(shapes):
                if isinstance(shape, Solid) and shape.mass is None and shape.density is None:
                    shape = dataclasses.replace(shape, density=self.density)  # type: ignore[type-var]  # all solids are
                yield f"{what}.{k}", shape, sign

    @property
    def volume(self) -> float:
        return as_number(sum(sign * getattr(shape, "volume", 0.0) for _, shape, sign in self.each()))

    def total(self) -> float:
        return as_number(sum(sign * shape.mass_properties().mass for _, shape, sign in self.each()))

    def measures(self) -> list[str]:
        return [f"{name}: {text}" for name, shape, _ in self.each() for text in shape.problems()]

    def problems(self) -> list[str]:
        found = self.measures()
        if not found and not self.parts:
            found.append("it has no parts. Give one shape or more.")
        if not found and self.holes and not self.total() > 0:
            found.append(f"its holes leave {self.total():g} kg of its parts. Make them smaller, or the parts larger.")
        return found

    def mass_properties(self) -> MassProperties:
        made = [(sign, shape.mass_properties()) for _, shape, sign in self.each()]
        mass = sum(sign * part.mass for sign, part in made)
        if mass == 0:
            return MassProperties(0.0, made[0][1].center)
        x, y, z = (sum(sign * part.mass * part.center[k] for sign, part in made if part.center) / mass for k in range(3))
        rows = [[0.0] * 3 for _ in range(3)]
        for sign, part in made:
            d = [a - b for a, b in zip(part.center or (x, y, z), (x, y, z), strict=True)]
            square = sum(a * a for a in d)
            for i in range(3):
                for j in range(3):
                    steiner = (square if i == j else 0.0) - d[i] * d[j]
                    rows[i][j] = rows[i][j] + sign * (part.inertia[i][j] + part.mass * steiner)
        return MassProperties(mass, (x, y, z), tuple(map(tuple, rows)))
