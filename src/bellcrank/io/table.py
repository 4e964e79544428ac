"""Typed access to the tables of a model file. Every complaint carries file, line, name, value and remedy.

A value that cannot be used is complained of once, and a harmless placeholder takes its place so that reading goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..model.problems import Problems, brief
from ..model.shapes import ORIGIN, Vector
from ..model.spec import Where
from .lines import Path

LARGEST = 1e30  # no length, mass or time of a mechanism comes near; products of such numbers stay finite


@dataclass(frozen=True)
class Source:
    """A parsed file: its name, the line of every key, and the problems found so far."""

    file: str
    lines: Mapping[Path, int]
    problems: Problems

    def where(self, path: Path, keys: Mapping[str, Any] | None = None) -> Where:
        """The place of a key; with the lines of the keys inside, if given."""
        of_keys = {key: self.lines[*path, key] for key in keys or () if (*path, key) in self.lines}
        return Where(self.file, self.lines.get(path), of_keys)


class Table:
    """A table, and the body, joint or point that it describes (``about``)."""

    def __init__(self, source: Source, path: Path, values: Mapping[str, Any], about: str | None = None) -> None:
        self.source, self.path, self.values, self.about = source, path, values, about
        self.label = ".".join(map(str, path))
        self._used: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self.values

    @property
    def where(self) -> Where:
        return self.source.where(self.path, self.values)

    def complain(self, text: str, key: str | None = None) -> None:
        path = self.path if key is None else (*self.path, key)
        self.source.problems.add(text, self.source.where(path), self.about)

    def get(self, key: str) -> Any:
        """The raw value of a key, which then counts as known."""
        self._used.add(key)
        return self.values.get(key)

    def need(self, key: str, remedy: str) -> bool:
        """Is the key there? Complains if not."""
        self._used.add(key)
        if key not in self.values:
            self.complain(f"[{self.label}] has no {key}. {remedy}")
        return key in self.values

    def wrong(self, key: str, wanted: str, value: Any = None) -> None:
        """Complains that the value of a key is not what is wanted."""
        value = self.values.get(key) if value is None else value
        full = f"{self.label}.{key}" if self.label else key
        if isinstance(value, str) and value.lstrip().startswith("="):
            self.complain(f"{full} is the expression {brief(value)}; expressions are not supported yet. Write the number.", key)
        else:
            self.complain(f"{full} is {brief(value)}. Give {wanted}.", key)

    def number(self, key: str, default: float = 0.0) -> float:
        value = self.maybe_number(key)
        return default if value is None else value

    def maybe_number(self, key: str) -> float | None:
        """A number; None where it is missing, or after a complaint."""
        value = as_number(self.get(key))
        if value is None and key in self.values:
            self.wrong(key, "a finite number")
        return value

    def text(self, key: str, default: str = "") -> str:
        value = self.get(key)
        if isinstance(value, str) and value:
            return value
        if key in self.values:
            self.wrong(key, "text in quotes")
        return default

    def numbers(self, key: str) -> tuple[float, ...] | None:
        """A number, or an array of numbers; None where it is missing, or after a complaint."""
        value = self.get(key)
        if key not in self.values:
            return None
        found = [as_number(x) for x in (value if isinstance(value, list) else [value])]
        if None in found:
            self.wrong(key, "a finite number, or an array of them")
            return None
        return tuple(x for x in found if x is not None)

    def vector(self, key: str, default: Vector = ORIGIN) -> Vector:
        value = as_vector(self.get(key))
        if value is None and key in self.values:
            self.wrong(key, "three finite numbers, [x, y, z]")
        return default if value is None else value

    def table(self, key: str) -> Table | None:
        """The table of a key; None where it is missing, or after a complaint."""
        value = self.get(key)
        if isinstance(value, dict):
            return Table(self.source, (*self.path, key), value, self.about)
        if key in self.values:
            self.wrong(key, f"a table, [{self.label}.{key}]" if self.label else f"a table, [{key}]")
        return None

    def items(self) -> Iterator[Table]:
        """The tables in this table, one for each named thing."""
        for name in self.values:
            inner = self.table(name)
            if inner is not None:
                inner.about = name
                yield inner

    def close(self) -> None:
        """Complains of every key that nobody asked for."""
        for key in self.values:
            if key not in self._used:
                hint = self.source.problems.suggest(key, self._used)
                inside = f"[{self.label}] has" if self.label else "the file has"
                self.complain(f'{inside} an unknown key "{key}".{hint}', key)


def as_number(value: Any) -> float | None:
    """A finite number of a sensible size, else None; True is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return float(value) + 0.0


def as_vector(value: Any) -> Vector | None:
    found = [as_number(x) for x in value] if isinstance(value, list) else []
    if len(found) != 3 or None in found:
        return None
    x, y, z = (x for x in found if x is not None)
    return x, y, z
