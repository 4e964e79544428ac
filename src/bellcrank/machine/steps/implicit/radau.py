"""Radau IIA in the loop that adapts its step: stages by Newton's method, the estimate of the error filtered by its matrix.

The control of the iterations, of the step and of when the Jacobian is taken again is Hairer & Wanner's (Solving ODEs II, IV.8).
Works depend on what was integrated and on nothing else: they take no part in the iterations, and the powers are evaluated at
the stages once these are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....kernels.executor import Address, Integer
from ....numbers import Condition, Number, Symbol, maximum, minimum
from ...tangents.stages import GIVEN_UP, SOLVED, SOLVING, StageTangents
from ..adaptive import SAFETY, SHRINK, AdaptiveStepper, polynomial_at
from ..cuts.corners import start_of_step
from ..declared import FRESH, OLD, TO_RENEW
from ..lanes.stepping import LaneStepper
from ..stepper import EPSILON
from .newton import Newton, stage_times

MOST_PASSES, MOST_TANGENT_PASSES = 10, 20
SLOWEST = 0.99  # rate of convergence at which iterations are given up
RATE_WANTED, UNKNOWN = 0.05, 2.0  # to which steps may grow, and how much they may where the first pass was good enough
GOOD_RATE = 1e-3  # of convergence, up to which the Jacobian is kept for the next step
SAME = 1.2  # a step that would grow by less is left as it is, and with it its matrices
FARTHEST = 5.0  # of a step, to which the stages of the one before are extrapolated
WORKS = 1e-2  # their errors count less: the estimate is not filtered for them, and is of order three only
LENIENT = 0.16  # see _leniency
_SHORTER = 0.8  # of a step whose iterations would not converge in time


class RadauStepper(AdaptiveStepper):
    """Rows of k: the slopes at the stages, then that at the start of the step."""

    @property
    def newton(self) -> Newton:
        return Newton(self)

    @property
    def at_start(self) -> Any:
        return self.k[self.stages - 1]

    def trial(self, t: Number, h: Number) -> None:
        self.set_real("tried", h)
        self._first_guess(h)
        self._prepare(t, h)
        self._iterate(t, h)
        if self.with_works:
            self._powers_at_stages(t, h)
        self.move(h, self.method.b, self.words["new"])

    # Newton's method ----------------------------------------------------------------------------------------------

    def _prepare(self, t: Number, h: Number) -> None:
        """The Jacobian, if it is to be taken again, and the matrices for this length of step; of all lanes, if of one.

        It is taken in the middle of the step as it is guessed: where stiff directions turn, it is then off by half."""

        def linearise() -> None:
            middle = self.words["aside"]
            self.move(h, [polynomial_at(row, 0.5) for row in self.method.dense[:-1]], middle)
            self.unit_quaternions(middle, self.words["origin"])
            self.newton.linearise(middle, minimum(t + 0.5 * h, self.real("latest")))
            self.set_real("jacobian", FRESH)
            self.set_real("factored", 0.0)

        def factor() -> None:
            self.newton.factor(h)
            self.set_real("factored", h)

        self.e.when(self.any(self.live() & (self.real("jacobian") >= TO_RENEW)), linearise)
        other = (self.real("factored") < h) | (self.real("factored") > h)
        self.e.when(self.any(self.live() & other), factor)

    def _first_guess(self, h: Number) -> None:
        """The polynomial of the last step, continued; nothing where there is none or it is too far."""
        ratio = h / maximum(self.real("h_before"), 1e-300)
        known = (self.real("h_before") > 0.0) & (ratio <= FARTHEST)
        weights = [_lagrange(self.method.c, 1.0 + c * ratio) for c in self.method.c]
        newton = self.newton

        def at(i: Integer) -> None:
            old = [newton.row("accepted", j)[i] for j in range(newton.stages)]
            for k, row in zip(self.k, weights, strict=False):
                value = sum((a * x for a, x in zip(row, old, strict=True)), 0.0)
                k[i] = known.select(value, 0.0)

        self.over_state(at)

    def _iterate(self, t: Number, h: Number) -> None:
        live = self.live()
        self.set_real("solving", live.select(SOLVING, SOLVED))
        self.set_real("passes", 0.0)
        self.set_real("theta", 0.0)
        self.set_real("eta", self.power(maximum(self.real("eta"), EPSILON), 0.8))

        def going() -> Any:
            return self.any(self.real("solving") >= SOLVING)

        self.e.repeat(going, lambda: self._pass(t, h))

    def _pass(self, t: Number, h: Number) -> None:
        newton = self.newton
        for i, time in stage_times(self, t, h):
            self.move(h, self.method.A[i], self.words["aside"])
            self.derivative(self.words["aside"], newton.residual(i), time, works=False, along=False)
        rows = [(self.k[i], newton.residual(i)) for i in range(newton.stages)]

        def less(i: Integer) -> None:
            for k, residual in rows:
                residual[i] = residual[i] - k[i]

        def more(i: Integer) -> None:
            for k, change in rows:
                value = k[i]
                k[i] = going.select(value + change[i], value)

        self._over_controlled(less)
        newton.correct(h)
        going = self.real("solving") >= SOLVING
        self._judge(self._size_of_changes(h, self.words["y"]), going)
        self._over_controlled(more)

    def _over_controlled(self, body: Callable[[Any], None]) -> None:
        """Runs ``body`` for all numbers of a state but the works."""
        self.e.each(0, self.words["controlled"], body)

    def _size_of_changes(self, h: Number, of: Address) -> Symbol:
        """The norm of the changes of a state, or of tangents that are laid out as one."""
        w, newton = self.words, self.newton

        def square(i: Integer) -> Number:
            scale = h / (self.real("atol") + self.real("rtol") * abs(of[i]))
            changes = [scale * newton.residual(j)[i] for j in range(newton.stages)]
            return sum((x * x for x in changes[1:]), changes[0] * changes[0])

        squares = self.added_up(self.folded(0, w["controlled"], square, lambda a, b: a + b))
        return (squares / (float(newton.stages) * self.e.number_of(w["size"]))).sqrt()

    def _judge(self, norm: Number, going: Condition) -> None:
        """Whether the iterations have converged, or will not."""
        passes = self.real("passes") + 1.0
        later, third = passes > 1.5, passes > 2.5
        rate = norm / maximum(self.real("norm"), 1e-300)
        theta = later.select(third.select((rate * self.real("rate_before")).sqrt(), rate), 0.0)
        eta = later.select(theta / maximum(1.0 - theta, 1e-2), self.real("eta"))
        left = eta * norm
        ahead = left
        for k in range(MOST_PASSES):
            ahead = (passes + float(k) < float(MOST_PASSES)).select(ahead * theta, ahead)
        tolerance = self._tolerance()
        solved = left <= tolerance
        hopeless = later & ((theta >= SLOWEST) | (ahead > tolerance))
        number = norm <= 1e300
        given_up = ~solved & (hopeless | ~number | (passes >= float(MOST_PASSES)))
        state = solved.select(SOLVED, given_up.select(GIVEN_UP, SOLVING))
        noted = {"solving": state, "passes": passes, "theta": theta, "eta": eta, "norm": norm, "rate_before": rate}
        noted["shorten"] = (number & (theta < SLOWEST)).select(_SHORTER * self.power(_between(ahead / tolerance), -0.125), 0.5)
        for name, value in noted.items():
            self.set_real(name, going.select(value, self.real(name)))

    def _tolerance(self) -> Number:
        """The tolerance of the iterations, as a part of that of the step."""
        rtol = self.real("rtol")
        return maximum(100.0 * EPSILON / rtol, minimum(0.03, 30.0 * rtol.sqrt()))

    def _powers_at_stages(self, t: Number, h: Number) -> None:
        """The rates of the works; and the slope at the end of the step."""
        newton, first, last = self.newton, self.words["controlled"], self.words["vectors"]
        for i, time in stage_times(self, t, h):
            self.move(h, self.method.A[i], self.words["aside"])
            self.derivative(self.words["aside"], newton.residual(i), time)
            self.fill(self.k[i], newton.residual(i).__getitem__, first, last)

    # the error ----------------------------------------------------------------------------------------------------

    def error_norm(self, h: Number) -> Symbol:
        w = self.words
        self._estimate(h, self.at_start)
        self.set_real("error", self._size_of_estimate())
        after_rejection = (self.real("grow") <= 1.0) | (self.real("steps") <= 0.0)
        solved = self.real("solving") >= SOLVED
        doubtful = self.live() & solved & after_rejection & (self.real("error") > 1.0)
        self.e.when(self.any(doubtful), lambda: self._estimate_again(h, doubtful))
        error = self.real("error")
        if self.with_works:
            of_works = self._norm(h, w["controlled"], w["vectors"], w["works"], self.real("energy"))
            error = maximum(error, WORKS * of_works)
        if self.closed:
            error = maximum(error, self._error_of_turn())
        failed = (self.real("norm") <= 1e300).select(2.0, float("nan"))
        if not self.tangents:
            return solved.select(error, failed)
        self.set_real("error", solved.select(error, failed))
        self.e.when(self.any(self.live() & solved & (error <= 1.0)), lambda: self._take_tangents(h))
        return self.real("error")

    # tangents -----------------------------------------------------------------------------------------------------

    def _take_tangents(self, h: Number) -> None:
        """Tangents of an accepted step: of the stages, of the new state, and their errors."""
        t, along = self.real("t"), StageTangents(self, self.newton)
        along.solve(h, lambda: self._slopes_of_stages(t, h), lambda dy: self._size_of_changes(h, dy), self._judge_tangents)
        self.move(h, self.method.b, self.words["new"])
        largest = self._errors_of_tangents(along, h)
        asked = self.e.number_of(self.words["control_all"]) > 0.0
        error = asked.select(maximum(self.real("error"), largest), self.real("error"))
        lost = self.real("along") < SOLVED
        self.set_real("error", lost.select(2.0, error))
        self.set_real("shorten", lost.select(0.5, self.real("shorten")))
        self.set_real("solving", lost.select(GIVEN_UP, self.real("solving")))

    def _slopes_of_stages(self, t: Number, h: Number) -> None:
        for i, time in stage_times(self, t, h):
            self.move(h, self.method.A[i], self.words["aside"])
            self.derivative(self.words["aside"], self.newton.residual(i), time)

    def _judge_tangents(self, change: Symbol, before: Symbol, passes: Symbol) -> Number:
        rate = (passes > 1.5).select(change / maximum(before, 1e-300), 0.5)
        solved = (change * rate <= self._tolerance() * maximum(1.0 - rate, 1e-2)) & (rate < 1.0)
        given_up = (passes >= float(MOST_TANGENT_PASSES)) | ~(change <= 1e300)
        return solved.select(SOLVED, given_up.select(GIVEN_UP, SOLVING))

    def _errors_of_tangents(self, along: StageTangents, h: Number) -> Symbol:
        """The largest of the errors for each parameter, each noted: estimated as those of the state are."""
        w = self.words
        assert self.method.error is not None
        *weights, gamma = self.method.error
        self.set_real("along_change", 0.0)
        self.set_count("parameter", 0)

        def one(start: Integer) -> None:
            def estimate(at: Integer) -> Number:
                slopes = sum((a * self.number(k, at) for a, k in zip(weights, self.k, strict=False)), 0.0)
                return h * (slopes + gamma * self.number(self.at_start, at))

            along.gather(start, estimate, w["origin"])
            self.newton.filtered(h, w["origin"])
            along.gather(start, lambda at: maximum(abs(self.number(w["y"], at)), abs(self.number(w["new"], at))), w["aside"])
            size = self._size_of_estimate(w["aside"])
            self.put_number(size, w["tangent_error"], self.count("parameter"))
            self.add_count("parameter")
            self.set_real("along_change", maximum(self.real("along_change"), size))

        along.each_parameter(one)
        return self.real("along_change")

    def _estimate(self, h: Number, first: Integer) -> None:
        """The estimate of the error into ``origin``, filtered; ``first`` is the slope at the start."""
        assert self.method.error is not None
        *weights, gamma = self.method.error

        def at(i: Integer) -> None:
            value = self.combination(weights, i) + gamma * first[i]
            self.words["origin"][i] = h * value

        self._over_controlled(at)
        self.newton.filtered(h, self.words["origin"])

    def _size_of_estimate(self, largest_of: Address | None = None) -> Number:
        """The norm of the estimate in ``origin``, of the state or of tangents, whose sizes are then given."""
        w = self.words

        def scaled(i: Integer) -> Number:
            ends = (w["y"], w["new"]) if largest_of is None else (largest_of, largest_of)
            largest = maximum(*(abs(end[i]) for end in ends))
            return w["origin"][i] / (self.real("atol") + self.real("rtol") * largest)

        return (self.sum_of_squares(scaled, 0, w["controlled"]) / self.e.number_of(w["size"])).sqrt() / self._leniency()

    def _leniency(self) -> Number:
        """The estimate is of order three, the method of order five: its errors are proportional to tol where the estimate may
        be to tol^(4/5). Hairer & Wanner's own code does likewise."""
        return maximum(LENIENT * self.power(self.real("rtol"), -0.2), 1.0)

    def _estimate_again(self, h: Number, where: Condition) -> None:
        """A second estimate, with the slope at the start and its error: the first one is too large for what dies out fast."""
        w, slope = self.words, self.newton.row("modes", len(self.method.c) - 1)
        self.fill(w["aside"], lambda i: w["y"][i] + w["origin"][i], 0, w["controlled"])
        self.derivative(w["aside"], slope, start_of_step(self), works=False, along=False)
        self._estimate(h, slope)
        self.set_real("error", where.select(self._size_of_estimate(), self.real("error")))

    # the next step ------------------------------------------------------------------------------------------------

    def notice(self, good: Condition) -> None:
        """Stiffness is not watched for: this method is made for it."""

    def proposal(self, stands: Condition, number: Condition) -> Number:
        h, error = self.real("h"), maximum(self.real("error"), 1e-10)
        cautious = SAFETY * (2.0 * MOST_PASSES + 1.0) / (self.real("passes") + 2.0 * MOST_PASSES)
        quarter = self.power(error, -0.25)
        factor = cautious * quarter
        before, error_before = self.real("h_accepted"), maximum(self.real("error_accepted"), 1e-2)
        trend = SAFETY * (h / maximum(before, 1e-300)) * quarter * quarter * self.power(error_before, 0.25)
        growth = (before > 0.0).select(minimum(factor, trend), factor)
        growth = maximum(minimum(minimum(growth, self._convergent()), self.real("grow")), SHRINK)
        keeps = (growth >= 1.0) & (growth <= SAME) & (self.real("theta") <= GOOD_RATE)
        given_up = self.real("solving") < SOLVED
        again = (self.real("jacobian") >= OLD).select(1.0, self.real("shorten"))
        shorter = number.select(given_up.select(again, maximum(minimum(factor, SAFETY), SHRINK)), again)
        return h * stands.select(keeps.select(1.0, growth), shorter)

    def _convergent(self) -> Number:
        """The factor by which steps may grow before their iterations would be slow.

        Where stiff directions turn with the motion, the rate of convergence grows steeply with the step: the Jacobian is off in
        proportion to the turn, which couples twice, through h^2 times a stiffness; a sixth power was measured."""
        longer = maximum(self.power(RATE_WANTED / maximum(self.real("theta"), EPSILON), 1.0 / 6.0), 1.0)
        return (self.real("passes") > 1.5).select(longer, UNKNOWN)

    def adapt(self, good: Condition, stands: Condition) -> None:
        super().adapt(good, stands)
        aged = (self.real("theta") > GOOD_RATE).select(TO_RENEW, OLD)
        kept = (self.real("jacobian") >= OLD).select(TO_RENEW, FRESH)
        self.set_real("jacobian", stands.select(aged, kept))
        for name, value in (("h_accepted", self.real("tried")), ("error_accepted", self.real("error"))):
            self.set_real(name, stands.select(value, self.real(name)))

    def go_on(self, stands: Condition, passed: Condition) -> None:
        """The slope at the start of the next step, and the stages from which its own are guessed."""
        y, last, newton = self.words["y"], self.at_start, self.newton
        if self.closed or not self.with_works:
            self.derivative(y, last, start_of_step(self))
        else:
            self.copy(newton.residual(newton.stages - 1), last)
            self.e.when(self.any(passed), lambda: self.derivative(y, last, start_of_step(self)))
        for j in range(newton.stages):
            self.replace(newton.row("accepted", j), self.k[j], stands)
        after = passed.select(0.0, self.real("tried"))
        self.set_real("h_before", stands.select(after, self.real("h_before")))

    def slope_at_end(self) -> Any:
        return self.newton.residual(len(self.method.c) - 1)

    def outer_slopes(self) -> tuple[Any, Any]:
        return self.at_start, self.k[self.stages - 2]


class RadauLaneStepper(RadauStepper, LaneStepper):
    """Radau IIA in lanes: each run with a time and a step of its own."""


def _between(x: Number) -> Number:
    return minimum(maximum(x, 1.0), 20.0)


def _lagrange(places: tuple[float, ...], x: Number) -> list[Number]:
    """Values of Lagrange's polynomials at x."""
    weights = []
    for i, place in enumerate(places):
        value: Number = 1.0
        for j, other in enumerate(places):
            if j != i:
                value = value * ((x - other) * (1.0 / (place - other)))
        weights.append(value)
    return weights
