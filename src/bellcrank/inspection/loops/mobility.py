"""A report on the loops of a model: how many, what is free, redundant or singular, and remedies.

code    shape        meaning
J       (m, nv)      equations that close the loops, rows in metres, columns in radians (assembly.loops)
blocks               parts of J that do not touch each other
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...assembly import own_assembly
from ...assembly.locking import locked_by
from ...assembly.loops import Loops
from ...assembly.solution import closed
from ...assembly.start import start_of
from ...dynamics.dynamics import Dynamics
from ...errors import AssemblyError
from ...model import Model
from ...run.reach import moved_from_drawing
from ...wording import counted
from .branches import branches
from .counting import joint_of_dofs, planar_count, spatial_count
from .drawing import loop_lines
from .naming import grouped, quoted
from .place import Place, nearby_of
from .singularities import motors_of, shaky_words, singular_words
from .stresses import Stresses
from .suggestions import suggestions

Array = NDArray[np.float64]


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


def inspect_loops(model: Model, *, rank_tolerance: float | None = None) -> LoopReport | None:
    """A report on the loops of a model; None for a tree."""
    if not model.closures:
        return None
    dyn = Dynamics(model, "multipliers", rank_tolerance=rank_tolerance, optimisation=0)  # nothing to plan
    q, problems = _start(dyn)
    loops = Loops(dyn)
    here = Place(loops, q)
    parts = [branches(loops, q, 0.0, block) for block in here.blocks]
    nearby = nearby_of(loops, here, parts)
    stresses = Stresses(loops, here.blocks, here.placed)
    directions = tuple(stresses.closures()) if here.redundant else ()
    problems += _locked(loops, here)
    problems += shaky_words(loops, nearby, parts)
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
        singularities=tuple(singular_words(loops, here, nearby, parts)),
        suggestions=tuple(text for block in here.blocks[:50] for text in suggestions(loops, q, 0.0, block, here.placed)),
    )


def _start(dyn: Dynamics) -> tuple[Array, list[str]]:
    """The start with its loops closed; where they cannot be, what is wrong."""
    model = dyn.model
    try:
        start = own_assembly(dyn)
        moved = moved_from_drawing(model, start.q, 0.0)
        return start.q, [*(f"model {model.name!r}: {note}" for note in start.notes), *([moved] if moved else [])]
    except AssemblyError as error:
        complaint = str(error)
    try:  # perhaps only the velocities contradict each other
        return closed(dyn, start_of(dyn, None, np.zeros(model.nv), None), 0.0).q, [complaint]
    except AssemblyError:
        return np.array(model.given_q), [complaint]


def _locked(loops: Loops, here: Place) -> Iterator[str]:
    model = loops.model
    driven = bool(model.driven.any()) or any(closure.motion is not None for closure in model.closures)
    if here.mobility == 0 and not driven:
        equations = counted(int(model.closure_index[-1]), "equation")
        free = counted(model.nv, "coordinate")
        axis = locked_by(loops, here.q, 0.0)
        why = f": {axis}" if axis else ""
        yield f"the mechanism is locked: its {equations} leave none of {free} free, and nothing drives it{why}"


def _independent(model: Model, here: Place) -> list[str]:
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
