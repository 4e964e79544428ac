"""Why the equations of motion have no finite answer at a state: a table that ended, an element, or which joint breaks down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..formulations import CLOSED, FORMULATIONS
from ..formulations.loops.agreement import disagreement
from ..formulations.loops.coordinate_reduction import unchecked
from ..kernels.messages import leaves
from ..machine.in_python import InPython
from ..machine.nodes.walk import WalkedNode
from ..model import Element, Law, Model
from ..numbers import Number
from ..plan import Plan
from ..wording import argument
from .node_ranks import plan_nodes
from .singular_positions import Singular, closures_of_node, inputs_of, is_finite, numpy_data, singular_loops


def why_not_finite(plan: Plan, state: dict[str, NDArray[np.float64]]) -> str:
    """Repeat the elimination slowly, from the tips inward, and name the first joint where it breaks down."""
    inputs = inputs_of(plan, state)
    ended = table_that_ended(plan.model, float(inputs["t"][0]))
    if ended is not None:
        return ended
    loops = singular_loops(plan, state)
    if loops is not None and plan.nodes is not None:
        return _singular(loops, plan) if _rank(plan, inputs) < plan.nodes.rank else _dependent(loops)
    contradicted = contradicted_loops(plan, state)
    if contradicted and plan.nodes is not None:
        return _lacking(contradicted) if _rank(plan, inputs) > plan.nodes.rank else _contradicted(contradicted)
    program = CLOSED["multipliers:joint"] if plan.model.closures else FORMULATIONS["articulated_body"]
    evaluation = InPython(plan, replace(program, outputs=program.outputs | {"element": "element*3"}), inputs, numpy_data(plan))
    with np.errstate(all="ignore"), suppress(ZeroDivisionError):  # numpy's numbers give inf, folded ones raise
        evaluation.run()
    model = plan.model
    for element, values in zip(model.elements, zip(*[iter(evaluation.values("element"))] * 3, strict=True), strict=False):
        if np.isnan(float(values[2])) and np.isfinite([float(x) for name in ("q", "v") for x in inputs[name]]).all():
            return f"force element {element.name!r} has no force here: {_why_no_force(element)}"
    for i in reversed(range(plan.n)):
        body = plan.tree.order[i]
        pivots = evaluation.kept(i, "pivots")  # none: the walk ended here
        if pivots is None or not np.isfinite([float(x) for x in leaves(tuple(pivot.gain for pivot in pivots))]).all():
            return (
                f"joint {model.joint_names[body]!r} moves no inertia in one of its directions "
                f"(body {model.body_names[body]!r}): give the bodies that it carries mass or inertia, or give the joint an "
                "armature"
            )
    return "the accelerations are not finite: the state is too large for double precision"


def contradicted_loops(plan: Plan, state: dict[str, NDArray[np.float64]]) -> tuple[str, ...]:
    """Closures of the first node whose motion contradicts an equation that planning left out (formulations.agreement)."""
    if plan.nodes is None or not plan.nodes.checks or not is_finite(state):
        return ()
    program = replace(CLOSED["coordinate_reduction"], run=unchecked)
    evaluation = InPython(plan, program, inputs_of(plan, state), numpy_data(plan))
    walk, found = evaluation.walk, list[int]()

    def look(node: WalkedNode) -> None:
        if float(disagreement(walk, node, node.joint_values("a", whole=True))) > 0:
            found.append(node.index)

    with np.errstate(all="ignore"), suppress(ZeroDivisionError):
        evaluation.run()
        walk.nodes(look)
    return closures_of_node(plan, found[0]) if found else ()


def _contradicted(closures: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}"' for name in closures)
    return (
        f"the equations of the loop through {names} contradict each other at this state: no accelerations satisfy all of them. "
        "Look for prescribed motions that do not agree."
    )


def _lacking(closures: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}"' for name in closures)
    return (
        f"the loop through {names} has an equation that seemed redundant when the model was compiled, and at this state it "
        f"contradicts the others. Use {argument('formulation', 'multipliers')}, which finds redundant equations at every state."
    )


def _rank(plan: Plan, inputs: dict[str, list[Number]]) -> int:
    """Independent equations at a state, whichever are kept."""
    return plan_nodes(plan, np.array(inputs["q"], dtype=float), float(inputs["t"][0])).rank


def _dependent(loops: Singular) -> str:
    names = ", ".join(f'"{name}"' for name in loops.closures)
    return (
        f"of the equations of the loop through {names}, which is over-constrained, some were kept when the model was compiled. "
        f"At this state they depend on each other (the independent part of one is {loops.pivot:.2g}), and others do not: runs "
        f"choose them again automatically; for single states use {argument('formulation', 'multipliers')}."
    )


def _singular(loops: Singular, plan: Plan) -> str:
    names = ", ".join(f'"{name}"' for name in loops.closures)
    return (
        f"singular position of the loop through {names}: one of its equations depends on the others but for a part of "
        f"{loops.pivot:.2g} ({argument('rank_tolerance')} {plan.tolerance:g}), so that the loop could continue in more than "
        f"one way and accelerations are not determined. Let a run pass it with {argument('method', 'rattle')} or "
        f"{argument('on_singular', 'pass')}; {argument('formulation', 'multipliers')} leaves such equations out."
    )


def table_that_ended(model: Model, t: float) -> str | None:
    """The first table of time that has no value at t, and what to do."""
    tables = [(f"of the motion of {what} {name!r}", law.table) for what, name, law in _laws(model)]
    tables += [(f"of force element {e.name!r}", e.table) for e in model.elements if e.kind == "joint_effort"]
    for what, table in tables:
        if table is not None and table.outside == "error" and not table.x[0] <= t <= table.x[-1]:
            span = f"{table.x[0]:g} to {table.x[-1]:g} s"
            return f'the table {what} goes from {span} only: make it longer, or let it keep its last value (outside = "clamp")'
    return None


def _laws(model: Model) -> Iterator[tuple[str, str, Law]]:
    joints = (("joint", *pair) for pair in zip(model.joint_names, model.motions, strict=False))
    closures = (("closure" if c.joint is None else "joint", c.name, c.motion) for c in model.closures)
    for what, name, motion in (*joints, *closures):
        yield from ((what, name, term) for law in (motion.laws if motion is not None else ()) for term in law.terms)


def _why_no_force(element: Element) -> str:
    if element.kind == "spring_damper" and element.table is not None and element.table.outside == "error":
        low, high = element.table.x[0], element.table.x[-1]
        return (
            f'its table covers elongations from {low:g} to {high:g} m only (to keep the force at its ends: outside = "clamp")'
        )
    if element.kind == "spring_damper":
        return "its two points meet, so that it has no direction"
    if element.kind == "turning_spring":
        return "its bodies are half a turn apart, so that it could turn them back either way"
    return "it is not a number"
