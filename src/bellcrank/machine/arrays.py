"""The arrays of the kernels of a model, each declared once; counts of a plan say how large they are.

table, data, dofs              bodies: integers, numbers; the parent of the body of each degree of freedom
motion_*, element_*, pool      prescribed motions and force elements; the splines of their tables
measure_*, measured            measures; the columns that have been found
closure_*, attachment_*        closures, and where their equations are attached to the tree; factors of couplers
given_*, action_*              terms of couplers whose joints are driven; wrenches of gears and belts on bodies
node_*                         nodes: what stands together, and data that equal ones share
states, known, applied ...     bodies with force elements or closures attached: pose and velocity, known acceleration, wrench
rows, left, lower, kept        equations of the closures: FIELDS; what each leaves at the joints (m by nv), made orthonormal;
                               the factor L; those that are not redundant in all lanes. Of rows and left the watch for singular
                               positions reads further ones, of equations that make nodes agree
work, messages, channels ...   what passes keep on bodies and nodes, and what these send to each other
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formulations import Program
from ..formulations.program import tangent_of
from ..kernels.arrays import Array
from ..plan import Plan
from ..plan.closures import ACTION_ROW, ACTION_TABLE, ATTACHMENT_TABLE, CLOSURE_ROW, CLOSURE_TABLE, GIVEN_TABLE
from ..plan.loads import ELEMENT_ROW, ELEMENT_TABLE, MOTION_TABLE, motion_row
from ..plan.measuring import MEASURE_TABLE
from ..plan.nodes.tables import NODE_TABLE
from ..plan.plan import TABLE
from ..plan.row_selection import least_kept, order_of_rows
from ..plan.signature import OWN, ROW
from .nodes.groups import GROUP_TABLE, group_table, groups_of

FIELDS = ("right", "error", "rate", "bound", "pivot", "residual", "multiplier", "answer", "length", "keep")
SETTINGS = ("tolerance", "length", "damping", "stiffness")
SIZES = (
    "motions", "elements", "pool", "attached", "closures", "attachments", "rows", "nodes", "early_measures", "measures",
    "measured", "givens", "actions", "node_groups",
)  # fmt: skip
STATE, WRENCH, IMPULSE = 18, 6, 12  # numbers of a body's state, of a wrench, of an impulse with its rate
CARRIED = (
    *(f"wrench{k}" for k in range(WRENCH)),
    "factor",
    "position",
    "velocity",
    "acceleration",
)  # an equation on its way to ground


def _table(name: str, rows: int | str, columns: Any, fill: Any) -> Array:
    return Array(name, "table", rows, columns, integers=True, fill=fill)


def _data(name: str, rows: int | str, columns: Any, fill: Any) -> Array:
    return Array(name, "data", rows, columns, fill=fill)


def _buffer(name: str, rows: int | str, columns: Any = 1, active: bool = True, integers: bool = False) -> Array:
    return Array(name, "buffer", rows, columns, active=active, integers=integers)


_DECLARED = (
    _table("table", "bodies", TABLE, lambda plan: plan.table),
    _table("dofs", "nv", 1, lambda plan: _parents_of_dofs(plan)),
    _data("data", "bodies", ROW, lambda plan: plan.data),
    _data("gravity", 1, 3, lambda plan: plan.gravity),
    _table("sizes", 1, SIZES, lambda plan: _sizes(plan_counts(plan))),
    _table("motion_table", "motions", MOTION_TABLE, lambda plan: plan.loads.motion_table),
    _data("motion_data", "motions", "motion_row", lambda plan: plan.loads.motion_data),
    _table("element_table", "elements", ELEMENT_TABLE, lambda plan: plan.loads.element_table),
    _data("element_data", "elements", ELEMENT_ROW, lambda plan: plan.loads.element_data),
    _data("pool", "pool", 1, lambda plan: plan.loads.pool),
    _table("measure_table", "measures", MEASURE_TABLE, lambda plan: plan.loads.measures.table),
    _data("measure_data", "measures", "measure_row", lambda plan: plan.loads.measures.data),
    _table("measure_arguments", "measure_arguments", 1, lambda plan: plan.loads.measures.arguments),
    _table("closure_table", "closures", CLOSURE_TABLE, lambda plan: plan.loads.closing.table),
    _data("closure_data", "closures", CLOSURE_ROW, lambda plan: plan.loads.closing.data),
    _table("attachment_table", "attachments", ATTACHMENT_TABLE, lambda plan: plan.loads.closing.attachments),
    _data("factors", "attachments", 1, lambda plan: plan.loads.closing.factors),
    _table("given_table", "givens", GIVEN_TABLE, lambda plan: plan.loads.closing.givens),
    _data("given_factors", "givens", 1, lambda plan: plan.loads.closing.given_factors),
    _table("action_table", "actions", ACTION_TABLE, lambda plan: plan.loads.closing.action_table),
    _data("action_data", "actions", ACTION_ROW, lambda plan: plan.loads.closing.action_data),
    _data("settings", 1, SETTINGS, lambda plan: [plan.tolerance, plan.length, *plan.baumgarte]),
    _table("row_order", "rows", 1, lambda plan: order_of_rows(plan)),
    _data("row_least", "rows", 1, lambda plan: least_kept(plan)),
    _table("node_table", "nodes", NODE_TABLE, lambda plan: plan.nodes.table if plan.nodes else ()),
    _table("node_groups", "node_groups", GROUP_TABLE, lambda plan: group_table(plan.nodes)),
    _table("node_ints", "node_ints", 1, lambda plan: plan.nodes.ints if plan.nodes else ()),
    _data("node_body_data", "node_bodies", OWN, lambda plan: plan.nodes.shared_bodies if plan.nodes else ()),
    _data("node_closure_data", "node_closures", CLOSURE_ROW, lambda plan: plan.nodes.shared_closures if plan.nodes else ()),
    _buffer("work", "bodies", "work_row", active=False),
    _buffer("messages", "messages", "message_row", active=False),
    _buffer("carried", 1, CARRIED),
    _buffer("driven_q", "motions", 7),
    _buffer("driven_v", "motions", 6),
    _buffer("driven_a", "motions", 6),
    _buffer("states", "attached", STATE),
    _buffer("known", "attached", WRENCH),
    _buffer("applied", "attached", WRENCH),
    _buffer("effort", "nv"),
    _buffer("measured", "measured"),
    _buffer("element_vectors", "elements", 3),
    _buffer("rows", "watched_rows", FIELDS),
    _buffer("left", "watched_rows", "left_row"),
    _buffer("slopes", "attachments"),
    _buffer("attachments", "attachments", WRENCH),
    _buffer("lower", "lower_rows", "rows"),
    _buffer("push", "nv"),
    _buffer("kept", "rows", integers=True),
    Array("cursor", "local", 1, ("ancestor", "kept"), integers=True),
    _buffer("node_work", "node_work", active=False),
    _buffer("node_messages", "node_messages", active=False),
    _buffer("forms", "forms"),
    _buffer("scratch", "scratch"),
    _buffer("impulses", "attached", IMPULSE),
)
VARIABLE: tuple[str, ...] = ("data", "gravity", "motion_data", "element_data", "pool", "closure_data", "factors")
VARIABLE += ("given_factors", "action_data", "measure_data")
"""Data that a design may change. What nodes read of bodies and closures follows from it."""
OF_NODES = {"node_body_data": "data", "node_closure_data": "closure_data"}

_given = {array.name: array for array in _DECLARED}
_tangents = (Array(tangent_of(name), "tangent", _given[name].rows, _given[name].columns) for name in (*VARIABLE, *OF_NODES))
ARRAYS = _given | {array.name: array for array in _tangents}


def program_arrays(program: Program) -> dict[str, Array]:
    """Inputs and outputs of a program."""
    inputs = {name: Array(name, "tangent" if is_tangent(program, name) else "input", name) for name in program.inputs}
    square = {name: "nv" if kind in ("v*v", "row*v") else 1 for name, kind in program.outputs.items()}
    return inputs | {name: Array(name, "output", name, columns, active=True) for name, columns in square.items()}


def is_tangent(program: Program, name: str) -> bool:
    """Whether an input is that of the tangents of another one."""
    return program.tangents > 0 and name in {tangent_of(other) for other in program.inputs}


def arrays_of(plan: Plan, program: Program) -> dict[str, Array]:
    """All arrays of a kernel; those that nothing varies in carry no tangents."""
    arrays = ARRAYS | program_arrays(program)
    changed = program.of_design and (plan.varies("motion_data") or plan.varies("pool"))
    if not (changed or is_tangent(program, tangent_of("t"))):
        arrays |= {name: replace(arrays[name], active=False) for name in ("driven_q", "driven_v", "driven_a")}
    return arrays | {name: replace(arrays[name], own=True) for name in own_data(plan)}


def own_data(plan: Plan) -> tuple[str, ...]:
    """The data of which every lane has its own, where lanes have designs of their own."""
    if not plan.lane_designs:
        return ()
    return *(name for name in VARIABLE if plan.varies(name)), *(name for name, of in OF_NODES.items() if plan.varies(of))


COUNTS = "counts"


def plan_counts(plan: Plan) -> dict[str, int]:
    """How many there are of everything, as the declarations name it; not what only a kernel decides."""
    if COUNTS not in plan.made:
        plan.made[COUNTS] = _counted(plan)
    return dict(plan.made[COUNTS])


def _counted(plan: Plan) -> dict[str, int]:
    loads, nodes, model = plan.loads, plan.nodes, plan.model
    counts = {"bodies": plan.n, "nv": model.nv, "nq": model.nq, "messages": plan.messages, "attached": len(loads.attached)}
    counts |= {"motions": loads.motions, "motion_row": motion_row(loads.motion_signatures), "elements": loads.elements}
    counts |= {"pool": len(loads.pool), "closures": loads.closing.closures, "rows": loads.closing.rows}
    counts |= {"givens": len(loads.closing.givens), "actions": len(loads.closing.action_table)}
    counts |= {"attachments": len(loads.closing.attachments), "nodes": 0 if nodes is None else nodes.count}
    counts |= {"watched_rows": counts["rows"] + (0 if nodes is None else len(nodes.agreements))}
    measures = loads.measures
    counts |= {"measures": len(measures.table), "early_measures": measures.early, "measured": measures.ordered.size}
    counts |= {"measure_row": measures.data.shape[1], "measure_arguments": len(measures.arguments)}
    if nodes is not None:
        counts |= {
            "node_groups": len(groups_of(nodes).nodes),
            "node_ints": nodes.ints.size,
            "node_bodies": len(nodes.shared_bodies),
        }
        counts |= {"node_bodies": len(nodes.shared_bodies), "node_closures": len(nodes.shared_closures), "forms": nodes.sent}
    return counts | {name: 0 for name in ("node_groups", "node_ints", "node_bodies", "node_closures", "forms") if nodes is None}


def for_plan(program: Program, plan: Plan) -> Program:
    """The program with the inputs that this model adds: the time, and what its input elements read."""
    loads, measures = plan.loads, plan.loads.measures
    read = measures.early_passes if program.forces else frozenset()
    read |= measures.passes | measures.early_passes if "measure" in program.outputs else frozenset()
    timed = (loads.time_dependent and (loads.motions or program.forces)) or "t" in read
    given = (program.forces and any(s.has_input for s in loads.element_signatures)) or "u" in read
    return replace(program, inputs=program.inputs + ("t",) * bool(timed) + ("u",) * bool(given))


def width(plan: Plan, program: Program, name: str) -> int:
    """Numbers of an input or of an output of a program."""
    model = plan.model
    if name in program.inputs:
        rows = plan.loads.closing.rows
        sizes = {"q": model.nq, "t": 1, "u": model.input_width, "lambda": rows}
        return sizes.get(name.removeprefix("d_") if is_tangent(program, name) else name, model.nv)
    kind = program.outputs[name]
    if kind == "v*v":
        return model.nv * model.nv
    per, _, size = kind.partition("*")
    driven = int(sum(joint.nv for joint, is_driven in zip(model.joints, model.driven, strict=True) if is_driven))
    counts = {"q": model.nq, "v": model.nv, "body": model.n, "drive": driven, "element": len(model.elements)}
    counts |= {"closure": len(model.closures), "row": plan.loads.closing.rows, "measure": plan.loads.measures.ordered.size}
    counts |= {"opening": plan.loads.openings}
    counts |= {"node": 0 if plan.nodes is None else plan.nodes.count}
    return counts[per] * (model.nv if size == "v" else int(size or 1))


def _sizes(counts: Mapping[str, int]) -> list[int]:
    return [counts[name] for name in SIZES]


def _parents_of_dofs(plan: Plan) -> NDArray[np.int64]:
    """For each degree of freedom, the parent of its body, in the order of the walk."""
    parents = np.zeros(plan.model.nv, dtype=np.int64)
    first, count, parent = (plan.table[:, TABLE.index(name)] for name in ("v", "nv", "parent"))
    for start, size, p in zip(first, count, parent, strict=True):
        parents[start : start + size] = p
    return parents
