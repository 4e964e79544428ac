"""Jumps of derivatives at times that a model knows beforehand: of formulas over the time, and of tables of steps over it.

Where a force jumps at a time T(p), the derivatives of the state jump by

    dy+ = dy- + (f- - f+) dT/dp

T is a root of g(t, p), a number of the formula that changes its sign there (numbers.operations.kinks), or a point of a table:
dT/dp = -(dg/dp)/(dg/dt). Runs end just before such a time, and go on just behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..design import Design
from ..dynamics.dynamics import Dynamics
from ..machine.steps.cuts.corners import just_after, just_before
from ..machine.steps.cuts.known import known_times
from ..model import Model
from ..model.measures.measure import Measure
from ..model.measures.paths import built_in
from ..model.parameters.expressions import derived
from ..model.parameters.tables import Table
from ..numbers import Dual, Number
from ..numbers.operations import OPERATIONS, kinks
from ..numbers.variable import Replay, Variable
from ..run.joining import State, from_last, joined
from ..run.loops.treatment import Loops
from ..run.system import Outcome

Array = NDArray[np.float64]
Run = Callable[[Dynamics, State, Array, Loops], Outcome]

NEAR = 1e-9  # of a time: two that are this close are one
NAN = float("nan")


class TimedJump(NamedTuple):
    """A time at which a force may jump, and its derivatives by the parameters."""

    time: float
    along: Array


def timed_jumps(design: Design, first: float, last: float) -> list[TimedJump]:
    """Those inside a run, in order."""
    model = design.recording.model
    if not model.signals and not any(_stepped(e.table) for e in model.elements):
        return []
    return [found for t in known_times(design.base, first, last) if (found := _at(design, float(t))) is not None]


def _at(design: Design, t: float) -> TimedJump | None:
    """The first number that vanishes at t and moves there, of all forces."""
    looking = _Looking(design, t)
    for g in looking.numbers():
        slopes = np.array(g.tangents, dtype=float) if isinstance(g, Dual) else np.zeros(1)
        rate = float(slopes[-1])
        if rate and np.isfinite(slopes).all() and abs(float(g.value)) <= NEAR * abs(rate) * max(abs(t), NEAR):
            return TimedJump(t, -slopes[:-1] / rate)
    return None


class _Looking:
    """Formulas and tables over variables of a design, at one time, on dual numbers: of the parameters, then of the time."""

    def __init__(self, design: Design, t: float):
        self.design, self.model = design, design.recording.model
        count = len(design.names)
        self.time = Dual(t, (*(0.0,) * count, 1.0))
        self.seeds = [Dual(float(x), (*np.eye(count)[k].tolist(), 0.0)) for k, x in enumerate(design.start)]
        self.own = {measure.name: measure for measure in self.model.all_measures}

    def numbers(self) -> Iterator[Any]:
        for e in self.model.elements:
            if e.kind == "joint_effort" and _stepped(e.table):
                yield from (self._points(e.table, self.time))
        for signal in self.model.signals:
            found: list[Any] = []
            self._value(signal, found)
            yield from found

    def _over(self, x: Any) -> Number:
        """A number of the model as a function of the parameters."""
        return Replay(self.design.recording.tape, [x])(self.seeds)[0] if isinstance(x, Variable) else float(x)

    def _value(self, measure: Measure, found: list[Any]) -> Any:
        tables, program, given = dict(measure.tables), derived(measure.expression), dict(measure.values)
        values = {name: self._over(given[name]) if name in given else self._named(name, found) for name in program.names}

        def apply(operation: str, operands: list[Any]) -> Any:
            found.extend(kinks(operation, operands))
            return OPERATIONS[operation](*operands)

        def call(name: str, operands: list[Any]) -> Any:
            found.extend(self._points(tables[name], operands[0]))
            return NAN  # what follows from its value is not looked at

        with np.errstate(all="ignore"):
            return program.run(values, apply, call)

    def _named(self, name: str, found: list[Any]) -> Any:
        measure = self.own.get(name)
        if measure is not None and measure.kind == "expression":
            return self._value(measure, found)
        path = built_in(self.model, name) if measure is None else None
        return self.time if path is not None and path.kind == "time" else NAN

    def _points(self, table: Any, x: Any) -> Iterator[Any]:
        """x less each point, of a periodic table the one that is next."""
        if not isinstance(table, Table) or not isinstance(x, Dual):
            return
        points = [self._over(knot) for knot in table.x]
        if table.outside != "periodic":
            yield from (x - point for point in points)
            return
        period = points[-1] - points[0]
        for point in points[:-1]:
            turns = (x - point) / period
            yield x - point - period * float(np.round(turns.value if isinstance(turns, Dual) else turns))


def _stepped(table: Any) -> bool:
    return table is not None and table.lookup.jumps


def run_through(jumps: Sequence[TimedJump], run: Run, by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
    """A run with its derivatives, in parts between the jumps; parameters of the jumps as those of the derivatives."""
    whole: Outcome | None = None
    for jump in jumps:
        t = jump.time
        if not until[0] < just_before(t) < just_after(t) < until[-1]:
            continue
        before, later = until[until < just_before(t)], until[until > just_after(t)]
        part = run(by, first, np.append(before, just_before(t)), how)
        asked = len(before) + len(later) < len(until)  # whether there is a sample at the jump itself
        whole = _after(whole, part)
        if part.problem is not None or part.times[-1] < just_before(t):
            return whole
        whole = _sampled(whole, t, asked)
        first = _behind(by, from_last(by, first, part), jump)
        until = np.append(just_after(t), later)
    return _after(whole, run(by, first, until, how))


def _after(first: Outcome | None, second: Outcome) -> Outcome:
    return second if first is None else joined(first, second, np.isfinite(first.times))


def _sampled(outcome: Outcome, t: float, asked: bool) -> Outcome:
    """The last state of a part, just before a jump, is a sample at its time, or none; then its time is not a number."""
    return outcome._replace(times=np.append(outcome.times[:-1], t if asked else NAN))


def _behind(by: Dynamics, state: State, jump: TimedJump) -> State:
    """The state just behind a jump, with its derivatives."""
    q, v, tau, u = state["q"][None], state["v"][None], state["tau"], state["u"]
    left, right = (by.acceleration(q, v, tau, t=at(jump.time), inputs=u)[0] for at in (just_before, just_after))
    return state | {"t": np.array(just_after(jump.time)), "a": right, "dv": state["dv"] + np.outer(left - right, jump.along)}


def only_of_time(model: Model, measure: Measure) -> bool:
    """Whether a formula, and all that it reads, follows from the time alone."""
    own = {other.name: other for other in model.all_measures}
    for name in derived(measure.expression).names:
        if name in dict(measure.values):
            continue
        other = own.get(name)
        path = built_in(model, name) if other is None else None
        formula = other is not None and other.kind == "expression" and only_of_time(model, other)
        if not formula and (path is None or path.kind != "time"):
            return False
    return True
