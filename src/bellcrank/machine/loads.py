"""Before a recursion, in machine code: loops over the driven joints and over the force elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..forces import BodyState, JointState
from ..kernels.emitter import Emitter, Int
from ..kernels.flow import each, switch
from ..kernels.messages import leaves
from ..kernels.pool import Table
from ..numbers import Number, Symbol
from ..plan.loads import ELEMENT_ROW, ELEMENT_SLOTS, ELEMENT_TABLE, MOTION_TABLE, ElementSignature, MotionSignature, motion_row
from ..spatial import Force, Matrix, Motion, Vector
from .prepass import body_state, body_wrenches, closing_wrenches, driven_state, joint_effort, summed, world_state

if TYPE_CHECKING:
    from .walk import TracedWalk

STATE, WRENCH, IMPULSE = 18, 6, 12  # numbers of a body's state, of a wrench, of an impulse with its rate
SIZES = ("motions", "elements", "pool", "touched", "closures", "grips", "rows", "nodes")


def count(e: Emitter, name: str) -> str:
    return e.load_int("%sizes", SIZES.index(name))


def row_of(e: Emitter, base: str, i: str, width: int) -> Callable[[int], Symbol]:
    """Numbers of a row of data, the same for all lanes."""
    start = e.pointer(base, e.integer("mul", i, width))
    seen: dict[int, Symbol] = {}

    def data(slot: int) -> Symbol:
        if slot not in seen:
            seen[slot] = e.symbol(e.splat(e.load_double(start, slot)))
        return seen[slot]

    return data


def ints_of(e: Emitter, base: str, i: str, names: tuple[str, ...]) -> Callable[[str], str]:
    start = e.pointer(base, e.integer("mul", i, len(names)))
    return lambda name: e.load_int(start, names.index(name))


def _time(walk: TracedWalk) -> Number:
    return walk.e.symbol(walk.e.load("%t", 0)) if "t" in walk.program.inputs else 0.0


def drive(walk: TracedWalk) -> None:
    """States of the driven joints at this time."""
    e, plan = walk.e, walk.plan.loads
    width = motion_row(plan.motion_signatures)

    def case(signature: MotionSignature, i: str) -> list[str]:
        ints = ints_of(e, "%motion_table", i, MOTION_TABLE)
        pool = Table(e, "%pool", count(e, "pool"))
        state = driven_state(signature, row_of(e, "%motion_data", i, width), _time(walk), pool)
        q, v = ints("q"), ints("v")
        for name, first, values in (("q", q, state.q), ("v", v, state.v), ("a", v, state.a)):
            for k, x in enumerate(values):
                e.store(x, f"%driven_{name}", e.integer("add", first, k))
        return []

    def one(i: str) -> None:
        code = ints_of(e, "%motion_table", i, MOTION_TABLE)("code")
        switch(e, code, [lambda s=s: case(s, i) for s in plan.motion_signatures])  # type: ignore[misc]

    each(e, 0, count(e, "motions"), one)


def apply_forces(walk: TracedWalk) -> None:
    """Sum up the efforts and wrenches of all elements; each leaves its energy, power and force where that is an output."""
    e, plan = walk.e, walk.plan.loads
    if plan.touched:
        walk.outward(world_state, (Matrix.identity(), Vector(0.0, 0.0, 0.0), Motion.zero()))
        clear_applied(walk)
    given = "tau" in walk.program.inputs
    each(e, 0, "%nv", lambda k: walk.put(walk.given("tau", k) if given else 0.0, "%effort", k))

    def one(i: str) -> None:
        code = ints_of(e, "%element_table", i, ELEMENT_TABLE)("code")
        switch(e, code, [lambda s=s: _element(walk, s, i) for s in plan.element_signatures])  # type: ignore[misc]

    if plan.elements:
        each(e, 0, count(e, "elements"), one)


def clear_applied(walk: TracedWalk) -> None:
    e = walk.e
    each(e, 0, e.integer("mul", count(e, "touched"), WRENCH), lambda k: walk.put(0.0, "%applied", k))


def _element(walk: TracedWalk, signature: ElementSignature, i: str) -> list[str]:
    e = walk.e
    ints, data = ints_of(e, "%element_table", i, ELEMENT_TABLE), row_of(e, "%element_data", i, ELEMENT_ROW)
    pool = Table(e, "%pool", count(e, "pool"))
    t = _time(walk)
    u = e.symbol(e.load("%u", ints("input"))) if signature.has_input else 0.0
    if signature.terms:
        told = _on_sum(walk, signature, ints, data)
    elif signature.on_joint:
        v = ints("v")
        q = walk.given("q", ints("q")) if signature.scalar else 0.0
        answer = joint_effort(signature, data, JointState(q, walk.given("v", v)), t, u, pool)
        walk.put(walk.get("%effort", v) + answer.effort, "%effort", v)
        told = (answer.energy, answer.power, answer.effort)
    else:
        rows = ints("row_a"), ints("row_b")
        grounds = signature.ground_a, signature.ground_b
        a, b = (BodyState.ground() if on else state_of(walk, row) for on, row in zip(grounds, rows, strict=True))
        evaluate = closing_wrenches if signature.closing else body_wrenches
        answers = evaluate(signature, data, a, b, t, u, pool)
        for on, row, wrench in zip(grounds, rows, (answers.on_a, answers.on_b), strict=True):
            if not on:
                add_wrench(walk, row, wrench)
        told = (answers.energy, answers.power, answers.force)
    if "element" in walk.program.outputs:
        for k, x in enumerate(told):
            e.store(x, "%element", e.integer("add", e.integer("mul", i, len(told)), k))
    return []


def _on_sum(
    walk: TracedWalk, signature: ElementSignature, ints: Callable[[str], str], data: Callable[[int], Symbol]
) -> tuple[Number, Number, Number]:
    """An element along s = sum of factor * q: each joint gets factor * effort."""
    factors = [data(ELEMENT_SLOTS["factors"] + k) for k in range(signature.terms)]
    s, rate = (summed(factors, [walk.given(name, ints(f"{name}{k}")) for k in range(signature.terms)]) for name in ("q", "v"))
    answer = joint_effort(signature, data, JointState(s, rate), 0.0, 0.0, None)
    for k, factor in enumerate(factors):
        v = ints(f"v{k}")
        walk.put(walk.get("%effort", v) + factor * answer.effort, "%effort", v)
    return answer.energy, answer.power, answer.effort


def state_of(walk: TracedWalk, row: str, known: bool = False) -> BodyState:
    """``known``: with the acceleration that the program has left (leave_known)."""
    e, first = walk.e, walk.e.integer("mul", row, STATE)
    places = [e.integer("add", first, k) for k in range(STATE)]
    if known:
        more = known_of(walk, row)
        places += [e.integer("add", more, k) for k in range(6)]
    return body_state([walk.get("%states", place) for place in places])


def known_of(walk: TracedWalk, row: str) -> Int:
    """Where a known acceleration is kept: behind the states, where programs with tangents have theirs."""
    e = walk.e
    return e.integer("add", e.integer("mul", count(e, "touched"), STATE), e.integer("mul", row, 6))


def add_wrench(walk: TracedWalk, row: str, wrench: Force) -> None:
    e, first = walk.e, walk.e.integer("mul", row, WRENCH)
    for k, x in enumerate(leaves(wrench)):
        place = e.integer("add", first, k)
        walk.put(walk.get("%applied", place) + x, "%applied", place)
