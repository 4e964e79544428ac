"""The stages of an implicit method by simplified Newton iterations.   Hairer & Wanner, Solving ODEs II, IV.8

    k_i = f(t + c_i h, y + h sum_j A_ij k_j),       (1 - h A (x) J) dk = f - k

A is diagonalised, A = T diag(lambda) T^-1, so that each real eigenvalue costs a real matrix, and each pair of complex ones a
complex matrix. The unknowns are displacements d along the directions of v and speeds. With v itself J is

    d' = dv + W d,    dv' = K d + D dv            W: what a displacement does by itself, zero without quaternions

and dv is eliminated, which leaves a matrix half as large, with g = h lambda and w the right-hand side:

    (1 - g (D + W) + g^2 (D W - K)) d = w_d + g (w_v - D w_d),      dv = (d - w_d)/g - W d

With momenta J is a general matrix, and (1 - g J) u = w. A Jacobian that is not exact, because it is old or taken off the
closures, only costs iterations: what they converge to are the equations of the method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ....integrate import RungeKutta
from ....kernels.executor import Address, Integer
from ....kernels.llvm.matrices.factorization import Parts, inverse, less, times, write_factor, write_multiply, write_solve
from ....numbers import Number, minimum
from .jacobian import jacobian
from .tangents import write_tangents

if TYPE_CHECKING:
    from ..stepper import Stepper

Text = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Mode:
    """A real eigenvalue of A, or one of a complex pair, with its row of T^-1 and its column of T."""

    eigenvalue: complex
    into: tuple[complex, ...]
    back: tuple[complex, ...]
    row: int  # where its part of the stages is kept, real and imaginary
    place: int  # of its matrix, in real ones

    @property
    def parts(self) -> int:
        return 1 if self.eigenvalue.imag == 0 else 2

    def back_to(self, stage: int, parts: Parts) -> Number:
        """The part that a mode adds to a stage: its own, and that of its conjugate."""
        c = self.back[stage]
        return c.real * parts[0] if self.parts == 1 else 2.0 * c.real * parts[0] - 2.0 * c.imag * parts[1]


@cache
def modes(method: RungeKutta) -> tuple[Mode, ...]:
    values, T = np.linalg.eig(np.array(method.A))
    inverse_T = np.linalg.inv(T)
    found: list[Mode] = []
    row = place = 0
    for j in np.argsort(np.abs(values.imag), kind="stable"):
        value = complex(values[j])
        if value.imag < -1e-12:
            continue  # the other one of a pair
        value = value if value.imag > 1e-12 else complex(value.real)
        scale = 1.0 if value.imag else T[:, j][np.argmax(np.abs(T[:, j]))]
        into, back = inverse_T[j] * scale, T[:, j] / scale
        found.append(Mode(value, tuple(map(complex, into)), tuple(map(complex, back)), row, place))
        row, place = row + found[-1].parts, place + found[-1].parts
    return tuple(found)


def write_newton(stepper: type[Stepper], method: RungeKutta, plain_rates: bool) -> list[Text]:
    """The functions that Newton's method calls."""
    texts = [write_multiply(stepper.lanes)]
    for parts in sorted({mode.parts for mode in modes(method)}):
        texts += [write_factor(stepper.lanes, parts), write_solve(stepper.lanes, parts)]
    return texts if plain_rates else [*texts, *write_tangents(stepper.lanes, group=method.turns)]


class Newton:
    """Writes the linear algebra of a step; ``part`` is the place of its matrices among those of other parts of a step."""

    def __init__(self, stepper: Stepper, part: int = 0):
        self.s, self.e, self.w = stepper, stepper.e, stepper.words
        self.modes, self.part = modes(stepper.method), part
        self.stages = len(stepper.method.c)

    # memory -------------------------------------------------------------------------------------------------------

    def row(self, array: str, j: int) -> Any:
        return self.w[array].at(self.w["state"] * j)

    def residual(self, stage: int) -> Any:
        return self.row("residuals", stage)

    def tangent(self, stage: int) -> Any:
        return self.row("residuals" if self.s.plain_rates else "tangents", stage)

    def _matrix(self, mode: Mode) -> dict[str, Any]:
        w = self.w
        count = sum(each_mode.parts for each_mode in self.modes)
        at = self.part * count + mode.place
        size = {"upper": w["matrix"], "below": w["matrix"], "diagonal": w["row"], "pivots": w["row"]}
        return {name: w[name].at(numbers * at) for name, numbers in size.items()}

    # the matrices -------------------------------------------------------------------------------------------------

    def linearise(self, state: Address, t: Number) -> None:
        """The Jacobian at a state, and what all matrices are made of."""
        s, w = self.s, self.w
        jacobian(s, state, t)
        if not s.momenta:
            vectors = self._vectors("matrix")
            s.fill(w["by_both"], lambda i: w["by_velocity"][i], 0, vectors)
            s.fill(w["by_position"], lambda i: -w["by_position"][i], 0, vectors)
            if not s.plain_rates:
                arrays = ", ".join(f"ptr {w[name]}" for name in ("linearised", "by_velocity", "by_both", "by_position"))
                self._over_turning("add_spin", f"{arrays}, i64 {w['v_place']}, i64 {w['stride']}, i64 {w['order']}")

    def _over_turning(self, function: str, arguments: str) -> None:
        self.e.do(f"call void @{function}({arguments}, ptr {self.w['turning']}, i64 {self.w['quaternion_count']})")
        self.e.forget()

    def _vectors(self, name: str) -> Any:
        return self.s.vectors(name)

    def factor(self, h: Number) -> None:
        """The matrices for steps of length h, factored."""
        e, w = self.e, self.w
        for mode in self.modes:
            at = self._matrix(mode)
            self._form(mode, h, at["upper"])
            arrays = ", ".join(f"ptr {at[name]}" for name in ("upper", "below", "diagonal", "pivots"))
            e.do(f"call void @factor_{mode.parts}({arrays}, i64 {w['order']}, i64 {w['stride']}, i64 {w['row_chunks']})")
            e.forget()
        self.s.add_count("factorizations")

    def _g(self, mode: Mode, h: Number) -> Parts:
        return [h * mode.eigenvalue.real, h * mode.eigenvalue.imag][: mode.parts]

    def _bases(self, base: Address, mode: Mode, skip: str) -> list[Any]:
        return [base, base.at(self.w[skip])][: mode.parts]

    def _form(self, mode: Mode, h: Number, into: Address) -> None:
        s, e, w = self.s, self.e, self.w
        g = self._g(mode, h)
        square = times(g, g)
        bases = self._bases(into, mode, "matrix")

        def entry(i: Integer) -> None:
            for base, first, second in zip(bases, g, square, strict=True):
                if s.momenta:
                    base[i] = -(first * w["by_position"][i])
                else:
                    base[i] = second * w["by_position"][i] - first * w["by_both"][i]

        def one(k: Any) -> None:
            place = k * w["stride"] + k
            s.put_number(s.number(into, place) + 1.0, into, place)

        e.each(0, self._vectors("matrix"), entry)
        e.each(0, w["order"], one)

    # solving ------------------------------------------------------------------------------------------------------

    def correct(self, h: Number) -> None:
        """(1 - h A (x) J)^-1 in place of the residuals of all stages."""
        e = self.e
        self._lower([(self.residual(i), self.tangent(i)) for i in range(self.stages)])

        def transform(i: Integer) -> None:
            given = [self.tangent(stage)[i] for stage in range(self.stages)]
            for mode in self.modes:
                parts = [[c.real for c in mode.into], [c.imag for c in mode.into]][: mode.parts]
                for k, weights in enumerate(parts):
                    self.row("modes", mode.row + k)[i] = sum((a * x for a, x in zip(weights, given, strict=True)), 0.0)

        def transform_back(i: Integer) -> None:
            found = [[self.row("modes", mode.row + k)[i] for k in range(mode.parts)] for mode in self.modes]
            for stage in range(self.stages):
                value = sum((mode.back_to(stage, x) for mode, x in zip(self.modes, found, strict=True)), 0.0)
                self.tangent(stage)[i] = value

        e.each(0, self.w["controlled"], transform)
        for mode in self.modes:
            self._solve(mode, h, [self.row("modes", mode.row + k) for k in range(mode.parts)])
        e.each(0, self.w["controlled"], transform_back)
        self._lift([(self.residual(i), self.tangent(i)) for i in range(self.stages)])

    def filtered(self, h: Number, vector: Address) -> None:
        """(1 - h gamma J)^-1 in place of a vector, with gamma the real eigenvalue of A."""
        (mode,) = [mode for mode in self.modes if mode.parts == 1]
        inside = vector if self.s.plain_rates else self.row("modes", 0)
        self._lower([(vector, inside)])
        self._solve(mode, h, [inside])
        self._lift([(vector, inside)])

    def solve_one(self, h: Number, row: Address) -> None:
        """(1 - h A J)^-1 in place of a row of displacements and speeds, of a method of one stage."""
        self._solve(self.modes[0], h, [row])

    def _solve(self, mode: Mode, h: Number, rows: list[Any]) -> None:
        (self._solve_whole if self.s.momenta else self._solve_halved)(mode, h, rows)

    def _apply_inverse(self, mode: Mode) -> None:
        """Applies the inverse to ``right``."""
        w, at = self.w, self._matrix(mode)
        arrays = ", ".join(f"ptr {at[name]}" for name in ("upper", "below", "diagonal", "pivots"))
        sizes = f"i64 {w['order']}, i64 {w['stride']}, i64 {w['row_chunks']}"
        self.e.do(f"call void @solve_{mode.parts}({arrays}, ptr {w['right']}, {sizes})")
        self.e.forget()

    def _solve_whole(self, mode: Mode, h: Number, rows: list[Any]) -> None:
        s, w = self.s, self.w
        right = self._bases(w["right"], mode, "row")
        for row, to in zip(rows, right, strict=True):
            s.fill(to, row.__getitem__, 0, w["controlled"])
        self._apply_inverse(mode)
        for row, to in zip(rows, right, strict=True):
            s.fill(row, to.__getitem__, 0, w["controlled"])

    def _solve_halved(self, mode: Mode, h: Number, rows: list[Any]) -> None:
        s, e, w = self.s, self.e, self.w
        g = self._g(mode, h)
        right = self._bases(w["right"], mode, "row")
        speeds = [row.at(w["v_start"]) for row in rows]
        vectors = self._vectors("row")

        def get(bases: list[Any], i: Integer) -> Parts:
            return [base[i] for base in bases]

        def put(x: Parts, bases: list[Any], i: Integer) -> None:
            for value, base in zip(x, bases, strict=True):
                base[i] = value

        for row, speed in zip(rows, speeds, strict=True):
            sizes = f"i64 {w['order']}, i64 {w['stride']}, i64 {w['row_chunks']}, double -1.0"
            e.do(f"call void @multiply(ptr {w['by_velocity']}, ptr {row}, ptr {speed}, {sizes})")
            e.forget()

        def right_hand_side(i: Integer) -> None:
            put([a + b for a, b in zip(get(rows, i), times(g, get(speeds, i)), strict=True)], right, i)

        def speeds_of(i: Integer) -> None:
            d = get(right, i)
            put(times(less(d, get(rows, i)), inverse(g)), speeds, i)
            put(d, rows, i)

        e.each(0, vectors, right_hand_side)
        self._apply_inverse(mode)
        e.each(0, vectors, speeds_of)
        if not s.plain_rates:
            for row in rows:
                self._copy_displacements(row, w["aside"])
                self._over_turning("subtract_spin", f"ptr {w['linearised']}, ptr {w['aside']}, ptr {row}, i64 {w['v_place']}")

    # between rates of coordinates and displacements -----------------------------------------------------------------

    def _lower(self, pairs: list[tuple[Any, Any]]) -> None:
        """Rates of q as velocities, E+ q'; what has no quaternions is its own."""
        s, w = self.s, self.w
        if s.plain_rates:
            return
        for vector, inside in pairs:
            s.fill(inside, vector.__getitem__, 0, w["controlled"])
            self._over_scalars(lambda q, v, a=vector, b=inside: s.put_number(s.number(a, q), b, v))  # type: ignore[misc]
            arguments = f"ptr {w['linearised']}, ptr {vector}, ptr {inside}, i64 {w['v_place']}"
            self._over_turning("group_velocities" if s.method.turns else "velocities_of_rates", arguments)

    def _over_scalars(self, act: Callable[[Any, Any], None]) -> None:
        """act(place in q, place in v) of every coordinate whose rate is its velocity."""
        e, table = self.e, self.w["scalars"]

        def one(i: Integer) -> None:
            first = i * 2
            act(table.integer(first), table.integer(first + 1))

        e.each(0, self.w["scalar_count"], one)

    def _lift(self, pairs: list[tuple[Any, Any]]) -> None:
        """Rates of q from displacements: q' + E (d - E+ q'), which keeps what of q' is not a velocity."""
        s, e, w = self.s, self.e, self.w
        if s.plain_rates:
            return
        for vector, inside in pairs:
            if s.method.turns:
                self._lift_group(vector, inside)
                continue
            self._lower([(vector, w["aside"])])
            e.each(0, w["nv"], lambda i, a=inside: s.put_number(s.number(a, i) - s.number(w["aside"], i), w["unit"], i))
            s.call("rates", {"q": w["linearised"], "v": w["unit"], "t": w["clock"], "qdot": w["aside"]})
            e.each(0, w["nq"], lambda i, a=vector: s.put_number(s.number(a, i) + s.number(w["aside"], i), a, i))
            self._copy_speeds(inside, vector)

    def _copy_displacements(self, source: Address, to: Address) -> None:
        self.e.each(0, self.w["nv"], lambda i: self.s.put_number(self.s.number(source, i), to, i))

    def _copy_speeds(self, source: Address, to: Address) -> None:
        w = self.w
        a, b = source.at(w["v_start"]), to.at(w["v_start"])
        self._copy_displacements(a, b)

    def _lift_group(self, vector: Address, inside: Address) -> None:
        s, w = self.s, self.w
        self._over_scalars(lambda q, v: s.put_number(s.number(inside, v), vector, q))
        self._copy_speeds(inside, vector)
        self._over_turning("group_rates", f"ptr {w['linearised']}, ptr {inside}, ptr {vector}, i64 {w['v_place']}")


def stage_times(stepper: Stepper, t: Number, h: Number) -> Iterator[tuple[int, Number]]:
    """The times of the stages, each with the number of the stage."""
    for i, c in enumerate(stepper.method.c):
        yield i, minimum(t + c * h, stepper.real("latest"))
