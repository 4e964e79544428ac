"""Numbers as people write them, with their unit: "120 mm", "3000 rpm", "2.5 N/mm". Values are in SI; the text is kept.

A unit is a product of names with whole powers, as in "kg m2" or "kg m^2"; a / divides by the name that comes next. Angles count
as a dimension of their own, so that "3000 rpm" is not taken for a frequency in Hz, which it is 6.28 times.
"""

from __future__ import annotations

import difflib
import math
import re
from functools import lru_cache
from typing import Any, NamedTuple


class Dimension(NamedTuple):
    """Powers of metre, kilogram, second and radian."""

    length: int = 0
    mass: int = 0
    time: int = 0
    angle: int = 0


LENGTH, MASS, TIME, ANGLE = (Dimension(*(int(i == k) for i in range(4))) for k in range(4))
FORCE, TORQUE, PRESSURE = Dimension(1, 1, -2), Dimension(2, 1, -2), Dimension(-1, 1, -2)
NAMES = {
    LENGTH: "a length",
    MASS: "a mass",
    TIME: "a time",
    ANGLE: "an angle",
    FORCE: "a force",
    TORQUE: "a torque or an energy",
    PRESSURE: "a pressure",
    Dimension(2, 0, 0): "an area",
    Dimension(3, 0, 0): "a volume",
    Dimension(1, 0, -1): "a velocity",
    Dimension(1, 0, -2): "an acceleration",
    Dimension(0, 0, -1): "a frequency",
    Dimension(0, 0, -1, 1): "an angular velocity",
    Dimension(0, 1, -2): "a stiffness",
    Dimension(0, 1, -1): "a damping",
    Dimension(-3, 1, 0): "a density",
    Dimension(2, 1, 0): "a moment of inertia",
    Dimension(2, 1, -3): "a power",
}

_UNITS: dict[str, tuple[float, Dimension]] = {
    **{name: (x, LENGTH) for name, x in (("m", 1.0), ("dm", 0.1), ("cm", 0.01), ("mm", 1e-3), ("um", 1e-6), ("km", 1e3))},
    **{name: (x, LENGTH) for name, x in (("in", 0.0254), ("ft", 0.3048))},
    **{name: (x, MASS) for name, x in (("kg", 1.0), ("g", 1e-3), ("mg", 1e-6), ("t", 1e3), ("lb", 0.45359237))},
    **{name: (x, TIME) for name, x in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("min", 60.0), ("h", 3600.0))},
    **{name: (x, ANGLE) for name, x in (("rad", 1.0), ("mrad", 1e-3), ("deg", math.pi / 180), ("rev", 2 * math.pi))},
    "rpm": (2 * math.pi / 60, Dimension(0, 0, -1, 1)),
    **{name: (x, Dimension(0, 0, -1)) for name, x in (("Hz", 1.0), ("kHz", 1e3))},
    **{name: (x, FORCE) for name, x in (("N", 1.0), ("mN", 1e-3), ("kN", 1e3), ("MN", 1e6))},
    **{name: (x, FORCE) for name, x in (("kgf", 9.80665), ("lbf", 4.4482216152605))},
    **{name: (x, TORQUE) for name, x in (("Nm", 1.0), ("Nmm", 1e-3), ("kNm", 1e3), ("J", 1.0), ("kJ", 1e3))},
    **{name: (x, PRESSURE) for name, x in (("Pa", 1.0), ("kPa", 1e3), ("MPa", 1e6), ("GPa", 1e9), ("bar", 1e5))},
    **{name: (x, Dimension(2, 1, -3)) for name, x in (("W", 1.0), ("kW", 1e3), ("MW", 1e6))},
}
_UNITS |= {"µm": _UNITS["um"], "μm": _UNITS["um"], "µs": _UNITS["us"], "μs": _UNITS["us"], "°": _UNITS["deg"]}

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?=\S)")
_FACTOR = re.compile(r"\s*([*·/]?)\s*([A-Za-zµμ]+|°)(?:(?:\^|\*\*)?([+-]?\d)|([²³]))?")
_MOST = 60  # characters


class UnitError(ValueError):
    """A problem of a number and its unit."""


class Quantity(float):
    """A number in SI units that was written with a unit of its own; ``text`` is what was written."""

    text: str
    dimension: Dimension

    def __new__(cls, text: str) -> Quantity:
        number = _NUMBER.match(text)
        if number is None or len(text) > _MOST:
            raise UnitError("that is not a number with a unit")
        factor, dimension = unit_of(text[number.end() :].strip())
        made = super().__new__(cls, float(number[1]) * factor + 0.0)
        if not math.isfinite(made):
            raise UnitError("the number is too large")
        made.text, made.dimension = text.strip(), dimension
        return made

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        return (self.text,)

    def __repr__(self) -> str:
        return repr(self.text)


def looks_like_quantity(text: object) -> bool:
    """Whether a text begins with a number, and something follows."""
    return isinstance(text, str) and _NUMBER.match(text) is not None


@lru_cache(256)
def unit_of(text: str) -> tuple[float, Dimension]:
    """Factor to SI, and dimension; raises UnitError."""
    factor, powers, at = 1.0, [0, 0, 0, 0], 0
    while at < len(text):
        found = _FACTOR.match(text, at)
        if found is None:
            raise UnitError(f'"{text}" is not a unit. Write "mm", "kg m2", "N/mm" or "N m s/rad"')
        sign, name, power, raised = found.groups()
        if name not in _UNITS:
            close = difflib.get_close_matches(name, _UNITS, n=1, cutoff=0.5)
            hint = f'"{close[0]}" is one' if close else f"There are {', '.join(k for k in _UNITS if k.isascii())}"
            raise UnitError(f'there is no unit "{name}". {hint}')
        n = (int(power) if power else {"²": 2, "³": 3}.get(raised, 1)) * (-1 if sign == "/" else 1)
        size, dimension = _UNITS[name]
        factor *= size**n
        powers = [a + n * b for a, b in zip(powers, dimension, strict=True)]
        at = found.end()
    return factor, Dimension(*powers)


def wrong_unit(value: Any, wanted: str) -> str:
    """What is wrong with a number's unit where some unit, or one of several, "N m or N", is wanted; "" where nothing is."""
    if not isinstance(value, Quantity) or not wanted:
        return ""
    if any(_agree(value.dimension, unit_of(unit)[1]) for unit in wanted.split(" or ")):
        return ""
    is_a = NAMES.get(value.dimension)
    said = f"{value!r} is {is_a}" if is_a else f"the unit of {value!r} does not fit"
    return f"{said}. Give it in {wanted}, or in a unit like that"


def _agree(given: Dimension, wanted: Dimension) -> bool:
    """Where there is mass, radians are often left out: N m for N m/rad."""
    return given == wanted or (wanted.mass != 0 and given[:3] == wanted[:3])


def of_coordinate(wanted: str, turns: bool) -> str:
    """The part of a unit such as "N m/rad or N/m" that is for an angle, or for a slide."""
    parts = wanted.split(" or ")
    mine = [unit for unit in parts if ("rad" in unit or unit in ("N m", "kg m2")) == turns]
    return mine[0] if len(parts) == 2 and len(mine) == 1 else wanted
