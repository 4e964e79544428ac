"""The midpoint rule for closed loops in machine code: symplectic, symmetric, of order two; composed, of order four.

Hamilton's equations of the tree that is left when the loops are cut take a step Phi of the implicit midpoint rule between two
pushes of the closures, which are impulses at the ends of the step:

    p' = p_n - h G(q_n)^T lambda                  lambda so that phi(q_n+1) = 0
    (q_n+1, p'') = Phi(q_n, p')                   the midpoint rule, through rotations as a group (turning.py)
    p_n+1 = p'' - G(q_n+1)^T mu                   mu so that G v = 0 there

Pushes are flows of the functions lambda.phi, and Phi is symplectic, so that the whole is a symplectic map of the motions that
keep the loops closed (E. Hairer, C. Lubich & G. Wanner, Geometric Numerical Integration, 2006, VII.1.4). It is the constrained
variational integrator of the discrete Lagrangian h L(q_m, v_m). Slopes are found by fixed-point iteration and lambda by
simplified Newton iterations with S = h^2 G(q_n+1) M^-1 G(q_n)^T, all at once, until only rounding is left.

word        meaning                                                          numbers
held        G at the start of a part, rows that are kept, without units      rows x nv
yields      M^-1 G^T there, row by row                                       rows x nv
pushes      lambda; right-hand sides of the linear equations                 rows
pushed      the state at the start of the part, after the push               a state
"""

from __future__ import annotations

from ....formulations import CANONICAL, QUANTITIES, Program
from ....kernels.llvm.emitter import Int
from ....kernels.llvm.flow import each, total, when, while_
from ....numbers import Number, Symbol, maximum, minimum
from ....plan import Plan
from ...arrays import for_plan
from ..fixed import FixedStepper
from ..memory import NOT_SOLVED
from ..programs import powers

MOST_ITERATIONS = 80
RENEWED = 2  # the iteration after which S is taken with the rows at both ends
SMALL, IDLE = 1e-11, 2  # changes that may be rounding; iterations in which they shrink no further
CLOSED = 1e-11  # errors of a closure, as a part of the model's size, that may remain
ROUNDED = 0.01  # for each radian or metre of the largest coordinate: what its rounding adds to such changes and errors
SETTLINGS = 2  # the second push is found twice, so that only rounding is left


def closed_midpoint_programs(plan: Plan) -> dict[str, Program]:
    """Hamilton's equations of the open tree, its velocities, and the closures."""
    program = CANONICAL["canonical_momenta:joint"]
    called = {"kernel": program, "rates": QUANTITIES["rates"], "tree_velocities": QUANTITIES["velocities"]}
    called |= {"closure": QUANTITIES["closure"], "closure_jacobian": QUANTITIES["closure_jacobian"]}
    return {name: for_plan(each_program, plan) for name, each_program in (called | powers(plan, program)).items()}


class ClosedMidpointStepper(FixedStepper):
    def new_state(self, h: Number) -> None:
        w, t, parts = self.words, self.real("t"), self.method.parts
        self.copy(w["y"], w["origin"])
        for n, part in enumerate(parts):
            if n:
                self.copy(w["new"], w["origin"])
            self._part(t, part * h)
            t = t + part * h

    def _part(self, t: Number, h: Number) -> None:
        """From the state ``origin`` into ``new``."""
        w = self.words
        self._held_rows(w["origin"], t)
        self._form(self.words["held"], h * h)
        self.set_real("change", 1.0)
        self.set_real("change_before", 1e300)
        self.set_real("passes", 0.0)
        self.set_count("iterations", 0)
        while_(self.e, self._unsolved, lambda: self._improve(t, h))
        unsolved = self.any(~(self.real("change_before") <= SMALL))
        when(self.e, unsolved, lambda: self.set_real("status", float(NOT_SOLVED)))
        self._push(h)
        self._moved(w["pushed"], h, w["new"], end=True)
        self._second_push(t + h)

    # the equations of a part --------------------------------------------------------------------------------------

    def _unsolved(self) -> str:
        """``change_before`` is the smallest change so far, ``passes`` the iterations since then."""
        idle = (self.real("change_before") <= SMALL) & (self.real("passes") >= float(IDLE))
        done = (self.real("change") <= 0.0) | idle
        going = self.e.emit(f"icmp slt i64 {self.count('iterations')}, {MOST_ITERATIONS}")
        return self.all_of(self.any(~done), going)

    def _improve(self, t: Number, h: Number) -> None:
        e, w = self.e, self.words
        middle, slopes = w["aside"], w["residuals"]
        self._push(h)
        self._moved(w["pushed"], h, middle, end=False)
        self.derivative(middle, slopes, t + 0.5 * h)
        if self.method.turns and not self.plain_rates:
            self._turn_slopes(middle, slopes)
        change = self._change(h, slopes)
        self.copy(slopes, self.k[0])
        self._moved(w["pushed"], h, w["new"], end=True)
        error = self._errors(w["new"], t + h, column=0)
        self._note(maximum(change, error))
        self.add_count("iterations")
        when(e, self.holds("iterations", RENEWED), lambda: self._renew(t, h))
        self._solve(w["right"])
        each(e, 0, w["order"], lambda r: self._put(w["pushes"], r, self._at(w["pushes"], r) + self._at(w["right"], r)))

    def _renew(self, t: Number, h: Number) -> None:
        self._take_rows(self.words["new"], t + h, self.words["held_there"])
        self._form(self.words["held_there"], h * h)

    def _note(self, change: Number) -> None:
        best, idle = self.real("change_before"), self.real("passes")
        self.set_real("change", change)
        self.set_real("passes", (change < best).select(0.0, idle + 1.0))
        self.set_real("change_before", minimum(change, best))

    def _change(self, h: Number, slopes: str) -> Number:
        """The largest change of h k, over the largest of the state and h k."""
        w, k, first = self.words, self.k[0], self.vectors("v_start")
        least: Number = self._at(w["kept_scale"], w["order"])
        found: Number = 0.0
        for start, stop, floor in (("0", first, least), (first, w["controlled"], 1e-300)):

            def size(i: str) -> Number:
                return abs(self.get(w["pushed"], i)) + abs(h * self.get(slopes, i))

            def moved(i: str) -> Number:
                return abs(h * (self.get(slopes, i) - self.get(k, i)))

            sizes = self.largest(self.folded(start, stop, size, maximum)) + floor
            part = self.largest(self.folded(start, stop, moved, maximum)) / sizes
            found = part if isinstance(found, float) else maximum(found, part)
        return found / self._known_to(w["pushed"])

    def _known_to(self, state: str) -> Number:
        """A crank that has gone round a thousand times is known to fewer digits: by how much more a change may be rounding."""
        largest = self.folded(0, self.vectors("v_start"), lambda i: abs(self.get(state, i)), maximum)
        return 1.0 + ROUNDED * self.largest(largest)

    def _push(self, h: Number) -> None:
        """``pushed``: the state at the start with p' = p - h G^T lambda."""
        w = self.words
        self.copy(w["origin"], w["pushed"])
        self._less(w["held"], w["pushes"], w["pushed"], h)

    def _less(self, rows: str, factors: str, state: str, scale: Number) -> None:
        """Momenta of a state less scale times the sum of rows, each with its factor."""
        e, w = self.e, self.words
        p, width = e.pointer(state, w["v_start"]), self.vectors("held_width")

        def one(i: str) -> None:
            def add(r: str, found: str) -> str:
                at = e.integer("add", e.integer("mul", r, width), i)
                return e.operand(e.symbol(found) + self._at(factors, r) * self.get(rows, at))

            pushed = total(e, 0, w["order"], e.constant(0.0), add)
            e.store(self.get(p, i) - scale * e.symbol(pushed), p, i)

        each(e, 0, width, one)

    def _moved(self, start: str, h: Number, into: str, *, end: bool) -> None:
        """The state in the middle or at the end of a part, with the slopes at hand."""
        part = h if end else 0.5 * h
        self.over_state(lambda i: self.e.store(self.get(start, i) + part * self.get(self.k[0], i), into, i))
        if not self.plain_rates:
            w = self.words
            table = f"ptr {w['turning']}, i64 {w['quaternion_count']}"
            arrays = f"ptr {start}, ptr {self.k[0]}, ptr {into}"
            self.e.do(f"call void @turn_state({arrays}, double {self.first(h)}, i64 {int(end)}, {table})")
            self.e.forget()

    def _turn_slopes(self, state: str, k: str) -> None:
        w = self.words
        table = f"ptr {w['turning']}, i64 {w['quaternion_count']}"
        self.e.do(f"call void @turn_slopes(ptr {state}, ptr {k}, ptr {w['buffer:v']}, i64 {w['v_start']}, {table})")
        self.e.forget()

    # the closures ---------------------------------------------------------------------------------------------------

    def _second_push(self, t: Number) -> None:
        """The second push: velocities that keep the loops closed."""
        w = self.words
        self._held_rows(w["new"], t)
        self._form(w["held"], 1.0)
        for _ in range(SETTLINGS):
            self._errors(w["new"], t, column=1)
            self._solve(w["right"])
            self._less(w["held"], w["right"], w["new"], 1.0)
        open_by = self._errors(w["new"], t, column=0)
        when(self.e, self.any(~(open_by <= CLOSED)), lambda: self.set_real("status", float(NOT_SOLVED)))

    def _held_rows(self, state: str, t: Number) -> None:
        """``held`` and ``yields`` at a state."""
        e, w = self.e, self.words
        self._take_rows(state, t, w["held"])

        def one(r: str) -> None:
            at = e.integer("mul", r, w["held_width"])
            self.call("tree_velocities", {"q": state, "p": e.pointer(w["held"], at), "t": w["clock"], "v": w["buffer:v"]})
            each(e, 0, w["nv"], lambda j: self._put(w["yields"], e.integer("add", at, j), self._at(w["buffer:v"], j)))

        each(e, 0, w["order"], one)

    def _take_rows(self, state: str, t: Number, into: str) -> None:
        """The kept rows of G at a state."""
        e, w = self.e, self.words
        self.set_clock(t)
        self.call("closure_jacobian", {"q": state, "v": e.pointer(state, w["v_start"]), "t": w["clock"]})

        def entry(r: str, source: Int) -> None:
            scale, to = self._at(w["kept_scale"], r), e.integer("mul", r, w["held_width"])

            def put(j: str) -> None:
                self._put(into, e.integer("add", to, j), scale * self._at(w["buffer:G"], e.integer("add", source, j)))

            each(e, 0, w["nv"], put)

        each(e, 0, w["order"], lambda r: entry(r, e.integer("mul", e.load_int(w["kept_rows"], r), w["nv"])))

    def _errors(self, state: str, t: Number, column: int) -> Number:
        """Errors of the kept closures (column 0) or their rates (1) into ``right``; the largest of them."""
        e, w = self.e, self.words
        self.set_clock(t)
        if column == 1:
            arrays = {"q": state, "p": e.pointer(state, w["v_start"]), "t": w["clock"], "v": w["buffer:v"]}
            self.call("tree_velocities", arrays)
        self.call("closure", {"q": state, "v": w["buffer:v"], "t": w["clock"]})

        def one(r: str, largest: str) -> str:
            place = e.integer("add", e.integer("mul", e.load_int(w["kept_rows"], r), 2), column)
            error = self._at(w["kept_scale"], r) * self._at(w["buffer:closure"], place)
            self._put(w["right"], r, error)
            return e.operand(maximum(e.symbol(largest), abs(error)))

        largest = self.largest(total(e, 0, w["order"], e.constant(0.0), one))
        return largest / self._known_to(state)

    # linear equations -----------------------------------------------------------------------------------------------

    def _form(self, rows: str, scale: Number) -> None:
        """S = scale rows yields^T, by its columns, factored."""
        e, w = self.e, self.words
        width = self.vectors("held_width")

        def column(c: str) -> None:
            def entry(r: str) -> None:
                def product(i: str) -> Number:
                    one, other = (e.integer("add", e.integer("mul", x, width), i) for x in (r, c))
                    return self.get(rows, one) * self.get(w["yields"], other)

                dot = self.added_up(self.folded(0, width, product, lambda a, b: a + b))
                self._put(w["upper"], e.integer("add", e.integer("mul", c, w["stride"]), r), scale * dot)

            each(e, 0, w["order"], entry)

        each(e, 0, w["order"], column)
        arrays = ", ".join(f"ptr {w[name]}" for name in ("upper", "below", "diagonal", "pivots"))
        e.do(f"call void @factor_1({arrays}, i64 {w['order']}, i64 {w['stride']}, i64 {w['row_chunks']})")
        e.forget()

    def _solve(self, right: str) -> None:
        e, w = self.e, self.words
        arrays = ", ".join(f"ptr {w[name]}" for name in ("upper", "below", "diagonal", "pivots"))
        e.do(f"call void @solve_1({arrays}, ptr {right}, i64 {w['order']}, i64 {w['stride']}, i64 {w['row_chunks']})")
        e.forget()

    def _at(self, base: str, i: Int) -> Symbol:
        return self.number(base, i)

    def _put(self, base: str, i: Int, x: Number) -> None:
        self.put_number(x, base, i)
