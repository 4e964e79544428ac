"""Forces that may jump. Where one does, at a place or time that the design moves, the derivative of the run jumps too.

Derivatives that are integrated with a run have that jump added, where steps end at the surface at which the force begins
(machine.tangents.jumps): at stops, contacts, and where formulas over the state decide; and at times that are known beforehand
(timed_jumps). What is left is told: tables of steps over the state, and derivatives that are found backward.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import warn
from ..forces import FORCES
from ..model import Model
from ..model.parameters.tables import Table
from ..wording import counted
from .timed_jumps import only_of_time

JUMPING = ("if(", "step(", "sign(", "mod(", "<", ">", "==")  # in a formula; "smoothstep(" is smooth
UNFOLLOWED = re.compile(r"\b(t|time|mod)\b")  # a jump at a time that the state moves, and one of many that follow closely
LISTED = 5


def may_jump(model: Model) -> bool:
    """Whether some force of a model may jump."""
    return next(_jumping(model, False), None) is not None


def warn_of_jumps(model: Model, *, added: bool = False, timed: bool = False) -> None:
    """One warning with all elements whose force may jump in a way that derivatives miss; ``added``: jumps at surfaces of the
    state are not missed; ``timed``: nor are those at times that are known beforehand."""
    found = list(dict.fromkeys(_jumping(model, added, timed)))
    if found:
        names = ", ".join(found[:LISTED]) + (" and more" if len(found) > LISTED else "")
        warn(
            f"model {model.name!r}: the force of {names} may jump. Where it does so in this run, derivatives miss what the "
            "design changes of the moment of the jump: bc.check_gradients compares with differences. Without damping, or with "
            "Hunt & Crossley's, stops and contacts do not jump."
        )


def warn_of_missed(model: Model, crossings: int) -> None:
    """Crossings that no short step was made for: what jumps there is missing."""
    found = list(dict.fromkeys(_jumping(model, False)))
    if crossings and found:
        warn(
            f"model {model.name!r}: {counted(crossings, 'passage')} of surfaces where a force may begin at once, as that of "
            f"{found[0]}, followed so closely on another, or so slowly, that the jump of the derivatives there is missing"
        )


def _jumping(model: Model, added: bool, timed: bool = False) -> Iterator[str]:
    for element in model.elements:
        damped = FORCES[element.kind].gates and element.values.get("damping", 0.0) != 0
        if damped and element.values.get("linear", 1.0) != 0 and not added:
            yield f'"{element.name}" (its damping begins at once where it touches)'
        over_time = element.kind == "joint_effort"
        if element.table is not None and element.table.lookup.jumps and not (timed and over_time):
            yield f'"{element.name}" (its table has steps)'
    for signal in model.signals:
        if timed and only_of_time(model, signal):
            continue
        text = (signal.expression or "").replace("smoothstep(", "")
        if any(word in text for word in JUMPING) and not (added and UNFOLLOWED.search(text) is None):
            yield f'"{signal.name}" (its formula decides between values)'
        if any(table.lookup.jumps for _, table in signal.tables if isinstance(table, Table)):
            yield f'"{signal.name}" (its table has steps)'
