"""Planning: which formulation computes a model's accelerations, by which plan, all of it settled before a Dynamics exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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

    def chosen_at(self, q: NDArray[np.float64], t: float) -> Planned:
        """The same, with the equations that are kept of those that close the loops chosen at q."""
        if self.plan.nodes is not None:
            return replace(self, plan=replace(self.plan, nodes=plan_nodes(self.plan, q, t)))
        rows = independent_rows(comparable_rows(Evaluation(self), q, t), self.plan.tolerance)
        return replace(self, plan=replace(self.plan, selected_rows=rows))

    def by_multipliers(self) -> Planned:
        """The same by the formulation that finds redundant equations at every state."""
        formulation, program = self.formulation, self.program
        if self.plan.nodes is not None:
            formulation, program = choose("multipliers", None, closed=True)
        return Planned(replace(self.plan, nodes=None, selected_rows=()), formulation, program, design=self.design)


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
    name, program = choose(formulation, reference, closed=bool(model.closures))
    in_python = checked_variant(name, variant, dependents, fictitious)
    if design is not None and design.base is not model:
        raise StateError("the design is of another model: give compile the model that the design was made of, design.base")
    if design is not None and design.origin is not None:
        return _moved(design, (formulation, reference, rank_tolerance, baumgarte, variant, tuple(dependents or ())))
    over_numbers = None if design is None else design.recording.model
    plan = make_plan(model, tolerance=rank_tolerance, baumgarte=stabilisation(baumgarte), over_numbers=over_numbers)
    first = Planned(plan, name, program, in_python, design)
    if not program.nodes:
        return first
    found = replace(first, plan=replace(first.plan, nodes=plan_generic_nodes(first.plan, Evaluation(first))))
    if formulation == "auto" and _multipliers_are_much_faster(found.plan):
        return replace(found.by_multipliers(), variant=in_python)
    return found


def _moved(design: Design, options: tuple[Any, ...]) -> Planned:
    """For a design that was moved: the plan of the one that it came from, with other numbers."""
    origin = design.origin
    assert origin is not None
    if options not in origin.planned:
        formulation, reference, rank_tolerance, baumgarte, variant, dependents = options
        given = {"reference": reference, "rank_tolerance": rank_tolerance, "baumgarte": baumgarte, "variant": variant}
        origin.planned[options] = planned(origin.base, formulation, dependents=dependents or None, design=origin, **given)
    found: Planned = origin.planned[options]
    return replace(found, plan=design.moved_plan(found.plan), design=design)


def _multipliers_are_much_faster(plan: Plan) -> bool:
    """Few equations on many joints, as in one long loop, are their case; measured, as Nodes.work."""
    assert plan.nodes is not None
    return plan.nodes.work > MUCH_FASTER * (150 * plan.n + 0.35 * plan.loads.closing.rows**2 * plan.model.nv)
