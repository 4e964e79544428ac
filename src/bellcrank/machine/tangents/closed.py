"""Tangents of the midpoint rule for closed loops (steps.implicit.closed), once its stages and pushes are known.

With the slope k, the pushes lambda and mu and all states at hand, a part of a step is differentiated by its equations:

    dp' = dp - h (dG^T lambda + G^T dlambda)       dG along dq and the design, at the start of the part
    dk = d slopes(dq, dp', dk)                     in the middle
    d phi(q_n+1) = 0                               which determines dlambda
    dp_n+1 = dp'' - dG^T mu - G^T dmu              d(G v + phi_t) = 0 there, which determines dmu

They are linear. dk and dlambda are found as k and lambda were, by the same iteration with the same factored matrices, until
only rounding is left; mu by solving twice.

word          meaning                                                          numbers
pushes_along  dlambda                                                          chunks x rows x tangents
rows_along    dG^T lambda, or dG^T mu                                          chunks x nv x tangents
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...kernels.executor import Address, Integer
from ...numbers import Number, Symbol, maximum
from ..steps.declared import NOT_SOLVED
from ..steps.implicit.closed_newton import ClosedNewton
from ..steps.layout import VECTOR
from . import steps as tangents
from .stages import GIVEN_UP, SOLVED, SOLVING, ByParameter

if TYPE_CHECKING:
    from ..steps.implicit.closed import ClosedMidpointStepper

MOST_PASSES = 80
SMALL = 1e-11  # changes that may be rounding; they end when they shrink no further
SETTLINGS = 2
LEAST = 1e-3  # of the state: tangents that are smaller, of scaled parameters, count as so large


class ClosedTangents:
    def __init__(self, stepper: ClosedMidpointStepper):
        self.s, self.e, self.w = stepper, stepper.e, stepper.words
        self.parameters, self.newton = ByParameter(stepper), ClosedNewton(stepper)

    # the first push, and the middle -------------------------------------------------------------------------------

    def solve(self, t: Number, h: Number) -> None:
        """Tangents of the state ``pushed``, and of the slopes."""
        s, w = self.s, self.w
        self._rows(w["origin"], t, w["pushes"])
        for name, value in (("along", SOLVING), ("along_passes", 0.0), ("along_change", 1e300)):
            s.set_real(name, value)
        self.e.repeat(lambda: s.any(s.real("along") >= SOLVING), lambda: self._improve(t, h))
        self.e.when(s.any(s.real("along") < SOLVED), lambda: s.set_real("status", float(NOT_SOLVED)))
        self._push(h)

    def _improve(self, t: Number, h: Number) -> None:
        s, w = self.s, self.w
        self._push(h)
        s.slopes(t, h, along=True)
        self.e.when(self.newton.used, lambda: self.parameters.each_parameter(lambda start: self._correct(start, h)))
        self._judge(h)
        first = w["t_start"] // VECTOR
        s.fill(s.k[0], w["residuals"].__getitem__, first)
        s.moved(h, w["new"], end=True)
        s.set_clock(t + h)
        arrays = {"q": w["new"], "v": w["buffer:v"], "t": w["clock"]}

        def chunk(c: Integer, dq: Address, dp: Address) -> None:
            tangents.clear(s, w["moving"], w["nv"] * s.tangents)
            tangents.call(s, "d_closure", c, arrays | {"d_q": dq, "d_v": w["moving"]})
            self._solved(0, lambda r, k: self._add_push(c, r, k))

        tangents.each_chunk(s, w["new"], chunk)

    def _correct(self, start: Integer, h: Number) -> None:
        """Tangents of slopes, of one parameter, become the next dk by Newton's method (closed_newton.py)."""
        s, by, slopes, k = self.s, self.parameters, self.w["residuals"], self.s.k[0]
        by.gather(start, lambda at: s.number(slopes, at) - s.number(k, at), slopes)
        self.newton.newton.correct(h)
        by.entries(start, lambda at, place: s.put_number(s.number(k, at) + s.number(slopes, place), slopes, at))

    def _push(self, h: Number) -> None:
        """Tangents of ``pushed``."""
        s, e, w = self.s, self.e, self.w
        s.push(h)

        def chunk(c: Integer, dq: Address, dp: Address) -> None:
            rows = w["rows_along"].at(c * self._doubles("nv"))
            pushes = w["pushes_along"].at(c * self._doubles("kept_count"))

            def entry(j: Integer) -> None:
                for part in range(self._parts):
                    push = e.total(
                        0, w["kept_count"], lambda r, part=part: self._row_entry(r, j) * pushes[self._vector(r, part)]
                    )
                    place = self._vector(j, part)
                    dp[place] = dp[place] - h * (rows[place] + push)

            e.each(0, w["nv"], entry)

        tangents.each_chunk(s, w["pushed"], chunk)

    def _add_push(self, c: Integer, r: Integer, k: Integer) -> None:
        s, w = self.s, self.w
        start = c * self._doubles("kept_count")
        place = start + r * s.tangents + k
        s.put_number(s.number(w["pushes_along"], place) + s.number(w["rows_right"], r), w["pushes_along"], place)

    def _judge(self, h: Number) -> None:
        """How much h dk has changed, of each parameter as a part of what changes with it."""
        s, w, by = self.s, self.w, self.parameters
        before, passes = s.real("along_change"), s.real("along_passes") + 1.0
        s.set_real("along_change", 0.0)
        speeds = s.vectors("v_start")
        parts = (("0", speeds), (speeds, w["controlled"]))
        state = [self._largest(a, b, lambda i: abs(w["pushed"][i]) + abs(h * s.k[0][i])) for a, b in parts]
        floors = [LEAST * (state[0] + s.number(w["row_scale"], w["m"])), LEAST * state[1]]

        def one(start: Integer) -> None:
            by.gather(start, lambda at: abs(h * (s.number(w["residuals"], at) - s.number(s.k[0], at))), w["asked"])
            by.gather(start, lambda at: abs(s.number(w["origin"], at)) + abs(h * s.number(w["residuals"], at)), w["aside"])
            for (first, last), floor in zip(parts, floors, strict=True):
                change, size = (self._largest(first, last, w[name].__getitem__) for name in ("asked", "aside"))
                change = change / maximum(size + floor, 1e-300)
                s.set_real("along_change", maximum(s.real("along_change"), change))

        by.each_parameter(one)
        change = s.real("along_change")
        done = (change <= 0.0) | ((change <= SMALL) & (change >= before))
        s.set_real("along_passes", passes)
        s.set_real("along", done.select(SOLVED, (passes >= float(MOST_PASSES)).select(GIVEN_UP, SOLVING)))

    def _largest(self, first: Integer, last: Integer, entry: Callable[[Any], Number]) -> Symbol:
        return self.s.largest(self.s.folded(first, last, entry, maximum))

    # the second push ----------------------------------------------------------------------------------------------

    def settle(self, t: Number) -> None:
        """Tangents of the state ``new`` after its second push; ``rows_at_start`` and its factored matrix are those there."""
        s, w = self.s, self.w
        self._rows(w["new"], t, w["second_pushes"])
        p = w["new"].at(w["v_start"])
        arrays = {"q": w["new"], "t": w["clock"]}

        def chunk(c: Integer, dq: Address, dp: Address) -> None:
            rows = w["rows_along"].at(c * self._doubles("nv"))
            s.fill(dp, lambda i: dp[i] - rows[i], 0, self._doubles("nv") // VECTOR)
            for _ in range(SETTLINGS):
                tangents.call(s, "d_tree_velocities", c, arrays | {"p": p, "d_q": dq, "d_p": dp})
                tangents.unpack(s, w["buffer:v"], w["nv"], w["moved"], w["moving"])
                tangents.call(s, "d_closure", c, arrays | {"v": w["moved"], "d_q": dq, "d_v": w["moving"]})
                self._solved(1, lambda r, k: self._less(dp, r, k))

        tangents.each_chunk(s, w["new"], chunk)

    def _less(self, dp: Address, r: Integer, k: Integer) -> None:
        """A tangent of the momenta less a row with its factor."""
        s, e, w = self.s, self.e, self.w

        def entry(j: Integer) -> None:
            place = j * s.tangents + k
            s.put_number(s.number(dp, place) - self._row_entry(r, j) * s.number(w["rows_right"], r), dp, place)

        e.each(0, w["nv"], entry)

    # rows ---------------------------------------------------------------------------------------------------------

    def _rows(self, state: Address, t: Number, factors: Address) -> None:
        """``rows_along``: dG^T times the factors of the kept rows, along the tangents of q and of the design."""
        s, e, w = self.s, self.e, self.w
        s.set_clock(t)
        arrays = {"q": state, "v": state.at(w["v_start"]), "t": w["clock"]}

        def chunk(c: Integer, dq: Address, dp: Address) -> None:
            into = w["rows_along"].at(c * self._doubles("nv"))
            tangents.call(s, "d_closure_jacobian", c, arrays | {"d_q": dq, "d_v": dp})

            def entry(j: Integer) -> None:
                for part in range(self._parts):

                    def one(r: Integer, part: int = part) -> Number:
                        row = w["kept_rows"].integer(r)
                        factor = s.number(factors, r) * s.number(w["row_scale"], row)
                        return factor * self._along(w["buffer:G"], row * w["nv"] + j, part)

                    into[self._vector(j, part)] = e.total(0, w["kept_count"], one)

            e.each(0, w["nv"], entry)

        tangents.each_chunk(s, state, chunk)

    def _solved(self, column: int, take: Callable[[Any, Any], None]) -> None:
        """Solves for tangents of errors of the closures (column 0) or their rates (1): take(row, tangent) of what is left."""
        s, e, w = self.s, self.e, self.w

        def one(k: Any) -> None:
            def error(r: Integer) -> None:
                row = w["kept_rows"].integer(r)
                number = (row * 2 + column) * (1 + s.tangents)
                place = number + k + 1
                s.put_number(s.number(w["row_scale"], row) * s.number(w["buffer:closure"], place), w["rows_right"], r)

            e.each(0, w["kept_count"], error)
            s.solve(w["rows_right"])
            e.each(0, w["kept_count"], lambda r: take(r, k))

        e.each(0, s.tangents, one)

    def _row_entry(self, r: Integer, j: Integer) -> Number:
        w = self.w
        return self.s.number(w["rows_at_start"], r * w["kept_row_width"] + j)

    def _along(self, buffer: Address, number: Integer, part: int) -> Number:
        """A vector of the tangents of a number that has them behind it."""
        place = number * (1 + self.s.tangents) + 1 + part * VECTOR
        return buffer.at(place).vector()

    # places -------------------------------------------------------------------------------------------------------

    @property
    def _parts(self) -> int:
        """Vectors of the tangents of a number."""
        return self.s.tangents // VECTOR

    def _vector(self, number: Integer, part: int) -> Integer:
        return number * self._parts + part

    def _doubles(self, numbers: str) -> Integer:
        """The doubles that so many numbers take with the tangents of one chunk."""
        return self.w[numbers] * self.s.tangents
