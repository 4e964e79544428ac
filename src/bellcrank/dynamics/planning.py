"""Planning: which formulation computes a model's accelerations, by which plan, all of it settled before a Dynamics exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import StateError
from ..extremes import require_model
from ..formulations import Program
from ..model import Model
from ..plan import Plan, make_plan
from ..plan.row_selection import comparable_rows
from ..spatial.rank import RANK_TOLERANCE, independent_rows
from .evaluation import Evaluation
from .node_ranks import plan_generic_nodes, plan_nodes
from .options import Variant, checked_variant, choose, stabilisation
from .resistance import light_joints, why_not, why_not_with_open_loops

if TYPE_CHECKING:
    from ..design import Design

MUCH_FASTER = 2.0  # what "auto" asks of the multipliers


@dataclass(frozen=True)
class Planned:
    """A model's plan, and the formulation with its program; a variant, if accelerations are computed in Python."""

    plan: Plan
    formulation: str
    program: Program
    variant: Variant | None = None
    design: Design | None = None  # whose parameters the plan lets vary
    undetermined: str = ""  # why there are no accelerations, whatever the state

    def chosen_at(self, q: NDArray[np.float64], t: float) -> Planned:
        """The plan in which the equations that are kept of the closures are chosen at q."""
        if self.plan.nodes is not None:
            return replace(self, plan=replace(self.plan, nodes=plan_nodes(self.plan, q, t)))
        rows = independent_rows(comparable_rows(Evaluation(self), q, t), self.plan.tolerance)
        return replace(self, plan=replace(self.plan, selected_rows=rows))

    def by_multipliers(self) -> Planned:
        """The plan for the formulation that finds redundant equations at every state."""
        formulation, program = self.formulation, self.program
        if self.plan.nodes is not None:
            formulation, program = choose("multipliers", None, closed=True)
        plan = replace(self.plan, nodes=None, selected_rows=())
        light = () if self.design else light_joints(self.plan.model)
        return Planned(plan, formulation, program, design=self.design, undetermined=why_not_with_open_loops(plan.model, light))


def planned(
    model: Model,
    formulation: str = "auto",
    *,
    reference: str | None = None,
    rank_tolerance: float | None = None,
    baumgarte: tuple[float, float] | None = None,
    variant: str | None = None,
    dependents: Sequence[str] | None = None,
    fictitious: Sequence[str] | None = None,
    design: Design | None = None,
) -> Planned:
    """The plan of a model for the options of compile(), which are checked."""
    require_model(model, "compile")
    if rank_tolerance is None:
        rank_tolerance = max(RANK_TOLERANCE, 0.0 if model.source is None else model.source.misalignment)
    if not isinstance(rank_tolerance, float | int) or not 0 < rank_tolerance < 1:
        raise StateError(f"rank_tolerance is {rank_tolerance!r}: give a number between 0 and 1")
    if design is not None and design.base is not model:
        raise StateError("the design is of another model: give compile the model that the design was made of, design.base")
    name, program = choose(formulation, reference, closed=bool(model.closures))
    in_python = checked_variant(name, variant, dependents, fictitious)
    asked = _Asked(formulation, name, program, in_python, rank_tolerance, stabilisation(baumgarte))
    return asked.plan(model, None) if design is None else _of_design(design, asked)


class _Asked(NamedTuple):
    """The options of compile(), checked."""

    formulation: str
    name: str
    program: Program
    variant: Variant | None
    tolerance: float
    baumgarte: tuple[float, float]

    def plan(self, model: Model, design: Design | None) -> Planned:
        over_numbers = None if design is None else design.recording.model
        plan = make_plan(model, tolerance=self.tolerance, baumgarte=self.baumgarte, over_numbers=over_numbers)
        first = Planned(plan, self.name, self.program, self.variant, design)
        light = () if design else light_joints(model)
        if not self.program.nodes:
            return replace(first, undetermined=why_not_with_open_loops(model, light))
        opened = Evaluation(first)
        why, nodes = why_not(opened, light), plan_generic_nodes(first.plan, opened)
        found = replace(first, undetermined=why, plan=replace(first.plan, nodes=nodes))
        if self.formulation == "auto" and not light and _multipliers_are_much_faster(found.plan):
            return replace(found.by_multipliers(), variant=self.variant)
        return found


def _of_design(design: Design, asked: _Asked) -> Planned:
    """A design keeps its plans; those of one that was moved are the plans of where it came from, with other numbers."""
    origin, key = design.origin or design, (*asked[:2], *asked[3:])  # the program follows from the name
    if key not in origin.planned:
        origin.planned[key] = asked.plan(origin.base, origin)
    found: Planned = origin.planned[key]
    return found if design is origin else replace(found, plan=design.moved_plan(found.plan), design=design)


def _multipliers_are_much_faster(plan: Plan) -> bool:
    """Few equations on many joints, as in one long loop, are their case; measured, as Nodes.work."""
    assert plan.nodes is not None
    return plan.nodes.work > MUCH_FASTER * (150 * plan.n + 0.35 * plan.loads.closing.rows**2 * plan.model.nv)
