"""Operation counts, as in the papers' tables, by running the recursions on a number that counts.

Counted: additions (and subtractions), multiplications; divisions and functions (a sine with its cosine, a square root)
apart. Free: negations, and whatever depends on parameters alone. Nothing is counted that no result needs.

One evaluation is what a time loop asks of a formulation: accelerations from q and v; of canonical momenta v and dp/dt from q
and p.

Of models with closed loops every equation counts as one that is kept, unless it is empty by structure: what finds the
redundant ones is not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..dynamics.node_ranks import plan_generic_nodes, plan_nodes
from ..errors import StateError
from ..extremes import in_our_errors
from ..formulations import CANONICAL, CLOSED, FORMULATIONS, QUANTITIES, Program
from ..joints import JOINTS
from ..machine.arrays import ARRAYS
from ..machine.in_python import InPython
from ..model import Model, generators
from ..numbers import CountingGraph, Operations
from ..plan import Plan, make_plan
from ..plan.frames import Style

Array = NDArray[np.float64]

_SIZES = (7, 8)  # counts are linear in n from 4 on; two sizes give the line
_TREES = {name: CANONICAL.get(name, program) for name, program in FORMULATIONS.items()}
_LOOPS = CLOSED | {"canonical_momenta": CANONICAL["canonical_momenta"]}


class Count(NamedTuple):
    """Operations of one evaluation on chains of n bodies: n times ``per_body``, and ``offset``, which is negative."""

    formulation: str
    per_body: Operations
    offset: Operations

    @property
    def additions(self) -> str:
        """For instance 195n-284."""
        return f"{self.per_body.additions}n{self.offset.additions:+d}"

    @property
    def multiplications(self) -> str:
        return f"{self.per_body.multiplications}n{self.offset.multiplications:+d}"

    @property
    def total(self) -> str:
        """Additions and multiplications."""
        return f"{self.per_body.total}n{self.offset.total:+d}"


@in_our_errors(StateError)
def count_operations(model: Model, *, style: Style = "plane", gravity: bool = True) -> dict[str, Operations]:
    """Operations of one evaluation of each formulation that takes the model, without its force elements."""
    programs = _LOOPS if model.closures else _TREES
    return {name: count_program(model, program, style, gravity) for name, program in programs.items()}


# What is known at run time only; and so are the states of driven joints and closures.
_RECORDED = (
    "data",
    "closure_data",
    "node_body_data",
    "node_closure_data",
)


class _KeepingGraph(CountingGraph):
    """Whatever is compared is as it is in the usual case: an equation adds something to those before it."""

    def compare(self, kind: str, *args: Any) -> Any:
        return True


def count_program(model: Model, program: Program, style: Style, gravity: bool, q: Array | None = None) -> Operations:
    """Operations of the recursion itself: those of force elements and laws of motion are not part of it.

    ``q``: a configuration at which the loops are closed and not singular; one is looked for unless it is given.
    """
    graph = _KeepingGraph() if model.closures else CountingGraph()
    plan = _planned(replace(model, elements=()), program, style, q)
    inputs = {name: graph.inputs(model.nq if name == "q" else model.nv) for name in program.inputs}
    data: dict[str, list[Any]] = {name: graph.inputs(np.size(ARRAYS[name].fill(plan))) for name in _RECORDED}  # type: ignore[misc]
    data |= {"gravity": [graph.input() if gravity and x else 0.0 for x in plan.gravity]}
    data |= {f"driven_{name}": graph.inputs(7 * plan.loads.motions) for name in "qva"}
    still = replace(plan, gravity=plan.gravity * gravity, loads=replace(plan.loads, motion_table=plan.loads.motion_table[:0]))
    outputs = InPython(still, program, inputs, data).run()
    return graph.count(x for values in outputs.values() for x in values)


def _planned(model: Model, program: Program, style: Style, q: Array | None) -> Plan:
    plan = make_plan(model, style)
    if not program.nodes:
        return plan
    nodes = plan_generic_nodes(plan, Dynamics(model, "multipliers", optimisation=0)) if q is None else plan_nodes(plan, q, 0.0)
    return replace(plan, nodes=nodes)


def count_chain(chain: Callable[[int], Model], formulation: str, *, style: Style = "plane", gravity: bool = True) -> Count:
    """The line through the counts of two chains that differ by one body."""
    program = (QUANTITIES | _TREES)[formulation]
    short, long = (count_program(chain(n), program, style, gravity) for n in _SIZES)
    per_body = long.minus(short)
    return Count(formulation, per_body, long.minus(Operations(*[_SIZES[1] * x for x in per_body])))


def count_table(joint: str = "revolute") -> dict[str, Count]:
    """All formulations on chains of one kind of joint; for revolute joints the papers' pin-joint chain."""
    if joint not in JOINTS:
        raise StateError(f"there is no joint type {joint!r}: use one of {', '.join(JOINTS)}")
    chain = generators.pin_joint_chain if joint == "revolute" else lambda n: generators.chain(n, kind=joint)
    table = {name: count_chain(chain, name) for name in _TREES if name != "mass_matrix"}
    general = lambda n: generators.chain(n, kind=joint)  # noqa: E731
    table["articulated_body, full rotations"] = count_chain(general, "articulated_body", style="full")
    if joint == "revolute":
        table["articulated_body, no gravity"] = count_chain(chain, "articulated_body", gravity=False)
        right = lambda n: generators.pin_joint_chain(n, perpendicular=True)  # noqa: E731
        table["articulated_body, perpendicular axes"] = count_chain(right, "articulated_body")
    table["inverse_dynamics"] = count_chain(chain, "inverse_dynamics")
    return table
