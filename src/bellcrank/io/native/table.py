"""Tables of a model file. Every complaint carries file, line, name, value and remedy.

A value that cannot be used is complained of once, and a harmless placeholder takes its place so that reading goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from ...model.geometry.units import Quantity, UnitError, looks_like_quantity
from ...model.parameters.expressions import LARGEST, Formula, FormulaError
from ...model.spec.fields import Scalar, Triple
from ...model.spec.items import Where
from ...model.spec.problems import Problems, brief
from .lines import Path, key_lines


class ParsedFile:
    """A parsed file: its name, the line of every key, and the problems found so far. Lines are looked for when needed."""

    def __init__(self, file: str, text: str, problems: Problems) -> None:
        self.file, self.text, self.problems = file, text, problems

    @cached_property
    def lines(self) -> dict[Path, int]:
        return key_lines(self.text)

    def where(self, path: Path) -> Where:
        return KeyPlace(self, path)


class KeyPlace(Where):
    """The place of a key of a file, or of the deepest of ``keys`` inside it, each inside the one before, that has a line."""

    __slots__ = ("_inner", "_path", "_source")

    def __init__(self, source: ParsedFile, path: Path, keys: tuple[str, ...] = ()) -> None:
        super().__init__(source.file)
        self._source, self._path, self._inner = source, path, keys

    @property
    def source(self) -> ParsedFile:
        return self._source

    @property
    def path(self) -> Path:
        return self._path

    @property
    def line(self) -> int | None:
        lines = self._source.lines
        for n in range(len(self._inner), -1, -1):
            path = self._path + tuple(int(key) if key.isdigit() else key for key in self._inner[:n])
            if path in lines:
                return lines[path]
        return None

    def at(self, *keys: str) -> Where:
        return KeyPlace(self._source, self._path, self._inner + keys)


class TomlTable:
    """A table, and the body, joint or point that it describes (``about``)."""

    __slots__ = ("about", "path", "source", "used", "values")

    def __init__(self, source: ParsedFile, path: Path, values: Mapping[str, Any], about: str | None = None) -> None:
        self.source, self.path, self.values, self.about = source, path, values, about
        self.used: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self.values

    @property
    def label(self) -> str:
        return ".".join(map(str, self.path))

    @property
    def where(self) -> Where:
        return self.source.where(self.path)

    def complain(self, text: str, key: str | None = None) -> None:
        path = self.path if key is None else (*self.path, key)
        self.source.problems.add(text, self.source.where(path), self.about)

    def get(self, key: str) -> Any:
        """The raw value of a key, which then counts as known."""
        self.used.add(key)
        return self.values.get(key)

    def know(self, *keys: str) -> None:
        """Keys that may be there."""
        self.used.update(keys)

    @property
    def inside(self) -> str:
        """The table in a message: its heading, or the file where there is none."""
        return f"[{self.label}]" if self.path else "the file"

    def need(self, key: str, remedy: str) -> bool:
        """Is the key there? Complains if not."""
        self.used.add(key)
        if key not in self.values:
            self.complain(f"{self.inside} has no {key}. {remedy}")
        return key in self.values

    def full(self, key: str) -> str:
        return f"{self.label}.{key}" if self.path else key

    def wrong(self, key: str, wanted: str) -> None:
        """Complains that the value of a key is not what is wanted, or that its formula cannot be read."""
        value = self.values.get(key)
        for text in _formulas(value):
            try:
                Formula(text)
            except FormulaError as error:
                self.complain(f"{self.full(key)} has the formula {brief('=' + text)}: {error}.", key)
                return
        for text in _texts(value):
            try:
                Quantity(text)
            except UnitError as error:
                self.complain(f"{self.full(key)} is {brief(text)}: {error}.", key)
                return
        self.complain(f"{self.full(key)} is {brief(value)}. Give {wanted}.", key)

    def text(self, key: str, default: str = "") -> str:
        value = self.get(key)
        if isinstance(value, str) and value:
            return value
        if key in self.values:
            self.wrong(key, "text in quotes")
        return default

    def table(self, key: str, wanted: str = "") -> TomlTable | None:
        """The table of a key; None where it is missing, or after a complaint that says what is ``wanted``."""
        value = self.get(key)
        if isinstance(value, dict):
            return TomlTable(self.source, (*self.path, key), value, self.about)
        if key in self.values:
            self.wrong(key, wanted or f"a table, [{self.full(key)}]")
        return None

    def items(self) -> Iterator[TomlTable]:
        """The tables in this table, one for each named thing."""
        for name in self.values:
            inner = self.table(name)
            if inner is not None:
                inner.about = name
                yield inner

    def close(self) -> None:
        """Complains of every key that nobody asked for."""
        if self.values.keys() <= self.used:
            return
        for key in self.values:
            if key not in self.used:
                hint = self.source.problems.suggest(key, self.used)
                inside = f"{self.inside} has"
                self.complain(f'{inside} an unknown key "{key}".{hint}', key)


def _formulas(value: Any) -> Iterator[str]:
    """The formulas in a value, without their =."""
    yield from (text.lstrip()[1:] for text in _strings(value) if text.lstrip().startswith("="))


def _texts(value: Any) -> Iterator[str]:
    """Numbers with units in a value."""
    yield from (text for text in _strings(value) if looks_like_quantity(text))


def _strings(value: Any) -> Iterator[str]:
    """Texts in lists of lists, or in a table, at most."""
    many = [value] if isinstance(value, str) else list(value.values()) if isinstance(value, dict) else value
    for inner in many[:1000] if isinstance(many, list) else ():
        yield from (x for x in (inner[:1000] if isinstance(inner, list) else [inner]) if isinstance(x, str))


def as_scalar(value: Any) -> Scalar | None:
    """A finite number of a sensible size, or a formula; else None. True is not a number."""
    if type(value) is float or type(value) is int:
        return float(value) + 0.0 if abs(value) <= LARGEST else None
    if not isinstance(value, str):
        return None
    try:
        if value.lstrip().startswith("="):
            return Formula(value.lstrip()[1:].strip())
        number = Quantity(value) if looks_like_quantity(value) else None
        return number if number is not None and abs(number) <= LARGEST else None
    except (FormulaError, UnitError):
        return None  # TomlTable.wrong says why


def as_triple(value: Any) -> Triple | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    x, y, z = as_scalar(value[0]), as_scalar(value[1]), as_scalar(value[2])
    return None if x is None or y is None or z is None else (x, y, z)
