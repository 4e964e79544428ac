"""Terms of couplers: sums of coordinates, prescribed ones too, and the curve of the last one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...kernels.executor import Integer
from ...numbers import Number
from ...numbers.spline import Curve, Lookup
from ...plan.closures import CLOSURE_SLOTS, ClosureSignature
from ..at_state import (
    curve_at,
)
from ..loads import add_to, pool_of

if TYPE_CHECKING:
    from ..walk import Walk


def coupled(walk: Walk, signature: ClosureSignature, k: Integer) -> tuple[Number, Number, Number]:
    """sum of factor * q, its rate, and what is known of its second derivative; less the curve of its last coordinate."""
    position, velocity, known = _sums(walk, k)
    if signature.curve is None:
        return position, velocity, known
    curve, v, a = curve_and_rates(walk, signature, k)
    return position - curve.value, velocity - curve.slope * v, known - (curve.slope * a + curve.bend * v * v)


def curve_and_rates(walk: Walk, signature: ClosureSignature, k: Integer) -> tuple[Curve, Number, Number]:
    """The curve of a coupler, and velocity and known acceleration of the coordinate that it is of."""
    table = walk.array("closure_table")
    if signature.curve_driven:
        given, last = walk.array("given_table"), table[k, "given"] + table[k, "givens"] - 1
        q, v, a = (walk.array(f"driven_{x}")[given[last, column]] for x, column in (("q", "q"), ("v", "v"), ("a", "v")))
    else:
        last = last_attachment(walk, k)
        q, v, a = walk.given("q", coordinate_of(walk, last, "q")), walk.given("v", coordinate_of(walk, last, "v")), 0.0
    return curve_of(walk, signature.curve, k, q), v, a


def curve_of(walk: Walk, lookup: Lookup | None, k: Integer, x: Number) -> Curve:
    """The curve of a closure; a design may change its points, in the pool, and not where they are."""
    assert lookup is not None
    return curve_at(lookup, lambda slot: walk.data("closure_data", (k, slot), False), CLOSURE_SLOTS["table"], x, pool_of(walk))


def last_attachment(walk: Walk, k: Integer) -> Integer:
    table = walk.array("closure_table")
    return table[k, "attachment"] + table[k, "attachments"] - 1


def slope_of(walk: Walk, signature: ClosureSignature, k: Integer) -> Number:
    """The slope of a coupler's curve, which adds to the factor of its last term."""
    return 0.0 if signature.curve is None or signature.curve_driven else -curve_and_rates(walk, signature, k)[0].slope


def _sums(walk: Walk, k: Integer) -> tuple[Number, Number, Number]:
    """sum of factor * q, of factor * v, and of factor * a over what is driven."""
    carried = walk.array("carried")
    for name in ("position", "velocity", "acceleration"):
        carried[0, name] = 0.0

    def term(attachment: Integer) -> None:
        factor = factor_of(walk, attachment)
        for name, array in (("position", "q"), ("velocity", "v")):
            add_to(carried, (0, name), factor * walk.given(array, coordinate_of(walk, attachment, array)))

    each_attachment(walk, k, term)
    if not len(walk.plan.loads.closing.givens):
        return carried[0, "position"], carried[0, "velocity"], 0.0
    table, given = walk.array("closure_table"), walk.array("given_table")

    def driven(i: Integer) -> None:
        factor = walk.data("given_factors", i, walk.plan.varies("given_factors"))
        for name, array, column in (("position", "q", "q"), ("velocity", "v", "v"), ("acceleration", "a", "v")):
            add_to(carried, (0, name), factor * walk.array(f"driven_{array}")[given[i, column]])

    walk.e.each(table[k, "given"], table[k, "given"] + table[k, "givens"], driven)
    return carried[0, "position"], carried[0, "velocity"], carried[0, "acceleration"]


def factor_of(walk: Walk, attachment: Integer) -> Number:
    """The factor of a term of a coupler."""
    return walk.data("factors", attachment, walk.plan.varies("factors"))


def each_attachment(walk: Walk, k: Integer, act: Callable[[Integer], None]) -> None:
    table = walk.array("closure_table")
    first = table[k, "attachment"]
    walk.e.each(first, first + table[k, "attachments"], act)


def coordinate_of(walk: Walk, attachment: Integer, column: str) -> Integer:
    """The entry of q or v that a coupler's term names."""
    table = walk.array("attachment_table")
    return walk.array("table")[table[attachment, "body"], column] + table[attachment, "dof"]
