"""The equations that close loops: where they hold bodies, what they leave at the joints, and dense algebra on these rows.

machine.arrays says what rows, left, lower and kept are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...kernels.executor import Integer
from ...kernels.messages import leaves, rebuild
from ...numbers import Number, select, sqrt
from ...plan.closures import ClosureSignature
from ...spatial import Force
from ...spatial.rank import keeps
from ..arrays import WRENCH
from ..at_state import (
    ClosureView,
)
from ..body import Body
from ..dense import to_ground
from ..loads import add_to
from ..loads import leave_states as leave_all_states

if TYPE_CHECKING:
    from ..walk import Walk
from .couplers import factor_of, last_attachment, slope_of
from .views import each_closure


def left(walk: Walk) -> Any:
    """The coefficients of each equation at the degrees of freedom: the Jacobian itself, if that is asked for."""
    return walk.array("G" if "G" in walk.program.outputs else "left")


def leave_states(walk: Walk) -> None:
    if walk.plan.loads.closing.tied:
        leave_all_states(walk)


def leave_equations(walk: Walk, step: Callable[[Any], Sequence[tuple[Force, Force, Number]]]) -> None:
    rows, table, curves = walk.array("rows"), walk.array("closure_table"), walk.plan.loads.closing.curves
    walk.closure_states()
    if curves:
        walk.e.each(0, walk.e.count("attachments"), lambda i: walk.array("slopes").__setitem__(i, 0.0))

    def one(signature: ClosureSignature, index: Integer, view: ClosureView) -> None:
        row, attachment = table[index, "row"], table[index, "attachment"]
        if signature.curve is not None and not signature.curve_driven:
            walk.array("slopes")[last_attachment(walk, index)] = slope_of(walk, signature, index)
        held = [] if signature.kind == "coupler" else [x for x in (0, 1) if not (signature.ground_a, signature.ground_b)[x]]
        for k, (equation, carried) in enumerate(zip(view.equations, step(view), strict=True)):
            for name, x in (("right", carried[2]), ("error", equation.error), ("rate", equation.rate), ("bound", 0.0)):
                rows[row + k, name] = x
            for j, side in enumerate(held):
                for i, x in enumerate(leaves(carried[side])):
                    walk.array("attachments")[attachment + (k * len(held) + j), i] = x

    each_closure(walk, one)


class Row:
    """Implements formulations.Row."""

    def __init__(self, walk: Walk, row: Integer, dof: Integer):
        self.walk, self.row, self.dof = walk, row, dof

    def own(self, body: Body) -> list[Number]:
        n = len(body.directions)
        if not self.walk.plan.loads.closing.couplers:
            return [0.0] * n
        factor, e = self.walk.array("carried")[0, "factor"], self.walk.e
        return [e.where(self.dof, k, factor) for k in range(n)]

    def leave(self, body: Body, values: Sequence[Number], bound: Number, known: Number) -> None:
        walk, first = self.walk, body.entry("v")
        for k, x in enumerate(values):
            add_to(left(walk), (self.row, first + k), x)
        for name, x in (("bound", bound), ("right", -known)):
            if not (isinstance(x, float) and x == 0):
                add_to(walk.array("rows"), (self.row, name), x)
        if walk.plan.loads.closing.couplers:
            walk.array("carried")[0, "factor"] = 0.0


def carry_equations(walk: Walk, step: Callable[[Any, Any, Force], Force]) -> None:
    e, like, carried, table = walk.e, Force.zero(), walk.array("carried"), walk.array("attachment_table")
    walk.dense = True
    e.each(0, e.count("rows") * e.count("nv"), lambda k: left(walk).__setitem__(k, 0.0))

    def one(attachment: Integer) -> None:
        row = Row(walk, table[attachment, "row"], table[attachment, "dof"])
        for j in range(WRENCH):
            carried[j] = walk.array("attachments")[attachment, j]
        if walk.plan.loads.closing.couplers:
            carried[0, "factor"] = factor_of(walk, attachment)
        if walk.plan.loads.closing.curves:
            add_to(carried, (0, "factor"), walk.array("slopes")[attachment])
        to_ground(walk, table[attachment, "body"], lambda body: per_body(body, row))

    def per_body(body: Body, row: Row) -> None:
        force = rebuild(like, iter([carried[j] for j in range(WRENCH)]))
        for j, x in enumerate(leaves(step(body, row, force))):
            carried[j] = x

    e.each(0, e.count("attachments"), one)


class Orthonormal:
    """Rows made orthonormal one after the other: left = L Q. One that is nothing new beside the tolerance is redundant and has
    no multiplier; those that are kept in any of the lanes are listed."""

    def __init__(self, walk: Walk):
        self.walk, self.e, self.Q, self.L = walk, walk.e, left(walk), walk.array("lower")
        self.rows, self.kept, self.cursor = walk.array("rows"), walk.array("kept"), walk.array("cursor")

    def dot(self, r: Integer, s: Integer) -> Number:
        return self.e.total(0, self.e.count("nv"), lambda k: self.Q[r, k] * self.Q[s, k])

    def each_kept(self, act: Callable[[Integer], None]) -> None:
        self.e.each(0, self.cursor[0, "kept"], lambda k: act(self.kept[k]))

    def over_kept(self, term: Callable[[Integer], Number], start: Integer = 0) -> Number:
        return self.e.total(start, self.cursor[0, "kept"], lambda k: term(self.kept[k]))

    def row(self, r: Integer) -> None:
        e, rows, Q, L = self.e, self.rows, self.Q, self.L
        least = self.walk.array("row_least")[r]
        new = keeps(least * rows[r, "bound"], self.dot(r, r))
        self.each_kept(lambda s: L.__setitem__((r, s), 0.0))
        e.when(e.any_lane(new), lambda: self.orthogonalise(r))
        square, bound = self.dot(r, r), rows[r, "bound"]
        keep = keeps(least * bound, square)
        length = sqrt(select(keep, square, 1.0))
        rest = rows[r, "right"] - self.over_kept(lambda s: L[r, s] * rows[s, "answer"])
        scale = select(keep, 1.0 / length, 0.0)
        e.each(0, e.count("nv"), lambda k: Q.__setitem__((r, k), Q[r, k] * scale))
        rows[r, "answer"] = rest * scale
        rows[r, "length"] = length
        rows[r, "keep"] = select(keep, 1.0, 0.0)
        rows[r, "residual"] = select(keep, 0.0, rest)
        rows[r, "pivot"] = sqrt(select(keep, square / select(keep, bound, 1.0), 0.0))
        e.when(e.any_lane(keep), lambda: self.append(r))

    def orthogonalise(self, r: Integer) -> None:
        """Take away what earlier rows have; twice is enough."""
        e, Q = self.e, self.Q

        def against(s: Integer) -> None:
            along = self.dot(r, s)
            add_to(self.L, (r, s), along)
            e.each(0, e.count("nv"), lambda k: Q.__setitem__((r, k), Q[r, k] - along * Q[s, k]))

        e.each(0, 2, lambda _: self.each_kept(against))

    def append(self, r: Integer) -> None:
        size = self.cursor[0, "kept"]
        self.kept[size] = r
        self.cursor[0, "kept"] = size + 1

    def push(self, k: Integer) -> None:
        self.walk.array("push")[k] = self.over_kept(lambda s: self.rows[s, "answer"] * self.Q[s, k])

    def multiplier(self, down: Integer) -> None:
        """L^T lambda = answer, from the last kept row up."""
        rows = self.rows
        place = self.cursor[0, "kept"] - 1 - down
        r = self.kept[place]
        rest = rows[r, "answer"] - self.over_kept(lambda s: self.L[s, r] * rows[s, "multiplier"], start=place + 1)
        rows[r, "multiplier"] = rest / rows[r, "length"] * rows[r, "keep"]


def orthonormalise(walk: Walk) -> None:
    e, rows, order = walk.e, Orthonormal(walk), walk.array("row_order")
    walk.array("cursor")[0, "kept"] = 0
    e.each(0, e.count("rows"), lambda k: rows.row(order[k]))
    e.each(0, e.count("nv"), rows.push)


def output_equations(walk: Walk, name: str, fields: Sequence[str]) -> None:
    e, rows = walk.e, walk.array("rows")
    if "multiplier" in fields:
        e.each(0, e.count("rows"), lambda r: rows.__setitem__((r, "multiplier"), 0.0))
        e.each(0, walk.array("cursor")[0, "kept"], Orthonormal(walk).multiplier)

    def one(r: Integer) -> None:
        for k, field in enumerate(fields):
            walk.output(name, r * len(fields) + k, rows[r, field])

    e.each(0, e.count("rows"), one)
