"""The singular positions in a report: shaky parts, change points, dead centres, and those that lie ahead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import HeldCoordinates, Loops
from ...model import Closure, Model
from ...plan.equation_blocks import EquationBlock
from . import singular
from .branches import Branches
from .counting import closures_of
from .naming import quoted
from .place import Place, lost_equations

Array = NDArray[np.float64]

SHARE = 0.1  # of the largest: what takes part
FEW = 9  # degrees of freedom of models of which several blocks are walked through


def shaky_words(loops: Loops, nearby: Place | None, parts: list[Branches | None]) -> Iterator[str]:
    """Blocks with velocities that no motion follows, unless they leave the position by another motion."""
    model = loops.model
    for part in parts:
        if part is not None and part.shaky.shape[1] and lost_equations(loops, nearby, part.block) <= 0:
            moving = np.abs(part.shaky).max(axis=1)
            names = [model.v_names[k] for k in part.block.columns[moving > SHARE * moving.max()]]
            closed = [closure.name for closure in _parting(model, part)]
            yield (
                f"the mechanism is shaky at {quoted(names)}: it is mobile infinitesimally, but cannot move further. The "
                f"equations of {quoted(closed)} allow velocities here that no motion follows"
            )


def _parting(model: Model, part: Branches) -> list[Closure]:
    """Closures whose equations are redundant here and not elsewhere."""
    rows = part.block.rows[part.parting > SHARE * part.parting.max(initial=0.0)]
    at = np.searchsorted(model.closure_index, rows, side="right") - 1
    return [model.closures[k] for k in np.unique(at)]


def motors_of(model: Model) -> set[int]:
    """Degrees of freedom on which motors act."""
    acting = (e for e in model.elements if e.kind in ("joint_effort", "joint_input") and e.joint >= 0)
    return {int(model.v_index[e.joint]) + e.dof for e in acting if not model.driven[e.joint]}


def singular_words(loops: Loops, here: Place, nearby: Place | None, parts: list[Branches | None]) -> Iterator[str]:
    model, motors = loops.model, motors_of(loops.model)
    lost = 0 if nearby is None else nearby.rank - here.rank
    if nearby is not None and lost > 0:
        yield singular.rank_words(lost, _losing(loops, here, nearby, parts))
    elif 0 < here.pivot < singular.CLOSE:
        yield singular.close_words(here.pivot)
    if nearby is None and here.mobility and None in parts:
        yield "the start may be singular: no position nearby was found, and there are too many free motions to say more"
    small = model.nv <= singular.SMALL and here.motions.shape[1] == here.mobility
    if nearby is None or not small:
        return
    yield from singular.dead_centres(loops, here.motions, nearby.motions, motors)
    if lost > 0:
        walk = singular.PathToSingularity(loops, here.q, 0.0, nearby.rank, _branch(loops, here, nearby))
        clear = walk.away()
        if clear is not None:
            yield f"moving {singular.moved_words(loops, here.q, clear[0], motors)} leads away from it (pivot {clear[1]:.2g})"
        return
    alone = [
        block
        for block, part in zip(here.blocks, parts, strict=True)
        if block.mobility == 1 and (not part or part.regular) and not _linear(model, block)
    ]
    for block in alone if len(alone) == 1 or model.nv <= FEW else ():
        yield from _ahead(loops, here, block, motors)


def _linear(model: Model, block: EquationBlock) -> bool:
    """Gears and couplers alone: their equations are the same in every position."""
    return all(closure.kind == "coupler" and closure.curve is None for closure in closures_of(model, block))


def _ahead(loops: Loops, here: Place, block: EquationBlock, motors: set[int]) -> Iterator[str]:
    """The nearest singular position on the way of a block that has one degree of freedom; what is free besides stands still."""
    way = np.zeros(here.nv)
    way[block.columns] = block.motions[:, 0]
    walk = singular.PathToSingularity(loops, here.q, 0.0, here.rank, way)
    found = walk.nearest_singular()
    if found is not None:
        kind = "a change point" if found[1] < singular.SINGULAR else "nearly singular"
        how = singular.moved_words(loops, here.q, found[0], motors)
        yield f"moving {how} leads to a position that is {kind} (pivot {found[1]:.2g}; {walk.pivot(here.q):.2g} at the start)"


def _branch(loops: Loops, here: Place, nearby: Place) -> Array:
    """The direction from the start to the configuration nearby."""
    return HeldCoordinates.all(loops.model).toward(here.q, here.q, nearby.q) / loops.units


def _losing(loops: Loops, here: Place, nearby: Place, parts: list[Branches | None]) -> list[str]:
    """Closures whose equations say less here than nearby; of large blocks, all that have less rank."""
    model, known = loops.model, [part for part in parts if part is not None]
    if len(known) == len(parts):
        losing = [part for part in known if lost_equations(loops, nearby, part.block) > 0]
        return [closure.name for part in losing for closure in _parting(model, part)]
    ranks = {int(row): block.rank for block in nearby.blocks for row in block.rows}
    lost: list[EquationBlock] = [block for block in here.blocks if block.rank < ranks[int(block.rows[0])]]
    return [closure.name for block in lost for closure in closures_of(model, block)]
