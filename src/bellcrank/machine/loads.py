"""Before a recursion: loops over the driven joints and over the force elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..forces import BodyState, JointState
from ..kernels.executor import Integer
from ..kernels.messages import leaves
from ..numbers import Number
from ..plan.loads import ELEMENT_SLOTS, ElementSignature, MotionSignature, element_gates
from ..spatial import Force, Matrix, Motion, Vector
from .arrays import STATE, WRENCH
from .at_state import (
    ElementInputs,
    body_state,
    body_wrenches,
    closing_wrenches,
    driven_state,
    joint_effort,
    openings_of,
    summed,
    world_state,
)

if TYPE_CHECKING:
    from .walk import Walk

Data = Callable[[int], Number]


def data_of(walk: Walk, array: str, i: Integer, signature: Any) -> Data:
    """The numbers of a row, by their place."""
    return lambda slot: walk.data(array, (i, slot), slot in signature.varied)


def time_of(walk: Walk) -> Number:
    return walk.given("t", 0) if "t" in walk.program.inputs else 0.0


def pool_of(walk: Walk) -> Any:
    """The splines of tables, with their tangents where a design may change them."""
    e = walk.e
    tangents = walk.array("d_pool") if walk.of_design and walk.plan.varies("pool") else None
    return e.table(walk.array("pool"), e.count("pool"), tangents)


def drive(walk: Walk) -> None:
    """States of the driven joints at this time."""
    e, table = walk.e, walk.array("motion_table")

    def case(signature: MotionSignature, i: Integer) -> list[Number]:
        state = driven_state(signature, data_of(walk, "motion_data", i, signature), time_of(walk), pool_of(walk))
        for name, column, values in (("q", "q", state.q), ("v", "v", state.v), ("a", "v", state.a)):
            for k, x in enumerate(values):
                walk.array(f"driven_{name}")[table[i, column] + k] = x
        return []

    def one(i: Integer) -> None:
        e.switch(table[i, "code"], [lambda s=s: case(s, i) for s in walk.plan.loads.motion_signatures])

    e.each(0, e.count("motions"), one)


def leave_states(walk: Walk) -> None:
    """Bodies with force elements or closures leave pose and velocity."""
    walk.outward(world_state, (Matrix.identity(), Vector(0.0, 0.0, 0.0), Motion.zero()))


def apply_forces(walk: Walk) -> None:
    """Sum up the efforts and wrenches of all elements; each leaves its energy, power and force where that is an output."""
    e, plan, effort = walk.e, walk.plan.loads, walk.array("effort")
    if plan.attached:
        leave_states(walk)
        clear_applied(walk)
    walk.measure_early()
    given = "tau" in walk.program.inputs
    e.each(0, e.count("nv"), lambda k: effort.__setitem__(k, walk.given("tau", k) if given else 0.0))
    table = walk.array("element_table")

    def one(i: Integer) -> None:
        e.switch(table[i, "code"], [lambda s=s: _element(walk, s, i) for s in plan.element_signatures])

    if plan.elements:
        e.each(0, e.count("elements"), one)


def clear_applied(walk: Walk) -> None:
    applied = walk.array("applied")
    walk.e.each(0, walk.e.count("attached") * WRENCH, lambda k: applied.__setitem__(k, 0.0))


def add_to(array: object, place: Integer, x: Number) -> None:
    array[place] = array[place] + x  # type: ignore[index]


def _element(walk: Walk, signature: ElementSignature, i: Integer) -> list[Number]:
    table, data = walk.array("element_table"), data_of(walk, "element_data", i, signature)
    around = _around(walk, signature, i)
    if signature.terms:
        values = _on_sum(walk, signature, i, data)
    elif signature.on_joint:
        answer = joint_effort(signature, data, _joint_state(walk, signature, i), around)
        add_to(walk.array("effort"), table[i, "v"], answer.effort)
        values = (answer.energy, answer.power, answer.effort)
    else:
        grounds, rows = (signature.ground_a, signature.ground_b), ("row_a", "row_b")
        a, b = _body_states(walk, signature, i)
        evaluate = closing_wrenches if signature.closing else body_wrenches
        answers = evaluate(signature, data, a, b, around)
        for on, row, wrench in zip(grounds, rows, (answers.on_a, answers.on_b), strict=True):
            if not on:
                add_wrench(walk, table[i, row], wrench)
        values = (answers.energy, answers.power, answers.force)
        if "vectors" in walk.plan.loads.measures.passes:
            for k, x in enumerate(answers.on_a.f if signature.kind == "force" else answers.on_b.f):
                walk.array("element_vectors")[i, k] = x
    if "element" in walk.program.outputs:
        for k, x in enumerate(values):
            walk.output("element", i * len(values) + k, x)
    return []


def output_openings(walk: Walk) -> None:
    """Numbers that change their sign where forces begin, end, or have kinks: of formulas, then of elements."""
    e, plan = walk.e, walk.plan.loads
    if plan.attached:
        leave_states(walk)
    walk.measure_early()
    walk.measure_kinks()
    table, signatures = walk.array("element_table"), plan.element_signatures

    def case(signature: ElementSignature, i: Integer) -> list[Number]:
        if element_gates(signature):
            on = _joint_state(walk, signature, i) if signature.on_joint else _body_states(walk, signature, i)
            data = data_of(walk, "element_data", i, signature)
            for k, x in enumerate(openings_of(signature, _around(walk, signature, i), data, on)):
                walk.array("opening")[table[i, "opening"] + k] = x
        return []

    if any(map(element_gates, signatures)):
        e.each(0, e.count("elements"), lambda i: e.switch(table[i, "code"], [lambda s=s: case(s, i) for s in signatures]))


def _joint_state(walk: Walk, signature: ElementSignature, i: Integer) -> JointState:
    table = walk.array("element_table")
    q = walk.given("q", table[i, "q"]) if signature.scalar else 0.0
    return JointState(q, walk.given("v", table[i, "v"]))


def _body_states(walk: Walk, signature: ElementSignature, i: Integer) -> tuple[BodyState, BodyState]:
    table = walk.array("element_table")
    a, b = (table[i, row] for row in ("row_a", "row_b"))
    return (
        BodyState.ground() if signature.ground_a else state_of(walk, a),
        BodyState.ground() if signature.ground_b else state_of(walk, b),
    )


def _around(walk: Walk, signature: ElementSignature, i: Integer) -> ElementInputs:
    table = walk.array("element_table")
    u = walk.given("u", table[i, "input"]) if signature.has_input else 0.0
    arguments = tuple(walk.array("measured")[table[i, f"m{k}"]] for k in range(len(signature.live)))
    return ElementInputs(time_of(walk), u, pool_of(walk), arguments)


def _on_sum(walk: Walk, signature: ElementSignature, i: Integer, data: Data) -> tuple[Number, Number, Number]:
    """An element along s = sum of factor * q: each joint gets factor * effort."""
    table = walk.array("element_table")
    factors = [data(ELEMENT_SLOTS["factors"] + k) for k in range(signature.terms)]
    s, rate = (
        summed(factors, [walk.given(name, table[i, f"{name}{k}"]) for k in range(signature.terms)]) for name in ("q", "v")
    )
    answer = joint_effort(signature, data, JointState(s, rate), ElementInputs())
    for k, factor in enumerate(factors):
        add_to(walk.array("effort"), table[i, f"v{k}"], factor * answer.effort)
    return answer.energy, answer.power, answer.effort


def state_of(walk: Walk, row: Integer, known: bool = False) -> BodyState:
    """The state of a body; ``known``: with the acceleration that the program has left (Body.leave_known)."""
    numbers = [walk.array("states")[row, k] for k in range(STATE)]
    return body_state(numbers + [walk.array("known")[row, k] for k in range(WRENCH if known else 0)])


def add_wrench(walk: Walk, row: Integer, wrench: Force) -> None:
    for k, x in enumerate(leaves(wrench)):
        add_to(walk.array("applied"), (row, k), x)
