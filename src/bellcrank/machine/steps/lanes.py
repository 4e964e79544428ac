"""The time loop in machine code for four runs at a time, each with its own time and step.

All lanes take a step together; each accepts or rejects its own by selection. A lane that has arrived, or failed, stands
still. Samples are taken lane by lane. The state is (q, v), one vector of lanes for each number; works are not integrated.
"""

from __future__ import annotations

from ...formulations import QUANTITIES, Program
from ...integrate import RungeKutta
from ...kernels.llvm.elementary import any_lane, per_lane
from ...kernels.llvm.emitter import Emitter, Int
from ...kernels.llvm.flow import each, while_
from ...numbers import Condition, Number, Symbol, maximum, minimum, select
from ...plan import Plan
from ..arrays import for_plan
from ..module import Module
from .adaptive import EPSILON, GROW, SAFETY, SHRINK, AdaptiveStepper
from .projection import Lookout, project
from .stepper import COLLAPSED, MINIMUM_NORM, NOT_FINITE, REALS, RUNNING, SINGULAR, WIDE, projections, write_with_kernels
from .stiffness import notice_stiffness

LANE_REALS = (*REALS, "status", "steps", "rejected")  # each a vector of lanes


def lane_programs(plan: Plan, program: Program, metric: str = MINIMUM_NORM) -> dict[str, Program]:
    called = {"kernel": program, "rates": QUANTITIES["rates"]}
    if plan.model.closures:
        called |= projections(metric, plan)
    return {name: for_plan(each_program, plan) for name, each_program in called.items()}


def write_lane_stepper(plan: Plan, program: Program, method: RungeKutta) -> Module:
    return write_with_kernels(plan, lane_programs(plan, program), method, WIDE, LaneStepper)


class LaneStepper(AdaptiveStepper):
    """Writes advance() for lanes; methods with an error estimate only."""

    def real(self, name: str) -> Symbol:
        return self.get(self.words["reals"], str(LANE_REALS.index(name)))

    def set_real(self, name: str, value: Number) -> None:
        self.e.store(value, self.words["reals"], LANE_REALS.index(name))

    def _set_clock(self, t: Number) -> None:
        self.e.store(t, self.words["clock"], 0)

    def _powers(self, arrays: dict[str, str], into: str) -> None:
        """No works here."""

    def live(self) -> Condition:
        """Lanes that have not arrived or failed."""
        return (self.real("t") < self.real("end")) & (self.real("status") <= float(RUNNING))

    def running(self) -> str:
        e = self.e
        left = e.emit(f"icmp sgt i64 {self.count('budget')}, 0")
        return self.all_of(left, any_lane(e, self.live().ref))

    def loop(self) -> None:
        def step() -> None:
            self.add_count("budget", -1)
            t, end, live = self.real("t"), self.real("end"), self.live()
            wanted = minimum(self.real("h"), self.real("longest"))
            h = ((t + 1.01 * wanted) >= end).select(end - t, wanted)
            h = live.select(h, wanted)
            self.set_real("h", h)
            self.trial(t, h)
            self.set_real("error", self.error_norm(h))
            self.settle()

        while_(self.e, self.running, step)

    def settle(self) -> None:
        """Accept or reject, lane by lane."""
        e = self.e
        t, h, error, live = self.real("t"), self.real("h"), self.real("error"), self.live()
        good = (error <= 1.0) & live
        notice_stiffness(self, good)
        end = self.real("end")
        after = ((t + h) >= end).select(end, t + h)
        if self.method.extra:
            self.extra_stages(t, h)
        for lane in range(WIDE):
            self.sample_lane(lane, good, t, h, after)
        number = error <= 1e300
        factor = SAFETY * e.symbol(per_lane(e, "pow", e.operand(maximum(error, 1e-14)), e.constant(-1.0 / self.method.order)))
        shrunk = h * number.select(maximum(factor, SHRINK), SHRINK)
        next_h = good.select(h * minimum(factor, self.real("grow")), shrunk)
        short = next_h <= 16 * EPSILON * maximum(abs(t), end * 1e-3)
        failed = live & ~good & short
        self.set_real("status", failed.select(number.select(float(COLLAPSED), float(NOT_FINITE)), self.real("status")))
        self.set_real("steps", self.real("steps") + good.select(1.0, 0.0))
        self.set_real("rejected", self.real("rejected") + (live & ~good).select(1.0, 0.0))
        self.set_real("t", good.select(after, t))
        self.set_real("h", live.select(next_h, h))
        self.set_real("grow", good.select(GROW, 1.0))
        self.over_state(lambda i: self._move_good(good, i))
        self.unit_quaternions()
        if "positions" in self.called:
            self.close_lanes()

    def look_first(self) -> None:
        """Lanes compare from their first step on."""

    def close_lanes(self) -> None:
        """Project all lanes; one that has passed a singularity stops, unless it is to go on."""
        lookout = Lookout(self)
        self._set_clock(self.real("t"))
        project(self)
        lookout.look(self.real("t"))
        lookout.remember()
        self.derivative(self.words["y"], self.k[0], self.real("t"))

    def number(self, base: str, i: Int) -> Symbol:
        return self.e.symbol(self.e.load(base, i))

    def put_number(self, x: Number, base: str, i: Int) -> None:
        self.e.store(x, base, i)

    def any(self, condition: Condition) -> str:  # type: ignore[override]
        return any_lane(self.e, condition.ref)

    def note_singular(self, r: str, passed: Condition, time: Number) -> None:
        e = self.e
        stop = e.emit(f"icmp eq i64 {self.count('pass_singular')}, 0")
        level = e.emit(f"select i1 {stop}, double {float(SINGULAR)}, double {float(RUNNING)}")
        running = self.real("status") <= float(RUNNING)
        self.set_real("status", (passed & running).select(e.symbol(e.splat(level)), self.real("status")))

    def _largest(self, vector: str) -> Symbol:
        """Of each lane by itself."""
        return self.e.symbol(vector)

    def note_pivot(self, pivot: Symbol) -> None:
        """Not kept for each lane."""

    def _move_good(self, good: Condition, i: str) -> None:
        y, new, first, last = self.words["y"], self.words["new"], self.k[0], self.k[self.stages - 1]
        self.e.store(select(good, self.get(new, i), self.get(y, i)), y, i)
        self.e.store(select(good, self.get(last, i), self.get(first, i)), first, i)

    def error_norm(self, h: Number) -> Symbol:
        return maximum(self._error_of_state(h), self.error_of_turn()) if "positions" in self.called else self._error_of_state(h)

    def _error_of_state(self, h: Number) -> Symbol:
        squares = self._lane_squares(self.method.error or (), h)
        size = self.e.symbol(self.e.splat(self.e.emit(f"sitofp i64 {self.words['size']} to double")))
        if self.method.error3 is None:
            return (squares / size).sqrt()
        both = squares + 0.01 * self._lane_squares(self.method.error3, h) + 1e-300
        return squares / (both * size).sqrt()

    def added_up(self, parts: str) -> Symbol:
        """Each place is a run of its own."""
        return self.e.symbol(parts)

    def _lane_squares(self, weights: tuple[float, ...], h: Number) -> Symbol:
        w = self.words

        def scaled(i: str) -> Number:
            tolerance = self.real("atol") + self.real("rtol") * maximum(abs(self.get(w["y"], i)), abs(self.get(w["new"], i)))
            return h * self.combination(weights, i) / tolerance

        return self.sum_of_squares(scaled)

    def sample_lane(self, lane: int, good: Condition, t: Symbol, h: Symbol, after: Symbol) -> None:
        """Samples of one lane inside its step, in scalar code on strided data; ``sampled`` counts them."""
        e, w = self.e, self.words
        scalar = Emitter(1)  # for its constants only
        taken = e.emit(f"extractelement {e.bool_type} {good.ref}, i32 {lane}")
        t0, length, until = (e.emit(f"extractelement {e.type} {x.ref}, i32 {lane}") for x in (t, h, after))
        place = e.pointer(w["sampled"], lane)

        def due() -> str:
            s = e.emit(f"load i64, ptr {place}, align 8")
            more = e.emit(f"icmp slt i64 {s}, {self.count('samples')}")
            safe = e.emit(f"select i1 {more}, i64 {s}, i64 0")
            reached = e.emit(f"fcmp ole double {e.load_double(w['times'], safe)}, {until}")
            return self.all_of(taken, more, reached)

        def sample() -> None:
            s = e.emit(f"load i64, ptr {place}, align 8")
            when_ = e.emit(f"fsub double {e.load_double(w['times'], s)}, {t0}")
            x = e.emit(f"fdiv double {when_}, {length}")
            weights = [self._scalar_weight(scalar, row, x) for row in self.method.dense]
            block = e.integer("mul", e.integer("add", e.integer("mul", self.count("samples"), lane), s), w["controlled"])
            row = e.pointer(w["out"], block)
            each(e, 0, w["controlled"], lambda i: self._sample_entry(lane, i, weights, length, row))
            e.do(f"store i64 {e.integer('add', s, 1)}, ptr {place}, align 8")

        while_(e, due, sample)

    def _scalar_weight(self, scalar: Emitter, row: tuple[float, ...], x: str) -> str | None:
        """Horner: x (c0 + x (c1 + ...)); None where it vanishes."""
        if not any(row):
            return None
        e = self.e
        value = scalar.constant(row[-1])
        for c in reversed(row[:-1]):
            value = e.emit(f"fadd double {e.emit(f'fmul double {value}, {x}')}, {scalar.constant(c)}")
        return e.emit(f"fmul double {value}, {x}")

    def _sample_entry(self, lane: int, i: str, weights: list[str | None], h: str, row: str) -> None:
        e = self.e
        place = e.integer("add", e.integer("mul", i, WIDE), lane)
        sum_ = "0.0"
        for weight, k in zip(weights, self.k, strict=True):
            if weight is not None:
                sum_ = e.emit(f"fadd double {sum_}, {e.emit(f'fmul double {weight}, {e.load_double(k, place)}')}")
        y = e.load_double(self.words["y"], place)
        value = e.emit(f"fadd double {y}, {e.emit(f'fmul double {h}, {sum_}')}")
        e.do(f"store double {value}, ptr {e.pointer(row, i)}, align 8")
