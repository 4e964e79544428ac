"""The midpoint rule for closed loops in machine code: symplectic, symmetric, of order two; composed, of order four.

Hamilton's equations of the tree that is left when the loops are cut take a step Phi of the implicit midpoint rule between two
pushes of the closures, which are impulses at the ends of the step:

    p' = p_n - h G(q_n)^T lambda                  lambda so that phi(q_n+1) = 0
    (q_n+1, p'') = Phi(q_n, p')                   the midpoint rule, through rotations as a group (turning.py)
    p_n+1 = p'' - G(q_n+1)^T mu                   mu so that G v + phi_t = 0 there

Pushes are flows of the functions lambda.phi, and Phi is symplectic, so that the whole is a symplectic map of the motions that
keep the loops closed (E. Hairer, C. Lubich & G. Wanner, Geometric Numerical Integration, 2006, VII.1.4). It is the constrained
variational integrator of the discrete Lagrangian h L(q_m, v_m). Slopes are found by fixed-point iteration, or by Newton's
method where forces are stiff (closed_newton.py), and lambda by simplified Newton iterations with
S = h^2 G(q_n+1) M^-1 G(q_n)^T, all at once, until only rounding is left; that of coordinates is carried along (carried.py). The
rows G and the equations of pushes are in closed_rows.py.

word        meaning                                                          numbers
pushes      lambda; right-hand sides of the linear equations                 rows
second_pushes  mu                                                            rows
pushed      the state at the start of the part, after the push               a state
"""

from __future__ import annotations

from typing import Any

from ....formulations import CANONICAL, QUANTITIES, Program
from ....kernels.executor import Address, Integer
from ....numbers import Number, maximum, minimum
from ....plan import Plan
from ...arrays import for_plan
from ...tangents.closed import ClosedTangents
from ..declared import NOT_SOLVED
from ..programs import DIRECTIONS, powers
from .carried import move_with_rest, take_rest
from .closed_newton import ClosedNewton
from .closed_rows import ClosureRows
from .turning import call_turn_slopes, call_turn_state

MOST_ITERATIONS = 80
RENEWED = 2  # the iteration after which S is taken with the rows at both ends
SMALL, IDLE = 1e-11, 2  # changes that may be rounding; iterations in which they shrink no further
CLOSED = 1e-11  # errors of a closure, as a part of the model's size, that may remain
SETTLINGS = 2  # the second push is found twice, so that only rounding is left


def closed_midpoint_programs(plan: Plan, *, works: bool = True) -> dict[str, Program]:
    """Hamilton's equations of the open tree, its velocities, the closures, and what the works need."""
    program = CANONICAL["canonical_momenta:joint"]
    called = {"kernel": program, "rates": QUANTITIES["rates"], "tree_velocities": QUANTITIES["velocities"]}
    called |= {"tangent": program.differentiated(("q", "p"), DIRECTIONS, of_design=False)}
    called |= {"closure": QUANTITIES["closure"], "closure_jacobian": QUANTITIES["closure_jacobian"]}
    called |= {"openings": QUANTITIES["openings"]} if plan.loads.openings else {}
    called |= powers(plan, program) if works else {}
    return {name: for_plan(each_program, plan) for name, each_program in called.items()}


class ClosedMidpointStepper(ClosureRows):
    close = 1e-5  # in shorter steps rounding would become pushes of closures

    def new_state(self, h: Number) -> None:
        e, w, t = self.e, self.words, self.real("t")
        self.copy(w["y"], w["origin"])
        take_rest(self, "rest", "rest_at_start")

        def part(n: Integer) -> None:
            first = e.equal(n, 0)
            self._part(t + self.number(w["parts_before"], n) * h, self.number(w["parts"], n) * h, first)
            self.note_part(n)
            self.copy(w["new"], w["origin"])
            take_rest(self, "rest_at_end", "rest_at_start")

        e.each(0, len(self.method.parts), part)

    def note_part(self, n: Integer) -> None:
        """Slopes and pushes of the n-th part are known: runs with a backward pass write them down
        (machine.adjoint.log)."""

    def accept(self) -> None:
        super().accept()
        take_rest(self, "rest_at_end", "rest")

    def _part(self, t: Number, h: Number, first: Integer) -> None:
        """Takes a part of a step from ``origin`` into ``new``; the kept rows are chosen at the start of the first part."""
        w = self.words
        self.rows_and_responses(w["origin"], t, choose=first)
        newton = ClosedNewton(self)
        self.e.when(newton.used, lambda: newton.prepare(t, h))
        self.form(w["rows_at_start"], h * h)
        self.begin_iterations()
        self.e.repeat(self._unsolved, lambda: self._improve(newton, t, h))
        unsolved = self.any(~(self.real("change_before") <= SMALL))
        self.e.when(unsolved, lambda: self.set_real("status", float(NOT_SOLVED)))
        newton.age()
        self.push(h)
        if self.tangents:
            ClosedTangents(self).solve(t, h)
        self.moved(h, w["new"], end=True)
        self._second_push(t + h)

    # the equations of a part --------------------------------------------------------------------------------------

    def begin_iterations(self) -> None:
        self.set_real("change", 1.0)
        self.set_real("change_before", 1e300)
        self.set_real("passes", 0.0)
        self.set_count("iterations", 0)

    def _unsolved(self) -> Any:
        """``change_before`` is the smallest change so far, ``passes`` the iterations since then."""
        idle = (self.real("change_before") <= SMALL) & (self.real("passes") >= float(IDLE))
        done = (self.real("change") <= 0.0) | idle
        return self.all_of(self.any(~done), self.count("iterations") < MOST_ITERATIONS)

    def _improve(self, newton: ClosedNewton, t: Number, h: Number) -> None:
        e, w = self.e, self.words
        slopes = w["residuals"]
        self.push(h)
        self.slopes(t, h, along=False)
        e.when(newton.used, lambda: newton.correct(h))
        change = self._change(h, slopes)
        self.copy(slopes, self.k[0])
        self.moved(h, w["new"], end=True, along=False)
        error = self.errors(w["new"], t + h, column=0)
        self._note(maximum(change, error))
        self.add_count("iterations")
        e.when(self.holds("iterations", RENEWED), lambda: self._renew(t, h))
        self.solve(w["rows_right"])
        self.add_up(w["rows_right"], w["pushes"])
        newton.watch(t, h)

    def _renew(self, t: Number, h: Number) -> None:
        self.take_rows(self.words["new"], t + h, self.words["rows_at_end"])
        self.form(self.words["rows_at_end"], h * h)

    def _note(self, change: Number) -> None:
        best, idle = self.real("change_before"), self.real("passes")
        self.set_real("change", change)
        self.set_real("passes", (change < best).select(0.0, idle + 1.0))
        self.set_real("change_before", minimum(change, best))

    def _change(self, h: Number, slopes: Address) -> Number:
        """The largest change of h k, over the largest of the state and h k."""
        w, k, first = self.words, self.k[0], self.vectors("v_start")
        least: Number = self.number(w["row_scale"], w["m"])
        found: Number = 0.0
        for start, stop, floor in (("0", first, least), (first, w["controlled"], 1e-300)):

            def size(i: Integer) -> Number:
                return abs(w["pushed"][i]) + abs(h * slopes[i])

            def moved(i: Integer) -> Number:
                return abs(h * (slopes[i] - k[i]))

            sizes = self.largest(self.folded(start, stop, size, maximum)) + floor
            part = self.largest(self.folded(start, stop, moved, maximum)) / sizes
            found = part if isinstance(found, float) else maximum(found, part)
        return found / self.known_to(w["pushed"])

    def push(self, h: Number) -> None:
        """``pushed``: the state at the start with p' = p - h G^T lambda."""
        w = self.words
        self.copy(w["origin"], w["pushed"])
        self.less(w["rows_at_start"], w["pushes"], w["pushed"], h)

    def slopes(self, t: Number, h: Number, *, along: bool) -> None:
        """The slopes in the middle of a part, into ``residuals``."""
        middle, into = self.words["aside"], self.words["residuals"]
        self.moved(h, middle, end=False, along=along)
        self.derivative(middle, into, t + 0.5 * h, along=along)
        if not self.plain_rates:
            call_turn_slopes(self, middle, into, along=along)

    def slopes_at_start(self, t: Number) -> None:
        """The slopes at ``origin``, as k."""
        start, k = self.words["origin"], self.k[0]
        self.derivative(start, k, t, along=False)
        if not self.plain_rates:
            call_turn_slopes(self, start, k, along=False)

    def moved(self, h: Number, into: Address, *, end: bool, along: bool = True) -> None:
        """The state in the middle or at the end of a part from ``pushed``, with the slopes at hand."""
        start, part = self.words["pushed"], h if end else 0.5 * h
        self.fill(into, lambda i: start[i] + part * self.k[0][i])
        if end:
            move_with_rest(self, start, h, into)
        if not self.plain_rates:
            call_turn_state(self, start, h, into, end=end, along=along)

    def _second_push(self, t: Number) -> None:
        """The second push: velocities that keep the loops closed."""
        w, e = self.words, self.e
        self.rows_and_responses(w["new"], t)
        self.form(w["rows_at_start"], 1.0)
        e.each(0, w["kept_count"], lambda r: self.put_number(0.0, w["second_pushes"], r))
        for _ in range(SETTLINGS):
            self.errors(w["new"], t, column=1)
            self.solve(w["rows_right"])
            self.less(w["rows_at_start"], w["rows_right"], w["new"], 1.0)
            self.add_up(w["rows_right"], w["second_pushes"])
        if self.tangents:
            ClosedTangents(self).settle(t)
        open_by = self.errors(w["new"], t, column=0)
        self.e.when(self.any(~(open_by <= CLOSED)), lambda: self.set_real("status", float(NOT_SOLVED)))

    def add_up(self, change: Address, to: Address) -> None:
        """Numbers of the kept equations."""
        self.e.each(0, self.words["kept_count"], lambda r: self.put_number(self.number(to, r) + self.number(change, r), to, r))
