"""The adjoint of steps of an implicit Runge-Kutta method, in machine code.

The stages are those of the run, whose slopes were written down: Y_i = y + h sum_j A_ij k_j for all j. The equations of the
step, k_i = f(Y_i), are differentiated, not the iterations that solved them. Going back, the adjoints m_i of slopes satisfy

    m_i - h sum_j A_ji f'(Y_j)^T m_j = k*_i            then      y* += sum_i f'(Y_i)^T m_i,  and the same of the data

linear equations with the transposed matrix of Newton's method, but with the Jacobian f'(Y_j) of every stage itself, so that
they are solved at once, by elimination, and no iteration is left whose end would have to be judged.

Where dq/dt = v, f' is made of K = da/dq and D = da/dv, and the part of m that belongs to q is eliminated:

    m_q,i = k*_q,i + h sum_j A_ji K_j^T m_v,j
    m_v,i - h sum_j A_ji D_j^T m_v,j - h^2 sum_j (AA)_ji K_j^T m_v,j = k*_v,i + h sum_j A_ji k*_q,j

A step of several parts (midpoint4) is gone through part by part, from the last one to the first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...formulations import QUANTITIES, Program
from ...kernels.llvm.emitter import Int
from ...kernels.llvm.flow import each, when
from ...kernels.llvm.matrices.factorization import write_factor, write_solve
from ...numbers import Number, minimum
from ...plan import Plan
from ..arrays import for_plan
from ..calls.bound import Text
from ..steps.declared import own_buffers
from ..steps.layout import VECTOR
from ..steps.programs import DIRECTIONS, takes_momenta
from .steps import Retrace


def jacobian_programs(plan: Plan, program: Program, plain_rates: bool) -> dict[str, Program]:
    """Kernels that give the columns of f'."""
    speed = "p" if takes_momenta({"kernel": program}) else "v"
    found = {"tangent": program.differentiated(("q", speed), DIRECTIONS, of_design=False)}
    if not plain_rates:
        found["d_rates"] = QUANTITIES["rates"].differentiated(("q", "v"), DIRECTIONS, of_design=False)
    return {name: for_plan(each_program, plan) for name, each_program in found.items()}


def write_linear_algebra() -> list[Text]:
    return [write_factor(1, 1), write_solve(1, 1)]


class ImplicitRetrace(Retrace):
    @property
    def halved(self) -> bool:
        """Whether the part of q is eliminated."""
        return self.plain_rates and not self.momenta

    @property
    def packed(self) -> Int:
        """How many of the unknowns are adjoints of slopes."""
        return self.words["order"]

    @property
    def count(self) -> int:
        """Stages of a part."""
        return len(self.method.c)

    # the stages, as they were --------------------------------------------------------------------------------------------

    def stages(self, row: str, y: str, h: Number, stages: str, n: str) -> str:
        e, w = self.e, self.words
        t, latest, start = self.get(row, 0), self.get(row, 3), y
        self.put_end(w["tape"], 0)
        for part, share in enumerate(self.method.parts):
            k = [
                e.pointer(row, e.integer("add", VECTOR, e.integer("mul", w["state"], 1 + part * self.count + i)))
                for i in range(self.count)
            ]
            for i, (c, weights) in enumerate(zip(self.method.c, self.method.A, strict=True)):
                at = part * self.count + i
                self.moved(start, k, [share * h * a for a in weights], self.row("Y", at))
                self.put(minimum(t + c * share * h, latest), w["clocks"], at)
                self.slopes(at, n)
            t = t + share * h
            following = self.row("part_states", part)
            self.moved(start, k, [share * h * b for b in self.method.b], following)
            start = following
        return self.end(2 * self.count * len(self.method.parts))

    def moved(self, start: str, k: list[str], weights: list[Number], into: str) -> None:
        def one(i: str) -> None:
            terms = [weight * self.get(slope, i) for weight, slope in zip(weights, k, strict=True)]
            self.put(sum(terms, self.get(start, i)), into, i)

        self.over_state(one)

    # the backward pass --------------------------------------------------------------------------------------------------------

    def to_start(self, h: Number, stages: str, sample: Callable[[], None]) -> None:
        for part in reversed(range(len(self.method.parts))):
            share = self.method.parts[part] * h
            first = part * self.count
            for i, b in enumerate(self.method.b):
                bar, weight = self.row("k_bar", first + i), share * b
                self.over_state(lambda x, bar=bar, weight=weight: self.put(weight * self.get(self.words["lam"], x), bar, x))  # type: ignore[misc]
            if self.adaptive:
                sample()
            self._solve(share, first)
            (self._back_halved if self.halved else self._back_whole)(share, first)

    def _solve(self, h: Number, first: int) -> None:
        """m in ``right``."""
        for j in range(self.count):
            self._take_jacobian(h, first, j)
        self.factor()
        self._right_hand_side(h, first)
        self.solve()

    def factor(self) -> None:
        """1 and what is in ``matrix``."""
        e, w = self.e, self.words
        each(e, 0, self.packed, lambda k: self._add_one(e.integer("add", e.integer("mul", k, w["stride"]), k)))
        e.do(f"call void @factor_1({self._factors()}, {self._sizes()})")
        e.forget()

    def solve(self) -> None:
        e, right = self.e, self.words["right"]
        e.do(f"call void @solve_1({self._factors()}, ptr {right}, {self._sizes()})")
        e.forget()

    def _factors(self) -> str:
        return ", ".join(f"ptr {self.words[name]}" for name in ("matrix", "below", "diagonal", "pivots"))

    def _sizes(self) -> str:
        return ", ".join(f"i64 {self.words[name]}" for name in ("order", "stride", "row_chunks"))

    def _add_one(self, place: Int) -> None:
        matrix = self.words["matrix"]
        self.put(self.get(matrix, place) + 1.0, matrix, place)

    def _right_hand_side(self, h: Number, first: int) -> None:
        e, w = self.e, self.words
        bars = [self.row("k_bar", first + i) for i in range(self.count)]
        for i, bar in enumerate(bars):
            into = e.pointer(w["right"], e.integer("mul", w["unknowns"], i))
            speeds = self.speeds(bar)
            if not self.halved:
                self.copy(bar, into, w["nq"])
                self.copy(speeds, e.pointer(into, w["nq"]), w["nv"])
                continue
            weights = [h * self.method.A[j][i] for j in range(self.count)]

            def one(x: str, speeds: str = speeds, into: str = into, weights: list[Number] = weights) -> None:
                terms = [weight * self.get(other, x) for weight, other in zip(weights, bars, strict=True)]
                self.put(sum(terms, self.get(speeds, x)), into, x)

            each(e, 0, w["nv"], one)

    def _found(self, i: int) -> str:
        return self.e.pointer(self.words["right"], self.e.integer("mul", self.words["unknowns"], i))

    def _back_whole(self, h: Number, first: int) -> None:
        w = self.words
        for i in range(self.count):
            bar, k_bar, found = w["bar"], self.row("k_bar", first + i), self._found(i)
            self.copy(found, k_bar, w["nq"])
            self.copy(self.e.pointer(found, w["nq"]), self.speeds(k_bar), w["nv"])
            self.clear(bar, w["state"])
            self.slope_back(first + i, bar)
            self.add(bar, w["lam"])

    def _back_halved(self, h: Number, first: int) -> None:
        """The speeds' part first, by which that of the coordinates is known."""
        w, bars = self.words, [self.row("stage_bars", i) for i in range(self.count)]
        for i, bar in enumerate(bars):
            self.copy(self._found(i), self.speeds(self.row("k_bar", first + i)), w["nv"])
            self.clear(bar, w["state"])
            self.kernel_back(first + i, {"q": bar, "v": self.speeds(bar)})
            self.add(bar, w["lam"])
        lam = self.speeds(w["lam"])
        sums = [sum(row) for row in self.method.A]  # sum_i A_ji: of every K_j^T m_v,j
        of_q = [self.row("k_bar", first + i) for i in range(self.count)]

        def one(x: str) -> None:
            terms = [self.get(k_bar, x) for k_bar in of_q]
            terms += [h * weight * self.get(bar, x) for weight, bar in zip(sums, bars, strict=True)]
            self.put(sum(terms, self.get(lam, x)), lam, x)

        each(self.e, 0, w["nv"], one)

    # Jacobians -----------------------------------------------------------------------------------------------------------

    def _take_jacobian(self, h: Number, first: int, j: int) -> None:
        """Adds stage j to the matrix: column (j, b), row (i, a) is -h A_ji f'_ba, by its columns."""
        w, A = self.words, np.array(self.method.A)
        speeds: list[Number] = [-(h * float(a)) for a in A[j]]
        positions: list[Number] = [-(h * h * float(a)) for a in (A @ A)[j]] if self.halved else speeds
        at = w["nq"] if not self.halved else 0
        self._along("seed_q", w["nq"], lambda k, a: self._columns(first, j, k, a, positions, added=False), first + j)
        self._along(
            "seed_v",
            w["nv"],
            lambda k, a: self._columns(first, j, k, self.e.integer("add", at, a), speeds, added=self.halved),
            first + j,
        )

    def _along(self, seeds: str, count: str, take: Callable[[int, Int], None], stage: int) -> None:
        """take(direction, its number) after the kernels ran, for all directions of q, or of speeds, in groups."""
        e, w = self.e, self.words
        groups = e.emit(f"udiv i64 {e.integer('add', count, DIRECTIONS - 1)}, {DIRECTIONS}")

        def group(g: str) -> None:
            def over(act: Callable[[int, Int], None]) -> None:
                for k in range(DIRECTIONS):
                    a = e.integer("add", e.integer("mul", g, DIRECTIONS), k)
                    when(e, e.emit(f"icmp slt i64 {a}, {count}"), lambda k=k, a=a: act(k, a))  # type: ignore[misc]

            def seed(x: float) -> Callable[[int, Int], None]:
                return lambda k, a: self.put(x, w[seeds], e.integer("add", e.integer("mul", a, DIRECTIONS), k))

            over(seed(1.0))
            self._tangents(stage)
            over(take)
            over(seed(0.0))

        each(e, 0, groups, group)

    def _tangents(self, stage: int) -> None:
        w, speed = self.words, "p" if self.momenta else "v"
        known = {name: x for name, x in self.at_stage(stage).items() if name in ("q", speed, "t")}
        self._call("tangent", known | {"d_q": w["seed_q"], f"d_{speed}": w["seed_v"]})
        if self.plain_rates:
            return
        seeds = {"v": known.get("v", ""), "d_q": w["seed_q"], "d_v": w["seed_v"]}
        if self.momenta:
            self._unpack_velocities()
            seeds |= {"v": w["moved"], "d_v": w["v_tangents"]}
        self._call("d_rates", known | seeds)

    def _unpack_velocities(self) -> None:
        """Unpacks the velocities of the kernel on dual numbers, whose values have their tangents behind them."""
        e, w = self.e, self.words

        def one(i: str) -> None:
            start = e.integer("mul", i, 1 + DIRECTIONS)
            self.put(self.get(w["out:v"], start), w["moved"], i)
            for k in range(DIRECTIONS):
                x = self.get(w["out:v"], e.integer("add", start, 1 + k))
                self.put(x, w["v_tangents"], e.integer("add", e.integer("mul", i, DIRECTIONS), k))

        each(e, 0, w["nv"], one)

    def _call(self, name: str, arrays: dict[str, str]) -> None:
        own = {x: self.words[f"tangent:{x}"] for x in self.arguments[name] if x in own_buffers()}
        taken = ", ".join(f"ptr {x}" for x in self.taken(name, own | arrays))
        self.e.do(f"call void @{name}(i64 {self.words['n']}, i64 {self.words['nv']}, {taken})")
        self.e.forget()

    def _columns(self, first: int, j: int, k: int, a: Int, factors: list[Number], *, added: bool) -> None:
        """Direction k of the last call, which is that of unknown a."""
        w = self.words
        if self.halved:
            self._column("a", 0, w["nv"], j, k, a, factors, added)
            return
        rates, speeds = ("v" if self.plain_rates else "qdot"), ("pdot" if self.momenta else "a")
        self._column(rates, 0, w["nq"], j, k, a, factors, added)
        self._column(speeds, w["nq"], w["nv"], j, k, a, factors, added)

    def _column(self, output: str, at: Int, count: str, j: int, k: int, a: Int, factors: list[Number], added: bool) -> None:
        e, w = self.e, self.words

        def entry(b: str) -> None:
            x = self.get(w[f"out:{output}"], e.integer("add", e.integer("mul", b, 1 + DIRECTIONS), 1 + k))
            column = e.integer("add", e.integer("add", e.integer("mul", w["unknowns"], j), at), b)
            start = e.integer("add", e.integer("mul", column, w["stride"]), a)
            for i, factor in enumerate(factors):
                place = e.integer("add", start, e.integer("mul", w["unknowns"], i))
                before = self.get(w["matrix"], place) if added else 0.0
                self.put(before + factor * x, w["matrix"], place)

        each(e, 0, count, entry)
