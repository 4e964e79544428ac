"""Prescribed motion of a joint: plain data, as the program runs it.

A driven joint has no entries in q and v: its laws give its coordinates at every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..numbers.variable import is_finite
from ..wording import counted
from .parameters.expressions import FormulaError, derived
from .parameters.tables import Table

MOST_COEFFICIENTS = 8
TIMES = ("t", "time")
LAWS = ("polynomial", "sine", "table", "formula", "sum")


@dataclass(frozen=True)
class Law:
    """A coordinate as a function of time.

    kind          values
    "polynomial"  c0, c1, ...: c0 + c1 t + c2 t^2 ..., 8 at most
    "sine"        offset, amplitude, frequency (Hz), phase (rad): offset + amplitude sin(2 pi frequency t + phase)
    "table"       none: a curve through ``table``, over time
    "formula"     numbers of the ``names`` in ``expression``, which is over these and the time
    "sum"         none: the sum of ``parts``, none of which is a sum itself
    """

    kind: str
    values: tuple[float, ...] = ()
    table: Table | None = None
    parts: tuple[Law, ...] = ()
    expression: str = ""
    names: tuple[str, ...] = ()

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
        elif self.kind == "formula" and not self._is_of_time():
            yield f'its law is the formula "={self.expression}". Let it be one of the time t and of numbers with names.'
        elif self.kind == "table" and self.table is None:
            yield "its law has no table. Give one."
        if not all(map(is_finite, self.values)):
            yield f"its law has the values {self.values}. Give finite numbers."
        if self.table is not None:
            yield from self.table.problems()

    def _is_of_time(self) -> bool:
        try:
            formula = derived(self.expression)
        except FormulaError:
            return False
        return set(formula.names) <= {*TIMES, *self.names} and len(self.names) == len(self.values) and not formula.calls

    def of_time(self, t: Any) -> Any:
        """The value of a formula, on any number."""
        return derived(self.expression).run(dict(zip(self.names, self.values, strict=True)) | dict.fromkeys(TIMES, t))

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
