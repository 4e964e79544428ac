"""The time loop in machine code: a Runge-Kutta method around the kernel of a model, for one state.

advance(bound)    steps until the end, a failure, or the budget of steps is used up; all of its state is in memory, so that
                  it can be called again to go on

The state is y = (q, v, works), each padded to whole vectors, and its arithmetic runs four numbers at a time; the kernel
inside evaluates one state. The works of force elements, drives and given efforts are integrated along, for the balance of
energy, and do not take part in the control of the step. REALS and COUNTS lay out what the host sets and reads.
"""

from __future__ import annotations

from collections.abc import Callable

from ..formulations import QUANTITIES, Program
from ..integrate import RungeKutta
from ..integrate.runge_kutta import Row
from ..numbers import Condition, Number, Symbol, maximum, minimum
from ..topology import Plan
from .emitter import Emitter
from .flow import each, total, when, while_
from .kernel import for_plan
from .module import FIXED, Module, assemble, kernel_arguments, write_kernel

WIDE = 4
REALS = ("t", "h", "end", "rtol", "atol", "longest", "grow", "error")
COUNTS = ("status", "steps", "rejected", "evaluations", "budget", "sample", "samples", "substep", "substeps", "watched", "held")
RUNNING, NOT_FINITE, COLLAPSED = 0, 1, 2

_NUMBERS = (
    "n",
    "nv",
    "vectors",
    "controlled",
    "v_start",
    "w_start",
    "padded",
    "size",
    "quaternion_count",
    "elements",
    "drives",
)
_OWN = ("y", "new", "aside", "k", "tau", "u", "clock", "times", "out", "sampled", "reals", "counts", "quaternions")
_SHRINK, _GROW, _SAFETY = 0.2, 10.0, 0.9
_EPSILON = 2.3e-16


def programs(plan: Plan, program: Program) -> dict[str, Program]:
    """What a step calls: the accelerations, the rates, and what the balance of energy needs; by the names of their kernels."""
    called = {"kernel": program, "rates": QUANTITIES["rates"]}
    if plan.loads.elements:
        called["elements"] = QUANTITIES["elements"]
    if plan.loads.motions:
        called["drives"] = QUANTITIES["drives"]
    return {name: for_plan(each_program, plan) for name, each_program in called.items()}


def outputs(called: dict[str, Program]) -> list[str]:
    """Outputs that need a buffer; accelerations and rates go into the state's own arrays."""
    return [name for program in called.values() for name in program.outputs if name not in ("a", "qdot")]


def stepper_words(called: dict[str, Program]) -> list[str]:
    return [*_NUMBERS, *FIXED, "other_work", "other_messages", *_OWN, *[f"buffer:{name}" for name in outputs(called)]]


def write_stepper(plan: Plan, program: Program, method: RungeKutta) -> Module:
    return write_with_kernels(plan, programs(plan, program), method, 1, Stepper)


def write_with_kernels(
    plan: Plan, called: dict[str, Program], method: RungeKutta, lanes: int, stepper: type[Stepper]
) -> Module:
    """A module of a stepper and the kernels that it calls."""
    widths: dict[str, int] = {}
    parts = []
    for name, each_program in called.items():
        part, needed = write_kernel(plan, each_program, lanes, name=name)
        parts.append(part)
        widths = {mark: max(width, widths.get(mark, 0)) for mark, width in needed.items()}
    plain_rates = all(joint.quaternion is None for joint in plan.model.joints)
    parts += [write_unit_quaternions(lanes), stepper(called, method, plain_rates).write()]
    return assemble(parts, widths)


def write_unit_quaternions(lanes: int) -> tuple[str, dict[str, str]]:
    """Make the quaternions of y unit again; k, linear in them, is scaled along."""
    e = Emitter(lanes)

    def one(i: str) -> None:
        at = e.load_int("%places", i)
        q = [e.symbol(e.load("%y", e.integer("add", at, j))) for j in range(4)]
        scale = 1.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt()
        for j, x in enumerate(q):
            e.store(x * scale, "%y", e.integer("add", at, j))
            rate = e.symbol(e.load("%k", e.integer("add", at, j)))
            e.store(rate * scale, "%k", e.integer("add", at, j))

    each(e, 0, "%count", one)
    e.do("ret void")
    head = "define internal void @unit_quaternions(ptr noalias %y, ptr noalias %k, ptr noalias %places, i64 %count)"
    return f"{head} {{\nentry:\n{e.text()}\n}}\n", e.declarations


class Stepper:
    """Writes advance()."""

    def __init__(self, called: dict[str, Program], method: RungeKutta, plain_rates: bool):
        self.called, self.method = called, method
        self.plain_rates = plain_rates  # dq/dt = v
        self.e = Emitter(WIDE)
        self.place = {word: k for k, word in enumerate(stepper_words(called))}
        self.stages = len(method.b) + (1 if method.adaptive else 0)

    def write(self) -> tuple[str, dict[str, str]]:
        e = self.e
        self.words = {name: self._word(name) for name in stepper_words(self.called)}
        self.k = [self._stage(j) for j in range(self.stages + len(self.method.extra))]
        self.v_start = self.words["v_start"]
        if self.method.adaptive:
            self._adaptive()
        else:
            self._fixed()
        e.do("ret void")
        return f"define void @advance(ptr %bound) {{\nentry:\n{e.text()}\n}}\n", e.declarations

    # memory -------------------------------------------------------------------------------------------------------

    def _word(self, name: str) -> str:
        e = self.e
        if name in _NUMBERS:
            return e.load_int("%bound", self.place[name])
        return e.emit(f"load ptr, ptr {e.pointer('%bound', self.place[name])}, align 8")

    def _stage(self, j: int) -> str:
        return self.e.pointer(self.words["k"], self.e.integer("mul", self.words["padded"], j))

    def real(self, name: str) -> Symbol:
        """A number of the host's, in all places of a vector."""
        e = self.e
        return e.symbol(e.splat(e.load_double(self.words["reals"], REALS.index(name))))

    def set_real(self, name: str, value: Number) -> None:
        e = self.e
        scalar = e.emit(f"extractelement {e.type} {e.operand(value)}, i32 0")
        e.do(f"store double {scalar}, ptr {e.pointer(self.words['reals'], REALS.index(name))}, align 8")

    def count(self, name: str) -> str:
        return self.e.load_int(self.words["counts"], COUNTS.index(name))

    def set_count(self, name: str, value: int | str) -> None:
        e = self.e
        e.do(f"store i64 {value}, ptr {e.pointer(self.words['counts'], COUNTS.index(name))}, align 8")

    def add_count(self, name: str, by: int = 1) -> None:
        self.set_count(name, str(self.e.integer("add", self.count(name), by)))

    def get(self, base: str, i: str) -> Symbol:
        return self.e.symbol(self.e.load(base, i))

    def over_state(self, body: Callable[[str], None]) -> None:
        each(self.e, 0, self.words["vectors"], body)

    def test(self, condition: object) -> str:
        """A condition that is the same in all places, as one bit."""
        return self.e.emit(f"extractelement {self.e.bool_type} {condition.ref}, i32 0")  # type: ignore[attr-defined]

    def all_of(self, *bits: str) -> str:
        result = bits[0]
        for bit in bits[1:]:
            result = self.e.emit(f"and i1 {result}, {bit}")
        return result

    # the method ---------------------------------------------------------------------------------------------------

    def derivative(self, y: str, k: str, t: Number) -> None:
        """k = (dq/dt, dv/dt, powers) at y and t."""
        e, w = self.e, self.words
        self._set_clock(t)
        v, a = e.pointer(y, self.v_start), e.pointer(k, self.v_start)
        arrays = {"q": y, "v": v, "tau": w["tau"], "t": w["clock"], "u": w["u"], "a": a, "qdot": k}
        self._call("kernel", arrays)
        if self.plain_rates:
            each(e, 0, e.emit(f"sdiv i64 {self.v_start}, {WIDE}"), lambda i: e.store(self.get(v, i), k, i))
        else:
            self._call("rates", arrays)
        self._powers(arrays, e.pointer(k, w["w_start"]))
        self.add_count("evaluations")

    def _set_clock(self, t: Number) -> None:
        e = self.e
        clock = e.emit(f"extractelement {e.type} {e.operand(t)}, i32 0")
        e.do(f"store double {clock}, ptr {self.words['clock']}, align 8")

    def _powers(self, arrays: dict[str, str], into: str) -> None:
        """Powers of the force elements, of the drives, and of the given efforts: the rates of the works."""
        e, w = self.e, self.words
        for name, count, row, column, start in (
            ("elements", w["elements"], 3, 1, 0),
            ("drives", w["drives"], 2, 1, w["elements"]),
        ):
            if name in self.called:
                self._call(name, arrays)
                (output,) = self.called[name].outputs
                source = w[f"buffer:{output}"]
                to = e.pointer(into, start)
                each(e, 0, count, lambda i, s=source, to=to, r=row, c=column: self._copy(s, i, r, c, to))  # type: ignore[misc]

        def product(i: str, sum_: str) -> str:
            return e.operand(e.symbol(sum_) + self.get(w["tau"], i) * self.get(arrays["v"], i))

        power = self._reduce(total(e, 0, self._v_vectors(), e.constant(0.0), product))
        last = e.integer("add", w["elements"], w["drives"])
        e.do(f"store double {power}, ptr {e.pointer(into, last)}, align 8")

    def _v_vectors(self) -> str:
        e, w = self.e, self.words
        return e.emit(f"sdiv i64 {e.integer('sub', w['w_start'], w['v_start'])}, {WIDE}")

    def _copy(self, source: str, i: str, row: int, column: int, to: str) -> None:
        e = self.e
        value = e.load_double(source, e.integer("add", e.integer("mul", i, row), column))
        e.do(f"store double {value}, ptr {e.pointer(to, i)}, align 8")

    def _call(self, name: str, arrays: dict[str, str]) -> None:
        """A kernel other than the first has a workspace of its own, which is kept from step to step."""
        program, w = self.called[name], self.words
        known = {fixed: w[fixed] for fixed in FIXED} | arrays
        known |= {output: w[f"buffer:{output}"] for output in program.outputs if output not in known}
        if name != "kernel":
            known |= {"work": w["other_work"], "messages": w["other_messages"]}
        arguments = ", ".join(f"ptr {known[a]}" for a in kernel_arguments(program))
        self.e.do(f"call void @{name}(i64 {w['n']}, i64 {w['nv']}, {arguments})")
        self.e.forget()

    def _reduce(self, vector: str) -> str:
        e = self.e
        e.declarations["llvm.vector.reduce.fadd.v4f64"] = "declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)"
        return e.emit(f"call double @llvm.vector.reduce.fadd.v4f64(double 0.0, {e.type} {vector})")

    def combination(self, weights: tuple[Number, ...], i: str) -> Number:
        """sum_j weights_j k_j at the i-th vector."""
        result: Number = 0.0
        for weight, k in zip(weights, self.k, strict=False):
            if isinstance(weight, Symbol) or weight != 0:
                result = result + weight * self.get(k, i)
        return result

    def trial(self, t: Number, h: Number) -> None:
        """All stages after the first, and the new state."""
        y, new = self.words["y"], self.words["new"]
        rows = [*zip(self.method.c[1:], self.method.A[1:], strict=True), (1.0, self.method.b)]
        for j, (c, row) in enumerate(rows, start=1):
            self.over_state(lambda i, row=row: self.e.store(self.get(y, i) + h * self.combination(row, i), new, i))  # type: ignore[misc]
            if j < self.stages:
                self.derivative(new, self.k[j], t + c * h)

    def extra_stages(self, t: Number, h: Number) -> None:
        """What only dense output needs; the new state must stay where it is."""
        y, aside = self.words["y"], self.words["aside"]
        for j, (c, row) in enumerate(self.method.extra, start=self.stages):
            self.over_state(lambda i, row=row: self.e.store(self.get(y, i) + h * self.combination(row, i), aside, i))  # type: ignore[misc]
            self.derivative(aside, self.k[j], t + c * h)

    def unit_quaternions(self) -> None:
        w = self.words
        self.e.do(
            f"call void @unit_quaternions(ptr {w['y']}, ptr {self.k[0]}, ptr {w['quaternions']}, i64 {w['quaternion_count']})"
        )
        self.e.forget()

    def running(self) -> str:
        e = self.e
        fine = e.emit(f"icmp eq i64 {self.count('status')}, {RUNNING}")
        left = e.emit(f"icmp sgt i64 {self.count('budget')}, 0")
        more = e.emit(f"icmp slt i64 {self.count('sample')}, {self.count('samples')}")
        return self.all_of(fine, left, more)

    # fixed step ---------------------------------------------------------------------------------------------------

    def _fixed(self) -> None:
        """``substeps`` steps of length h between one sample and the next."""
        e, w = self.e, self.words

        def step() -> None:
            self.add_count("budget", -1)
            t = self.real("t")
            self.derivative(w["y"], self.k[0], t)
            self.trial(t, self.real("h"))
            zero = self._reduce(total(e, 0, w["vectors"], e.constant(0.0), self._not_finite))
            when(e, e.emit(f"fcmp oeq double {zero}, 0.0"), accept, lambda: self.set_count("status", NOT_FINITE))

        def accept() -> None:
            self.over_state(lambda i: e.store(self.get(w["new"], i), w["y"], i))
            self.unit_quaternions()
            self.add_count("steps")
            self.add_count("substep")
            self.set_real("t", self.real("t") + self.real("h"))
            done = e.emit(f"icmp sge i64 {self.count('substep')}, {self.count('substeps')}")
            when(e, done, sample)

        def sample() -> None:
            self.set_count("substep", 0)
            s = self.count("sample")
            self.set_real("t", e.symbol(e.splat(e.load_double(w["times"], s))))
            row = e.pointer(w["out"], e.integer("mul", s, w["padded"]))
            self.over_state(lambda i: e.store(self.get(w["y"], i), row, i))
            self.add_count("sample")

        while_(e, self.running, step)

    def _not_finite(self, i: str, sum_: str) -> str:
        """Adds 0 for finite numbers, NaN for others."""
        e = self.e
        x = e.load(self.words["new"], i)
        return e.emit(f"fadd {e.type} {sum_}, {e.emit(f'fmul {e.type} {x}, {e.constant(0.0)}')}")

    # adaptive step ------------------------------------------------------------------------------------------------

    def _adaptive(self) -> None:
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
            after = ((t + h) >= self.real("end")).select(self.real("end"), t + h)
            self.set_real("t", after)
            if self.method.extra:
                when(e, self.sample_is_due(), lambda: self.extra_stages(t, h))
            while_(e, self.sample_is_due, lambda: self.sample(t, h))
            self.over_state(self._move_on)
            self.unit_quaternions()
            self.add_count("steps")
            next_h = h * minimum(self.factor(), self.real("grow"))
            self.set_real("h", next_h)
            self.set_real("grow", _GROW)
            stuck = self.all_of(self.test(self.too_short(next_h)), self.test(next_h <= h))
            when(e, stuck, lambda: self.set_count("status", COLLAPSED))

        def reject() -> None:
            self.add_count("rejected")
            error, h = self.real("error"), self.real("h")
            number = error <= 1e300
            h = h * number.select(maximum(self.factor(), _SHRINK), _SHRINK)
            self.set_real("h", h)
            self.set_real("grow", 1.0)
            when(e, self.test(self.too_short(h)), lambda: self.stop(number))

        while_(e, self.running, step)

    def too_short(self, h: Symbol) -> Condition:
        """Whether a step is lost in the rounding of the time."""
        return h <= 16 * _EPSILON * maximum(abs(self.real("t")), self.real("end") * 1e-3)

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
        return _SAFETY * e.symbol(e.splat(power))

    def error_norm(self, h: Number) -> Symbol:
        """Root mean square of the estimated error over its tolerance; with two estimates, as Hairer combines them."""
        e, w = self.e, self.words
        assert self.method.error is not None
        size = e.emit(f"sitofp i64 {w['size']} to double")
        squares = self._sum_of_squares(self.method.error, h)
        e.declarations["llvm.sqrt.f64"] = "declare double @llvm.sqrt.f64(double)"
        if self.method.error3 is None:
            mean = e.emit(f"fdiv double {squares}, {size}")
            return e.symbol(e.splat(e.emit(f"call double @llvm.sqrt.f64(double {mean})")))
        lower = e.emit(f"fmul double {self._sum_of_squares(self.method.error3, h)}, {_scalar(0.01)}")
        both = e.emit(f"fadd double {e.emit(f'fadd double {squares}, {lower}')}, {_scalar(1e-300)}")
        root = e.emit(f"call double @llvm.sqrt.f64(double {e.emit(f'fmul double {both}, {size}')})")
        return e.symbol(e.splat(e.emit(f"fdiv double {squares}, {root}")))

    def _sum_of_squares(self, weights: Row, h: Number) -> str:
        e, w = self.e, self.words

        def square(i: str, sum_: str) -> str:
            tolerance = self.real("atol") + self.real("rtol") * maximum(abs(self.get(w["y"], i)), abs(self.get(w["new"], i)))
            x = h * self.combination(weights, i) / tolerance
            return e.operand(e.symbol(sum_) + x * x)

        return self._reduce(total(e, 0, w["controlled"], e.constant(0.0), square))

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
