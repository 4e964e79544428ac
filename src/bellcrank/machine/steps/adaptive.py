"""Steps whose length follows the estimated error, with samples by dense output.

The control of the step is that of Hairer, Norsett & Wanner, Solving ODEs I, II.4. It is written for one state and for lanes
alike: ``good`` are places (lanes, or all) where the error of the step is small enough, ``stands`` those where it has not been
taken back because it met a singular position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...integrate.runge_kutta import Row
from ...kernels.executor import Address, Integer
from ...numbers import Condition, Number, maximum, minimum, negated, select, sqrt
from ...plan.turns import FINE
from ..tangents import steps as tangents
from ..tangents.jumps import jump
from .cuts.anchors import draw_anchors
from .cuts.corners import pass_corner, start_of_step
from .cuts.openings import find_opening, near_openings
from .cuts.roots import NO_ROOT
from .cuts.surfaces import Surface, find_cut, near_surfaces
from .declared import COLLAPSED, NOT_FINITE
from .projection import Watch, close
from .stepper import EPSILON, Stepper
from .stiffness import notice_stiffness

SHRINK, GROW, SAFETY = 0.2, 10.0, 0.9
DIVIDED = 0.25  # of a step to a singular position


class AdaptiveStepper(Stepper):
    def going(self) -> Any:
        return self.all_of(self.count("budget") > 0, self.any(self.live()))

    def live(self) -> Condition:
        """Places where the run has neither arrived nor failed."""
        return (self.real("t") < self.real("until")) & self.running()

    def good(self) -> Condition:
        return (self.real("error") <= 1.0) & (self.real("cut") > 1.0) & self.live()

    def after(self) -> Number:
        """The end of the step."""
        t, end = self.real("t") + self.real("h"), self.real("end")
        t = select(t >= self.real("latest"), self.real("corner"), t)
        return select(t >= end, end, t)

    def step(self) -> None:
        fresh = self.holds("paused", 0)
        self.e.when(fresh, self.attempt)
        good = self.good()
        pausing = self.all_of(fresh, self.holds("watched", 1), self.any(good))
        self.e.when(pausing, self.pause, lambda: self.settle(good))

    def attempt(self) -> None:
        """A step without consequences, and its error; the last one reaches the end."""
        e = self.e
        self.add_count("budget", -1)
        t, stop, full = self.real("t"), minimum(self.real("end"), self.real("corner")), self.real("full")
        wanted = minimum(self.real("h"), self.real("longest"))
        stretched = select(full > 0.0, 1.0, 1.01)  # a step that ends at a surface is not made longer again
        h = select(self.live() & ((t + stretched * wanted) >= stop), stop - t, wanted)
        self.set_real("full", select(h < wanted, maximum(full, wanted), full))
        self.set_real("h", h)
        self.trial(t, h)
        self.set_real("error", self.error_norm(h))
        self.set_real("cut", NO_ROOT)
        near = self.any(near_surfaces(self, h) & self.good())
        if self.method.extra:
            sampled = self.any(self.good() & (self.next_sample() <= self.after()))
            watched = self.all_of(self.holds("watched", 1), self.any(self.good()))
            needed = e.any_of(sampled, watched, near)
            needed = self.any(self.good()) if "openings" in self.called else needed
            e.when(needed, self.extra_stages)
        e.when(near, lambda: find_cut(self, h))
        if "openings" in self.called:
            e.when(self.any(self.good()), lambda: self._look_for_openings(h))

    def _look_for_openings(self, h: Number) -> None:
        near = near_openings(self, h) >= 0.0
        self.e.when(self.any(near & self.good()), lambda: find_opening(self, h))

    def put_inside(self, h: Number, x: Number, into: Address) -> None:
        weights = [polynomial_at(row, x) for row in self.method.dense]
        self.move(h, weights, into)

    def polynomial(self, surface: Surface) -> list[Number]:
        """Coefficients of the polynomial of dense output."""
        slopes = [surface.slope(k) for k in self.k]
        return [
            surface.h * sum((row[m] * slope for row, slope in zip(self.method.dense, slopes, strict=True) if row[m]), 0.0)
            for m in range(self.method.degree)
        ]

    def extra_stages(self) -> None:
        """Stages that only dense output needs; the new state must stay where it is."""
        t, h, aside = self.real("t"), self.real("h"), self.words["aside"]
        for j, (c, row) in enumerate(self.method.extra, start=self.stages):
            self.move(h, row, aside)
            self.derivative(aside, self.k[j], t + c * h)

    def settle(self, good: Condition) -> None:
        self.set_count("paused", 0)
        self.e.when(self.any(good), lambda: self.accept(good), lambda: self.adapt(good, good))

    def accept(self, good: Condition) -> None:
        """Where the step is good: projects, samples, and continues from its end."""
        self.notice(good)
        stands = good
        if self.closed:
            self.stand_still(good)
            close(self, self.after())
            stands = good & (self.real("met") <= 0.0)
            self.e.when(self.holds("project", 1), lambda: self._remember(stands))
        self.take_samples(stands)
        y, new = self.words["y"], self.words["new"]
        if not self.closed:
            self.unit_state(new, self.slope_at_end())
        if self.tangents:
            jump(self, self.real("h"), self.real("full"), stands)
        self.note_step(self.real("h"), stands)
        self.replace(y, new, stands)
        draw_anchors(self, stands)
        if self.tangents:
            tangents.add_errors(self, stands)
        if self.with_works:
            self.note_fastest(self.after())
        passed = stands & (self.after() >= self.real("corner"))
        self.adapt(good, stands)
        pass_corner(self, passed)
        self.go_on(stands, passed)

    def notice(self, good: Condition) -> None:
        """Whether the step was short for stability alone."""
        notice_stiffness(self, good)

    def slope_at_end(self) -> Any:
        return self.k[self.stages - 1]

    def go_on(self, stands: Condition, passed: Condition) -> None:
        """The last stage is the first of the next step."""
        y, last = self.words["y"], self.slope_at_end()
        # the projection has moved the state, and with it what was the last stage; after a corner that is another
        anew = stands if self.closed or (self.tangents and not self.plain_rates) else passed
        if self.tangents:
            anew = anew | (self.real("jumped") > 0.0)
        self.e.when(self.any(anew), lambda: self.derivative(y, last, start_of_step(self)))
        self.replace(self.k[0], last, stands)

    def _remember(self, stands: Condition) -> None:
        Watch(self).remember(stands)
        if self.tangents:
            tangents.project(self, self.words["new"])

    def stand_still(self, good: Condition) -> None:
        """Lanes whose step is not good are projected where they are."""

    def adapt(self, good: Condition, stands: Condition) -> None:
        """The next step, and whether there is one.

        A step over a singular position, or onto one, is divided until it is fine; then the run ends where it began.
        """
        t, h, error, live = self.real("t"), self.real("h"), self.real("error"), self.live()
        number = error <= 1e300
        following = self.proposal(stands, number)
        following, full = self._beside_cuts(following, stands, number & (error <= 1.0))
        rejected = live & negated(good)
        lost = (following <= 16 * EPSILON * maximum(abs(t), self.real("end") * 1e-3)) & (negated(stands) | (following <= h))
        status = select(live & lost, select(number, float(COLLAPSED), float(NOT_FINITE)), self.real("status"))
        if self.closed:
            met, long = good & negated(stands), self.real("turn") > FINE
            following = select(met, select(long, DIVIDED, 1.0) * h, following)
            status = select(met, select(long, self.real("status"), self.real("met")), status)
            self.set_real("singular", select(met & long, 0.0, self.real("singular")))
            rejected = rejected | (met & long)
        self.set_real("t", select(stands, self.after(), t))
        self.set_real("h", select(live, following, h))
        self.set_real("full", select(live, full, self.real("full")))
        self.set_real("grow", select(stands, GROW, 1.0))
        self.set_real("status", status)
        for name, counted in (("steps", stands), ("rejected", rejected)):
            self.set_real(name, self.real(name) + select(counted, 1.0, 0.0))

    def proposal(self, stands: Condition, number: Condition) -> Number:
        """The length of the next step, or of the next attempt; ``number``: the error is one."""
        h, error = self.real("h"), self.real("error")
        factor = SAFETY * self.power(maximum(error, 1e-14), -1.0 / self.method.error_power)
        shorter = h * select(number, maximum(factor, SHRINK), SHRINK)
        return select(stands, h * minimum(factor, self.real("grow")), shorter)

    def _beside_cuts(self, following: Number, stands: Condition, accurate: Condition) -> tuple[Number, Number]:
        """The next step after one that was, or is to be, cut; and the length before it was cut, which is tried again."""
        h, full, cut = self.real("h"), self.real("full"), self.real("cut")
        crossing = accurate & (cut <= 1.0)
        following = select(stands, maximum(following, full), select(crossing, cut * h, following))
        return following, select(crossing, maximum(full, h), 0.0)

    # the error ----------------------------------------------------------------------------------------------------

    def error_norm(self, h: Number) -> Number:
        """The larger of the norms of q and v, and of the works, whose tolerance is relative to the energy at hand."""
        w = self.words
        error = self._norm(h, 0, w["controlled"], w["size"], 0.0)
        if self.with_works:
            error = maximum(error, self._norm(h, w["controlled"], w["works_end"], w["works"], self.real("energy")))
        if self.tangents:
            error = maximum(error, self._error_of_tangents(h))
        return maximum(error, self._error_of_turn()) if self.closed else error

    def _error_of_turn(self) -> Number:
        """turn^power: too long a turn counts as an error that makes the step shorter in proportion."""
        turn = power = self.turn()
        self.set_real("turn", turn)
        for _ in range(self.method.error_power - 1):
            power = power * turn
        return power

    def _norm(self, h: Number, first: Integer, last: Integer, count: Integer, scale: Number) -> Number:
        """Root mean square of the estimated error over its tolerance; with two estimates, as Hairer combines them."""
        assert self.method.error is not None
        size = self.e.number_of(count)
        found = self.sum_of_squares(self._scaled(h, self.method.error, scale), first, last)
        if self.method.error3 is None:
            return sqrt(found / size)
        third = self.sum_of_squares(self._scaled(h, self.method.error3, scale), first, last)
        both = found + 0.01 * third + 1e-300
        return found / sqrt(both * size)

    def _scaled(self, h: Number, weights: Row, scale: Number) -> Callable[[Any], Number]:
        """The estimated error over its tolerance, at a vector of the state."""
        y, new = self.words["y"], self.words["new"]

        def scaled(i: Integer) -> Number:
            largest = maximum(abs(y[i]), abs(new[i]))
            return h * self.combination(weights, i) / (self.real("atol") + self.real("rtol") * (largest + scale))

        return scaled

    def _error_of_tangents(self, h: Number) -> Number:
        """The largest of the norms for each parameter, if they are to be controlled; each is noted in any case."""
        assert self.method.error is not None
        rows = [row for row in (self.method.error, self.method.error3) if row is not None]
        size = self.e.number_of(self.words["size"])

        def norm(found: Number, third: Number | None = None) -> Number:
            if third is None:
                return sqrt(found / size)
            return found / sqrt((found + 0.01 * third + 1e-300) * size)

        largest = tangents.largest_norm(self, [self._scaled(h, row, 0.0) for row in rows], norm)
        return select(self.e.number_of(self.words["control_all"]) > 0.0, largest, 0.0)

    # samples ------------------------------------------------------------------------------------------------------

    def take_samples(self, stands: Condition) -> None:
        """Dense output inside the step, before the state moves on."""
        y, t, h, after = self.words["y"], self.real("t"), self.real("h"), self.after()

        def sample() -> None:
            time = self.next_sample()
            weights = [polynomial_at(row, (time - t) / h) for row in self.method.dense]
            rows = self.rows_of_samples((time <= after) & stands)
            self.over_state(lambda i: self.put_sample(y[i] + h * self.combination(weights, i), rows, i))

        self.e.repeat(lambda: self.any((self.next_sample() <= after) & stands), sample)

    def next_sample(self) -> Number:
        """The time of the next sample; infinite after the last."""
        return self.e.of_lanes(self.words["times"], self.words["sampled"].integer)

    def rows_of_samples(self, due: Condition) -> list[Any]:
        """The rows into which the samples that are due go; they are counted."""
        w, s = self.words, self.words["sampled"].integer(0)
        w["sampled"].put_integer(0, s + 1)
        return [w["out"].at(s * w["state"])]

    def put_sample(self, value: Number, rows: list[Any], i: Integer) -> None:
        rows[0][i] = value


def polynomial_at(row: Row, x: Number) -> Number:
    """x (c0 + x (c1 + ...)), of a row of dense output."""
    value: Number = 0.0
    for c in reversed(row):
        value = value * x + c
    return value * x
