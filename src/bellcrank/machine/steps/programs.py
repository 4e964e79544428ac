"""The kernels that a step calls, by name."""

from __future__ import annotations

from dataclasses import replace

from ...formulations import QUANTITIES, WITH_MULTIPLIERS, Program
from ...plan import Plan
from ..arrays import for_plan

DIRECTIONS = 8  # tangents of a call of the kernel that gives the columns of a Jacobian
MINIMUM_NORM, MASS = "minimum_norm", "mass"


def projections(metric: str, plan: Plan) -> dict[str, Program]:
    """The programs that move a state onto the closures; block by block where blocks are known."""
    option = f"{metric}{'' if plan.nodes is None else '_blocks'}"
    return {name: QUANTITIES[f"project_{name}:{option}"] for name in ("positions", "velocities")}


def programs(
    plan: Plan, program: Program, metric: str = MINIMUM_NORM, *, works: bool = True, implicit: bool = False
) -> dict[str, Program]:
    """The accelerations (or Hamilton's equations), the rates, the projections, what the works need, and perhaps tangents."""
    called = {"kernel": program, "rates": QUANTITIES["rates"]}
    if implicit:
        speed = "p" if takes_momenta(called) else "v"
        called["tangent"] = program.differentiated(("q", speed), DIRECTIONS, of_design=False)
    if works:
        called |= powers(plan, program)
    if plan.loads.openings:
        called["openings"] = QUANTITIES["openings"]
        if takes_momenta(called):
            called["of_momenta"] = QUANTITIES["velocities"]
    if plan.model.closures:
        called |= projections(metric, plan)
        if takes_momenta(called):
            called |= {"of_momenta": QUANTITIES["closed_velocities"], "to_momenta": QUANTITIES["momenta"]}
    return {name: for_plan(each_program, plan) for name, each_program in called.items()}


def powers(plan: Plan, program: Program) -> dict[str, Program]:
    """Powers of force elements, drives and driven closures, unless the accelerations tell them besides."""
    called, canonical = {"kernel": program}, takes_momenta({"kernel": program})
    if plan.loads.motions and plan.model.closures:  # powers of drives need the multipliers
        called["powers" if canonical else "kernel"] = WITH_MULTIPLIERS["coordinate_reduction" if canonical else program.name]
    wanted = {"element": "elements"} if plan.loads.elements else {}
    if wanted and not canonical:  # the kernel evaluates the force elements anyway
        called["kernel"] = replace(called["kernel"], outputs=called["kernel"].outputs | {"element": "element*3"})
    if plan.model.driven.any():
        wanted["drive"] = "closed_drives" if plan.model.closures else "canonical_drives" if canonical else "drives"
    if plan.loads.closing.driven:
        wanted["closing"] = "closing_reactions"
    return called | {name: QUANTITIES[quantity] for name, quantity in wanted.items() if name not in side_outputs(called)}


def takes_momenta(called: dict[str, Program]) -> bool:
    return "p" in called["kernel"].inputs


def side_outputs(called: dict[str, Program]) -> set[str]:
    """Outputs that the kernels of a step compute besides the slopes of the state."""
    return {output for name in ("kernel", "powers") if name in called for output in called[name].outputs}
