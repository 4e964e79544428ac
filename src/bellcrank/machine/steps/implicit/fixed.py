"""Steps of a fixed length by an implicit method, its equations solved by iteration until only rounding is left.

    k_i = f(t + c_i h, y + h sum_j A_ij k_j)

Stages are improved one after the other, each from the newest of the others, starting from the last step's, extrapolated.
Iterations end when the change, as a part of the largest coordinate and momentum, is zero or, being small, no longer
shrinks. Stopping earlier would leave an error with a trend, which spoils what the method is for: E. Hairer, R. McLachlan &
A. Razakarivony, Achieving Brouwer's law with implicit Runge-Kutta methods, 2008.
"""

from __future__ import annotations

from ....kernels.llvm.flow import when, while_
from ....numbers import Number, Symbol, maximum, minimum
from ..fixed import FixedStepper
from ..memory import NOT_SOLVED

MOST_ITERATIONS = 100
SMALL = 1e-12  # changes that may be rounding


class ImplicitStepper(FixedStepper):
    def new_state(self, h: Number) -> None:
        w, t, whole = self.words, self.real("t"), h
        parts = self.method.parts
        for n, part in enumerate(parts):
            h = part * whole
            if n:
                self.copy(w["new"], w["y"])
            elif len(parts) > 1:
                self.copy(w["y"], w["origin"])
            else:
                self.extrapolate()
            self.solve(t, h)
            self.move(h, self.method.b, w["new"])
            if self.method.turns:
                self.turn_state(h, w["new"], end=True)
            t = t + h
        if len(parts) > 1:
            self.copy(w["origin"], w["y"])

    def extrapolate(self) -> None:
        """Stages of the last step, as a polynomial in time, at those of the next; one stage with the one before it."""
        e, c = self.e, self.method.c
        stages, before = self.k[: len(c)], self.k[len(c) + 1]

        def at(i: str) -> None:
            old = [self.get(k, i) for k in stages]
            if len(c) == 1:
                e.store(2.0 * old[0] - self.get(before, i), stages[0], i)
                e.store(old[0], before, i)
                return
            for k, place in zip(stages, c, strict=True):
                e.store(_polynomial(c, old, 1.0 + place), k, i)

        self.over_state(at)

    def solve(self, t: Number, h: Number) -> None:
        """Iterate; ``change`` is that of the last iteration, ``change_before`` of the one before."""
        e = self.e
        self.set_real("change", 1.0)
        self.set_real("change_before", 1e300)
        self.set_count("iterations", 0)

        def unsolved() -> str:
            change, before = self.real("change"), self.real("change_before")
            done = (change <= 0.0) | ((change <= SMALL) & (change >= before))
            going = e.emit(f"icmp slt i64 {self.count('iterations')}, {MOST_ITERATIONS}")
            return self.all_of(self.any(~done), going)

        def improve() -> None:
            self.set_real("change_before", self.real("change"))
            self.set_real("change", 0.0)
            for i in range(len(self.method.c)):
                self.improve_stage(i, t, h)
            self.add_count("iterations")

        while_(e, unsolved, improve)
        given_up = e.emit(f"icmp sge i64 {self.count('iterations')}, {MOST_ITERATIONS}")
        when(e, given_up, lambda: self.set_real("status", float(NOT_SOLVED)))

    def improve_stage(self, stage: int, t: Number, h: Number) -> None:
        w, k, row = self.words, self.k[stage], self.method.A[stage]
        fresh = self.k[len(self.method.c)]
        self.move(h, row, w["aside"])
        if self.method.turns:
            self.turn_state(h, w["aside"], end=False)
        self.derivative(w["aside"], fresh, minimum(t + self.method.c[stage] * h, self.real("latest")))
        if self.method.turns:
            self.turn_slopes(w["aside"], fresh)
        size = self.vectors("v_start")
        change = maximum(self._change("0", size, k, fresh, h), self._change(size, w["controlled"], k, fresh, h))
        self.set_real("change", maximum(self.real("change"), change))
        self.copy(fresh, k)

    def _change(self, first: str, last: str, k: str, fresh: str, h: Number) -> Symbol:
        """Largest change of h k, over the largest of y and h k."""
        y = self.words["y"]

        def change(i: str) -> Number:
            return abs(h * (self.get(fresh, i) - self.get(k, i)))

        def size(i: str) -> Number:
            return abs(self.get(y, i)) + abs(h * self.get(fresh, i))

        changes, sizes = (self.largest(self.folded(first, last, f, maximum)) for f in (change, size))
        return changes / maximum(sizes, 1e-300)

    # rotations ----------------------------------------------------------------------------------------------------

    def turn_state(self, h: Number, into: str, *, end: bool) -> None:
        e, w = self.e, self.words
        table = f"ptr {w['turning']}, i64 {w['quaternion_count']}"
        e.do(
            f"call void @turn_state(ptr {w['y']}, ptr {self.k[0]}, ptr {into}, double {self.first(h)}, i64 {int(end)}, {table})"
        )
        e.forget()

    def turn_slopes(self, state: str, k: str) -> None:
        e, w = self.e, self.words
        table = f"ptr {w['turning']}, i64 {w['quaternion_count']}"
        e.do(f"call void @turn_slopes(ptr {state}, ptr {k}, ptr {w['buffer:v']}, i64 {w['v_start']}, {table})")
        e.forget()


def _polynomial(places: tuple[float, ...], values: list[Symbol], x: float) -> Number:
    """Lagrange's, through values at places."""
    result: Number = 0.0
    for i, value in enumerate(values):
        weight = 1.0
        for j, other in enumerate(places):
            if j != i:
                weight *= (x - other) / (places[i] - other)
        result = result + weight * value
    return result
