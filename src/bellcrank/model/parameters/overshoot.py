"""Tables whose curve swings beyond their rows, as when a pulse is typed as rows: a warning says so before the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .tables import Table

if TYPE_CHECKING:
    from ..model import Model

LEAST = 0.01  # of the range of a table's values


def motion_tables(model: Model) -> Iterator[tuple[str, Table]]:
    """Tables of prescribed motions: of joints, of rods and planes, of couplers."""
    closures = ((closure.name, closure.motion) for closure in model.closures)
    for name, motion in (*zip(model.joint_names, model.motions, strict=False), *closures):
        for law in motion.laws if motion else ():
            yield from ((f'the motion of "{name}"', term.table) for term in law.terms if term.table is not None)


def tables_of(model: Model) -> Iterator[tuple[str, Table]]:
    """All tables of one argument, each with a text of what it is of."""
    yield from ((f'"{e.name}"', e.table) for e in model.elements if e.table is not None)
    yield from motion_tables(model)
    named = {name: table for measure in model.all_measures for name, table in measure.tables if isinstance(table, Table)}
    yield from ((f'"{name}"', table) for name, table in named.items())


def overshooting(model: Model) -> Iterator[str]:
    for what, table in tables_of(model):
        found = table.overshoot()
        if found is not None and found[3] > LEAST:
            start, end, value, part = found
            yield (
                f"the curve through the table of {what} reaches {value:.4g} between {start:.4g} and {end:.4g}, "
                f"{100 * part:.2g} % of its range beyond its rows: add rows around its corners, "
                'or give interpolation = "pchip", which does not overshoot'
            )
