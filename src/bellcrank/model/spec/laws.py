"""Laws of motion as the user writes them: how a coordinate, a length or an offset depends on time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from ...numbers.interpolation import INTERPOLATIONS
from ..parameters.tables import OUTSIDE
from .fields import Choice, Direction, Matrix, Number, Numbers, Records, Rows, Scalar, Series, Text, Triple
from .items import Item

Pairs = tuple[tuple[Scalar, Scalar], ...]
Outside = Annotated[
    str,
    Choice("beyond the ends: an error, the last value (clamp), the last slope (extrapolate), or periodic", options=OUTSIDE),
]
Between = Annotated[str, Choice("interpolation between the rows of the table", options=INTERPOLATIONS)]
SMOOTH = ("cubic", "pchip", "akima")  # a motion has velocities


class LawSpec:
    """Laws can be added: ``rate(3.0) + sine(0.3, 2.0)``."""

    def __add__(self, other: Any) -> SumLaw:
        if not isinstance(other, LawSpec):
            return NotImplemented
        return SumLaw((*_terms(self), *_terms(other)))


def _terms(law: Any) -> tuple[Any, ...]:
    return law.sum if isinstance(law, SumLaw) else (law,)


@dataclass(frozen=True)
class RateLaw(LawSpec):
    """start + rate t"""

    rate: Annotated[Scalar, Number("constant rate", unit="rad/s or m/s")]
    start: Annotated[Scalar, Number("at t = 0", unit="rad or m")] = 0.0


@dataclass(frozen=True)
class PolynomialLaw(LawSpec):
    """c0 + c1 t + c2 t^2 + ..."""

    polynomial: Annotated[Any, Numbers("coefficients c0, c1, ...: 8 at most")]


@dataclass(frozen=True)
class SineLaw(LawSpec):
    """offset + amplitude sin(2 pi frequency t + phase)"""

    amplitude: Annotated[Scalar, Number("of the sine", unit="rad or m")]
    frequency: Annotated[Scalar, Number("of the sine", unit="Hz", remedy="Give it in Hz.")]
    phase: Annotated[Scalar, Number("at t = 0", unit="rad")] = 0.0
    offset: Annotated[Scalar, Number("its middle", unit="rad or m")] = 0.0


@dataclass(frozen=True)
class TableLaw(LawSpec):
    """A curve through a table of time; "cubic", a natural spline, has continuous accelerations."""

    table: Annotated[Pairs, Rows("rows [time, coordinate]", columns=("time", "coordinate"))]
    outside: Outside = "error"
    interpolation: Annotated[str, Choice("interpolation between the rows of the table", options=SMOOTH)] = "cubic"


@dataclass(frozen=True)
class FormulaLaw(LawSpec):
    """A formula of the time; its velocity and acceleration are its derivatives."""

    formula: Annotated[Scalar, Number("formula of the time t and of parameters", unit="rad or m", live=True)]


TERM_SPECS: tuple[type[Any], ...] = (RateLaw, PolynomialLaw, SineLaw, TableLaw, FormulaLaw)


@dataclass(frozen=True)
class SumLaw(LawSpec):
    """The sum of laws, of which each is one of the others."""

    sum: Annotated[tuple[LawSpec, ...], Series("laws that are added up", classes=TERM_SPECS)]


LAW_SPECS: tuple[type[Any], ...] = (*TERM_SPECS, SumLaw)


@dataclass(frozen=True)
class TableSpec(Item, section="tables"):
    """A table that formulas call by its name: of one argument, in rows, or of two, with values for each x and y."""

    rows: Annotated[Pairs | None, Rows("rows [x, value]", columns=("x", "value"))] = None
    x: Annotated[Any, Numbers("the first argument, of a table of two")] = None
    y: Annotated[Any, Numbers("the second")] = None
    values: Annotated[Any, Matrix("a row for each x, with an entry for each y")] = None
    interpolation: Annotated[
        str | None, Choice('"pchip" unless given; of two arguments "linear", or "cubic"', options=INTERPOLATIONS)
    ] = None
    outside: Outside = "error"


@dataclass(frozen=True)
class StateSpec(Item, section="states"):
    """A user-defined state: a number that changes at a given rate and is integrated with the motion."""

    rate: Annotated[
        Scalar,
        Number("its rate of change: constant, or a formula over the time, coordinates, measures, inputs and states", live=True,
               remedy='Give it: rate = "=..."'),
    ]  # fmt: skip
    initial: Annotated[Scalar, Number("its value at the start")] = 0.0
    unit: Annotated[str, Text("its unit, as results show it")] = ""


@dataclass(frozen=True)
class MotionSpec:
    """The motion of a driven joint: one law, without a name, or one for each coordinate by its name.

    A spherical joint turns by ``angle`` about ``axis``; a free one moves by x, y, z as well.
    """

    laws: Annotated[tuple[tuple[str, LawSpec], ...], Records("a law, or laws by coordinate", classes=LAW_SPECS, flat=True)]
    axis: Annotated[Triple | None, Direction("of a spherical or free joint", turns="axial")] = None
