"""Named points of a model file, and values that are a point: its name, or [x, y, z]."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model.shapes import ORIGIN, Vector
from .table import Table, as_vector


@dataclass(frozen=True)
class Points:
    """The points that could be read, and the names of those that could not; all of them, where [points] is no table."""

    known: dict[str, Vector] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    none_readable: bool = False

    @classmethod
    def read(cls, top: Table) -> Points:
        """The table [points]."""
        table = top.table("points")
        if table is None:
            return cls(none_readable="points" in top)
        points = cls()
        for name in table.values:
            position = as_vector(table.get(name))
            if position is None:
                table.wrong(name, "three finite numbers, [x, y, z]")
                points.unreadable.add(name)
            else:
                points.known[name] = position
        return points

    def of(self, table: Table, key: str) -> Vector:
        """The position that a key gives; the origin where it is missing, or cannot be known."""
        value = table.get(key)
        if value is None or (isinstance(value, str) and (self.none_readable or value in self.unreadable)):
            table.source.problems.blame(table.about)
            return ORIGIN
        position = self.known.get(value) if isinstance(value, str) else as_vector(value)
        if position is None and isinstance(value, str) and not value.lstrip().startswith("="):
            hint = table.source.problems.suggest(value, self.known)
            table.complain(f'{table.label}.{key} names the point "{value}", which is not in [points].{hint}', key)
        elif position is None:
            table.wrong(key, "the name of a point, or three finite numbers [x, y, z]")
        return position or ORIGIN
