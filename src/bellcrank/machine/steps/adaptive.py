"""Steps whose length follows the estimated error, with samples by dense output."""

from __future__ import annotations

from collections.abc import Callable

from ...formulations import Program
from ...integrate import RungeKutta
from ...integrate.runge_kutta import Row
from ...kernels.llvm.emitter import Emitter
from ...kernels.llvm.flow import total, when, while_
from ...numbers import Condition, Number, Symbol, maximum, minimum
from ...plan import Plan
from ...plan.turns import FINE
from ..module import Module
from .fixed import FixedStepper
from .implicit import ImplicitStepper
from .stepper import COLLAPSED, MINIMUM_NORM, NOT_FINITE, REALS, RUNNING, Stepper, programs, write_with_kernels
from .stiffness import notice_stiffness

SHRINK, GROW, SAFETY = 0.2, 10.0, 0.9
DIVIDED = 0.25  # of a step to a singular position
EPSILON = 2.3e-16


def write_stepper(plan: Plan, program: Program, method: RungeKutta, metric: str = MINIMUM_NORM) -> Module:
    """The stepper of a method, for one state."""
    stepper = AdaptiveStepper if method.adaptive else ImplicitStepper if method.implicit else FixedStepper
    return write_with_kernels(plan, programs(plan, program, metric), method, 1, stepper)


class AdaptiveStepper(Stepper):
    def loop(self) -> None:
        """Error control as in Hairer, Norsett & Wanner, Solving ODEs I, II.4."""
        e = self.e

        def step() -> None:
            """A step that was held for the host to look at goes on where it stopped."""
            held = e.emit(f"icmp eq i64 {self.count('held')}, 1")
            when(e, held, release, attempt)

        def release() -> None:
            self.set_count("held", 0)
            accept()

        def attempt() -> None:
            self.add_count("budget", -1)
            t, end = self.real("t"), self.real("end")
            wanted = minimum(self.real("h"), self.real("longest"))
            last = (t + 1.01 * wanted) >= end
            h = last.select(end - t, wanted)
            self.set_real("h", h)
            self.trial(t, h)
            error = self.error_norm(h)
            self.set_real("error", error)
            when(e, self.test(error <= 1.0), good, reject)

        def good() -> None:
            watched = e.emit(f"icmp eq i64 {self.count('watched')}, 1")
            when(e, watched, hold, accept)

        def hold() -> None:
            self.set_count("held", 1)
            self.set_count("budget", 0)

        def accept() -> None:
            t, h = self.real("t"), self.real("h")
            notice_stiffness(self)
            after = ((t + h) >= self.real("end")).select(self.real("end"), t + h)
            self.set_real("t", after)
            self.set_count("sample_before", self.count("sample"))
            if self.method.extra:
                when(e, self.sample_is_due(), lambda: self.extra_stages(t, h))
            while_(e, self.sample_is_due, lambda: self.sample(t, h))
            old = self.remember_state()
            self.over_state(self._move_on)
            self.unit_quaternions()
            self.close_loops(after, old)
            if "positions" in self.called:
                running = e.emit(f"icmp eq i64 {self.count('status')}, {RUNNING}")
                when(e, running, lambda: start_again(h, after), lambda: self.take_back(t, h))
            else:
                move_on(h)

        def start_again(h: Symbol, now: Symbol) -> None:
            """The projection has moved the state: its first stage is no longer the last one of the step before."""
            self.derivative(self.words["y"], self.k[0], now)
            move_on(h)

        def move_on(h: Symbol) -> None:
            self.add_count("steps")
            next_h = h * minimum(self.factor(), self.real("grow"))
            self.set_real("h", next_h)
            self.set_real("grow", GROW)
            stuck = self.all_of(self.test(self.too_short(next_h)), self.test(next_h <= h))
            when(e, stuck, lambda: self.set_count("status", COLLAPSED))

        def reject() -> None:
            self.add_count("rejected")
            error, h = self.real("error"), self.real("h")
            number = error <= 1e300
            h = h * number.select(maximum(self.factor(), SHRINK), SHRINK)
            self.set_real("h", h)
            self.set_real("grow", 1.0)
            when(e, self.test(self.too_short(h)), lambda: self.stop(number))

        while_(e, self.running, step)

    def take_back(self, before: Number, h: Symbol) -> None:
        """A step over a singular position, or onto one, is divided until it is fine; then the run ends where it began."""

        def again() -> None:
            self.set_count("status", RUNNING)
            self.set_count("singular", 0)
            self.add_count("rejected")
            self.set_real("h", DIVIDED * h)
            self.set_real("grow", 1.0)
            self.derivative(self.words["y"], self.k[0], before)

        self.set_real("t", before)
        when(self.e, self.test(self.real("turn") > FINE), again)

    def too_short(self, h: Symbol) -> Condition:
        """Whether a step is lost in the rounding of the time."""
        return h <= 16 * EPSILON * maximum(abs(self.real("t")), self.real("end") * 1e-3)

    def stop(self, number: object) -> None:
        bit = self.test(number)
        self.set_count("status", self.e.emit(f"select i1 {bit}, i64 {COLLAPSED}, i64 {NOT_FINITE}"))

    def factor(self) -> Number:
        """0.9 error^(-1/order), of one number rather than four equal ones."""
        e = self.e
        error = e.load_double(self.words["reals"], REALS.index("error"))
        e.declarations["pow"] = "declare double @pow(double, double)"
        e.declarations["llvm.maxnum.f64"] = "declare double @llvm.maxnum.f64(double, double)"
        safe = e.emit(f"call double @llvm.maxnum.f64(double {error}, double 1.0e-14)")
        power = e.emit(f"call double @pow(double {safe}, double {_scalar(-1.0 / self.method.order)})")
        return SAFETY * e.symbol(e.splat(power))

    def error_norm(self, h: Number) -> Symbol:
        """The larger of the norms of q and v, and of the works, whose tolerance is relative to the energy at hand."""
        w = self.words
        state = self._norm(h, "0", w["controlled"], w["size"], 0.0)
        works = self._norm(h, w["controlled"], w["vectors"], w["works"], self.real("energy"))
        error = maximum(state, works)
        return maximum(error, self.error_of_turn()) if "positions" in self.called else error

    def error_of_turn(self) -> Symbol:
        """turn^order: too long a turn counts as an error that makes the step shorter in proportion (``factor``)."""
        turn = self._largest(self.turn())
        self.set_real("turn", turn)
        power = turn
        for _ in range(self.method.order - 1):
            power = power * turn
        return power

    def _norm(self, h: Number, first: str, last: str, count: str, scale: Number) -> Symbol:
        """Root mean square of the estimated error over its tolerance; with two estimates, as Hairer combines them."""
        e = self.e
        assert self.method.error is not None
        size = e.emit(f"sitofp i64 {count} to double")
        squares = self._sum_of_squares(self.method.error, h, first, last, scale)
        e.declarations["llvm.sqrt.f64"] = "declare double @llvm.sqrt.f64(double)"
        if self.method.error3 is None:
            mean = e.emit(f"fdiv double {squares}, {size}")
            return e.symbol(e.splat(e.emit(f"call double @llvm.sqrt.f64(double {mean})")))
        lower = e.emit(f"fmul double {self._sum_of_squares(self.method.error3, h, first, last, scale)}, {_scalar(0.01)}")
        both = e.emit(f"fadd double {e.emit(f'fadd double {squares}, {lower}')}, {_scalar(1e-300)}")
        root = e.emit(f"call double @llvm.sqrt.f64(double {e.emit(f'fmul double {both}, {size}')})")
        return e.symbol(e.splat(e.emit(f"fdiv double {squares}, {root}")))

    def _sum_of_squares(self, weights: Row, h: Number, first: str, last: str, scale: Number) -> str:
        e, w = self.e, self.words

        def square(i: str, sum_: str) -> str:
            largest = maximum(abs(self.get(w["y"], i)), abs(self.get(w["new"], i)))
            x = h * self.combination(weights, i) / (self.real("atol") + self.real("rtol") * (largest + scale))
            return e.operand(e.symbol(sum_) + x * x)

        return self._reduce(total(e, first, last, e.constant(0.0), square))

    def sum_of_squares(self, entry: Callable[[str], Number]) -> Symbol:
        """Over q and v (or p), without the works."""
        e = self.e

        def square(i: str, sum_: str) -> str:
            x = entry(i)
            return e.operand(e.symbol(sum_) + x * x)

        return self.added_up(total(e, 0, self.words["controlled"], e.constant(0.0), square))

    def added_up(self, parts: str) -> Symbol:
        """The sum of the four places of a vector, in all of them."""
        return self.e.symbol(self.e.splat(self._reduce(parts)))

    def sample_is_due(self) -> str:
        e, w = self.e, self.words
        s, samples = self.count("sample"), self.count("samples")
        more = e.emit(f"icmp slt i64 {s}, {samples}")
        safe = e.emit(f"select i1 {more}, i64 {s}, i64 0")
        t = e.load_double(w["reals"], REALS.index("t"))
        due = e.emit(f"fcmp ole double {e.load_double(w['times'], safe)}, {t}")
        return self.all_of(more, due)

    def sample(self, t: Symbol, h: Symbol) -> None:
        """Dense output inside the step from t to t + h."""
        e, w = self.e, self.words
        s = self.count("sample")
        x = (e.symbol(e.splat(e.load_double(w["times"], s))) - t) / h
        powers = [x]
        while len(powers) < len(self.method.dense[0]):
            powers.append(powers[-1] * x)
        weights: list[Number] = []
        for row in self.method.dense:
            weight: Number = 0.0
            for coefficient, power in zip(row, powers, strict=True):
                weight = weight + coefficient * power
            weights.append(weight)
        row_address = e.pointer(w["out"], e.integer("mul", s, w["padded"]))
        self.over_state(lambda i: e.store(self.get(w["y"], i) + h * self.combination(tuple(weights), i), row_address, i))
        self.add_count("sample")

    def _move_on(self, i: str) -> None:
        """y = new, and the last stage becomes the first of the next step."""
        self.e.store(self.get(self.words["new"], i), self.words["y"], i)
        self.e.store(self.get(self.k[self.stages - 1], i), self.k[0], i)


def _scalar(x: float) -> str:
    return Emitter(1).constant(x)
