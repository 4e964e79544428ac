"""What kinds of values the items of a Spec are made of.

Every field of an item carries one of these in its annotation. Reading, writing, the schema, evaluating formulas, paths of
parameters and copying assemblies all walk the same table, so that a new field is one line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass
from typing import Annotated, Any, NamedTuple, get_type_hints

from ..parameters.expressions import Formula

Scalar = float | Formula
Triple = tuple[Scalar, Scalar, Scalar]
XYZ = ("x", "y", "z")
XYZ_ZERO = (0.0, 0.0, 0.0)
AXES: dict[str, Triple] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
AXES |= {"-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0)}
PRODUCTS = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


@dataclass(frozen=True)
class InBody:
    """A place in the frame of a body: its origin is at the body's inboard joint, its axes are the world's by design."""

    body: str
    at: Triple


class Construction:
    """A place that is made from others (geometry/constructions.py): a record of fields."""

    def position(self) -> Any:
        """The position of a construction whose fields are evaluated: three numbers of any kind."""
        raise NotImplementedError

    def wrong(self, at: Any) -> str:
        """The reason why it cannot be made, with a remedy, or ""; ``at`` is this construction with its fields evaluated."""
        raise NotImplementedError


Place = str | Triple | InBody | Construction


class Visitor:
    """Sees every number, place and name of an item, and says what stands there instead. The base class changes nothing.

    Paths are those of parameters: ``lower_arm.mass``, ``tip.x``, ``elbow.point.x``, ``crank.motion.rate``.
    """

    literals: bool = True  # numbers are shown too; else formulas only
    kind: Kind  # of the field that is shown

    def scalar(self, path: str, value: Scalar) -> Scalar:
        return value

    def triple(self, path: str, value: Triple, turns: str) -> Triple:
        """``turns`` says how it is mirrored: "polar" as an arrow, "axial" as a rotation, "" not at all."""
        x, y, z = value
        if not self.literals and not (isinstance(x, Formula) or isinstance(y, Formula) or isinstance(z, Formula)):
            return value
        return self.scalar(f"{path}.x", x), self.scalar(f"{path}.y", y), self.scalar(f"{path}.z", z)

    def live_triple(self, path: str, value: Triple, turns: str) -> Triple:
        """Three numbers, each of which may be live."""
        return self.triple(path, value, turns)

    def place(self, path: str, value: Place) -> Place:
        if isinstance(value, str):
            return self.name(path, "point", value)
        if isinstance(value, InBody):
            return InBody(self.name(path, "body", value.body), self.triple(path, value.at, "polar"))
        if isinstance(value, Construction):
            made: Construction = map_fields(value, path, self)
            return made
        return self.triple(path, value, "polar")

    def direction(self, path: str, value: Any, turns: str) -> Any:
        """A vector, or the way between two places."""
        return map_fields(value, path, self) if isinstance(value, Between) else self.triple(path, value, turns)

    def inertia(self, path: str, value: Any) -> Any:
        flat = [entry for row in value for entry in row]
        if not self.literals and not any(isinstance(entry, Formula) for entry in flat):
            return value
        new = {key: self.scalar(f"{path}.{key}", value[i][j]) for key, (i, j) in PRODUCTS.items()}
        for key, (i, j) in PRODUCTS.items():
            if i != j and value[j][i] != value[i][j]:  # not symmetric: impossible, but kept as written
                new[key[::-1]] = self.scalar(f"{path}.{key[::-1]}", value[j][i])
        return tuple(tuple(new.get(XYZ[i] + XYZ[j], new.get(XYZ[j] + XYZ[i])) for j in range(3)) for i in range(3))

    def name(self, path: str, to: str, value: str) -> str:
        return value

    def live(self, path: str, value: Scalar) -> Scalar:
        """A number, or a formula that may be over what changes during a run."""
        return self.scalar(path, value) if self.literals or isinstance(value, Formula) else value

    def formula(self, path: str, value: Formula) -> Formula:
        """One over names of measures, which has no value by itself."""
        return value


@dataclass(frozen=True)
class Kind:
    """The kind of a field: ``doc`` for people, ``key`` in files where it is not the attribute's name, ``remedy`` if missing.

    ``flat``: the key is left out of paths. ``map`` shows a value that is not None to a visitor, and returns what it says.
    """

    doc: str = ""
    key: str = ""
    remedy: str = ""
    flat: bool = False

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return value


def _scalar(value: Any, path: str, visit: Visitor) -> Any:
    return visit.scalar(path, value) if visit.literals or isinstance(value, Formula) else value


@dataclass(frozen=True)
class Number(Kind):
    unit: str = ""
    sign: str = "any"  # or "zero or more", "more than zero"
    live: bool = False  # a formula may be over what changes during a run

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return visit.live(path, value) if self.live else _scalar(value, path, visit)


@dataclass(frozen=True)
class Numbers(Kind):
    """One number, or several."""

    unit: str = ""

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        if not isinstance(value, tuple):
            return _scalar(value, path, visit)
        return tuple(_scalar(x, f"{path}.{i}", visit) for i, x in enumerate(value))


@dataclass(frozen=True)
class Vector3(Kind):
    unit: str = ""
    turns: str = ""
    sign: str = "any"
    live: bool = False  # as of a number

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return visit.live_triple(path, value, self.turns) if self.live else visit.triple(path, value, self.turns)


@dataclass(frozen=True)
class Direction(Kind):
    """A vector of any length; in files also "x", "-y" and so on, and the way between two places."""

    turns: str = "polar"

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return visit.direction(path, value, self.turns)


@dataclass(frozen=True)
class Position(Kind):
    unit: str = "m"

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return visit.place(path, value)


@dataclass(frozen=True)
class Distances(Kind):
    """Distances from points, by their names: pairs (place, distance). The place of "A" has the path ``B.from.A.point``."""

    unit: str = ""

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return tuple(
            (visit.place(f"{path}.{point}.point", point), _scalar(distance, f"{path}.{point}", visit))
            for point, distance in value
        )


@dataclass(frozen=True)
class Inertia(Kind):
    unit: str = "kg m2"

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return visit.inertia(path, value)


@dataclass(frozen=True)
class Between:
    """A direction from one place to another: an axis through two points."""

    start: Annotated[Place, Position("a point of the axis", key="from", remedy="Give the point where it begins.")]
    end: Annotated[Place, Position("another one", key="to", remedy="Give the point to which it goes.")]


@dataclass(frozen=True)
class Text(Kind):
    pass


@dataclass(frozen=True)
class FormulaText(Kind):
    """A formula over the names of measures, which has no value by itself."""

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return visit.formula(path, value)


@dataclass(frozen=True)
class Choice(Kind):
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Name(Kind):
    """The name of something: ``to`` is "body", "joint", "coordinate", "element", "input" or "assembly"."""

    to: str = "body"

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return visit.name(path, self.to, value)


@dataclass(frozen=True)
class Names(Kind):
    """Several names: of coordinates, ``shoulder``, or ``base.x`` of a joint that has several; or of bodies."""

    to: str = "coordinate"

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return tuple(visit.name(f"{path}.{i}", self.to, name) for i, name in enumerate(value))


@dataclass(frozen=True)
class Flag(Kind):
    """True or false."""


@dataclass(frozen=True)
class Matrix(Kind):
    """Rows of numbers, all of the same length."""

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return tuple(tuple(_scalar(x, f"{path}.{i}.{k}", visit) for k, x in enumerate(row)) for i, row in enumerate(value))


@dataclass(frozen=True)
class Rows(Kind):
    """A table of two columns."""

    columns: tuple[str, str] = ("time", "value")

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return tuple(tuple(_scalar(x, f"{path}.{i}.{k}", visit) for k, x in enumerate(row)) for i, row in enumerate(value))


@dataclass(frozen=True)
class Record(Kind):
    """A table inside: one of ``classes``, told apart by their own keys."""

    classes: tuple[type[Any], ...] = ()

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return map_fields(value, path, visit)


@dataclass(frozen=True)
class Records(Kind):
    """Tables inside by name, as a tuple of pairs (name, record); the name "" stands for one record without a name."""

    classes: tuple[type[Any], ...] = ()

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return tuple((name, map_fields(inner, f"{path}.{name}" if name else path, visit)) for name, inner in value)


@dataclass(frozen=True)
class Series(Kind):
    """Tables inside one after the other, each one of ``classes``, told apart by their own keys; paths count them from 0."""

    classes: tuple[type[Any], ...] = ()

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return tuple(map_fields(inner, f"{path}.{i}", visit) for i, inner in enumerate(value))


@dataclass(frozen=True)
class Parts(Kind):
    """Shapes that a body is made of, each described as a body is; paths count them from 0."""

    def map(self, value: Any, path: str, visit: Visitor) -> Any:
        return tuple(map_fields(inner, f"{path}.{i}", visit) for i, inner in enumerate(value))


class Field(NamedTuple):
    """A field of an item: its attribute, its key in files, its kind, and what it is where it is left out."""

    attribute: str
    key: str
    kind: Kind
    required: bool
    default: Any


_FIELDS: dict[type[Any], tuple[Field, ...]] = {}


def fields_of(cls: type[Any]) -> tuple[Field, ...]:
    """The fields of a class of items whose annotations say their kind: ``mass: Annotated[Scalar, Number("...")]``."""
    if cls not in _FIELDS:
        _FIELDS[cls] = tuple(_fields(cls))
    return _FIELDS[cls]


def _fields(cls: type[Any]) -> Iterator[Field]:
    hints = get_type_hints(cls, include_extras=True)
    for f in dataclasses.fields(cls):
        for kind in getattr(hints[f.name], "__metadata__", ()):
            required = f.default is MISSING
            yield Field(f.name, kind.key or f.name, kind, required, None if required else f.default)


def map_fields(item: Any, path: str, visit: Visitor) -> Any:
    """The item with every field as the visitor says; the same object where nothing changes."""
    changed: dict[str, Any] = {}
    for attribute, key, kind, _, _ in fields_of(type(item)):
        value = getattr(item, attribute)
        if value is None:
            continue
        visit.kind = kind
        new = kind.map(value, path if kind.flat else f"{path}.{key}" if path else key, visit)
        if new is not value and new != value:
            changed[attribute] = new
    return dataclasses.replace(item, **changed) if changed else item


class Listing(Visitor):
    """Collects the numbers of items by path."""

    def __init__(self) -> None:
        self.found: dict[str, Scalar] = {}
        self.places: dict[str, Place] = {}
        self.ways: dict[str, Between] = {}

    def scalar(self, path: str, value: Scalar) -> Scalar:
        self.found[path] = value
        return value

    def place(self, path: str, value: Place) -> Place:
        self.places[path] = value
        return super().place(path, value)

    def direction(self, path: str, value: Any, turns: str) -> Any:
        if isinstance(value, Between):
            self.ways[path] = value
        return super().direction(path, value, turns)


class Units(Visitor):
    """Collects the units of the numbers of items by path; "" where the file does not say."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def scalar(self, path: str, value: Scalar) -> Scalar:
        self.found[path] = getattr(self.kind, "unit", "")
        return value


class Replacing(Visitor):
    """Puts numbers, or formulas, in place of those of some paths."""

    def __init__(self, numbers: Mapping[str, Scalar]) -> None:
        self.numbers = numbers

    def scalar(self, path: str, value: Scalar) -> Scalar:
        return self.numbers.get(path, value)


def numbers_of(item: Any, path: str) -> Iterator[tuple[str, Scalar]]:
    listing = Listing()
    map_fields(item, path, listing)
    yield from listing.found.items()
