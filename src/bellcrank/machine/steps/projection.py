"""After each step of a closed mechanism: back onto the closures, and a look at whether a singularity was passed.

An equation's direction of constraint, its row of Q, moves little from step to step. Where the equations become dependent it
vanishes and comes back reversed (or comes back at all): a step in which a row turns round, or appears, or vanishes, has passed
a singular configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...kernels.executor import Address, Integer
from ...numbers import Condition, Number, maximum, minimum, select
from ..arrays import FIELDS
from .declared import NOT_FINITE, RUNNING, SINGULAR

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
        s.e.when(s.any(singular), lambda: s.set_count("budget", 0))  # the host hears of it right after the step
        stop = singular & (s.real("go_on") <= 0.0)
        s.set_real("met", select(finite, select(stop, float(SINGULAR), float(RUNNING)), float(NOT_FINITE)))

    s.set_real("met", float(RUNNING))
    s.e.when(s.holds("project", 1), act)


def project(stepper: Stepper, state: Address) -> None:
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

        def square(i: Integer) -> Number:
            x = stepper.number(w["buffer:dx"], i)
            return x * x

        large = e.total(0, w["nv"], square) > SMALL
        e.when(stepper.any(large), lambda: None, lambda: stepper.set_count("newton", MOST_ITERATIONS))

    e.repeat(lambda: stepper.count("newton") < MOST_ITERATIONS, newton)
    if stepper.momenta:
        if stepper.tangents:
            e.each(0, w["nv"], lambda i: stepper.put_number(stepper.number(v, i), w["unsettled"], i))
        arrays |= {"v": stepper.velocities_of(state)}
        stepper.call("to_momenta", arrays | {"p": v})
    if stepper.tangents:
        _clear_rows(stepper)
    stepper.call("velocities", arrays)
    if not stepper.momenta:
        _add(stepper, w["buffer:dv"], v, w["nv"])


def _clear_rows(stepper: Stepper) -> None:
    """Kernels on dual numbers leave rows and their tangents in the same buffers: none of it may be taken for a row."""
    e, w = stepper.e, stepper.words
    e.each(0, w["watched_rows"] * w["row_width"], lambda i: stepper.put_number(0.0, w["left"], i))
    e.each(0, w["watched_rows"] * len(FIELDS), lambda i: stepper.put_number(0.0, w["rows"], i))


def look_first(stepper: Stepper) -> None:
    """Takes rows at the start, if the host asks for it, with which those after the first step are compared. Nothing moves."""
    y = stepper.words["y"]

    def act() -> None:
        stepper.set_clock(stepper.real("t"))
        _, arrays = _arrays(stepper, y)
        stepper.call("velocities", arrays | {"v": stepper.velocities_of(y)})
        Watch(stepper).remember(stepper.running())

    stepper.e.when(stepper.any(stepper.real("seen") >= LOOK_FIRST), act)


def _arrays(stepper: Stepper, state: Address) -> tuple[Any, dict[str, Any]]:
    """The velocities (or momenta), and what the kernels of a projection work on."""
    w = stepper.words
    v = state.at(w["v_start"])
    return v, {"q": state, "v": v, "t": w["clock"], "dx": w["buffer:dx"], "dv": w["buffer:dv"], "qdot": w["aside"]}


def _add(stepper: Stepper, change: Address, to: Address, count: Integer) -> None:
    stepper.e.each(0, count, lambda i: stepper.put_number(stepper.number(to, i) + stepper.number(change, i), to, i))


class Watch:
    """Rows of Q now (in the kernels' buffers) and after the step before (in ``before``, each with its pivot)."""

    def __init__(self, stepper: Stepper):
        self.stepper, self.e, self.words = stepper, stepper.e, stepper.words
        self.width = self.words["row_width"]

    def pivot(self, r: Integer) -> Number:
        return self.stepper.number(self.words["rows"], r * len(FIELDS) + FIELDS.index("pivot"))

    def now(self, r: Integer, k: Integer) -> Number:
        return self.stepper.number(self.words["left"], r * self.width + k)

    def _place(self, r: Integer, k: Integer) -> Integer:
        return r * (self.width + 1) + k

    def before(self, r: Integer, k: Integer) -> Number:
        return self.stepper.number(self.words["before"], self._place(r, k))

    def passed(self, r: Integer) -> Condition:
        """Whether the row turned round, appeared or vanished."""
        dot = self.e.total(0, self.width, lambda k: self.now(r, k) * self.before(r, k))
        pivot, old = self.pivot(r), self.before(r, self.width)
        turned = (dot < 0.0) & (minimum(pivot, old) < NARROW)
        return turned | ((pivot <= 0.0) & (old > 0.0)) | ((pivot > 0.0) & (old <= 0.0))

    def time(self, r: Integer, passed: Condition, t: Number) -> Number:
        """The time at which a row that comes back reversed was zero, in proportion to what is left of it; t, if not passed."""
        pivot, old = self.pivot(r), self.before(r, self.width)
        return t - select(passed, self.stepper.real("h") * pivot / maximum(pivot + old, 1e-300), 0.0)

    def look(self, t: Number, finite: Condition) -> None:
        """Note rows that passed a singularity, or came nearer to one than the run may, and the smallest pivot so far."""
        e, s = self.e, self.stepper
        comparable, near = finite & (s.real("seen") > 0.0), s.real("near")

        def row(r: Integer, found: list[Number]) -> list[Number]:
            pivot, passed, least = self.pivot(r), self.passed(r), found[3]
            met = (passed | ((pivot > 0.0) & (pivot < near))) & comparable
            lower = (pivot > 0.0) & (pivot < least) & comparable
            noted = [(met, 1.0), (met, e.number_of(r)), (met, self.time(r, passed, t)), (lower, pivot), (lower, t)]
            return [select(holds, new, old) for (holds, new), old in zip(noted, found, strict=True)]

        s.set_real("singular", 0.0)
        found = e.fold(0, self.words["watched_rows"], [s.real(name) for name in NOTED], row)
        for name, value in zip(NOTED, found, strict=True):
            s.set_real(name, value)

    def remember(self, where: Condition) -> None:
        """The rows at hand are those with which the next step's are compared, in lanes where that holds."""
        s, width = self.stepper, self.width

        def keep(value: Number, r: Integer, k: Integer) -> None:
            s.put_number(select(where, value, self.before(r, k)), self.words["before"], self._place(r, k))

        def row(r: Integer) -> None:
            keep(self.pivot(r), r, width)
            self.e.each(0, width, lambda k: keep(self.now(r, k), r, k))

        self.e.each(0, self.words["watched_rows"], row)
        s.set_real("seen", select(where, 1.0, s.real("seen")))
