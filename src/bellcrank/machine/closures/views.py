"""A loop over the closures with a switch on their signatures: each one as the formulations see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...forces import BodyState
from ...joints import JOINTS
from ...joints.base import Driven
from ...kernels.executor import Integer
from ...numbers import Number
from ...plan.closures import ClosureSignature
from ..at_state import (
    ClosureView,
    along_motion,
    closure_view,
    driven_along_motion,
)
from ..loads import data_of, state_of

if TYPE_CHECKING:
    from ..walk import Walk
from .couplers import coupled

Acting = Callable[[ClosureSignature, Integer, ClosureView], None]  # the closure's signature, its index, and what it says


def each_closure(walk: Walk, act: Acting, rated: bool = False) -> None:
    """A loop over the closures; ``rated``: numbers carry their rates along the motion."""
    e, closing, table = walk.e, walk.plan.loads.closing, walk.array("closure_table")

    def case(signature: ClosureSignature, k: Integer) -> list[Number]:
        act(signature, k, _view(walk, signature, k, rated))
        return []

    def one(k: Integer) -> None:
        e.switch(table[k, "code"], [lambda s=s: case(s, k) for s in closing.signatures])

    if closing.closures:
        e.each(0, e.count("closures"), one)


def _view(walk: Walk, signature: ClosureSignature, k: Integer, rated: bool) -> ClosureView:
    table, coupler = walk.array("closure_table"), signature.kind == "coupler"
    sums = coupled(walk, signature, k) if coupler else (0.0, 0.0, 0.0)
    known = "gamma" in walk.program.outputs
    a = BodyState.ground() if signature.ground_a or coupler else state_of(walk, table[k, "state_a"], known)
    b = BodyState.ground() if signature.ground_b or coupler else state_of(walk, table[k, "state_b"], known)
    state = driven_of(walk, signature, k)
    if rated:
        a, b, state = along_motion(a), along_motion(b), driven_along_motion(signature, state)
    return closure_view(signature, data_of(walk, "closure_data", k, signature), a, b, state, sums)


def driven_of(walk: Walk, signature: ClosureSignature, k: Integer) -> Driven:
    """The prescribed motion of a closure, if it has one."""
    if not signature.driven:
        return Driven((), (), ())
    nq, nv = (1, 1) if signature.driven == "value" else (JOINTS[signature.driven].nq, JOINTS[signature.driven].nv)
    q, v = (walk.array("closure_table")[k, name] for name in ("driven_q", "driven_v"))

    def numbers(name: str, first: Integer, size: int) -> tuple[Number, ...]:
        return tuple(walk.array(f"driven_{name}")[first + j] for j in range(size))

    return Driven(numbers("q", q, nq), numbers("v", v, nv), numbers("a", v, nv))
