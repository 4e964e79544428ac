"""Why a mechanism cannot be assembled, in the names of its model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError
from ..wording import argument
from .locking import locked_by
from .loops import HeldCoordinates, Loops
from .path import Lost, Toggle
from .start import Start
from .words import Gap, closure_words, gaps, length_words, open_loops, values

Array = NDArray[np.float64]


def freedom(loops: Loops, q: Array, t: float) -> int:
    """Degrees of freedom there, by rank; of a large model the least that it can have."""
    nv = loops.model.nv - len(loops.model.state_places)
    return max(0, nv - len(loops.rows)) if loops.large else nv - loops.rank(q, t)


def never_closes(loops: Loops, q: Array, t: float, tolerance: float) -> AssemblyError:
    """Nothing is held, and still they are not closed within the tolerance (m)."""
    driven = [name for name, is_driven in zip(loops.model.joint_names, loops.model.driven, strict=True) if is_driven]
    driven += [closure.name for closure in loops.model.closures if closure.motion is not None]
    remedy = "Move a point or change a length, or give a start nearer to where they close"
    if driven:
        remedy = f"The drivers {_quoted(driven)} may ask for what the others cannot follow at t = {t:g} s. {remedy}"
    return AssemblyError(
        f"model {loops.model.name!r} cannot be assembled: its loops do not close. At best {open_loops(loops, q, t)}. {remedy}. "
        f"Loops count as closed within {length_words(tolerance)} ({argument('tolerance')}). "
        "To see where they are open: bellcrank draw MODEL --as-drawn.",
        q,
    )


def out_of_reach(loops: Loops, start: Start, base: Array, end: Toggle | Lost, t: float) -> AssemblyError:
    """Held coordinates were moved from where the loops close, and did not arrive."""
    model, at = loops.model, end.point
    names = _moving_names(start, base)
    wanted, reached, begun = (values(model, q, names) for q in (start.q, at.q, base))
    if isinstance(end, Toggle):
        why = f"is past a toggle: from {begun} it can move to {reached}, where the mechanism turns back"
    elif np.array_equal(at.q, base):
        why = f"cannot be reached: from {begun} it cannot move at all: the mechanism is locked, or this is a dead centre of it"
    else:
        why = f"was not reached: beyond {reached} no configuration on this branch was found, starting from {begun}"
    stays = open_loops(loops, start.held.placed(at.q, at.q, start.q, 1.0), t, most=1)
    return AssemblyError(
        f"model {model.name!r} cannot be assembled: {wanted} {why}. At the wanted value {stays}. Choose a value within reach, "
        f"or give a start ({argument('q')}) on another branch.",
        at.q,
    )


def held_in_the_way(loops: Loops, start: Start, q: Array, free: Array, t: float) -> AssemblyError:
    """The loops would close, if what is held could move."""
    model = loops.model
    dof, held = freedom(loops, free, t), start.held.names
    many = start.held.count
    why = f"The held values are {values(model, start.q, held[:6])}; the loops would close at {values(model, free, held[:6])}"
    if many > dof:
        freely = f"{dof} degree{'s' if dof != 1 else ''} of freedom"
        what = "1 coordinate is" if many == 1 else f"{many} coordinates are"
        why = f"It is over-determined: {what} held and it has {freely} there. {why}"
    return AssemblyError(
        f"model {model.name!r} cannot be assembled: {open_loops(loops, q, t)}. {why}. "
        f"Hold fewer ({argument('hold')}), or change their values.",
        free,
    )


def contradictory_velocities(loops: Loops, q: Array, v: Array, start: Start, t: float) -> AssemblyError:
    model = loops.model
    names = [name for name, held in zip(model.v_names, start.held_v, strict=True) if held]
    asked = ", ".join(f"{name!r} = {start.v[model.v_names.index(name)]:.6g}" for name in names[:6])
    worst = _fastest_gap(loops, q, v, t)
    dof = freedom(loops, q, t)
    locked = locked_by(loops, q, t)
    remedy = f"{locked[0].upper()}{locked[1:]}" if locked else "Hold fewer velocities, or change them"
    return AssemblyError(
        f"model {model.name!r} has no velocities that are compatible with its loops: held are {asked}, with {dof} "
        f"degree{'s' if dof != 1 else ''} of freedom there; {worst}. {remedy}.",
        q,
    )


def contradictory_drivers(loops: Loops, q: Array, v: Array, t: float) -> AssemblyError:
    model = loops.model
    driven = [closure.name for closure in model.closures if closure.motion is not None]
    driven += [name for name, is_driven in zip(model.joint_names, model.driven, strict=True) if is_driven]
    return AssemblyError(
        f"model {model.name!r}: the drivers {_quoted(driven)} contradict each other or the loops at t = {t:g} s: "
        f"{_fastest_gap(loops, q, v, t)} whatever else moves. Remove one, or change their laws.",
        q,
    )


def _fastest_gap(loops: Loops, q: Array, v: Array, t: float) -> str:
    rates = np.abs(loops.dynamics.closure(q, v, t=t)[1] * loops.rows)
    row = int(np.argmax(rates))
    k = int(np.searchsorted(loops.model.closure_index, row, side="right")) - 1
    return f"{closure_words(loops.model, loops.model.closures[k])} would open with {length_words(float(rates[row]))}/s"


def not_quite(loops: Loops, q: Array, t: float) -> str:
    worst: Gap = gaps(loops, q, t)[0]
    return (
        f"{closure_words(loops.model, worst.closure)} closes only nearly ({worst.words}): its equations are close to "
        "redundant, parts are a little out of line, as by the rounding of the numbers in a file. The loops are closed in the "
        "least-squares sense"
    )


def released(loops: Loops, start: Start, q: Array) -> str:
    names = start.held.names
    return (
        f"[initial] gives more than the loops leave free: {values(loops.model, start.q, names[:6])} became "
        f"{values(loops.model, q, names[:6])}"
    )


def released_velocities(loops: Loops, start: Start, v: Array) -> str:
    names = [name for name, held in zip(loops.model.v_names, start.held_v, strict=True) if held]
    old, new = (", ".join(f"{n!r} = {x[loops.model.v_names.index(n)]:.6g}" for n in names[:6]) for x in (start.v, v))
    return f"[initial] gives more velocities than the loops leave free: {old} became {new}"


def _moving_names(start: Start, base: Array) -> list[str]:
    held: HeldCoordinates = start.held
    moved = held.q & (np.abs(start.q - base) > 1e-12)
    return [name for name, is_moved in zip(held.model.q_names, moved, strict=True) if is_moved][:6]


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:6]) or "(none)"
