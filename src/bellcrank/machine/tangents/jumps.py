"""Jumps of tangents, where the equations of motion jump at a surface that the run crosses.

A force that begins at once where g(y, t, p) = 0 is passed at a time t*(p), and the tangents behind it are

    dy+ = dy- + (f- - f+) dt*/dp,      dt*/dp = -(dg/dp)/(dg/dt)

with dg/dp along the tangents of the state, and dg/dt along the motion before it. Steps end just before and just behind such
surfaces (steps.cuts): the jump is added in the short step between, with the slopes at its ends. Where the equations only have
a kink the slopes are the same, and nothing is added. Several surfaces that are crossed at once, as two formulas that ask the
same, are one passage, as long as their times change alike. Where these differ, and at crossings in a step that is not short,
since steps may not be cut again and again, the jump is not known, and that is counted (``uncut``).

Where momenta are integrated f is (dq/dt, dp/dt), and surfaces are functions of q and v(q, p), which is differentiated.

word           meaning                                                         numbers
passage_times  dt*/dp of the surface that was crossed first in this step       chunks x tangents
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...kernels.executor import Address, Integer
from ...numbers import Condition, Number, maximum, minimum
from ..steps.cuts.corners import start_of_step
from ..steps.layout import VECTOR
from . import steps as tangents

if TYPE_CHECKING:
    from ..steps.stepper import Stepper

SHORT = 1e-3  # of the steps before: a longer one is not taken for a passage
NEAR = 10.0  # times the tolerance: ends of a step on either side of a limit that are a passage, however long it took
STILL = 1e-12  # a rate of g at which no time can be given, as that of what is constant on either side
ALIKE = 1e-6  # of times, and of slopes: those that differ by less are the same


def jump(stepper: Stepper, h: Number, full: Number, where: Condition) -> None:
    """Adds the jump in the accepted step from ``y`` to ``new``, of length h; ``full``: its length before it was cut.

    Where a force begins with a jump the control of errors shortens the step too; so it is compared with those before as well.
    """
    s, usual = stepper, stepper.real("usual")
    s.set_real("jumped", 0.0)
    _Passage(s, h, where & (h <= SHORT * maximum(full, usual))).look()
    s.set_real("usual", where.select(maximum(h, 0.5 * usual), usual))


class _Passage:
    def __init__(self, stepper: Stepper, h: Number, short: Condition):
        self.s, self.e, self.w, self.h, self.short = stepper, stepper.e, stepper.words, h, short
        self.before, self.after = self.w["origin"], self.w["aside"]  # slopes
        self.along = "plain" not in stepper.called  # what has a kernel without tangents need not compute them
        self.vectors = stepper.tangents // VECTOR  # of a chunk

    def look(self) -> None:
        s, e, w = self.s, self.e, self.w
        e.each(0, w["surfaces"], self._surface)
        if "d_openings" in s.called:
            self._openings()
        e.when(s.any(s.real("jumped") > 0.0), self._add)

    def _passed(self, crossed: Condition, act: Callable[[], None], near: Condition | None = None) -> None:
        """Act at a crossing in a short step, or in one whose ends are ``near`` the surface."""
        s, short = self.s, self.short if near is None else self.short | near
        self.e.when(s.any(crossed & ~short), lambda: s.add_count("uncut"))
        self.e.when(s.any(crossed & short), act)

    def _surface(self, i: Integer) -> None:
        """A limit of a coordinate, which may itself change with the parameters."""
        s, w = self.s, self.w
        place, limit = w["surface_places"].integer(i), s.number(w["surface_limits"], i)
        gaps = [s.number(w[name], place) - limit for name in ("y", "new")]
        limits = w["surface_tangents"].at(i * w["tangent_chunks"] * s.tangents)

        def times(c: Integer, part: int) -> Number:
            own, rate = limits[c * self.vectors + part], s.number(self.before, place)
            dq, _ = tangents.parts(s, w["new"], c)
            return (abs(rate) > STILL).select((own - dq[place * self.vectors + part]) / rate, 0.0)

        def act() -> None:
            self._slopes()
            self._note(times)

        size = s.real("atol") + s.real("rtol") * (abs(limit) + abs(s.number(w["y"], place)))
        near = abs(gaps[1] - gaps[0]) <= NEAR * size
        self._passed(_differ(gaps[0] >= 0.0, gaps[1] >= 0.0), act, near)

    # openings -----------------------------------------------------------------------------------------------------

    def _openings(self) -> None:
        s, e, w = self.s, self.e, self.w
        buffer, t = w["buffer:opening"], s.real("t")
        ends = (
            (w["new"], minimum(t + self.h, s.real("latest")), w["opening_middle"]),
            (w["y"], start_of_step(s), w["opening_start"]),
        )
        for state, time, kept in ends:
            s.set_clock(time)
            s.call("openings", self._arrays(state, s.velocities_of(state)))
            e.each(0, w["openings"], lambda i, kept=kept: s.put_number(s.number(buffer, i), kept, i))

        def one(i: Integer) -> None:
            sides = [s.number(w[name], i) >= 0.0 for name in ("opening_start", "opening_middle")]
            self._passed(_differ(*sides), lambda: self._opening(i))

        e.each(0, w["openings"], one)

    def _arrays(self, state: Address, v: Address) -> dict[str, Any]:
        return {"q": state, "v": v, "t": self.w["clock"], "u": self.w["u"]}

    def _opening(self, i: Integer) -> None:
        """Any function of the state, by the kernel on dual numbers: along the motion, then along the parameters."""
        s, e, w = self.s, self.e, self.w
        self._slopes()
        v = self._directions()
        seeds = {"d_q": w["way_q"], "d_v": w["way_v"], "d_t": w["way_t"]}
        s.call("openings_along", self._arrays(w["y"], v) | seeds)
        unit = 1 + s.called["openings_along"].tangents
        first = i * unit + 1
        s.set_real("rate_of_gap", s.number(w["buffer:opening"], first))
        rate = s.real("rate_of_gap")
        known = abs(rate) > STILL

        def times(c: Integer, part: int) -> Number:
            place = i * (1 + s.tangents) + 1 + part * VECTOR
            return -w["buffer:opening"].at(place).vector() / rate

        e.when(s.any(known), lambda: self._note(times, self._gaps), lambda: s.add_count("uncut"))

    def _gaps(self, c: Integer) -> None:
        """The openings along a chunk of the parameters."""
        s, w = self.s, self.w
        dq, dv = tangents.parts(s, w["new"], c)
        v = w["y"].at(w["v_start"])
        if s.momenta:
            arrays = {"q": w["y"], "p": v, "t": w["clock"], "d_q": dq, "d_p": dv}
            tangents.call(s, f"d_{s.velocity_program}", c, arrays)
            tangents.unpack(s, w["buffer:v"], w["nv"], w["moved"], w["moving"])
            v, dv = w["moved"], w["moving"]
        tangents.call(s, "d_openings", c, self._arrays(w["y"], v) | {"d_q": dq, "d_v": dv})

    def _directions(self) -> Address:
        """The motion, as the first of the tangents of ``openings_along``; the velocities themselves."""
        s, e, w = self.s, self.e, self.w
        width = s.called["openings_along"].tangents

        def seed(source: Address, to: Address, count: Integer, stride: int = 1, first: int = 0) -> None:
            e.each(0, count, lambda i: s.put_number(s.number(source, i * stride + first), to, i * width))

        seed(self.before, w["way_q"], w["nq"])
        seed(self.before.at(w["v_start"]), w["way_v"], w["nv"])
        s.put_number(1.0, w["way_t"], 0)
        v = w["y"].at(w["v_start"])
        if not s.momenta:
            return v
        seeds = {"d_q": w["way_q"], "d_p": w["way_v"], "d_t": w["way_t"]}
        s.call("velocities_along", {"q": w["y"], "p": v, "t": w["clock"]} | seeds)
        e.each(0, w["nv"], lambda i: s.put_number(s.number(w["buffer:v"], i * (1 + width)), w["moved"], i))
        seed(w["buffer:v"], w["way_v"], w["nv"], 1 + width, 1)
        return w["moved"]

    # the jump -----------------------------------------------------------------------------------------------------

    def _slopes(self) -> None:
        s, w = self.s, self.w
        s.derivative(w["new"], self.after, minimum(s.real("t") + self.h, s.real("latest")), along=self.along)
        s.derivative(w["y"], self.before, start_of_step(s), along=self.along)

    def _note(self, times: Callable[[Integer, int], Number], prepare: Callable[[Integer], None] | None = None) -> None:
        """dt*/dp of a surface, ``times(chunk, part)`` in vectors: the first one is kept, and others should be like it."""
        s, e, w = self.s, self.e, self.w
        first, kept = s.real("jumped") <= 0.0, w["passage_times"]

        def chunk(c: Integer, found: list[Number]) -> list[Number]:
            if prepare is not None:
                prepare(c)
            worst = found[0]
            for part in range(self.vectors):
                place = c * self.vectors + part
                own, other = times(c, part), kept[place]
                worst = maximum(worst, abs(own - other) - ALIKE * (abs(own) + abs(other) + self.h))
                kept[place] = first.select(own, other)
            return [worst]

        apart = s.largest(e.fold(0, w["tangent_chunks"], [0.0], chunk)[0]) > 0.0
        e.when(s.any(apart & ~first & self._steps_apart()), lambda: s.add_count("uncut"))
        s.set_real("jumped", 1.0)

    def _steps_apart(self) -> Condition:
        """Whether the slopes jump at all."""
        s, sizes = self.s, []
        for sign in (-1.0, 1.0):

            def size(i: Integer, sign: float = sign) -> Number:
                return abs(self.after[i] + sign * self.before[i])

            sizes.append(s.largest(s.folded(0, self.w["controlled"], size, maximum)))
        return sizes[0] > ALIKE * sizes[1]

    def _add(self) -> None:
        """(f- - f+) dt*/dp to the tangents of the new state."""
        s, e, w = self.s, self.e, self.w

        def chunk(c: Integer, dq: Address, dv: Address) -> None:
            for to, at, count in ((dq, 0, w["nq"]), (dv, w["v_start"], w["nv"])):

                def one(j: Integer, to: Address = to, at: Integer = at) -> None:
                    step = s.number(self.before, at + j) - s.number(self.after, at + j)
                    for part in range(self.vectors):
                        place = j * self.vectors + part
                        to[place] = to[place] + step * w["passage_times"][c * self.vectors + part]

                e.each(0, count, one)

        tangents.each_chunk(s, w["new"], chunk)


def _differ(a: Condition, b: Condition) -> Condition:
    return (a & ~b) | (~a & b)
