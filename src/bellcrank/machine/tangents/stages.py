"""Tangents of the stages of an implicit method, once the stages are known.

    k_i = f(t + c_i h, y + h sum_j A_ij k_j)      gives      dk_i = f_y (dy + h sum_j A_ij dk_j) + f_p

linear equations, which are solved by the matrices of Newton's method, factored as they are:

    dk <- dk + (1 - h A (x) J)^-1 (f_y dY + f_p - dk)

The kernel on dual numbers gives f_y dY + f_p at the stages themselves; a Jacobian of another place only costs passes. So the
equations of the step are differentiated, not the iterations that solved them: the staggered corrector of W. Feehery, J. Tolsma
& P. Barton, Efficient sensitivity analysis of large-scale differential-algebraic systems, 1997.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...kernels.executor import Address, Integer
from ...numbers import Number, Symbol

if TYPE_CHECKING:
    from ..steps.implicit.newton import Newton
    from ..steps.stepper import Stepper

SOLVED, SOLVING, GIVEN_UP = 0.0, 1.0, -1.0  # of "along"
Judge = Callable[[Symbol, Symbol, Symbol], Number]  # of the change, the one before it and the passes so far


class ByParameter:
    """Tangents of a state, one parameter after the other, each laid out as a state is."""

    def __init__(self, stepper: Stepper):
        self.s, self.e, self.w = stepper, stepper.e, stepper.words

    def each_parameter(self, act: Callable[[Any], None]) -> None:
        """act(where its tangents begin in a state)"""
        e, w, width = self.e, self.w, self.s.tangents

        def one(p: Integer) -> None:
            chunk, place = p // width, p % width
            start = w["t_start"] + chunk * w["tangent_block"]
            act(start + place)

        e.each(0, w["parameters"], one)

    def entries(self, start: Integer, act: Callable[[Any, Any], None]) -> None:
        """act(place of a tangent in a state, place of what it is the tangent of)"""
        e, w, width = self.e, self.w, self.s.tangents
        speeds = start + w["nq"] * width
        for first, at, count in ((start, 0, w["nq"]), (speeds, w["v_start"], w["nv"])):

            def one(i: Integer, first: Integer = first, at: Integer = at) -> None:
                act(first + i * width, at + i)

            e.each(0, count, one)

    def gather(self, start: Integer, source: Callable[[Any], Number], into: Address) -> None:
        """A number for each tangent of a parameter, laid out as a state is."""
        self.entries(start, lambda tangent, place: self.s.put_number(source(tangent), into, place))


class StageTangents(ByParameter):
    """Writes the passes; each parameter is solved for by itself."""

    def __init__(self, stepper: Stepper, newton: Newton):
        super().__init__(stepper)
        self.newton = newton

    def solve(self, h: Number, slopes: Callable[[], None], size: Callable[[Any], Number], judge: Judge) -> None:
        """``slopes`` leaves those of the stages with their tangents in the residuals; ``size(of)`` is that of the changes there
        are then, for one parameter whose tangents, and those of a step, have the sizes ``of``. "along" says how it ended."""
        s = self.s
        for name, value in (("along", SOLVING), ("along_passes", 0.0), ("along_change", 0.0)):
            s.set_real(name, value)

        def improve() -> None:
            before = s.real("along_change")
            slopes()
            s.set_real("along_change", 0.0)
            self.each_parameter(lambda start: self._correct(start, h, size))
            passes = s.real("along_passes") + 1.0
            s.set_real("along_passes", passes)
            s.set_real("along", judge(s.real("along_change"), before, passes))

        self.e.repeat(lambda: s.any(s.real("along") >= SOLVING), improve)

    def _correct(self, start: Integer, h: Number, size: Callable[[Any], Number]) -> None:
        s, newton, aside = self.s, self.newton, self.w["aside"]
        rows = [(s.k[i], newton.residual(i)) for i in range(newton.stages)]
        for k, residual in rows:
            self.gather(start, lambda at, k=k, r=residual: s.number(r, at) - s.number(k, at), residual)  # type: ignore[misc]
        newton.correct(h)
        self.gather(start, lambda at: abs(s.number(self.w["y"], at)) + abs(h * s.number(s.k[0], at)), aside)
        s.set_real("along_change", s.real("along_change") + size(aside))

        def add(tangent: Integer, place: Integer) -> None:
            for k, residual in rows:
                s.put_number(s.number(k, tangent) + s.number(residual, place), k, tangent)

        self.entries(start, add)
