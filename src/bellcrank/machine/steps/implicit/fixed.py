"""Steps of a fixed length by an implicit method, its equations solved by Newton's method until only rounding is left.

    k_i = f(t + c_i h, y + h sum_j A_ij k_j)

Iterations start from the stages of the last step, extrapolated, and end when the change, as a part of the largest coordinate
and momentum, is lost in rounding or, being small, no longer shrinks. Stopping earlier would leave an error with a trend, which
spoils what the method is for: E. Hairer, R. McLachlan & A. Razakarivony, Achieving Brouwer's law with implicit Runge-Kutta
methods, 2008. All steps being of the same length, the Jacobian and its factored matrices serve for many of them: until the
iterations take their time.
"""

from __future__ import annotations

from typing import Any

from ....kernels.executor import Address, Integer
from ....numbers import Number, Symbol, maximum
from ...tangents.stages import GIVEN_UP, SOLVED, SOLVING, StageTangents
from ..declared import FRESH, NOT_SOLVED, OLD, TO_RENEW
from ..fixed import FixedStepper
from .newton import Newton, stage_times
from .turning import call_turn_slopes, call_turn_state

MOST_ITERATIONS = 40
MANY_ITERATIONS = 10  # after so many the Jacobian is taken again at the next step
PATIENCE = 15  # and after so many at once
SMALL, NEGLIGIBLE = 1e-12, 1e-18  # changes that may be rounding, and such that are lost in it
GOOD_ENOUGH = 1e-8  # of tangents, where rounding keeps them from becoming as small


class ImplicitStepper(FixedStepper):
    def new_state(self, h: Number) -> None:
        w, t, whole = self.words, self.real("t"), h
        parts = self.method.parts
        distinct = sorted(set(parts))
        for n, part in enumerate(parts):
            h = part * whole
            if n:
                self.copy(w["new"], w["y"])
            elif len(parts) > 1:
                self.copy(w["y"], w["origin"])
            else:
                self.extrapolate()
            self.solve(t, h, distinct.index(part))
            if self.tangents:
                self._solve_tangents(t, h, distinct.index(part))
            self.note_part(n)
            self.move(h, self.method.b, w["new"])
            if self.method.turns:
                call_turn_state(self, w["y"], h, w["new"], end=True)
            t = t + h
        if len(parts) > 1:
            self.copy(w["origin"], w["y"])

    def note_part(self, n: int) -> None:
        """The slopes of the n-th part are known: runs with a backward pass write them down (machine.adjoint.log)."""

    def extrapolate(self) -> None:
        """Stages of the last step, as a polynomial in time, at those of the next; one stage with the one before it."""
        c = self.method.c
        stages, before = self.k[: len(c)], self.k[len(c)]

        def at(i: Integer) -> None:
            old = [k[i] for k in stages]
            if len(c) == 1:
                stages[0][i] = 2.0 * old[0] - before[i]
                before[i] = old[0]
                return
            for k, place in zip(stages, c, strict=True):
                k[i] = _polynomial(c, old, 1.0 + place)

        self.over_state(at)

    # Newton's method ----------------------------------------------------------------------------------------------

    def solve(self, t: Number, h: Number, part: int) -> None:
        """Iterate; ``change`` is that of the last iteration, ``change_before`` of the one before."""
        e, newton = self.e, Newton(self, part)
        self.set_real("change", 1.0)
        self.set_real("change_before", 1e300)
        self.set_count("iterations", 0)
        self._prepare(newton, t, h)

        def unsolved() -> Any:
            change, before = self.real("change"), self.real("change_before")
            done = (change <= NEGLIGIBLE) | ((change <= SMALL) & (change >= before))
            return self.all_of(self.any(~done), self.count("iterations") < MOST_ITERATIONS)

        def improve() -> None:
            self.set_real("change_before", self.real("change"))
            self._pass(newton, t, h)
            self.add_count("iterations")
            slow = self.all_of(self.holds("iterations", PATIENCE), self.any(self.real("jacobian") >= OLD))
            e.when(slow, lambda: self._renew(newton, t, h))

        e.repeat(unsolved, improve)
        e.when(self.count("iterations") >= MOST_ITERATIONS, lambda: self.set_real("status", float(NOT_SOLVED)))
        slow = self.count("iterations") > MANY_ITERATIONS
        self.set_real("jacobian", maximum(self.real("jacobian"), OLD))
        e.when(slow, lambda: self.set_real("jacobian", TO_RENEW))

    def _prepare(self, newton: Newton, t: Number, h: Number) -> None:
        name = _factored(newton)
        self.e.when(self.any(self.real("jacobian") >= TO_RENEW), lambda: self._linearise(newton, t))
        other = (self.real(name) < h) | (self.real(name) > h)
        self.e.when(self.any(other), lambda: self._factor(newton, h))

    def _linearise(self, newton: Newton, t: Number) -> None:
        newton.linearise(self.words["y"], t)
        self.set_real("jacobian", FRESH)
        for name in ("factored", "factored_too"):
            self.set_real(name, 0.0)

    def _factor(self, newton: Newton, h: Number) -> None:
        newton.factor(h)
        self.set_real(_factored(newton), h)

    def _renew(self, newton: Newton, t: Number, h: Number) -> None:
        """The iterations converge slowly: they go on with a new Jacobian."""
        self._linearise(newton, t)
        self._factor(newton, h)

    def _pass(self, newton: Newton, t: Number, h: Number) -> None:
        w, e = self.words, self.e
        rows = [(self.k[i], newton.residual(i)) for i in range(newton.stages)]
        for i, time in stage_times(self, t, h):
            self._slopes_of_stage(i, time, h, rows[i][1], along=False)

        def less(i: Integer) -> None:
            for k, residual in rows:
                residual[i] = residual[i] - k[i]

        def more(i: Integer) -> None:
            for k, change in rows:
                k[i] = k[i] + change[i]

        def powers(i: Integer) -> None:
            for k, residual in rows:
                k[i] = residual[i]

        e.each(0, w["controlled"], less)
        newton.correct(h)
        e.each(0, w["controlled"], more)
        e.each(w["controlled"], w["works_end"], powers)
        size = self.vectors("v_start")
        change: Number = 0.0
        for k, residual in rows:
            of_both = maximum(
                self._change("0", size, w["y"], k, residual, h), self._change(size, w["controlled"], w["y"], k, residual, h)
            )
            change = of_both if isinstance(change, float) else maximum(change, of_both)
        self.set_real("change", change)

    def _slopes_of_stage(self, i: int, time: Number, h: Number, into: Address, *, along: bool) -> None:
        aside = self.words["aside"]
        self.move(h, self.method.A[i], aside)
        if self.method.turns:
            call_turn_state(self, self.words["y"], h, aside, end=False, along=along)
        self.derivative(aside, into, time, along=along)
        if self.method.turns:
            call_turn_slopes(self, aside, into, along=along)

    # tangents -----------------------------------------------------------------------------------------------------

    def _solve_tangents(self, t: Number, h: Number, part: int) -> None:
        """Solves for the tangents of the stages until only rounding is left."""
        newton, w = Newton(self, part), self.words

        def slopes() -> None:
            for i, time in stage_times(self, t, h):
                self._slopes_of_stage(i, time, h, newton.residual(i), along=True)

        def size(of: Address) -> Number:
            first, found = self.vectors("v_start"), []
            for i in range(newton.stages):
                residual = newton.residual(i)
                found += [self._ratio("0", first, of, residual, h), self._ratio(first, w["controlled"], of, residual, h)]
            largest = found[0]
            for x in found[1:]:
                largest = maximum(largest, x)
            return largest

        def judge(change: Symbol, before: Symbol, passes: Symbol) -> Number:
            done = (change <= NEGLIGIBLE) | ((change <= SMALL) & (passes > 1.5) & (change >= before))
            last = passes >= float(MOST_ITERATIONS)
            return (done | (last & (change <= GOOD_ENOUGH))).select(SOLVED, last.select(GIVEN_UP, SOLVING))

        StageTangents(self, newton).solve(h, slopes, size, judge)
        self.e.when(self.any(self.real("along") < SOLVED), lambda: self.set_real("status", float(NOT_SOLVED)))

    def _ratio(self, first: Integer, last: Integer, of: Address, change: Address, h: Number) -> Symbol:
        """The largest change of h k, over the largest of some sizes."""
        changes = self.largest(self.folded(first, last, lambda i: abs(h * change[i]), maximum))
        return changes / maximum(self.largest(self.folded(first, last, lambda i: of[i], maximum)), 1e-300)

    def _change(self, first: Integer, last: Integer, y: Address, k: Any, change: Address, h: Number) -> Symbol:
        """The largest change of h k, over the largest of y and h k."""

        def size(i: Integer) -> Number:
            return abs(y[i]) + abs(h * k[i])

        changes = self.largest(self.folded(first, last, lambda i: abs(h * change[i]), maximum))
        return changes / maximum(self.largest(self.folded(first, last, size, maximum)), 1e-300)


def _factored(newton: Newton) -> Any:
    """For which length of step its matrices are."""
    return ("factored", "factored_too")[newton.part]


def _polynomial(places: tuple[float, ...], values: list[Symbol], x: float) -> Number:
    """Lagrange's, through values at places."""
    result: Number = 0.0
    for i, value in enumerate(values):
        weight = 1.0
        for j, other in enumerate(places):
            if j != i:
                weight *= (x - other) / (places[i] - other)
        result = result + weight * value
    return result
