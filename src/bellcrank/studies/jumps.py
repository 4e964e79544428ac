"""Forces that may jump. Where one does, at a place or time that the design moves, the derivative of the run jumps too."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import warn
from ..forces import FORCES
from ..model import Model

JUMPING = ("if(", "step(", "sign(", "mod(", "<", ">", "==")  # in a formula; "smoothstep(" is smooth
LISTED = 5


def warn_of_jumps(model: Model) -> None:
    """One warning with all elements whose force may jump: what they do to derivatives there is not added."""
    found = list(dict.fromkeys(_jumping(model)))
    if found:
        names = ", ".join(found[:LISTED]) + (" and more" if len(found) > LISTED else "")
        warn(
            f"model {model.name!r}: the force of {names} may jump. Where it does so in this run, derivatives miss what the "
            "design changes of the moment of the jump: bc.check_gradients compares with differences. Without damping, or with "
            "Hunt & Crossley's, stops and contacts do not jump."
        )


def _jumping(model: Model) -> Iterator[str]:
    for element in model.elements:
        damped = FORCES[element.kind].gates and element.values.get("damping", 0.0) != 0
        if damped and element.values.get("linear", 1.0) != 0:
            yield f'"{element.name}" (its damping begins at once where it touches)'
        if element.table is not None and element.table.lookup.jumps:
            yield f'"{element.name}" (its table has steps)'
    for signal in model.signals:
        text = (signal.expression or "").replace("smoothstep(", "")
        if any(word in text for word in JUMPING):
            yield f'"{signal.name}" (its formula decides between values)'
