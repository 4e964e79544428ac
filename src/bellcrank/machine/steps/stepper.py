"""The time loop in machine code: a Runge-Kutta method around the kernel of a model, for one state.

advance(bound)    steps until the end, a failure, or the budget of steps is used up; all of its state is in memory, so that
                  it can be called again to go on

The state is y = (q, v, works), or (q, p, works) where the kernel takes momenta, each part padded to whole vectors. Its
arithmetic runs four numbers at a time; the kernel inside evaluates one state. The works of force elements, drives and given
efforts are integrated along, for the balance of energy; their errors are controlled relative to the energy at hand. REALS and
COUNTS lay out what the host sets and reads.
"""

from __future__ import annotations

from collections.abc import Callable

from ...formulations import QUANTITIES, WITH_MULTIPLIERS, Program
from ...integrate import RungeKutta
from ...kernels.llvm.emitter import Emitter, Int
from ...kernels.llvm.flow import each, total, when
from ...numbers import Condition, Number, Symbol, maximum
from ...plan import Plan
from ..arrays import ARRAYS, for_plan
from ..module import Module, assemble, write_kernel
from ..nodes.walk import block_width
from .projection import Lookout, look_first, project
from .stiffness import STIFFNESS
from .turning import write_turning

WIDE = 4
MINIMUM_NORM, MASS = "minimum_norm", "mass"
_CONTROL = ("t", "h", "end", "rtol", "atol", "longest", "grow", "error", "energy", "change", "change_before")
REALS = (*_CONTROL, "turn", "singular_time", "pivot", "pivot_time", "near", *STIFFNESS)
_LOOP = ("status", "steps", "rejected", "evaluations", "budget", "sample", "samples", "substep", "substeps", "watched", "held")
COUNTS = (*_LOOP, "project", "pass_singular", "singular", "singular_row", "seen", "newton", "sample_before", "iterations")
RUNNING, NOT_FINITE, COLLAPSED, SINGULAR, NOT_SOLVED = 0, 1, 2, 3, 4

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
    "works",
    "given",
    "closings",
    "m",
    "nq",
    "width",
)
_OWN = (
    "y",
    "new",
    "aside",
    "k",
    "tau",
    "u",
    "clock",
    "times",
    "out",
    "sampled",
    "reals",
    "counts",
    "quaternions",
    "before",
    "turning",
    "origin",
    "reach",
)


def row_width(plan: Plan) -> int:
    """How many entries the rows of closures have, as the projection leaves them for the lookout."""
    return plan.model.nv if plan.nodes is None else block_width(plan)


def projections(metric: str, plan: Plan) -> dict[str, Program]:
    """What moves a state onto the closures; block by block where blocks are known."""
    option = f"{metric}{'' if plan.nodes is None else '_blocks'}"
    return {name: QUANTITIES[f"project_{name}:{option}"] for name in ("positions", "velocities")}


def programs(plan: Plan, program: Program, metric: str = MINIMUM_NORM) -> dict[str, Program]:
    """What a step calls: the accelerations, the rates, and what the balance of energy needs; by the names of their kernels."""
    called = {"kernel": program, "rates": QUANTITIES["rates"]}
    canonical = "p" in program.inputs
    if plan.loads.motions and plan.model.closures:  # powers of drives need the multipliers
        called["powers" if canonical else "kernel"] = WITH_MULTIPLIERS["coordinate_reduction" if canonical else program.name]
    wanted = {"element": "elements"} if plan.loads.elements else {}
    if plan.model.driven.any():
        wanted["drive"] = "closed_drives" if plan.model.closures else "canonical_drives" if canonical else "drives"
    if plan.loads.closing.driven:
        wanted["closing"] = "closing_reactions"
    called |= {name: QUANTITIES[quantity] for name, quantity in wanted.items() if name not in told(called)}
    if plan.model.closures:
        called |= projections(metric, plan)
        if canonical:
            called |= {"of_momenta": QUANTITIES["closed_velocities"], "to_momenta": QUANTITIES["momenta"]}
    return {name: for_plan(each_program, plan) for name, each_program in called.items()}


def told(called: dict[str, Program]) -> set[str]:
    """What the kernels of a step tell besides the slopes of the state."""
    return {output for name in ("kernel", "powers") if name in called for output in called[name].outputs}


def outputs(called: dict[str, Program]) -> list[str]:
    """Outputs that need a buffer; rates go into the state's own arrays."""
    return [name for program in called.values() for name in program.outputs if name not in ("qdot", "pdot")]


def stepper_words(called: dict[str, Program]) -> list[str]:
    return [*_NUMBERS, *ARRAYS, "other_work", "other_messages", *_OWN, *[f"buffer:{name}" for name in outputs(called)]]


def write_with_kernels(
    plan: Plan, called: dict[str, Program], method: RungeKutta, lanes: int, stepper: type[Stepper]
) -> Module:
    """A module of a stepper and the kernels that it calls."""
    kernels = {name: write_kernel(plan, each_program, lanes, name=name) for name, each_program in called.items()}
    plain_rates = all(joint.quaternion is None for joint in plan.model.joints)
    arguments = {name: kernel.arguments for name, kernel in kernels.items()}
    parts = [write_unit_quaternions(lanes), stepper(called, method, plain_rates, arguments).write()]
    if method.turns:
        parts += write_turning()
    return assemble(list(kernels.values()), parts)


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

    def __init__(self, called: dict[str, Program], method: RungeKutta, plain_rates: bool, arguments: dict[str, list[str]]):
        self.called, self.method, self.arguments = called, method, arguments
        self.plain_rates = plain_rates  # dq/dt = v
        self.momenta = "p" in called["kernel"].inputs
        self.e = Emitter(WIDE)
        self.place = {word: k for k, word in enumerate(stepper_words(called))}
        self.stages = method.stages

    def write(self) -> tuple[str, dict[str, str]]:
        e = self.e
        self.words = {name: self._word(name) for name in stepper_words(self.called)}
        self.k = [self._stage(j) for j in range(self.stages + len(self.method.extra))]
        self.v_start = self.words["v_start"]
        self.look_first()
        self.loop()
        e.do("ret void")
        return f"define void @advance(ptr %bound) {{\nentry:\n{e.text()}\n}}\n", e.declarations

    def loop(self) -> None:
        """The loop over the steps: fixed_stepper, adaptive_stepper, lane_stepper."""
        raise NotImplementedError

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
        """k = (dq/dt, dv/dt or dp/dt, powers) at y and t."""
        e, w = self.e, self.words
        self._set_clock(t)
        speeds, slopes = e.pointer(y, self.v_start), e.pointer(k, self.v_start)
        arrays = {"q": y, "tau": w["tau"], "t": w["clock"], "u": w["u"], "qdot": k}
        arrays |= {"p": speeds, "pdot": slopes, "v": w["buffer:v"]} if self.momenta else {"v": speeds, "a": slopes}
        self._call("kernel", arrays)
        if self.plain_rates:
            each(e, 0, e.emit(f"sdiv i64 {self.v_start}, {WIDE}"), lambda i: e.store(self.get(arrays["v"], i), k, i))
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
        driven = e.integer("add", w["elements"], w["drives"])
        if "powers" in self.called:
            self._call("powers", arrays)
        for name, count, row, column, start in (
            ("element", w["elements"], 3, 1, 0),
            ("drive", w["drives"], 2, 1, w["elements"]),
            ("closing", w["closings"], 7, 6, driven),
        ):
            if name in self.called:
                self._call(name, arrays)
            if name in self.called or name in told(self.called):
                source, to = w[f"buffer:{name}"], e.pointer(into, start)
                each(e, 0, count, lambda i, s=source, to=to, r=row, c=column: self._copy(s, i, r, c, to))  # type: ignore[misc]

        when(e, e.emit(f"icmp ne i64 {w['given']}, 0"), lambda: self._power_of_efforts(arrays["v"], into))

    def _power_of_efforts(self, v: str, into: str) -> None:
        """tau . v, of the efforts given by the caller."""
        e, w = self.e, self.words

        def product(i: str, sum_: str) -> str:
            return e.operand(e.symbol(sum_) + self.get(w["tau"], i) * self.get(v, i))

        power = self._reduce(total(e, 0, self._v_vectors(), e.constant(0.0), product))
        last = e.integer("add", e.integer("add", w["elements"], w["drives"]), w["closings"])
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
        known = {taken: w[taken] for taken in self.arguments[name]} | arrays
        known |= {output: w[f"buffer:{output}"] for output in program.outputs if output not in known}
        if "lambda" in program.inputs:
            known["lambda"] = w["buffer:lambda"]
        if name != "kernel":
            known |= {taken: w[f"other_{taken}"] for taken in ("work", "messages") if taken in known}
        arguments = ", ".join(f"ptr {known[a]}" for a in [*self.arguments[name], *program.inputs, *program.outputs])
        self.e.do(f"call void @{name}(i64 {w['n']}, i64 {w['nv']}, {arguments})")
        self.e.forget()

    def _reduce(self, vector: str) -> str:
        e = self.e
        e.declarations["llvm.vector.reduce.fadd.v4f64"] = "declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)"
        return e.emit(f"call double @llvm.vector.reduce.fadd.v4f64(double 0.0, {e.type} {vector})")

    def _largest(self, vector: str) -> Symbol:
        e = self.e
        e.declarations["llvm.vector.reduce.fmaximum.v4f64"] = "declare double @llvm.vector.reduce.fmaximum.v4f64(<4 x double>)"
        return e.symbol(e.splat(e.emit(f"call double @llvm.vector.reduce.fmaximum.v4f64({e.type} {vector})")))

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

    # closed loops -------------------------------------------------------------------------------------------------

    def number(self, base: str, i: Int) -> Symbol:
        """A number of a kernel's buffer, in all places of a vector."""
        return self.e.symbol(self.e.splat(self.e.load_double(base, i)))

    def put_number(self, x: Number, base: str, i: Int) -> None:
        e = self.e
        scalar = e.emit(f"extractelement {e.type} {e.operand(x)}, i32 0")
        e.do(f"store double {scalar}, ptr {e.pointer(base, i)}, align 8")

    def any(self, condition: object) -> str:
        return self.test(condition)

    def remember_state(self) -> str:
        """A copy of the state before the step, where a model with loops may have to go back to it."""
        old = self.words["new"]
        if "positions" in self.called:
            old = self.e.pointer(self.words["before"], self._rows_before())
            self.over_state(lambda i: self.e.store(self.get(self.words["y"], i), old, i))
        return old

    def _rows_before(self) -> Int:
        """Numbers of ``before`` that the rows of Q take, in whole vectors."""
        e, w = self.e, self.words
        size = e.integer("mul", w["m"], e.integer("add", w["width"], 1))
        return e.integer("mul", e.emit(f"sdiv i64 {e.integer('add', size, WIDE - 1)}, {WIDE}"), WIDE)

    def look_first(self) -> None:
        if "positions" in self.called:
            look_first(self)

    def close_loops(self, t: Number, keep_old: str) -> None:
        """Project the new state, and find out whether it lies beyond a singularity; the state before is at ``keep_old``."""
        if "positions" not in self.called:
            return
        e = self.e
        lookout = Lookout(self)

        def act() -> None:
            self._set_clock(t)
            project(self)
            when(e, self.finite(self.words["y"]), look, lambda: self.go_back(keep_old, NOT_FINITE))

        def look() -> None:
            lookout.look(t)
            stop = e.emit(f"icmp sgt i64 {self.count('singular')}, {self.count('pass_singular')}")
            when(e, stop, lambda: self.go_back(keep_old, SINGULAR), lookout.remember)

        when(e, e.emit(f"icmp eq i64 {self.count('project')}, 1"), act)

    def go_back(self, old: str, status: int) -> None:
        self.over_state(lambda i: self.e.store(self.get(old, i), self.words["y"], i))
        self.set_count("status", status)
        self.set_count("sample", self.count("sample_before"))

    def finite(self, state: str) -> str:
        """Whether all numbers of a state are: 0 x is 0 for finite numbers, NaN for others."""
        e = self.e

        def vanishing(i: str, sum_: str) -> str:
            return e.emit(f"fadd {e.type} {sum_}, {e.emit(f'fmul {e.type} {e.load(state, i)}, {e.constant(0.0)}')}")

        zero = self._reduce(total(e, 0, self.words["vectors"], e.constant(0.0), vanishing))
        return e.emit(f"fcmp oeq double {zero}, 0.0")

    def turn(self) -> str:
        """The largest part of what coordinates of loops may move in a step (plan.turns) that the new state has moved."""
        e, w = self.e, self.words

        def larger(i: str, found: str) -> str:
            moved = abs(self.get(w["new"], i) - self.get(w["y"], i)) * self.get(w["reach"], i)
            return e.operand(maximum(e.symbol(found), moved))

        return total(e, 0, w["controlled"], e.constant(0.0), larger)

    def note_singular(self, r: str, passed: Condition, time: Number) -> None:
        """The host hears of it right after the step."""

        def note() -> None:
            self.add_count("singular")
            self.set_count("singular_row", r)
            self.set_real("singular_time", time)
            self.set_count("budget", 0)

        when(self.e, self.test(passed), note)

    def note_pivot(self, pivot: Symbol) -> None:
        def note() -> None:
            self.set_real("pivot", pivot)
            self.set_real("pivot_time", self.real("t"))

        when(self.e, self.test((pivot > 0.0) & (pivot < self.real("pivot"))), note)
