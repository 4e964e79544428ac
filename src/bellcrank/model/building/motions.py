"""Prescribed motions from the laws that the user wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...joints import Joint
from ...numbers.variable import as_number
from ..motion import TIMES, Law, PrescribedMotion
from ..parameters.expressions import Live
from ..parameters.tables import Table
from ..spec.laws import FormulaLaw, PolynomialLaw, RateLaw, SineLaw, SumLaw, TableLaw
from ..spec.problems import Problems
from ..spec.spec import JointSpec
from .references import ItemError, unit, units_of


def make_motion(item: JointSpec, joint: Joint, offset: Sequence[float]) -> PrescribedMotion:
    """The laws of a driven joint, in the order of its coordinates; raises ItemError."""
    assert item.motion is not None
    axis, turns = item.motion.axis, joint.quaternion is not None
    wanted = joint.law_names()
    laws = dict(item.motion.laws)
    if joint.nv == 0:
        raise ItemError("it is fixed and cannot be driven. Remove its motion, or change its type.", "motion")
    if "" in laws and len(wanted) > 1:
        raise ItemError(f"it has several coordinates. Give a law for each: {', '.join(wanted)}.", "motion")
    for name in laws:
        if name and name not in wanted:
            there = f"It has {', '.join(wanted)}" if wanted != ("",) else "It has one coordinate: give its law alone"
            raise ItemError(f'its motion gives "{name}". {there}.', "motion")
    if turns and axis is None and ("angle" in laws or "" in laws):
        raise ItemError("its motion needs an axis to turn about.", "motion")
    if not turns and axis is not None:
        raise ItemError(f"a {joint.kind} joint has its own axis: remove it here.", "motion")
    made = {name: Law("polynomial", (0.0,)) for name in wanted}  # what no law moves stays where it is
    if joint.kind == "free":
        made |= {name: Law("polynomial", (as_number(x),)) for name, x in zip("xyz", offset, strict=True)}
    for name, law in laws.items():
        _check_units(law, _turns(joint, name))
    made |= {name or wanted[0]: checked_law(law) for name, law in laws.items()}
    return PrescribedMotion(tuple(made.values()), unit(axis) if axis is not None else (0.0, 0.0, 1.0) if turns else None)


def _turns(joint: Joint, name: str) -> bool:
    """Whether a law is of an angle."""
    if joint.quaternion is not None:
        return name in ("", "angle")
    return joint.v_units[joint.v_names.index(name) if name else 0] == "rad/s"


def _check_units(law: Any, turns: bool) -> None:
    for part in law.sum if isinstance(law, SumLaw) else (law,):
        for key, reason in units_of(part, turns):
            raise ItemError(f"{key} of its motion: {reason}.", "motion")


def checked_law(law: Any) -> Law:
    """The law that the program runs; raises ItemError where it cannot be."""
    made = make_law(law)
    for text in made.problems():
        raise ItemError(text, "motion")
    return made


def make_law(law: Any) -> Law:
    if isinstance(law, SumLaw):
        return Law("sum", parts=tuple(map(make_law, law.sum)))
    if isinstance(law, RateLaw):
        return Law("polynomial", (as_number(law.start), as_number(law.rate)))
    if isinstance(law, PolynomialLaw):
        many = law.polynomial if isinstance(law.polynomial, tuple) else (law.polynomial,)
        return Law("polynomial", tuple(map(as_number, many)))
    if isinstance(law, SineLaw):
        return Law("sine", tuple(map(as_number, (law.offset, law.amplitude, law.frequency, law.phase))))
    if isinstance(law, FormulaLaw):
        return _formula(law.formula)
    assert isinstance(law, TableLaw)
    return Law("table", (), table_of(law))


def _formula(given: Any) -> Law:
    if not isinstance(given, Live):
        return Law("polynomial", (as_number(given),))
    formula, numbers = given.formula, dict(given.numbers)
    if formula.calls:
        called = formula.calls[0][0]
        instead = "A motion by a table is { table = [[time, value], ...] }"
        raise ItemError(f'the formula "{formula}" calls "{called}". {instead}.', "motion")
    other = [name for name in formula.names if name not in (*TIMES, *numbers)]
    if other:
        hint = Problems().suggest(other[0], {*TIMES, *numbers})
        what = f'the formula "{formula}" has "{other[0]}"'
        raise ItemError(f"{what}. A motion is given by the time t and by parameters.{hint}", "motion")
    if "t" in numbers and "t" in formula.names:
        raise ItemError('"t" is a parameter of this model. Write time for the time, or rename the parameter.', "motion")
    return Law("formula", tuple(numbers.values()), expression=formula.text, names=tuple(numbers))


def table_of(item: Any, rows: Any = None) -> Table | None:
    """The table that a law or an element gives in rows, if it does."""
    rows = item.table if rows is None else rows
    if rows is None:
        return None
    x, y = (tuple(as_number(row[k]) for row in rows) for k in range(2))
    return Table(x, y, item.outside, item.interpolation)
