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

from ...design import Design
from ...dynamics.dynamics import Dynamics
from ...machine.steps.cuts.corners import just_after, just_before
from ...machine.steps.cuts.known import known_times
from ...model import Model
from ...model.measures.measure import Measure
from ...model.measures.paths import built_in
from ...model.parameters.expressions import derived
from ...model.parameters.tables import Table
from ...numbers import Dual, Number
from ...numbers.operations import OPERATIONS, kinks
from ...numbers.variable import Replay, Variable, values_of
from ...run.joining import State, from_last, joined
from ...run.loops.treatment import Loops
from ...run.system import Outcome

Array = NDArray[np.float64]
Run = Callable[[Dynamics, State, Array, Loops], Outcome]

NEAR = 1e-9  # of a time: two that are this close are one
NAN = float("nan")


class TimedJump(NamedTuple):
    """A time at which a force may jump, and its derivatives by the parameters."""

    time: float
    along: Array


def timed_jumps(design: Design, first: float, last: float, *, moved: bool = False) -> list[TimedJump]:
    """The jumps inside a run, in order; ``moved``: those whose times the design moves, where derivatives jump."""
    model = design.recording.model
    if not model.signals and not any(_stepped(e.table) for e in model.elements):
        return []
    looking = _Looking(design)
    if moved and not looking.moving.size:
        return []
    found = [looking.jump_at(float(t)) for t in known_times(design.base, first, last)]
    return [jump for jump in found if jump is not None and (jump.along.any() or not moved)]


class _Looking:
    """Formulas and tables over variables of a design, at one time, on dual numbers: of the parameters, then of the time."""

    def __init__(self, design: Design):
        self.tape, self.model = design.recording.tape, design.recording.model
        self.own = {measure.name: measure for measure in self.model.all_measures}
        self.places: dict[int, Array] = {}  # of the points of a table, by its id
        self.moving = np.flatnonzero(self.tape.depends_on(self._read()))  # parameters that may move a time
        self.seeds: list[Number] = [float(x) for x in design.start]
        for along, k in zip(np.eye(len(self.moving), len(self.moving) + 1).tolist(), self.moving, strict=True):
            self.seeds[k] = Dual(float(design.start[k]), along)

    def _read(self) -> list[Any]:
        """What a design may change of all that is looked at: numbers of formulas, and points of tables."""
        formulas = [*self.model.signals, *self.own.values()]
        tables = [e.table for e in self.model.elements] + [table for formula in formulas for _, table in formula.tables]
        read: list[Any] = [x for formula in formulas for _, x in formula.values]
        read += [x for table in tables if isinstance(table, Table) for x in table.x]
        return [x for x in read if isinstance(x, Variable)]

    def jump_at(self, t: float) -> TimedJump | None:
        """The first number that vanishes at t and moves there, of all forces."""
        self.time = Dual(t, [*[0.0] * len(self.moving), 1.0])
        for g in self._numbers():
            slopes = np.array(g.tangents, dtype=float) if isinstance(g, Dual) else np.zeros(1)
            rate = float(slopes[-1])
            if rate and np.isfinite(slopes).all() and abs(float(g.value)) <= NEAR * abs(rate) * max(abs(t), NEAR):
                along = np.zeros(len(self.seeds))
                along[self.moving] = -slopes[:-1] / rate
                return TimedJump(t, along)
        return None

    def _numbers(self) -> Iterator[Any]:
        for e in self.model.elements:
            if e.kind == "joint_effort" and _stepped(e.table):
                yield from (self._points(e.table, self.time))
        for signal in self.model.signals:
            found: list[Any] = []
            self._value(signal, found)
            yield from found

    def _over(self, x: Any) -> Number:
        """A number of the model as a function of the parameters."""
        return Replay(self.tape, [x])(self.seeds)[0] if isinstance(x, Variable) else float(x)

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
        """x less the point that is nearest to it, in its own turn of a periodic table.

        Where straight pieces meet at a point that stays, inside of a table, nothing jumps.
        """
        if not isinstance(table, Table) or not isinstance(x, Dual) or not np.isfinite(float(x.value)):
            return
        places = self.places.get(id(table))
        if places is None:
            places = self.places[id(table)] = values_of(table.x)
        turns = 0.0
        if table.outside == "periodic":
            turns = float(np.floor((x.value - places[0]) / (places[-1] - places[0])))
        k = int(np.argmin(np.abs(places + turns * (places[-1] - places[0]) - x.value)))
        ends = (table.x[k],) if not turns else (table.x[k], table.x[0], table.x[-1])
        moves = any(x.tangents[:-1]) or any(isinstance(end, Variable) for end in ends)
        if moves or _stepped(table) or k in (0, len(places) - 1):
            yield x - self._over(table.x[k]) - (turns * (self._over(table.x[-1]) - self._over(table.x[0])) if turns else 0.0)


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
    """The state just behind a jump, with its derivatives where it has some."""
    t = just_after(jump.time)
    a = by.acceleration(state["q"][None], state["v"][None], state["tau"], t=t, inputs=state["u"])[0]
    behind = state | {"t": np.array(t), "a": a}
    return behind | ({"dv": state["dv"] + np.outer(jump_of(by, state, jump), jump.along)} if "dv" in state else {})


def jump_of(by: Dynamics, state: State, jump: TimedJump) -> Array:
    """f- - f+ of velocities, (nv,)."""
    q, v, tau, u = state["q"][None], state["v"][None], state["tau"], state["u"]
    left, right = (by.acceleration(q, v, tau, t=at(jump.time), inputs=u)[0] for at in (just_before, just_after))
    return np.asarray(left - right)


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
