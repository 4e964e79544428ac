"""What all items of a Spec have: a name, a section of the file, and the place where they were written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from .fields import Name, Place, Position, Record

GROUND = "ground"
PARAMETERS = "parameters"


class Where:
    """A place in a model file; empty for what was written in Python."""

    __slots__ = ("_keys", "_line", "file")

    def __init__(self, file: str | None = None, line: int | None = None, keys: Mapping[str, int] | None = None) -> None:
        self.file, self._line, self._keys = file, line, keys or {}

    @property
    def line(self) -> int | None:
        return self._line

    def at(self, *keys: str) -> Where:
        """The line of one key of this item, or of the item itself where the key has no line."""
        return Where(self.file, self._keys.get(keys[0], self.line) if keys else self.line)

    def __str__(self) -> str:
        if self.line is None:
            return self.file or ""
        return f"{self.file}, line {self.line}" if self.file else f"line {self.line}"


NOWHERE = Where()


@dataclass(frozen=True)
class Written:
    """Anything that stands somewhere in a file."""

    where: Where = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Item(Written):
    """Anything with a name of its own, in a ``section`` of the file; of some sections each item says its ``type``."""

    name: str

    section: ClassVar[str]
    type: ClassVar[str]

    def __init_subclass__(cls, *, section: str = "", type: str = "") -> None:
        cls.section, cls.type = section or getattr(cls, "section", ""), type

    @property
    def path(self) -> str:
        """The beginning of the paths of its numbers."""
        return self.name


@dataclass(frozen=True)
class Attachment:
    """A point on a body."""

    body: Annotated[str, Name("a body", remedy=f'Name a body, or "{GROUND}".')]
    point: Annotated[
        Place, Position("a place; or at = [x, y, z] in the body's frame", remedy="Give its point, or at = [x, y, z].")
    ]


def ends(cls: type[Any], what: tuple[str, str], wanted: str) -> tuple[Record, Record]:
    """The two ends, ``from`` and ``to``, of something between bodies."""
    first, last = (
        Record(f"where it {text}", key=key, classes=(cls,), remedy=f"Say where it {text}: {key} = {{ {wanted} }}")
        for key, text in zip(("from", "to"), what, strict=True)
    )
    return first, last


BEGINS, ENDS = ends(Attachment, ("begins", "ends"), "body = ..., point = ...")
Start = Annotated[Attachment, BEGINS]
End = Annotated[Attachment, ENDS]
