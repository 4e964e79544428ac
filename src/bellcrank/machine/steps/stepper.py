"""The time loop in machine code: a Runge-Kutta method around the kernels of a model.

advance(bound)    steps until the end, a failure, or the budget of steps is used up; all of its state is in memory
                  (memory.py), so that it can be called again to go on

For one state the arithmetic of a step runs along the state, four numbers at a time, and the kernel inside evaluates one state;
what controls the step is the same in all four places of a vector. With lanes (lanes/) every number is a vector, each lane has
its own time and step, and conditions differ from lane to lane. Loops are written once for both: on numbers, conditions and
``select``. The works of force elements, drives and given efforts are integrated along with one state, for the balance of
energy; their errors are controlled relative to the energy at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...formulations import Program
from ...integrate import RungeKutta
from ...kernels.llvm.emitter import Emitter, Int
from ...kernels.llvm.flow import each, total, when
from ...numbers import Condition, Number, Symbol, maximum, minimum
from ...plan import Plan
from ..arrays import own_data
from ..module import Module, assemble, write_kernel
from ..tangents import steps as tangents
from ..tangents.turning import write_turning_tangents
from .cuts.roots import write_first_root
from .implicit.newton import write_newton
from .implicit.turning import write_turning
from .memory import COUNTS, INTERRUPTED, NUMBERS, REALS, RUNNING, WIDE, own_buffers, words
from .programs import side_outputs, takes_momenta
from .projection import look_first

if TYPE_CHECKING:
    from .cuts.surfaces import Surface

EPSILON = 2.3e-16


def write_with_kernels(plan: Plan, called: dict[str, Program], method: RungeKutta, stepper: type[Stepper]) -> Module:
    """A module of a stepper and the kernels that it calls."""
    lanes = {name: 1 if name == "tangent" else stepper.lanes for name in called}
    kernels = {name: write_kernel(plan, program, lanes[name], name=name) for name, program in called.items()}
    plain_rates = all(joint.quaternion is None and joint.mechanical for joint in plan.model.joints)
    arguments = {name: kernel.arguments for name, kernel in kernels.items()}
    parts = [write_unit_quaternions(stepper.lanes), write_first_root(method.degree, stepper.lanes)]
    made = stepper(called, method, plain_rates, arguments)
    made.own_data = own_data(plan)
    parts.append(made.write())
    if method.implicit:
        parts += write_newton(stepper, method, plain_rates)
    if method.turns:
        tangents_of_chunk = called["kernel"].tangents
        parts += write_turning() + (write_turning_tangents(tangents_of_chunk) if tangents_of_chunk else [])
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
    """Writes advance(), for one state."""

    lanes = 1  # states that a kernel evaluates at a time
    own_data: tuple[str, ...] = ()  # arrays of data of which every lane has its own
    with_works = True

    def __init__(self, called: dict[str, Program], method: RungeKutta, plain_rates: bool, arguments: dict[str, list[str]]):
        self.called, self.method, self.arguments = called, method, arguments
        self.plain_rates = plain_rates  # dq/dt = v
        self.momenta, self.closed = takes_momenta(called), "positions" in called
        self.e = Emitter(self.vector())
        self.stages = method.stages
        self.tangents = called["kernel"].tangents
        self.with_works = self.with_works and not self.tangents

    @classmethod
    def vector(cls) -> int:
        """Doubles of a vector: of the lanes, or of WIDE numbers of one state."""
        return cls.lanes if cls.lanes > 1 else WIDE

    def write(self) -> tuple[str, dict[str, str]]:
        e = self.e
        self.words = {name: self._word(name, k) for k, name in enumerate(words(self.called))}
        count = self.stages + len(self.method.extra)
        self.k = [e.pointer(self.words["k"], e.integer("mul", self.words["state"], j)) for j in range(count)]
        if self.closed:
            look_first(self)
        self.loop()
        e.do("ret void")
        return f"define void @advance(ptr %bound) {{\nentry:\n{e.text()}\n}}\n", e.declarations

    def loop(self) -> None:
        """The loop over the steps."""
        raise NotImplementedError

    # memory -------------------------------------------------------------------------------------------------------

    def _word(self, name: str, place: int) -> str:
        kind = "i64" if name in NUMBERS else "ptr"
        return self.e.emit(f"load {kind}, ptr {self.e.pointer('%bound', place)}, align 8")

    def number(self, base: str, i: Int) -> Symbol:
        """A number of a kernel's buffer, in all places of a vector."""
        return self.e.symbol(self.e.splat(self.e.load_double(base, i)))

    def put_number(self, x: Number, base: str, i: Int) -> None:
        e = self.e
        e.do(f"store double {self.first(x)}, ptr {e.pointer(base, i)}, align 8")

    def first(self, x: Number) -> str:
        """The first place of a vector, a double."""
        return self.e.emit(f"extractelement {self.e.type} {self.e.operand(x)}, i32 0")

    def scalar(self, x: float) -> str:
        """A constant, as a double."""
        return Emitter(1).constant(x)

    def real(self, name: str) -> Symbol:
        return self.number(self.words["reals"], REALS[name])

    def set_real(self, name: str, value: Number) -> None:
        self.put_number(value, self.words["reals"], REALS[name])

    def count(self, name: str) -> str:
        return self.e.load_int(self.words["counts"], COUNTS[name])

    def set_count(self, name: str, value: Int) -> None:
        e = self.e
        e.do(f"store i64 {value}, ptr {e.pointer(self.words['counts'], COUNTS[name])}, align 8")

    def add_count(self, name: str, by: int = 1) -> None:
        self.set_count(name, self.e.integer("add", self.count(name), by))

    def holds(self, count: str, value: int) -> str:
        return self.e.emit(f"icmp eq i64 {self.count(count)}, {value}")

    def get(self, base: str, i: str) -> Symbol:
        return self.e.symbol(self.e.load(base, i))

    def over_state(self, body: Callable[[str], None]) -> None:
        each(self.e, 0, self.words["vectors"], body)

    def copy(self, source: str, to: str) -> None:
        self.over_state(lambda i: self.e.store(self.get(source, i), to, i))

    def replace(self, old: str, new: str, where: Condition) -> None:
        """``old`` becomes ``new`` where that holds."""
        self.over_state(lambda i: self.e.store(where.select(self.get(new, i), self.get(old, i)), old, i))

    def note_fastest(self, t: Number) -> None:
        """Keep the state with the largest speeds: samples may all fall on rest, and the energy that flows is to be known."""
        w, y = self.words, self.words["y"]
        first = self.vectors("v_start")
        speed = self.sum_of_squares(lambda i: self.get(y, i) * self.get(w["moves"], i), first, w["controlled"])

        def keep() -> None:
            self.copy(y, w["fastest"])
            self.set_real("speed", speed)
            self.set_real("fastest_time", t)

        when(self.e, self.any(speed > self.real("speed")), keep)

    # numbers and conditions ---------------------------------------------------------------------------------------

    def any(self, condition: Condition) -> str:
        """Whether a condition, the same in all places, holds: one bit."""
        return self.e.emit(f"extractelement {self.e.bool_type} {condition.ref}, i32 0")

    def bit(self, condition: Condition, lane: int) -> str:
        return self.e.emit(f"extractelement {self.e.bool_type} {condition.ref}, i32 {lane}")

    def per_lane(self, entry: Callable[[int], str]) -> Symbol:
        """A number of which each lane has its own, a double; in all places of a vector where there are no lanes."""
        e, numbers = self.e, "poison"
        if self.lanes == 1:
            return e.symbol(e.splat(entry(0)))
        for lane in range(self.lanes):
            numbers = e.emit(f"insertelement {e.type} {numbers}, double {entry(lane)}, i32 {lane}")
        return e.symbol(numbers)

    def all_of(self, *bits: str) -> str:
        result = bits[0]
        for bit in bits[1:]:
            result = self.e.emit(f"and i1 {result}, {bit}")
        return result

    def running(self) -> Condition:
        return self.real("status") <= float(RUNNING)

    def added_up(self, vector: str) -> Symbol:
        """The sum of the places of a vector, in all of them."""
        return self.e.symbol(self.e.splat(self._sum(vector)))

    def _sum(self, vector: str) -> str:
        e = self.e
        e.declarations["llvm.vector.reduce.fadd.v4f64"] = "declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)"
        return e.emit(f"call double @llvm.vector.reduce.fadd.v4f64(double 0.0, {e.type} {vector})")

    def largest(self, vector: str) -> Symbol:
        e = self.e
        e.declarations["llvm.vector.reduce.fmaximum.v4f64"] = "declare double @llvm.vector.reduce.fmaximum.v4f64(<4 x double>)"
        return e.symbol(e.splat(e.emit(f"call double @llvm.vector.reduce.fmaximum.v4f64({e.type} {vector})")))

    def power(self, x: Number, exponent: float) -> Symbol:
        """x^exponent, of one number rather than of four equal ones."""
        e = self.e
        e.declarations["pow"] = "declare double @pow(double, double)"
        return e.symbol(e.splat(e.emit(f"call double @pow(double {self.first(x)}, double {self.scalar(exponent)})")))

    def folded(self, first: Int, last: Int, term: Callable[[str], Number], join: Callable[[Number, Number], Number]) -> str:
        """Terms of vectors first .. last-1, from zero on, place by place."""
        e = self.e
        return total(e, first, last, e.constant(0.0), lambda i, found: e.operand(join(e.symbol(found), term(i))))

    def sum_of_squares(self, entry: Callable[[str], Number], first: Int, last: Int) -> Symbol:
        def square(i: str) -> Number:
            x = entry(i)
            return x * x

        return self.added_up(self.folded(first, last, square, lambda a, b: a + b))

    def finite(self, state: str) -> Condition:
        """Whether all numbers of a state are: 0 x is 0 for finite numbers, NaN for others."""
        e = self.e

        def vanishing(i: str, sum_: str) -> str:
            return e.emit(f"fadd {e.type} {sum_}, {e.emit(f'fmul {e.type} {e.load(state, i)}, {e.constant(0.0)}')}")

        return self.added_up(total(e, 0, self.words["vectors"], e.constant(0.0), vanishing)) <= 0.0

    def turn(self) -> Symbol:
        """The largest part of what coordinates of loops may move in a step (plan.turns) that the new state has moved."""
        w = self.words

        def moved(i: str) -> Number:
            return abs(self.get(w["new"], i) - self.get(w["y"], i)) * self.get(w["reach"], i)

        return self.largest(self.folded(0, w["controlled"], moved, maximum))

    # the equations of motion --------------------------------------------------------------------------------------

    def derivative(self, y: str, k: str, t: Number, *, works: bool = True, along: bool = True) -> None:
        """k = (dq/dt, dv/dt or dp/dt, powers, tangents) at y and t; without ``works`` the powers stay as they are, and without
        ``along`` the tangents."""
        e, w = self.e, self.words
        self.set_clock(t)
        self.ask(y)
        speeds, slopes = e.pointer(y, w["v_start"]), e.pointer(k, w["v_start"])
        arrays = {"q": y, "tau": w["tau"], "t": w["clock"], "u": w["u"], "qdot": k}
        arrays |= {"p": speeds, "pdot": slopes, "v": w["buffer:v"]} if self.momenta else {"v": speeds, "a": slopes}
        if self.tangents and along:
            tangents.slopes(self, y, k, arrays)
            arrays |= {"v": w["moved"]} if self.momenta else {}
        else:
            self.call("plain" if self.tangents else "kernel", arrays)
        if self.plain_rates:
            each(e, 0, self.vectors("v_start"), lambda i: e.store(self.get(arrays["v"], i), k, i))
        else:
            self.call("rates", arrays)
        if self.with_works and works:
            self._powers(arrays, e.pointer(k, w["w_start"]))
        self.add_count("evaluations")

    def set_clock(self, t: Number) -> None:
        self.put_number(t, self.words["clock"], 0)

    def ask(self, y: str) -> None:
        """Efforts and inputs that are functions of the caller's: into ``tau`` and ``u``, at the state in ``asked``.

        ``control`` is the address of a function that takes the address ``controller`` and returns one; if that is zero, the
        function has failed, and the run is stopped without a further call.
        """
        e, w = self.e, self.words
        if self.momenta:
            return

        def call() -> None:
            self.copy(y, w["asked"])
            function, argument = (e.emit(f"inttoptr i64 {w[name]} to ptr") for name in ("control", "controller"))
            answer = e.emit(f"call ptr {function}(ptr {argument})")
            e.forget()
            when(e, e.emit(f"icmp eq ptr {answer}, null"), lambda: self.set_real("status", float(INTERRUPTED)))

        given = e.emit(f"icmp ne i64 {w['control']}, 0")
        when(e, given, lambda: when(e, self.any(self.running()), call))

    def call(self, name: str, arrays: dict[str, str]) -> None:
        """A kernel other than the first has a workspace of its own, which is kept from step to step."""
        program, w = self.called[name], self.words
        known = {taken: w[taken] for taken in self.arguments[name]} | arrays
        known |= {output: w[f"buffer:{output}"] for output in program.outputs if output not in known}
        if "lambda" in program.inputs:
            known["lambda"] = w["buffer:lambda"]
        if name == "tangent":
            apart = (*own_buffers(), *self.own_data)
            known |= {taken: w[f"tangent:{taken}"] for taken in self.arguments[name] if taken in apart}
        elif name != "kernel":
            known |= {taken: w[f"other_{taken}"] for taken in ("work", "messages") if taken in known}
        arguments = ", ".join(f"ptr {known[a]}" for a in [*self.arguments[name], *program.inputs, *program.outputs])
        self.e.do(f"call void @{name}(i64 {w['n']}, i64 {w['nv']}, {arguments})")
        self.e.forget()

    def _powers(self, arrays: dict[str, str], into: str) -> None:
        """Powers of the force elements, of the drives, and of the given efforts: the rates of the works."""
        e, w = self.e, self.words
        if "powers" in self.called:
            self.call("powers", arrays)
        start: Int = 0
        for name, count, row, column in (
            ("element", w["elements"], 3, 1),
            ("drive", w["drives"], 2, 1),
            ("closing", w["closings"], 7, 6),
        ):
            if name in self.called:
                self.call(name, arrays)
            if name in self.called or name in side_outputs(self.called):
                self._column(w[f"buffer:{name}"], count, row, column, e.pointer(into, start))
            start = e.integer("add", start, count)
        place = e.pointer(into, start)
        when(e, e.emit(f"icmp ne i64 {w['given']}, 0"), lambda: self._power_of_efforts(arrays["v"], place))

    def _column(self, source: str, count: str, row: int, column: int, to: str) -> None:
        """The same entry of each row of a table."""
        e = self.e

        def one(i: str) -> None:
            value = e.load_double(source, e.integer("add", e.integer("mul", i, row), column))
            e.do(f"store double {value}, ptr {e.pointer(to, i)}, align 8")

        each(e, 0, count, one)

    def _power_of_efforts(self, v: str, place: str) -> None:
        """tau . v, of the efforts given by the caller."""
        e, w = self.e, self.words
        last = e.integer("sub", w["controlled"], self.vectors("v_start"))
        products = self.folded(0, last, lambda i: self.get(w["tau"], i) * self.get(v, i), lambda a, b: a + b)
        e.do(f"store double {self._sum(products)}, ptr {place}, align 8")

    def vectors(self, name: str) -> str:
        return self.e.emit(f"sdiv i64 {self.words[name]}, {self.vector()}")

    # the method ---------------------------------------------------------------------------------------------------

    def combination(self, weights: Sequence[Number], i: str) -> Number:
        """sum_j weights_j k_j at the i-th vector."""
        result: Number = 0.0
        for weight, k in zip(weights, self.k, strict=False):
            if isinstance(weight, Symbol) or weight != 0:
                result = result + weight * self.get(k, i)
        return result

    def move(self, h: Number, weights: Sequence[Number], into: str) -> None:
        """y + h sum_j weights_j k_j"""
        y = self.words["y"]
        self.over_state(lambda i: self.e.store(self.get(y, i) + h * self.combination(weights, i), into, i))

    def trial(self, t: Number, h: Number) -> None:
        """All stages after the first, and the new state."""
        new = self.words["new"]
        rows = [*zip(self.method.c[1:], self.method.A[1:], strict=True), (1.0, self.method.b)]
        for j, (c, row) in enumerate(rows, start=1):
            self.move(h, row, new)
            if j < self.stages:
                self.derivative(new, self.k[j], minimum(t + c * h, self.real("latest")))

    # surfaces (cuts.surfaces) -------------------------------------------------------------------------------------

    def slopes_at(self, surface: Surface) -> list[Number]:
        """Of the watched coordinate, at the stages."""
        return [surface.slope(k) for k in self.k[: self.stages]]

    def outer_slopes(self) -> tuple[str, str]:
        """Slopes at the first and at the last stage."""
        return self.k[0], self.k[self.stages - 1]

    def polynomial(self, surface: Surface) -> list[Number]:
        """Coefficients of x, x^2, ... of the watched coordinate along the step."""
        raise NotImplementedError

    def put_inside(self, h: Number, x: Number, into: str) -> None:
        """The state at a part x of the step."""
        raise NotImplementedError

    def put_middle(self, h: Number, into: str) -> None:
        """The state in the middle of the step, roughly."""
        self.put_inside(h, 0.5, into)

    def shortest(self) -> Number:
        """A step that rounding of the time still allows."""
        return 64 * EPSILON * maximum(abs(self.real("t")), self.real("end") * 1e-3)

    def hold(self) -> None:
        """A step of a watched run waits for the host to look at it; the next call goes on where it stopped."""
        self.set_count("held", 1)
        self.set_count("budget", 0)

    def note_step(self, h: Number, where: Condition) -> None:
        """Before a state moves on: runs that are gone through backward later write the step down (machine.adjoint.log)."""

    def unit_state(self, state: str, k: str) -> None:
        """Quaternions of a state after a step, and what belongs to them."""
        self.unit_quaternions(state, k)
        if self.tangents:
            tangents.unit(self, state)

    def unit_quaternions(self, state: str, k: str) -> None:
        w = self.words
        self.e.do(f"call void @unit_quaternions(ptr {state}, ptr {k}, ptr {w['quaternions']}, i64 {w['quaternion_count']})")
        self.e.forget()
