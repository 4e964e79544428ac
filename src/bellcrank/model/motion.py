"""Prescribed motion of a joint, and tables: plain data, as the program runs them.

A driven joint has no entries in q and v: its laws give its coordinates at every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..numbers.variable import is_finite
from ..wording import counted

MOST_COEFFICIENTS = 8
LAWS = ("polynomial", "sine", "table", "sum")
OUTSIDE = ("error", "clamp")


@dataclass(frozen=True)
class Table:
    """y over x, a natural cubic spline; ``outside`` its range it is an error, or keeps the value of its end."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    outside: str = "error"

    def problems(self) -> Iterator[str]:
        if len(self.x) != len(self.y):
            yield f"its table has {counted(len(self.x), 'value')} of x and {len(self.y)} of y. Give as many of each."
        elif len(self.x) < 2:
            yield f"its table has {counted(len(self.x), 'row')}. Give two at least."
        elif not all(map(is_finite, (*self.x, *self.y))):
            yield "its table has a value that is not finite."
        else:
            for k, (a, b) in enumerate(zip(self.x, self.x[1:], strict=False)):
                if not a < b:
                    yield f"its table goes from {a:g} to {b:g} in row {k + 2}. Let the first column increase."
                    break
        if self.outside not in OUTSIDE:
            yield f'outside is "{self.outside}". Give "error" or "clamp".'


@dataclass(frozen=True)
class Law:
    """A coordinate as a function of time.

    kind          values
    "polynomial"  c0, c1, ...: c0 + c1 t + c2 t^2 ..., 8 at most
    "sine"        offset, amplitude, frequency (Hz), phase (rad): offset + amplitude sin(2 pi frequency t + phase)
    "table"       none: a natural cubic spline through ``table``, over time
    "sum"         none: the sum of ``parts``, none of which is a sum itself
    """

    kind: str
    values: tuple[float, ...] = ()
    table: Table | None = None
    parts: tuple[Law, ...] = ()

    @property
    def terms(self) -> tuple[Law, ...]:
        """The laws that are added up: those of a sum, or the law alone."""
        return self.parts if self.kind == "sum" else (self,)

    def problems(self) -> Iterator[str]:
        if self.kind == "sum":
            yield from self._problems_of_sum()
            return
        if self.parts:
            yield f'its law is a {self.kind} with parts. Give parts to a "sum" only.'
        if self.kind not in LAWS:
            yield f'there is no law "{self.kind}". Choose from {", ".join(LAWS)}.'
        elif self.kind == "polynomial" and not 1 <= len(self.values) <= MOST_COEFFICIENTS:
            yield f"its polynomial has {counted(len(self.values), 'coefficient')}. Give 1 to {MOST_COEFFICIENTS}."
        elif self.kind == "sine" and len(self.values) != 4:
            yield f"its sine has {counted(len(self.values), 'value')}. Give offset, amplitude, frequency and phase."
        elif self.kind == "table" and self.table is None:
            yield "its law has no table. Give one."
        if not all(map(is_finite, self.values)):
            yield f"its law has the values {self.values}. Give finite numbers."
        if self.table is not None:
            yield from self.table.problems()

    def _problems_of_sum(self) -> Iterator[str]:
        if not self.parts:
            yield "its sum has no laws. Give one at least."
        for part in self.parts:
            if part.kind == "sum":
                yield "its sum has a sum in it. Add all of their laws up in one."
            else:
                yield from part.problems()


@dataclass(frozen=True)
class PrescribedMotion:
    """The laws of a driven joint, one for each coordinate.

    A spherical joint has one law, its angle about ``axis``, which is fixed in both bodies; a free joint has x, y, z and the
    angle about ``axis``. Other joints have no axis here.
    """

    laws: tuple[Law, ...]
    axis: tuple[float, float, float] | None = None
