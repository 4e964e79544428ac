"""Forces that may jump. Where one does, at a place or time that the design moves, the derivative of the run jumps too.

Derivatives have that jump added, where steps end at the surface at which the force begins (machine.tangents.jumps, backward
adjoint.passages): at stops, contacts, and where formulas over the state decide; and at times that are known beforehand
(timed_jumps). What is left is told: tables of steps over the state, and jumps over the state where momenta are integrated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..errors import warn
from ..forces import FORCES
from ..model import Model
from ..model.measures.paths import built_in
from ..model.parameters.expressions import derived
from ..model.parameters.tables import Table
from ..wording import counted
from .output_names import Output
from .taking import INTEGRALS
from .timed_jumps import only_of_time

JUMPING = ("if(", "step(", "sign(", "mod(", "<", ">", "==")  # in a formula; "smoothstep(" is smooth
UNFOLLOWED = re.compile(r"\b(t|time|mod)\b")  # a jump at a time that the state moves, and one of many that follow closely
LISTED = 5
PLACES = ("position", "distance", "angle", "coordinate", "time", "input")
SMOOTH = (*PLACES, "velocity", "turning", "energy", "momentum", "closure_error")  # what stays steady where a force jumps


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


def warn_of_integrals(model: Model, wanted: Sequence[Output]) -> None:
    """Integrals, means and rms of what may jump at places that the run passes: what moves these moments is not added."""
    jumping = next(_jumping(model, False, True), None)
    over_time = [output for output in wanted if output.taken in INTEGRALS]
    found = [output.name for output in over_time if _decides(output.of) or (jumping and _follows(model, output.of))]
    if found:
        warn(
            f"model {model.name!r}: {', '.join(found)} may be taken of what jumps where the motion passes a place"
            + (f", as the force of {jumping} does" if jumping else "")
            + ": derivatives miss what the design changes of that moment. bc.check_gradients compares with differences."
        )


def _decides(text: str) -> bool:
    return any(word in text.replace("smoothstep(", "") for word in JUMPING)


def _follows(model: Model, text: str) -> bool:
    """Whether a formula over measures reads accelerations or forces, which jump where a force does."""
    own = {measure.name: measure for measure in model.all_measures}

    def jumps(name: str) -> bool:
        measure = own.get(name) or own.get(name.rpartition(".")[0]) or built_in(model, name)
        if measure is None or measure.kind != "expression":
            return measure is None or measure.part == "a" or measure.kind not in SMOOTH
        return _decides(measure.expression) or _follows(model, measure.expression)

    return any(jumps(name) for name in derived(text).names)


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
        text = signal.expression or ""
        if _decides(text) and not (added and UNFOLLOWED.search(text) is None):
            yield f'"{signal.name}" (its formula decides between values)'
        if any(table.lookup.jumps for _, table in signal.tables if isinstance(table, Table)):
            yield f'"{signal.name}" (its table has steps)'
