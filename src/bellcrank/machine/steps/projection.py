"""After each step of a closed mechanism: back onto the closures, and a look at whether a singularity was passed.

An equation's direction of constraint, its row of Q, moves little from step to step. Where the equations become dependent it
vanishes and comes back reversed (or comes back at all): a step in which a row turns round, or appears, or vanishes, has passed
a singular configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels.llvm.emitter import Int
from ...kernels.llvm.flow import each, folded, total, when, while_
from ...numbers import Condition, Number, Symbol, maximum, minimum
from ..arrays import FIELDS
from .memory import NOT_FINITE, RUNNING, SINGULAR

if TYPE_CHECKING:
    from .stepper import Stepper

MOST_ITERATIONS = 6
LOOK_FIRST = 2.0  # of the number "seen": 0 nothing was seen so far, 1 there are rows to compare with
SMALL = 1e-18  # square of a correction after which the next one would be lost in rounding
NARROW = 0.25  # pivots beyond this are far from singular: a row that turns round has been turned by a long step

NOTED = ("singular", "singular_row", "singular_time", "pivot", "pivot_time")


def close(stepper: Stepper, t: Number) -> None:
    """Move the new state onto the closures, if the run is to be projected.

    ``met`` is then the status that a run has if it ends there: SINGULAR beyond or near a singular configuration, unless the
    run is to go on, NOT_FINITE where the projection fails, RUNNING if nothing was met.
    """
    s, new = stepper, stepper.words["new"]

    def act() -> None:
        s.set_clock(t)
        s.unit_quaternions(new, s.words["aside"])
        project(s, new)
        finite = s.finite(new)
        Watch(s).look(t, finite)
        singular = s.real("singular") > 0.0
        when(s.e, s.any(singular), lambda: s.set_count("budget", 0))  # the host hears of it right after the step
        stop = singular & (s.real("go_on") <= 0.0)
        s.set_real("met", finite.select(stop.select(float(SINGULAR), float(RUNNING)), float(NOT_FINITE)))

    s.set_real("met", float(RUNNING))
    when(s.e, s.holds("project", 1), act)


def project(stepper: Stepper, state: str) -> None:
    """Positions by Newton's method with smallest changes, then velocities, in place.

    Velocities that follow from momenta keep the loops closed by themselves; what closures have added to the momenta, which
    grows with time, is taken away: p = M v.
    """
    e, w = stepper.e, stepper.words
    stepper.set_count("newton", 0)
    v, arrays = _arrays(stepper, state)

    def newton() -> None:
        stepper.add_count("newton")
        stepper.call("positions", arrays)
        if stepper.plain_rates:
            _add(stepper, w["buffer:dx"], state, w["nv"])
        else:
            stepper.call("rates", arrays | {"v": w["buffer:dx"]})
            _add(stepper, w["aside"], state, w["nq"])
            stepper.unit_quaternions(state, w["aside"])

        def square(i: str, sum_: str) -> str:
            x = stepper.number(w["buffer:dx"], i)
            return e.operand(e.symbol(sum_) + x * x)

        large = e.symbol(total(e, 0, w["nv"], e.constant(0.0), square)) > SMALL
        when(e, stepper.any(large), lambda: None, lambda: stepper.set_count("newton", MOST_ITERATIONS))

    while_(e, lambda: e.emit(f"icmp slt i64 {stepper.count('newton')}, {MOST_ITERATIONS}"), newton)
    if stepper.momenta:
        arrays |= {"v": _velocities(stepper, state)}
        stepper.call("to_momenta", arrays | {"p": v})
        stepper.call("velocities", arrays)
    else:
        stepper.call("velocities", arrays)
        _add(stepper, w["buffer:dv"], v, w["nv"])


def look_first(stepper: Stepper) -> None:
    """At the start, if the host asks for it: rows with which those after the first step are compared. Nothing moves."""
    y = stepper.words["y"]

    def act() -> None:
        stepper.set_clock(stepper.real("t"))
        _, arrays = _arrays(stepper, y)
        stepper.call("velocities", arrays | ({"v": _velocities(stepper, y)} if stepper.momenta else {}))
        Watch(stepper).remember(stepper.running())

    when(stepper.e, stepper.any(stepper.real("seen") >= LOOK_FIRST), act)


def _arrays(stepper: Stepper, state: str) -> tuple[str, dict[str, str]]:
    """The velocities (or momenta), and what the kernels of a projection work on."""
    e, w = stepper.e, stepper.words
    v = e.pointer(state, w["v_start"])
    return v, {"q": state, "v": v, "t": w["clock"], "dx": w["buffer:dx"], "dv": w["buffer:dv"], "qdot": w["aside"]}


def _velocities(stepper: Stepper, state: str) -> str:
    """Those of the momenta of a state."""
    w = stepper.words
    v, p = w["buffer:v"], stepper.e.pointer(state, w["v_start"])
    stepper.call("of_momenta", {"q": state, "p": p, "t": w["clock"], "v": v})
    return v


def _add(stepper: Stepper, change: str, to: str, count: Int) -> None:
    def one(i: str) -> None:
        stepper.put_number(stepper.number(to, i) + stepper.number(change, i), to, i)

    each(stepper.e, 0, count, one)


class Watch:
    """Rows of Q now (in the kernels' buffers) and after the step before (in ``before``, each with its pivot)."""

    def __init__(self, stepper: Stepper):
        self.stepper, self.e, self.words = stepper, stepper.e, stepper.words
        self.width = self.words["row_width"]

    def pivot(self, r: str) -> Symbol:
        e = self.e
        place = e.integer("add", e.integer("mul", r, len(FIELDS)), FIELDS.index("pivot"))
        return self.stepper.number(self.words["rows"], place)

    def now(self, r: str, k: str) -> Symbol:
        return self.stepper.number(self.words["left"], self.e.integer("add", self.e.integer("mul", r, self.width), k))

    def _place(self, r: str, k: Int) -> Int:
        e = self.e
        return e.integer("add", e.integer("mul", r, e.integer("add", self.width, 1)), k)

    def before(self, r: str, k: Int) -> Symbol:
        return self.stepper.number(self.words["before"], self._place(r, k))

    def passed(self, r: str) -> Condition:
        """Whether the row turned round, appeared or vanished."""
        e = self.e

        def along(k: str, sum_: str) -> str:
            return e.operand(e.symbol(sum_) + self.now(r, k) * self.before(r, k))

        dot = e.symbol(total(e, 0, self.width, e.constant(0.0), along))
        pivot, old = self.pivot(r), self.before(r, self.width)
        turned = (dot < 0.0) & (minimum(pivot, old) < NARROW)
        return turned | ((pivot <= 0.0) & (old > 0.0)) | ((pivot > 0.0) & (old <= 0.0))

    def time(self, r: str, passed: Condition, t: Number) -> Number:
        """When a row that vanishes and comes back reversed was zero, in proportion to what is left of it; t, if not passed."""
        pivot, old = self.pivot(r), self.before(r, self.width)
        return t - passed.select(self.stepper.real("h") * pivot / maximum(pivot + old, 1e-300), 0.0)

    def look(self, t: Number, finite: Condition) -> None:
        """Note rows that passed a singularity, or came nearer to one than the run may, and the smallest pivot so far."""
        e, s = self.e, self.stepper
        comparable, near = finite & (s.real("seen") > 0.0), s.real("near")

        def row(r: str, found: list[str]) -> list[str]:
            pivot, passed, least = self.pivot(r), self.passed(r), e.symbol(found[3])
            met = (passed | ((pivot > 0.0) & (pivot < near))) & comparable
            lower = (pivot > 0.0) & (pivot < least) & comparable
            number = e.symbol(e.splat(e.emit(f"sitofp i64 {r} to double")))
            noted = [(met, 1.0), (met, number), (met, self.time(r, passed, t)), (lower, pivot), (lower, t)]
            return [e.operand(c.select(new, e.symbol(old))) for (c, new), old in zip(noted, found, strict=True)]

        s.set_real("singular", 0.0)
        first = [e.operand(s.real(name)) for name in NOTED]
        for name, ref in zip(NOTED, folded(e, 0, self.words["m"], first, row), strict=True):
            s.set_real(name, e.symbol(ref))

    def remember(self, where: Condition) -> None:
        """The rows at hand are those with which the next step's are compared, in lanes where that holds."""
        s, width = self.stepper, self.width

        def keep(value: Symbol, r: str, k: Int) -> None:
            s.put_number(where.select(value, self.before(r, k)), self.words["before"], self._place(r, k))

        def row(r: str) -> None:
            keep(self.pivot(r), r, width)
            each(self.e, 0, width, lambda k: keep(self.now(r, k), r, k))

        each(self.e, 0, self.words["m"], row)
        s.set_real("seen", where.select(1.0, s.real("seen")))
