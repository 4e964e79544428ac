"""Given multipliers push on the bodies like forces, or as impulses; or their wrenches are put out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...forces import BodyState
from ...kernels.executor import Integer
from ...numbers import Number
from ...numbers.spline import Lookup
from ...plan.closures import ActionSignature, ClosureSignature
from ...spatial import Force
from ..arrays import IMPULSE
from ..at_state import (
    ClosureView,
    action_wrench,
    impulses_of,
    power_of,
)
from ..loads import add_to, add_wrench, state_of

if TYPE_CHECKING:
    from ..walk import Walk
from .couplers import coordinate_of, coupled, curve_and_rates, curve_of, each_attachment, factor_of, last_attachment, slope_of
from .views import each_closure


def _action_data(walk: Walk, i: Integer) -> Callable[[int], Number]:
    return lambda slot: walk.data("action_data", (i, slot), walk.plan.varies("action_data"))


def push(walk: Walk, also_output: bool = False) -> None:
    """Multipliers push on the bodies like forces; or their wrenches on the second body of each closure are put out; or both."""
    table, output = walk.array("closure_table"), "closing" in walk.program.outputs

    def one(signature: ClosureSignature, index: Integer, view: ClosureView) -> None:
        row, total, coupler = table[index, "row"], [Force.zero(), Force.zero()], signature.kind == "coupler"
        given = [walk.given("lambda", row + k) for k in range(len(view.equations))]
        for multiplier, equation in zip(given, view.equations, strict=True):
            for side, wrench in enumerate((equation.on_i, equation.on_j)):
                total[side] = total[side] + wrench * multiplier
        if output:
            power = given[0] * coupled(walk, signature, index)[1] if coupler else _power(view, total)
            for k, x in enumerate([*total[1].f, *total[1].n, power]):
                walk.output("closing", index * 7 + k, x)
        if output and not (also_output or walk.forces):
            return
        if coupler:
            if not signature.acts:
                each_attachment(walk, index, lambda attachment: _push_coordinate(walk, attachment, given[0]))
                if signature.curve is not None and not signature.curve_driven:
                    place = coordinate_of(walk, last_attachment(walk, index), "v")
                    add_to(walk.array("effort"), place, slope_of(walk, signature, index) * given[0])
            return
        grounds = (signature.ground_a, signature.ground_b)
        for ground, state, body, (n, f) in zip(grounds, ("state_a", "state_b"), (view.i, view.j), total, strict=True):
            if not ground:
                add_wrench(walk, table[index, state], Force(n + (body.p - body.r).cross(f), f))

    each_closure(walk, one)
    _each_action(walk, output, pushes=also_output or walk.forces or not output)


def _each_action(walk: Walk, output: bool, pushes: bool) -> None:
    """Wrenches of gears, belts and the like, and of couplers on driven joints: on the bodies, or put out, or both."""
    e, closing, table = walk.e, walk.plan.loads.closing, walk.array("action_table")

    def act(signature: ActionSignature, i: Integer) -> list[Number]:
        carrier = BodyState.ground() if signature.ground_c else state_of(walk, table[i, "state_c"])
        multiplier = walk.given("lambda", table[i, "row"])
        if signature.curve is not None:
            multiplier = -multiplier * _driven_slope(walk, signature.curve, table[i, "closure"])
        p, (n, f) = action_wrench(_action_data(walk, i), carrier, multiplier)
        if output and signature.reports:
            for k, x in enumerate([*f, *n]):
                walk.output("closing", table[i, "closure"] * 7 + k, -x)
        sides = ((signature.ground_a, "state_a", 1.0), (signature.ground_b, "state_b", -1.0))
        for ground, column, sign in sides if pushes else ():
            if not ground:
                row = table[i, column]
                add_wrench(walk, row, Force(n + (p - state_of(walk, row).r).cross(f), f) * sign)
        return []

    def one(i: Integer) -> None:
        e.switch(table[i, "code"], [lambda s=s: act(s, i) for s in closing.action_signatures])

    if closing.action_signatures:
        e.each(0, e.count("actions"), one)


def _driven_slope(walk: Walk, signature: Lookup, k: Integer) -> Number:
    """Slope of a curve at its coordinate, which is driven."""
    table, given = walk.array("closure_table"), walk.array("given_table")
    last = table[k, "given"] + table[k, "givens"] - 1
    return curve_of(walk, signature, k, walk.array("driven_q")[given[last, "q"]]).slope


def push_impulses(walk: Walk) -> None:
    """Multipliers are impulses, reversed; those of couplers are on coordinates, in directions that change along a curve only:

    the rate of its factor, -bend v, times the impulse is an effort.
    """
    e, impulses, table = walk.e, walk.array("impulses"), walk.array("closure_table")
    e.each(0, e.count("attached") * IMPULSE, lambda k: impulses.__setitem__(k, 0.0))

    def one(signature: ClosureSignature, index: Integer, view: ClosureView) -> None:
        if signature.kind == "coupler":
            if signature.curve is not None and not signature.curve_driven:
                curve, v, _ = curve_and_rates(walk, signature, index)
                place = coordinate_of(walk, last_attachment(walk, index), "v")
                add_to(walk.array("effort"), place, walk.given("lambda", table[index, "row"]) * curve.bend * v)
            return
        row, grounds = table[index, "row"], (signature.ground_a, signature.ground_b)
        sigma = [-walk.given("lambda", row + k) for k in range(len(view.equations))]
        for ground, state, (impulse, rate) in zip(grounds, ("state_a", "state_b"), impulses_of(view, sigma), strict=True):
            for k, x in enumerate([*impulse, *rate] if not ground else []):
                add_to(impulses, (table[index, state], k), x)

    each_closure(walk, one, rated=True)


def _power(view: ClosureView, total: Sequence[Force]) -> Number:
    """The power of the wrenches on the two bodies: zero, unless the closure is driven."""
    return power_of(view.i, total[0]) + power_of(view.j, total[1])


def _push_coordinate(walk: Walk, attachment: Integer, multiplier: Number) -> None:
    add_to(walk.array("effort"), coordinate_of(walk, attachment, "v"), factor_of(walk, attachment) * multiplier)
