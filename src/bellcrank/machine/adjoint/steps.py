"""The adjoint of steps of an explicit Runge-Kutta method, in machine code.

    back(bound, last, first) -> first     steps last-1 .. first; a larger number where the tape was too short for that step

A step is y' = P(y + h sum_i b_i k_i), k_i = f(Y_i), Y_i = y + h sum_j A_ij k_j, with P the projection onto the closures. With
bars for adjoints, and samples s = y + h sum_i w_i(s) k_i inside the step:

    y*' = P^T y'          what P^T leaves of the adjoint, as the derivative of P takes the closures' equations (tangents.steps)
    k*_i = h b_i y*' + h sum_s w_i(s) s*,   y* = y*' + sum_s s*
    for i from the last stage to the first:   Y*_i = f'(Y_i)^T k*_i,   y* += Y*_i,   k*_j += h A_ij Y*_i

Stages are computed again, with a tape each; adjoints of the data of the design are summed over all stages and steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...formulations import Program
from ...integrate import RungeKutta
from ...kernels.llvm.emitter import Emitter, Int
from ...kernels.llvm.flow import each
from ...numbers import Number, minimum
from ..calls.bound import Text
from ..steps.layout import VECTOR
from ..steps.programs import takes_momenta
from .memory import NUMBERS


class Retrace:
    """Writes back(). ``arguments`` and ``adjoints``: of each kernel, the arrays that it takes, and those that have adjoints."""

    def __init__(
        self,
        called: Mapping[str, Program],
        arguments: Mapping[str, list[str]],
        adjoints: Mapping[str, list[str]],
        places: Sequence[str],
        plain_rates: bool,
        method: RungeKutta,
        unit: bool,
    ):
        """``unit``: quaternions are made unit after each step."""
        self.called, self.arguments, self.adjoints = called, arguments, adjoints
        self.plain_rates, self.method, self.unit, self.closed = plain_rates, method, unit, "positions" in called
        self.adaptive = method.adaptive
        self.momenta = takes_momenta(dict(called))
        self.settles = "to_momenta" in called
        self.e = Emitter(1)
        self.words = {name: self._word(name, k) for k, name in enumerate(places)}

    def _word(self, name: str, place: int) -> str:
        kind = "i64" if name in NUMBERS else "ptr"
        return self.e.emit(f"load {kind}, ptr $, align 8", self.e.pointer("%bound", place))

    def write(self) -> Text:
        e = self.e
        count = e.integer("sub", "%last", "%first")

        def one(i: str) -> None:
            self.step(str(e.integer("sub", e.integer("sub", "%last", 1), i)))

        each(e, 0, count, one)
        e.do("ret i64 %first")
        return f"define i64 @back(ptr %bound, i64 %last, i64 %first) {{\nentry:\n{e.text()}\n}}\n", e.declarations

    # numbers in memory --------------------------------------------------------------------------------------------------

    def get(self, base: str, i: Int) -> Number:
        return self.e.symbol(self.e.load_double(base, i))

    def put(self, x: Number, base: str, i: Int) -> None:
        self.e.store(x, base, i)

    def row(self, base: str, i: Int) -> str:
        """The i-th of arrays as long as a state."""
        return self.e.pointer(self.words[base], self.e.integer("mul", i, self.words["state"]))

    def over_state(self, act: Callable[[str], None]) -> None:
        each(self.e, 0, self.words["state"], act)

    def add(self, x: str, to: str, factor: Number = 1.0) -> None:
        """to += factor x, of states."""
        self.over_state(lambda i: self.put(self.get(to, i) + factor * self.get(x, i), to, i))

    def clear(self, x: str, count: Int) -> None:
        each(self.e, 0, count, lambda i: self.put(0.0, x, i))

    def copy(self, x: str, to: str, count: Int) -> None:
        each(self.e, 0, count, lambda i: self.put(self.get(x, i), to, i))

    def speeds(self, state: str) -> str:
        return self.e.pointer(state, self.words["v_start"])

    # kernels ------------------------------------------------------------------------------------------------------------

    def forward(self, name: str, arrays: dict[str, str], tape: str, step: str) -> str:
        """The end of the tape; back() ends where it is too short, before anything of the step has been changed."""
        e = self.e
        taken = ", ".join(f"ptr {x}" for x in self.taken(name, arrays))
        n, nv, bottom, limit = (self.words[x] for x in ("n", "nv", "tape", "limit"))
        end = e.emit(f"call ptr @{name}_forward(i64 {n}, i64 {nv}, {taken}, ptr {tape}, ptr {bottom}, ptr {limit})")
        return self.unless_short(end, step)

    def unless_short(self, end: str, step: str) -> str:
        """back() ends here where the tape was too short."""
        e = self.e
        short, fine = e.new_label("short"), e.new_label("fine")
        e.do(f"br i1 {e.emit('icmp eq ptr $, null', end)}, label %{short}, label %{fine}")
        e.do(f"{short}:")
        e.do("ret i64 $", e.emit("add i64 $, 1", step))
        e.do(f"{fine}:")
        return end

    def reverse(self, name: str, arrays: dict[str, str], bars: dict[str, str], end: str) -> None:
        own = [bars.get(x, self.words[f"bar:{x}"]) for x in self.adjoints[name]]
        taken = ", ".join(f"ptr {x}" for x in [*self.taken(name, arrays), *own, end])
        self.e.do(f"call void @{name}_reverse(i64 {self.words['n']}, i64 {self.words['nv']}, {taken})")

    def taken(self, name: str, arrays: dict[str, str]) -> list[str]:
        program = self.called[name]
        known = {"tau": self.words["tau"], "u": self.words["u"]}
        known |= {x: self.words[f"out:{x}"] for x in program.outputs}
        known |= {x: self.words[x] for x in self.arguments[name]} | arrays
        return [known[x] for x in [*self.arguments[name], *program.inputs, *program.outputs]]

    # a step -------------------------------------------------------------------------------------------------------------

    def step(self, n: str) -> None:
        e, w = self.e, self.words
        row = e.pointer(w["log"], e.integer("mul", n, w["log_row"]))
        following = e.pointer(row, w["log_row"])
        h, y = self.get(row, 1), e.pointer(row, VECTOR)
        first, last = e.load_int(w["samples"], n), e.load_int(w["samples"], e.integer("add", n, 1))
        sampled = e.emit("icmp sgt i64 $, $", last, first)
        stages = w["plain_stages"]
        if self.adaptive:
            stages = e.emit("select i1 $, i64 $, i64 $", sampled, w["all_stages"], stages)
        tape = self.stages(row, y, h, stages, n)
        if self.settles:
            self._unsettled(y, h, stages)
        ends = self._closing(following, tape, n) if self.closed else {}
        if not self.adaptive:
            each(e, first, last, lambda s: self.add(self.row("seeds", s), w["lam"]))
        if self.unit:
            self._unit(e.pointer(following, VECTOR), w["lam"])
        if self.closed:
            self._project(following, ends)
        self.to_start(h, stages, lambda: each(e, first, last, lambda s: self._sample(s, stages)))

    def to_start(self, h: Number, stages: str, sample: Callable[[], None]) -> None:
        """From the adjoints of the slopes to that of the state at the start; ``sample`` adds those of samples."""
        e = self.e
        self.slopes_of_end(h, stages)
        if self.adaptive:
            sample()
        each(e, 0, stages, lambda i: self._back(str(e.integer("sub", e.integer("sub", stages, 1), i)), h))

    def stages(self, row: str, y: str, h: Number, stages: str, n: str) -> str:
        """Computed again, each with what its backward pass needs; the end of the tape."""
        e, w = self.e, self.words
        start, t, latest = self.get(row, 2), self.get(row, 0), self.get(row, 3)
        self.put_end(w["tape"], 0)

        def stage(i: str) -> None:
            at, A = self.row("Y", i), e.pointer(w["A"], e.integer("mul", i, w["all_stages"]))
            self.copy(y, at, w["state"])
            each(e, 0, i, lambda j: self.add(self.row("k", j), at, h * self.get(A, j)))
            inner = minimum(t + self.get(w["c"], i) * h, latest)
            is_first = e.emit("icmp eq i64 $, 0", i)
            time = e.emit("select i1 $, double $, double $", is_first, e.operand(start), e.operand(inner))
            clock = e.pointer(w["clocks"], i)
            e.do("store double $, ptr $, align 8", time, clock)
            self.slopes(i, n)

        each(e, 0, stages, stage)
        return self.end(e.integer("mul", stages, 2))

    def slopes(self, i: Int, n: str) -> None:
        """The slopes of a stage whose state and time are known."""
        e, w = self.e, self.words
        arrays, k = self.at_stage(i), self.row("k", i)
        end = self.forward("kernel", arrays, self.end(e.integer("mul", i, 2)), n)
        self.put_end(end, e.integer("add", e.integer("mul", i, 2), 1))
        if self.plain_rates:
            self.copy(arrays["v"], k, w["nv"])
        else:
            end = self.forward("rates", arrays, end, n)
        self.put_end(end, e.integer("add", e.integer("mul", i, 2), 2))

    def at_stage(self, i: Int) -> dict[str, str]:
        state, slope = self.row("Y", i), self.row("k", i)
        known = {"q": state, "t": self.e.pointer(self.words["clocks"], i), "qdot": slope}
        if self.momenta:
            return known | {"p": self.speeds(state), "pdot": self.speeds(slope), "v": self.row("velocities", i)}
        return known | {"v": self.speeds(state), "a": self.speeds(slope)}

    def end(self, place: Int) -> str:
        """The end of the tape after a kernel of a stage; there are twice as many ends as stages, and one."""
        return self.e.emit("load ptr, ptr $, align 8", self.e.pointer(self.words["ends"], place))

    def put_end(self, end: str, place: Int) -> None:
        self.e.do("store ptr $, ptr $, align 8", end, self.e.pointer(self.words["ends"], place))

    def slopes_of_end(self, h: Number, stages: str) -> None:
        w, e = self.words, self.e

        def one(i: str) -> None:
            weight, bar = h * self.get(w["b"], i), self.row("k_bar", i)
            self.over_state(lambda x: self.put(weight * self.get(w["lam"], x), bar, x))

        each(e, 0, stages, one)

    def _sample(self, s: str, stages: str) -> None:
        """Adjoints of a sample, in the weights of dense output times h."""
        e, w = self.e, self.words
        seed, weights = self.row("seeds", s), e.pointer(w["weights"], e.integer("mul", s, w["all_stages"]))
        self.add(seed, w["lam"])
        each(e, 0, stages, lambda i: self.add(seed, self.row("k_bar", i), self.get(weights, i)))

    def _back(self, i: str, h: Number) -> None:
        """f'(Y_i)^T on the adjoint of the slope, and what it adds to the others."""
        e, w = self.e, self.words
        bar = w["bar"]
        self.clear(bar, w["state"])
        self.slope_back(i, bar)
        self.add(bar, w["lam"])
        A = e.pointer(w["A"], e.integer("mul", i, w["all_stages"]))
        each(e, 0, i, lambda j: self.add(bar, self.row("k_bar", j), h * self.get(A, j)))

    def slope_back(self, i: Int, bar: str) -> None:
        """From the adjoint of the slope at a stage, k_bar, to what it adds to the adjoint of the stage, ``bar``."""
        w, k_bar = self.words, self.row("k_bar", i)
        bars = {"q": bar, "v": w["v_bar"] if self.momenta else self.speeds(bar), "qdot": k_bar}
        if self.momenta:
            self.clear(w["v_bar"], w["nv"])
        if self.plain_rates:
            each(self.e, 0, w["nv"], lambda j: self.put(self.get(bars["v"], j) + self.get(k_bar, j), bars["v"], j))
        else:
            self.reverse("rates", self.at_stage(i), bars, self.end(self.e.integer("add", self.e.integer("mul", i, 2), 2)))
        self.kernel_back(i, bars)

    def kernel_back(self, i: Int, bars: dict[str, str]) -> None:
        e, slope = self.e, self.speeds(self.row("k_bar", i))
        bars = bars | ({"p": self.speeds(bars["q"]), "pdot": slope} if self.momenta else {"a": slope})
        self.reverse("kernel", self.at_stage(i), bars, self.end(e.integer("add", e.integer("mul", i, 2), 1)))

    # the projection onto the closures -----------------------------------------------------------------------------------

    def _closing(self, row: str, tape: str, n: str) -> dict[str, str]:
        """The kernels of tangents.steps.project at the state after the step: where the tape of each ends."""
        arrays, ends = self._closed_state(row), {}
        if self.settles:
            ends["of_momenta"] = tape = self.forward("of_momenta", arrays | {"p": self.words["unsettled"]}, tape, n)
        speeds = "to_momenta" if self.settles else "velocities"
        for name in (speeds, "positions") if self.plain_rates else (speeds, "rates", "positions"):
            ends[name] = tape = self.forward(name, arrays, tape, n)
        return ends

    def _closed_state(self, row: str) -> dict[str, str]:
        state = self.e.pointer(row, VECTOR)
        return {"q": state, "v": self.words["settled"] if self.settles else self.speeds(state), "t": row}

    def _unsettled(self, y: str, h: Number, stages: str) -> None:
        """Momenta as the slopes of a step leave them."""
        e, w = self.e, self.words
        p = w["unsettled"]
        self.copy(self.speeds(y), p, w["nv"])

        def stage(i: str) -> None:
            k, weight = self.speeds(self.row("k", i)), h * self.get(w["b"], i)
            each(e, 0, w["nv"], lambda j: self.put(self.get(p, j) + weight * self.get(k, j), p, j))

        each(e, 0, stages, stage)

    def _settle(self, arrays: dict[str, str], lam: str, ends: dict[str, str]) -> None:
        """The backward pass of tangents.steps.settle_momenta: p = M(q) v(q, p)."""
        w, p = self.words, self.speeds(lam)
        self.copy(p, w["seed"], w["nv"])
        for bar in (p, w["v_bar"]):
            self.clear(bar, w["nv"])
        self.reverse("to_momenta", arrays, {"q": lam, "v": w["v_bar"], "p": w["seed"]}, ends["to_momenta"])
        unsettled = arrays | {"p": w["unsettled"]}
        self.reverse("of_momenta", unsettled, {"q": lam, "v": w["v_bar"], "p": p}, ends["of_momenta"])

    def _project(self, row: str, ends: dict[str, str]) -> None:
        """Their backward pass, in the opposite order, on the adjoint of that state."""
        w, lam = self.words, self.words["lam"]
        arrays, bars = self._closed_state(row), {"q": lam, "v": self.speeds(lam)}
        if self.settles:
            self._settle(arrays, lam, ends)
            bars["v"] = w["v_bar"]  # none of it: displacements do not depend on velocities
        else:
            self.copy(self.speeds(lam), w["seed"], w["nv"])
            self.reverse("velocities", arrays, bars | {"dv": w["seed"]}, ends["velocities"])
        if self.plain_rates:
            self.copy(lam, w["moved"], w["nv"])
        else:
            self.copy(lam, w["seed"], w["nq"])
            self.clear(w["moved"], w["nv"])
            self.clear(w["unused"], w["nq"])  # rates of displacements, which are zero: nothing by the positions
            self.reverse("rates", arrays, {"q": w["unused"], "v": w["moved"], "qdot": w["seed"]}, ends["rates"])
        self.reverse("positions", arrays, bars | {"dx": w["moved"]}, ends["positions"])

    def _unit(self, state: str, lam: str) -> None:
        """Changes of unit quaternions are at right angles to them, and so are adjoints."""
        e, w = self.e, self.words

        def quaternion(i: str) -> None:
            at = e.load_int(w["quaternions"], i)
            places = [e.integer("add", at, j) for j in range(4)]
            q, bar = [self.get(state, x) for x in places], [self.get(lam, x) for x in places]
            along = q[0] * bar[0] + q[1] * bar[1] + q[2] * bar[2] + q[3] * bar[3]
            for x, b, place in zip(q, bar, places, strict=True):
                self.put(b - x * along, lam, place)

        if not self.plain_rates:
            each(e, 0, w["quaternion_count"], quaternion)
