"""The loops of a model: how many, what is free, what is redundant, what is singular, and what would help.

code    shape        meaning
J       (m, nv)      equations that close the loops, rows in metres, columns in radians (assembly.loops)
blocks               parts of J that do not touch each other
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..assembly import assemble
from ..assembly.loops import Loops
from ..codegen.dynamics import Dynamics
from ..errors import AssemblyError
from ..model import Closure, Model
from . import singular
from .blocks import Block, blocks, rank_of
from .branches import Branches, branches
from .counting import closures_of, joint_of_dofs, planar_count, spatial_count
from .drawing import loop_lines
from .naming import counted, grouped, quoted
from .stresses import Stresses
from .suggestions import suggestions
from .wrenches import Placed

Array = NDArray[np.float64]

TRIES = 4  # branches that are followed to find a regular position
STEPS = 8  # of each
FEW = 9  # degrees of freedom of models of which several blocks are walked through
SHARE = 0.1  # of the largest: what takes part


@dataclass(frozen=True)
class LoopReport:
    """Closed loops at the start of a model, assembled.

    count            closures
    equations        that close the loops
    spatial, planar  degrees of freedom by counting; planar where bodies move in planes, else None
    mobility         degrees of freedom by rank at the start
    nearby           the same a little further on; None where the mechanism cannot go further
    independent      names of coordinates that say where the mechanism is
    redundant        equations that the others contain
    directions       joint, and the forces and moments that it holds redundantly
    not_unique       joint, and the directions in which its reaction is not known from the motion: all joints
    pivot            smallest singular value of independent equations, as a part of the largest: near 0 is nearly singular
    drawings         each loop as text; the joint at which it is cut stands between ``=``
    problems         what keeps the model from running
    singularities    kind, place and remedy
    suggestions      what would take redundancy away
    """

    count: int
    equations: int
    spatial: int
    planar: int | None
    mobility: int
    nearby: int | None
    independent: tuple[str, ...]
    redundant: int
    directions: tuple[tuple[str, str], ...]
    not_unique: tuple[tuple[str, str], ...]
    pivot: float
    drawings: tuple[str, ...]
    problems: tuple[str, ...]
    singularities: tuple[str, ...]
    suggestions: tuple[str, ...]


def inspect_loops(model: Model, dynamics: Dynamics | None = None) -> LoopReport | None:
    """None for a tree."""
    if not model.closures:
        return None
    dyn = Dynamics(model, "multipliers", quick=True) if dynamics is None else dynamics  # nothing to plan, however many loops
    q, problems = _start(dyn)
    loops = Loops(dyn)
    here = _Place(loops, q)
    parts = [branches(loops, q, 0.0, block) for block in here.blocks]
    nearby = _nearby(loops, here, parts)
    stresses = Stresses(loops, here.blocks, here.placed)
    directions = tuple(stresses.closures()) if here.redundant else ()
    problems += _locked(model, here)
    problems += _shaky(loops, nearby, parts)
    return LoopReport(
        count=len(model.closures),
        equations=len(loops.rows),
        spatial=spatial_count(model),
        planar=planar_count(model, here.blocks),
        mobility=here.mobility,
        nearby=None if nearby is None else nearby.mobility,
        independent=tuple(_independent(model, here)),
        redundant=here.redundant,
        directions=directions,
        not_unique=(*stresses.tree_joints(), *directions) if here.redundant else (),
        pivot=here.pivot,
        drawings=tuple(loop_lines(model)),
        problems=tuple(problems),
        singularities=tuple(_singularities(loops, here, nearby, parts)),
        suggestions=tuple(text for block in here.blocks[:50] for text in suggestions(loops, q, 0.0, block, here.placed)),
    )


class _Place:
    """A configuration, and what the equations say there."""

    def __init__(self, loops: Loops, q: Array) -> None:
        model = loops.model
        groups = np.repeat(np.arange(len(model.closures)), [closure.rows for closure in model.closures])
        self.q = q
        self.blocks, self.untouched = blocks(loops.G(q, 0.0) * loops.units, groups)
        self.rank = sum(block.rank for block in self.blocks)
        self.mobility = model.nv - self.rank
        self.redundant = len(loops.rows) - self.rank
        position, rotation = loops.dynamics.poses(q)
        self.placed = Placed(np.vstack([position, np.zeros(3)]), np.concatenate([rotation, np.eye(3)[None]]))
        self.nv = model.nv
        self.pivot = min((block.pivot for block in self.blocks), default=0.0)

    @property
    def motions(self) -> Array:
        """(nv, mobility) of small models."""
        parts = [np.eye(self.nv)[:, self.untouched]]
        for block in self.blocks:
            part = np.zeros((self.nv, block.motions.shape[1]))
            part[block.columns] = block.motions
            parts.append(part)
        return np.hstack(parts)


def _start(dyn: Dynamics) -> tuple[Array, list[str]]:
    """The start with its loops closed; where they cannot be, what is wrong."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return assemble(dyn).q, [str(w.message) for w in caught]
        except AssemblyError as error:
            complaint = str(error)
        try:  # perhaps only the velocities contradict each other
            return assemble(dyn, v=np.zeros(dyn.model.nv)).q, [complaint]
        except AssemblyError:
            return np.array(dyn.model.initial_q), [complaint]


def _nearby(loops: Loops, here: _Place, parts: list[Branches | None]) -> _Place | None:
    """A configuration a little further on that is as regular as any; None where the mechanism cannot go."""
    nearby = _step_on(loops, here, parts)
    for _ in range(STEPS):  # branches on which some loops stay singular lead to others
        if nearby is None or not any(parts) or all(part.regular for part in parts if part is not None):
            break
        parts = [branches(loops, nearby.q, 0.0, block) for block in nearby.blocks]
        beyond = _step_on(loops, nearby, parts)
        if beyond is None or beyond.rank <= nearby.rank:
            break
        nearby = beyond
    return nearby


def _step_on(loops: Loops, here: _Place, parts: list[Branches | None]) -> _Place | None:
    """Of several configurations a step further, the one of largest rank."""
    found = []
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or all(part.regular for part in known):
        ways = [singular.any_way(loops, here.q, 0.0)]
    else:
        ways = [_way(here, known, k) for k in range(TRIES)]
    for way in ways:
        q = singular.further(loops, here.q, 0.0, way)
        found += [] if q is None else [_Place(loops, q)]
    return max(found, key=lambda place: place.rank, default=None)


def _way(here: _Place, parts: list[Branches], k: int) -> Array:
    """A velocity that a motion follows: of every block the k-th that is known, or of what is in no loop."""
    way = np.zeros(here.nv)
    for part in parts:
        if part.followed.shape[1]:
            way[part.block.columns] = part.followed[:, k % part.followed.shape[1]]
    if not way.any():
        way[here.untouched] = 1.0
    return way


def _lost(loops: Loops, nearby: _Place | None, block: Block) -> int:
    """How many equations of a block are redundant here that are not nearby."""
    if nearby is None:
        return 0
    rows = loops.G(nearby.q, 0.0)[block.rows] * loops.units
    return rank_of(np.linalg.svd(rows, compute_uv=False) ** 2) - block.rank


def _shaky(loops: Loops, nearby: _Place | None, parts: list[Branches | None]) -> Iterator[str]:
    """Blocks with velocities that no motion follows, unless they leave the position by another motion."""
    model = loops.model
    for part in parts:
        if part is not None and part.shaky.shape[1] and _lost(loops, nearby, part.block) <= 0:
            moving = np.abs(part.shaky).max(axis=1)
            names = [model.v_names[k] for k in part.block.columns[moving > SHARE * moving.max()]]
            closed = [closure.name for closure in _parting(model, part)]
            yield (
                f"the mechanism is shaky at {quoted(names)}: it gives way a little, but cannot move on. The equations of "
                f"{quoted(closed)} allow velocities here that no motion follows"
            )


def _parting(model: Model, part: Branches) -> list[Closure]:
    """Closures whose equations are redundant here and not elsewhere."""
    rows = part.block.rows[part.parting > SHARE * part.parting.max(initial=0.0)]
    at = np.searchsorted(model.closure_index, rows, side="right") - 1
    return [model.closures[k] for k in np.unique(at)]


def _locked(model: Model, here: _Place) -> Iterator[str]:
    driven = bool(model.driven.any()) or any(closure.motion is not None for closure in model.closures)
    if here.mobility == 0 and not driven:
        equations = counted(int(model.closure_index[-1]), "equation")
        free = counted(model.nv, "coordinate")
        yield f"the mechanism is locked: its {equations} leave none of {free} free, and nothing drives it"


def _independent(model: Model, here: _Place) -> list[str]:
    """Coordinates that say where the mechanism is: motors and joints on ground first, unless others say it much better."""
    motions = here.motions
    if motions.shape[1] != here.mobility:
        return []
    owners = joint_of_dofs(model)
    driving = motors_of(model)
    order = sorted(range(model.nv), key=lambda k: (k not in driving, model.parents[owners[k]] >= 0, k))
    chosen, left = [], motions.copy()
    for _ in range(here.mobility):
        sizes = np.linalg.norm(left, axis=1)
        k = next(k for k in order if sizes[k] > 0.3 * sizes.max())
        chosen.append(k)
        direction = left[k] / sizes[k]
        left = left - np.outer(left @ direction, direction)
    return [model.v_names[k] for k in sorted(chosen)]


def motors_of(model: Model) -> set[int]:
    """Degrees of freedom on which motors act."""
    acting = (e for e in model.elements if e.kind in ("joint_effort", "joint_input") and e.joint >= 0)
    return {int(model.v_index[e.joint]) + e.dof for e in acting if not model.driven[e.joint]}


def _singularities(
    loops: Loops, here: _Place, nearby: _Place | None, parts: list[Branches | None]
) -> Iterator[str]:
    model, motors = loops.model, motors_of(loops.model)
    lost = 0 if nearby is None else nearby.rank - here.rank
    if nearby is not None and lost > 0:
        yield singular.rank_words(lost, _losing(loops, here, nearby, parts))
    elif here.pivot < singular.CLOSE:
        yield singular.close_words(here.pivot)
    if nearby is None and here.mobility and None in parts:
        yield "the start may be singular: no position nearby was found, and there are too many free motions to say more"
    small = model.nv <= singular.SMALL and here.motions.shape[1] == here.mobility
    if nearby is None or not small:
        return
    yield from singular.dead_centres(loops, here.motions, nearby.motions, motors)
    if lost > 0:
        walk = singular.Walk(loops, here.q, 0.0, nearby.rank, _branch(loops, here, nearby))
        clear = walk.away()
        if clear is not None:
            yield f"moving {singular.moved_words(loops, here.q, clear[0], motors)} leads away from it (pivot {clear[1]:.2g})"
        return
    alone = [block for block, part in zip(here.blocks, parts, strict=True) if block.mobility == 1 and (not part or part.regular)]
    for block in alone if len(alone) == 1 or model.nv <= FEW else ():
        yield from _ahead(loops, here, block, motors)


def _ahead(loops: Loops, here: _Place, block: Block, motors: set[int]) -> Iterator[str]:
    """The nearest singular position on the way of a block that has one degree of freedom; what is free besides stands still."""
    way = np.zeros(here.nv)
    way[block.columns] = block.motions[:, 0]
    walk = singular.Walk(loops, here.q, 0.0, here.rank, way)
    found = walk.nearest_singular()
    if found is not None:
        kind = "a change point" if found[1] < singular.SINGULAR else "nearly singular"
        how = singular.moved_words(loops, here.q, found[0], motors)
        yield f"moving {how} leads to a position that is {kind} (pivot {found[1]:.2g}; {walk.pivot(here.q):.2g} at the start)"


def _branch(loops: Loops, here: _Place, nearby: _Place | None) -> Array:
    """The direction from the start to the configuration nearby."""
    from ..assembly.loops import Held

    assert nearby is not None
    return Held.of(loops.model, set(loops.model.q_names)).toward(here.q, here.q, nearby.q) / loops.units


def _losing(loops: Loops, here: _Place, nearby: _Place, parts: list[Branches | None]) -> list[str]:
    """Closures whose equations say less here than nearby; of large blocks, all that have less rank."""
    model, known = loops.model, [part for part in parts if part is not None]
    if len(known) == len(parts):
        losing = [part for part in known if _lost(loops, nearby, part.block) > 0]
        return [closure.name for part in losing for closure in _parting(model, part)]
    ranks = {int(row): block.rank for block in nearby.blocks for row in block.rows}
    lost: list[Block] = [block for block in here.blocks if block.rank < ranks[int(block.rows[0])]]
    return [closure.name for block in lost for closure in closures_of(model, block)]


def loop_words(report: LoopReport) -> list[str]:
    """The report in lines, drawings apart."""
    planar = "" if report.planar is None else f", {report.planar} in the plane"
    lines = [
        f"{counted(report.count, 'closure')}, {counted(report.equations, 'equation')}; "
        f"degrees of freedom: {report.mobility} by rank, {report.spatial} by counting in space{planar} "
        f"(pivot {report.pivot:.3g})"
    ]
    if report.independent:
        lines.append(f"independent coordinates: {quoted(report.independent)}")
    if report.redundant:
        lines.append(f"{counted(report.redundant, 'equation is', 'equations are')} redundant, and reactions are not unique:")
        lines += [f"  {quoted(names)}: {words}" for names, words in grouped(report.not_unique)]
    lines += [f"  {text}" for text in report.suggestions]
    return lines + list(report.singularities)
