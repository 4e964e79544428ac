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
from typing import TYPE_CHECKING, Any

from ...formulations import Program
from ...integrate import RungeKutta
from ...kernels.executor import Address, Integer, StepExecutor
from ...kernels.llvm.emitter import Emitter
from ...kernels.llvm.flow import each
from ...kernels.llvm.steps import LaneVectors, StateVectors, write_function
from ...numbers import Condition, Number, Symbol, maximum, minimum, select, sqrt
from ...plan import Plan
from ..arrays import own_data
from ..module import Module, assemble, write_kernel
from ..tangents import steps as tangents
from ..tangents.turning import write_turning_tangents
from .cuts.openings import APPROACHES, CLOSE
from .cuts.roots import write_first_root
from .declared import COUNTS, INTERRUPTED, NUMBERS, REALS, RUNNING, own_buffers, words
from .implicit.newton import write_newton
from .implicit.turning import write_turning
from .layout import VECTOR
from .programs import side_outputs, takes_momenta
from .projection import look_first

if TYPE_CHECKING:
    from .cuts.surfaces import Surface

EPSILON = 2.3e-16


def write_with_kernels(plan: Plan, called: dict[str, Program], method: RungeKutta, stepper: type[Stepper]) -> Module:
    """A module of a stepper and the kernels that it calls."""
    lanes = {name: 1 if name == "tangent" else stepper.lanes for name in called}
    kernels = {name: write_kernel(plan, program, lanes[name], name=name) for name, program in called.items()}
    arguments = {name: kernel.arguments for name, kernel in kernels.items()}
    parts = [write_unit_quaternions(stepper.lanes), write_first_root(method.degree, stepper.lanes)]
    e = LaneVectors(stepper.lanes) if stepper.lanes > 1 else StateVectors(VECTOR)
    made = stepper(e, plan, called, method, arguments)
    made.advance({name: e.word(k, name in NUMBERS) for k, name in enumerate(words(called))})
    e.do("ret void")
    parts.append((f"define void @advance(ptr %bound) {{\nentry:\n{e.text()}\n}}\n", e.declarations))
    parts += [write_advance_each()] if stepper.lanes > 1 else []
    if method.implicit:
        parts += write_newton(stepper, method, made.plain_rates)
    if method.turns:
        tangents_of_chunk = called["kernel"].tangents
        parts += write_turning() + (write_turning_tangents(tangents_of_chunk) if tangents_of_chunk else [])
    return assemble(list(kernels.values()), parts)


def write_advance_each() -> tuple[str, dict[str, str]]:
    """@advance_each(bound, words, count): advance() with each of ``count`` arrays of so many words."""
    e = Emitter(1)
    each(e, 0, "%count", lambda k: e.do(f"call void @advance(ptr {e.pointer('%bound', e.integer('mul', k, '%words'))})"))
    e.do("ret void")
    return f"define void @advance_each(ptr %bound, i64 %words, i64 %count) {{\nentry:\n{e.text()}\n}}\n", {}


def write_unit_quaternions(lanes: int) -> tuple[str, dict[str, str]]:
    return write_function("unit_quaternions", LaneVectors(lanes), ("y", "k", "places"), ("count",), unit_quaternions)


def unit_quaternions(e: StepExecutor, y: Address, k: Any, places: Any, count: Integer) -> None:
    """Make the quaternions of y unit again; k, linear in them, is scaled along."""

    def one(i: Integer) -> None:
        at = places.integer(i)
        q = [y[at + j] for j in range(4)]
        scale = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        for j, x in enumerate(q):
            y[at + j] = x * scale
            k[at + j] = k[at + j] * scale

    e.each(0, count, one)


class Stepper:
    """advance() for one state, in the words of an executor."""

    lanes = 1  # states that a kernel evaluates at a time
    with_works = True
    close, approaches, margin = CLOSE, APPROACHES, 0.0  # how steps end beside surfaces: see cuts.openings, cuts.surfaces
    words: dict[str, Any]  # numbers and arrays of the memory
    k: list[Any]  # slopes at the stages

    def __init__(self, e: Any, plan: Plan, called: dict[str, Program], method: RungeKutta, arguments: dict[str, list[str]]):
        self.e, self.called, self.method, self.arguments = e, called, method, arguments
        self.plain_rates = all(joint.quaternion is None and joint.mechanical for joint in plan.model.joints)  # dq/dt = v
        self.momenta, self.closed = takes_momenta(called), "positions" in called
        self.own_data = own_data(plan)  # arrays of data of which every lane has its own
        self.driven = bool(plan.loads.motions)  # there are prescribed motions
        self.stages = method.stages
        self.tangents = called["kernel"].tangents
        self.with_works = self.with_works and not self.tangents

    def advance(self, memory: dict[str, Any]) -> None:
        """The steps, on numbers and arrays by the names of memory.words."""
        self.words = memory
        self.k = [memory["k"].at(memory["state"] * j) for j in range(self.stages + len(self.method.extra))]
        if self.closed:
            look_first(self)
        self.e.repeat(self.going, self.step)

    def going(self) -> Any:
        """Whether there is another step to take."""
        raise NotImplementedError

    def step(self) -> None:
        raise NotImplementedError

    # memory -------------------------------------------------------------------------------------------------------

    def number(self, base: Address, i: Integer) -> Number:
        """A number of a kernel's buffer, in all places of a vector."""
        return self.e.read(base, i)

    def put_number(self, x: Number, base: Address, i: Integer) -> None:
        self.e.write(x, base, i)

    def real(self, name: str) -> Number:
        return self.number(self.words["reals"], REALS[name])

    def set_real(self, name: str, value: Number) -> None:
        self.put_number(value, self.words["reals"], REALS[name])

    def count(self, name: str) -> Integer:
        return self.words["counts"].integer(COUNTS[name])

    def set_count(self, name: str, value: Integer) -> None:
        self.words["counts"].put_integer(COUNTS[name], value)

    def add_count(self, name: str, by: int = 1) -> None:
        self.set_count(name, self.count(name) + by)

    def holds(self, count: str, value: int) -> Any:
        return self.e.equal(self.count(count), value)

    def over_state(self, body: Callable[[Integer], None]) -> None:
        self.e.each(0, self.words["vectors"], body)

    def fill(self, into: Address, entry: Callable[[Any], Number], first: Integer = 0, last: Integer | None = None) -> None:
        """Vectors first .. last-1; all of a state unless told otherwise."""

        def one(i: Integer) -> None:
            into[i] = entry(i)

        self.e.each(first, self.words["vectors"] if last is None else last, one)

    def copy(self, source: Address, to: Address) -> None:
        self.fill(to, lambda i: source[i])

    def replace(self, old: Address, new: Address, where: Condition) -> None:
        """Puts ``new`` into ``old`` where a condition holds."""
        self.fill(old, lambda i: select(where, new[i], old[i]))

    def vectors(self, name: str) -> Integer:
        return self.words[name] // self.e.lanes

    def note_fastest(self, t: Number) -> None:
        """Keep the state with the largest speeds: samples may all fall on rest, and the energy that flows is to be known."""
        w, y, moves = self.words, self.words["y"], self.words["moves"]
        speed = self.sum_of_squares(lambda i: y[i] * moves[i], self.vectors("v_start"), w["controlled"])

        def keep() -> None:
            self.copy(y, w["fastest"])
            self.set_real("speed", speed)
            self.set_real("fastest_time", t)

        self.e.when(self.any(speed > self.real("speed")), keep)

    # numbers and conditions ---------------------------------------------------------------------------------------

    def any(self, condition: Condition) -> Any:
        """Whether a condition holds in any of the lanes."""
        return self.e.any_lane(condition)

    def running(self) -> Condition:
        return self.real("status") <= float(RUNNING)

    def folded(
        self, first: Integer, last: Integer, term: Callable[[Any], Number], join: Callable[[Number, Number], Number]
    ) -> Number:
        """Terms of vectors first .. last-1, from zero on, place by place."""
        return self.e.fold(first, last, [0.0], lambda i, found: [join(found[0], term(i))])[0]

    def added_up(self, x: Number) -> Number:
        return self.e.added_up(x)

    def largest(self, x: Number) -> Number:
        return self.e.largest(x)

    def power(self, x: Number, exponent: float) -> Number:
        return self.e.power(x, exponent)

    def all_of(self, *bits: Any) -> Any:
        return self.e.all_of(*bits)

    def sum_of_squares(self, entry: Callable[[Any], Number], first: Integer, last: Integer) -> Number:
        def square(i: Integer) -> Number:
            x = entry(i)
            return x * x

        return self.added_up(self.folded(first, last, square, lambda a, b: a + b))

    def finite(self, state: Address) -> Condition:
        """Whether all numbers of a state are: 0 x is 0 for finite numbers, NaN for others."""
        zero = self.e.zero
        return self.added_up(self.folded(0, self.words["vectors"], lambda i: state[i] * zero, lambda a, b: a + b)) <= 0.0

    def turn(self) -> Number:
        """The largest part of what coordinates of loops may move in a step (plan.turns) that the new state has moved."""
        y, new, reach = (self.words[name] for name in ("y", "new", "reach"))
        return self.largest(self.folded(0, self.words["controlled"], lambda i: abs(new[i] - y[i]) * reach[i], maximum))

    # the equations of motion --------------------------------------------------------------------------------------

    def derivative(self, y: Address, k: Any, t: Number, *, works: bool = True, along: bool = True) -> None:
        """k = (dq/dt, dv/dt or dp/dt, powers, tangents) at y and t; without ``works`` the powers stay as they are, and without
        ``along`` the tangents."""
        w = self.words
        self.set_clock(t)
        self.ask(y)
        speeds, slopes = y.at(w["v_start"]), k.at(w["v_start"])
        arrays = {"q": y, "tau": w["tau"], "t": w["clock"], "u": w["u"], "qdot": k}
        arrays |= {"p": speeds, "pdot": slopes, "v": w["buffer:v"]} if self.momenta else {"v": speeds, "a": slopes}
        if self.tangents and along:
            tangents.slopes(self, y, k, arrays)
            arrays |= {"v": w["moved"]} if self.momenta else {}
        else:
            self.call("plain" if self.tangents else "kernel", arrays)
        if self.plain_rates:
            v = arrays["v"]
            self.fill(k, lambda i: v[i], 0, self.vectors("v_start"))
        else:
            self.call("rates", arrays)
        if self.with_works and works:
            self._powers(arrays, k.at(w["w_start"]))
        self.add_count("evaluations")

    @property
    def velocity_program(self) -> str:
        """The program that computes velocities from momenta."""
        return "of_momenta" if "of_momenta" in self.called else "tree_velocities"

    def velocities_of(self, state: Address) -> Any:
        """The address of the velocities of a state, at the time of the clock; those of momenta are computed."""
        w, speeds = self.words, state.at(self.words["v_start"])
        if not self.momenta:
            return speeds
        self.call(self.velocity_program, {"q": state, "p": speeds, "t": w["clock"], "v": w["buffer:v"]})
        return w["buffer:v"]

    def set_clock(self, t: Number) -> None:
        self.put_number(t, self.words["clock"], 0)

    def ask(self, y: Address) -> None:
        """Efforts and inputs that are functions of the caller's: into ``tau`` and ``u``, at the state in ``asked``.

        ``control`` is the address of a function that takes the address ``controller`` and returns one; if that is zero, the
        function has failed, and the run is stopped without a further call.
        """
        e, w = self.e, self.words
        if self.momenta:
            return

        def call() -> None:
            self.copy(y, w["asked"])
            e.call_back(w["control"], w["controller"], lambda: self.set_real("status", float(INTERRUPTED)))

        given = e.unequal(w["control"], 0)
        e.when(given, lambda: e.when(self.any(self.running()), call))

    def call(self, name: str, arrays: dict[str, Any]) -> None:
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
        taken = [*self.arguments[name], *program.inputs, *program.outputs]
        self.e.call(name, [w["n"], w["nv"]], {array: known[array] for array in taken})

    def _powers(self, arrays: dict[str, Any], into: Address) -> None:
        """Powers of the force elements, of the drives, and of the given efforts: the rates of the works."""
        w = self.words
        if "powers" in self.called:
            self.call("powers", arrays)
        for name, count, row, column in (
            ("element", w["elements"], 3, 1),
            ("drive", w["drives"], 2, 1),
            ("closing", w["closings"], 7, 6),
        ):
            if name in self.called:
                self.call(name, arrays)
            if name in self.called or name in side_outputs(self.called):
                self._column(w[f"buffer:{name}"], count, row, column, into)
            into = into.at(count)
        self.e.when(self.e.unequal(w["given"], 0), lambda: self._power_of_efforts(arrays["v"], into))

    def _column(self, source: Address, count: Integer, row: int, column: int, to: Address) -> None:
        """Copy a column of a table: one entry of each row."""
        self.e.each(0, count, lambda i: self.put_number(self.number(source, i * row + column), to, i))

    def _power_of_efforts(self, v: Integer, place: Any) -> None:
        """tau . v, of the efforts given by the caller."""
        tau, last = self.words["tau"], self.words["controlled"] - self.vectors("v_start")
        self.put_number(self.added_up(self.folded(0, last, lambda i: tau[i] * v[i], lambda a, b: a + b)), place, 0)

    # the method ---------------------------------------------------------------------------------------------------

    def combination(self, weights: Sequence[Number], i: Integer) -> Number:
        """sum_j weights_j k_j at the i-th vector."""
        result: Number = 0.0
        for weight, k in zip(weights, self.k, strict=False):
            if isinstance(weight, Symbol) or weight != 0:
                result = result + weight * k[i]
        return result

    def move(self, h: Number, weights: Sequence[Number], into: Address) -> None:
        """y + h sum_j weights_j k_j"""
        y = self.words["y"]
        self.fill(into, lambda i: y[i] + h * self.combination(weights, i))

    def trial(self, t: Number, h: Number) -> None:
        """Computes all stages after the first, and the new state."""
        new = self.words["new"]
        rows = [*zip(self.method.c[1:], self.method.A[1:], strict=True), (1.0, self.method.b)]
        for j, (c, row) in enumerate(rows, start=1):
            self.move(h, row, new)
            if j < self.stages:
                self.derivative(new, self.k[j], minimum(t + c * h, self.real("latest")))

    # surfaces (cuts.surfaces) -------------------------------------------------------------------------------------

    def slopes_at(self, surface: Surface) -> list[Number]:
        """Slopes of the watched coordinate at the stages."""
        return [surface.slope(k) for k in self.k[: self.stages]]

    def outer_slopes(self) -> tuple[Any, Any]:
        """Slopes at the first and at the last stage."""
        return self.k[0], self.k[self.stages - 1]

    def polynomial(self, surface: Surface) -> list[Number]:
        """Coefficients of x, x^2, ... of the watched coordinate along the step."""
        raise NotImplementedError

    def put_inside(self, h: Number, x: Number, into: Address) -> None:
        """The state at a part x of the step."""
        raise NotImplementedError

    def put_middle(self, h: Number, into: Address) -> None:
        """The state in the middle of the step, roughly."""
        self.put_inside(h, 0.5, into)

    def shortest(self) -> Number:
        """A step that rounding of the time still allows."""
        return 64 * EPSILON * maximum(abs(self.real("t")), self.real("end") * 1e-3)

    def pause(self) -> None:
        """A step of a watched run waits for the host to look at it; the next call goes on where it stopped."""
        self.set_count("paused", 1)
        self.set_count("budget", 0)

    def note_step(self, h: Number, where: Condition) -> None:
        """Before a state moves on: runs with a backward pass write the step down (machine.adjoint.log)."""

    def unit_state(self, state: Address, k: Any) -> None:
        """Quaternions of a state after a step, and what belongs to them."""
        self.unit_quaternions(state, k)
        if self.tangents:
            tangents.unit(self, state)

    def unit_quaternions(self, state: Address, k: Any) -> None:
        w = self.words
        self.e.call("unit_quaternions", [w["quaternion_count"]], {"y": state, "k": k, "places": w["quaternions"]})
