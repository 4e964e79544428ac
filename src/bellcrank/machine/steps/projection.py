"""After each step of a closed mechanism: back onto the closures, and a look at whether a singularity was passed.

An equation's direction of constraint, its row of Q, moves little from step to step. Where the equations become dependent it
vanishes and comes back reversed (or comes back at all): a step in which a row turns round, or appears, or vanishes, has passed
a singular configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels.llvm.emitter import Int
from ...kernels.llvm.flow import each, total, when, while_
from ...numbers import Condition, Number, Symbol, maximum, minimum
from ..arrays import FIELDS

if TYPE_CHECKING:
    from .stepper import Stepper

MOST_ITERATIONS = 6
LOOK_FIRST = 2  # of the count "seen": 0 nothing was seen so far, 1 there are rows to compare with
SMALL = 1e-18  # square of a correction after which the next one would be lost in rounding
NARROW = 0.25  # pivots beyond this are far from singular: a row that turns round has been turned by a long step


def project(stepper: Stepper) -> None:
    """Positions by Newton's method with smallest changes, then velocities, in place at y.

    Velocities that follow from momenta keep the loops closed by themselves; what closures have added to the momenta, which
    grows with time, is taken away: p = M v.
    """
    e, w = stepper.e, stepper.words
    stepper.set_count("newton", 0)
    v, arrays = _arrays(stepper)

    def newton() -> None:
        stepper.add_count("newton")
        stepper._call("positions", arrays)
        if stepper.plain_rates:
            _add(stepper, w["buffer:dx"], w["y"], w["nv"])
        else:
            stepper._call("rates", arrays | {"v": w["buffer:dx"]})
            _add(stepper, w["aside"], w["y"], w["nq"])
            stepper.unit_quaternions()

        def square(i: str, sum_: str) -> str:
            x = stepper.number(w["buffer:dx"], i)
            return e.operand(e.symbol(sum_) + x * x)

        large = e.symbol(total(e, 0, w["nv"], e.constant(0.0), square)) > SMALL
        when(e, stepper.any(large), lambda: None, lambda: stepper.set_count("newton", MOST_ITERATIONS))

    while_(e, lambda: e.emit(f"icmp slt i64 {stepper.count('newton')}, {MOST_ITERATIONS}"), newton)
    if stepper.momenta:
        arrays |= {"v": _velocities(stepper)}
        stepper._call("to_momenta", arrays | {"p": v})
        stepper._call("velocities", arrays)
    else:
        stepper._call("velocities", arrays)
        _add(stepper, w["buffer:dv"], v, w["nv"])


def look_first(stepper: Stepper) -> None:
    """At the start, if the host asks for it: rows with which those after the first step are compared. Nothing moves."""
    e = stepper.e

    def act() -> None:
        stepper._set_clock(stepper.real("t"))
        _, arrays = _arrays(stepper)
        stepper._call("velocities", arrays | ({"v": _velocities(stepper)} if stepper.momenta else {}))
        Lookout(stepper).remember()

    when(e, e.emit(f"icmp eq i64 {stepper.count('seen')}, {LOOK_FIRST}"), act)


def _arrays(stepper: Stepper) -> tuple[str, dict[str, str]]:
    """The velocities (or momenta), and what the kernels of a projection work on."""
    e, w = stepper.e, stepper.words
    v = e.pointer(w["y"], stepper.v_start)
    return v, {"q": w["y"], "v": v, "t": w["clock"], "dx": w["buffer:dx"], "dv": w["buffer:dv"], "qdot": w["aside"]}


def _velocities(stepper: Stepper) -> str:
    """Those of the momenta at y."""
    w = stepper.words
    v = w["buffer:v"]
    stepper._call("of_momenta", {"q": w["y"], "p": stepper.e.pointer(w["y"], stepper.v_start), "t": w["clock"], "v": v})
    return v


def _add(stepper: Stepper, change: str, to: str, count: Int) -> None:
    def one(i: str) -> None:
        stepper.put_number(stepper.number(to, i) + stepper.number(change, i), to, i)

    each(stepper.e, 0, count, one)


class Lookout:
    """Rows of Q now (in the kernels' buffers) and after the step before (in ``before``, each with its pivot)."""

    def __init__(self, stepper: Stepper):
        self.stepper, self.e, self.words = stepper, stepper.e, stepper.words

    def pivot(self, r: str) -> Symbol:
        e = self.e
        place = e.integer("add", e.integer("mul", r, len(FIELDS)), FIELDS.index("pivot"))
        return self.stepper.number(self.words["rows"], place)

    def now(self, r: str, k: str) -> Symbol:
        return self.stepper.number(self.words["left"], self.e.integer("add", self.e.integer("mul", r, self.words["width"]), k))

    def _place(self, r: str, k: Int) -> Int:
        e = self.e
        return e.integer("add", e.integer("mul", r, e.integer("add", self.words["width"], 1)), k)

    def before(self, r: str, k: Int) -> Symbol:
        return self.stepper.number(self.words["before"], self._place(r, k))

    def passed(self, r: str) -> Condition:
        """Whether the row turned round, appeared or vanished."""
        e, width = self.e, self.words["width"]

        def along(k: str, sum_: str) -> str:
            return e.operand(e.symbol(sum_) + self.now(r, k) * self.before(r, k))

        dot = e.symbol(total(e, 0, width, e.constant(0.0), along))
        pivot, old = self.pivot(r), self.before(r, width)
        turned = (dot < 0.0) & (minimum(pivot, old) < NARROW)
        return turned | ((pivot <= 0.0) & (old > 0.0)) | ((pivot > 0.0) & (old <= 0.0))

    def time(self, r: str, passed: Condition, t: Number) -> Number:
        """When a row that vanishes and comes back reversed was zero, in proportion to what is left of it; t, if not passed."""
        pivot, old = self.pivot(r), self.before(r, self.words["width"])
        return t - passed.select(self.stepper.real("h") * pivot / maximum(pivot + old, 1e-300), 0.0)

    def look(self, t: Number) -> None:
        """The stepper notes rows that passed a singularity, or came nearer to one than it wants, and the smallest pivot."""
        stepper = self.stepper

        def row(r: str) -> None:
            pivot, passed = self.pivot(r), self.passed(r)
            near = (pivot > 0.0) & (pivot < stepper.real("near"))
            stepper.note_singular(r, passed | near, self.time(r, passed, t))
            stepper.note_pivot(pivot)

        seen = self.e.emit(f"icmp eq i64 {stepper.count('seen')}, 1")
        when(self.e, seen, lambda: each(self.e, 0, self.words["m"], row))

    def remember(self) -> None:
        stepper, width = self.stepper, self.words["width"]

        def row(r: str) -> None:
            stepper.put_number(self.pivot(r), self.words["before"], self._place(r, width))
            each(self.e, 0, width, lambda k: stepper.put_number(self.now(r, k), self.words["before"], self._place(r, k)))

        each(self.e, 0, self.words["m"], row)
        stepper.set_count("seen", 1)
