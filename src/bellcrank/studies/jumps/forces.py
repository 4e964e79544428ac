"""Forces that may jump. Where one does, at a place or time that the design moves, the derivative of the run jumps too.

Derivatives have that jump added, where steps end at the surface at which the force begins (machine.tangents.jumps, backward
adjoint.passages): at stops, contacts, at steps of tables and where formulas over the state decide; and at times that are known
beforehand (timed). Integrals are cut there (passing). Warnings name the rest: passages that no short step was made for, and
outputs that decide by themselves, as the equations of motion do not know where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import warn
from ...forces import FORCES
from ...model import Model
from ...model.measures.paths import built_in
from ...model.parameters.expressions import derived
from ...model.parameters.tables import Table
from ...wording import counted
from ..output_names import Output
from ..taking import INTEGRALS
from .timed import only_of_time

JUMPING = ("if(", "step(", "sign(", "mod(", "<", ">", "==")  # in a formula; "smoothstep(" is smooth
PLACES = ("position", "distance", "angle", "coordinate", "time", "input")
SMOOTH = (*PLACES, "velocity", "turning", "energy", "momentum", "closure_error")  # what stays steady where a force jumps


def may_jump(model: Model) -> bool:
    """Whether some force of a model may jump."""
    return next(_jumping(model), None) is not None


def warn_of_missed(model: Model, crossings: int) -> None:
    """Crossings that no short step was made for: what jumps there is missing."""
    found = list(dict.fromkeys(_jumping(model)))
    if crossings and found:
        warn(
            f"model {model.name!r}: {counted(crossings, 'passage')} of surfaces where a force may begin at once, as that of "
            f"{found[0]}, followed so closely on another, or so slowly, that the jump of the derivatives there is missing"
        )


def must_be_cut(model: Model, wanted: Sequence[Output]) -> bool:
    """Whether an integral, mean or rms is taken of what may jump where the motion passes a place."""
    over_time = [output for output in wanted if output.taken in INTEGRALS]
    return next(_jumping(model, timed=True), None) is not None and any(_follows(model, output.of) for output in over_time)


def warn_of_integrals(model: Model, wanted: Sequence[Output]) -> None:
    """Integrals, means and rms that decide by themselves what they are taken of."""
    found = [output.name for output in wanted if output.taken in INTEGRALS and decides(model, output.of)]
    if found:
        warn(
            f"model {model.name!r}: {', '.join(found)} may be taken of what jumps by its own formula: derivatives miss what a "
            "design changes of the moment when it does. bc.check_gradients compares with differences."
        )


def _decides(text: str) -> bool:
    return any(word in text.replace("smoothstep(", "") for word in JUMPING)


def decides(model: Model, text: str) -> bool:
    """Whether a formula over measures, or one that it reads, compares numbers."""
    own = {measure.name: measure for measure in model.all_measures}
    read = [own[name].expression for name in derived(text).names if name in own and own[name].kind == "expression"]
    return _decides(text) or any(decides(model, expression) for expression in read)


def _follows(model: Model, text: str) -> bool:
    """Whether a formula over measures reads accelerations or forces, which jump where a force does."""
    own = {measure.name: measure for measure in model.all_measures}

    def jumps(name: str) -> bool:
        measure = own.get(name) or own.get(name.rpartition(".")[0]) or built_in(model, name)
        if measure is None or measure.kind != "expression":
            return measure is None or measure.part == "a" or measure.kind not in SMOOTH
        return _decides(measure.expression) or _follows(model, measure.expression)

    return any(jumps(name) for name in derived(text).names)


def _jumping(model: Model, timed: bool = False) -> Iterator[str]:
    """Elements whose force may jump; ``timed``: those that may not do so at other times than known ones are left out."""
    for element in model.elements:
        damped = FORCES[element.kind].gates and element.values.get("damping", 0.0) != 0
        if damped and element.values.get("linear", 1.0) != 0:
            yield f'"{element.name}" (its damping begins at once where it touches)'
        over_time = element.kind == "joint_effort"
        if element.table is not None and element.table.lookup.jumps and not (timed and over_time):
            yield f'"{element.name}" (its table has steps)'
    for signal in model.signals:
        if timed and only_of_time(model, signal):
            continue
        if _decides(signal.expression or ""):
            yield f'"{signal.name}" (its formula decides between values)'
        if any(table.lookup.jumps for _, table in signal.tables if isinstance(table, Table)):
            yield f'"{signal.name}" (its table has steps)'
