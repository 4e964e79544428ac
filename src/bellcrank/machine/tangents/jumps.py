"""Jumps of tangents, where the equations of motion jump at a surface that the run crosses.

A force that begins at once where g(y, t, p) = 0 is passed at a time t*(p), and the tangents behind it are

    dy+ = dy- + (f- - f+) dt*/dp,      dt*/dp = -(dg/dp)/(dg/dt)

with dg/dp along the tangents of the state, and dg/dt along the motion before it. Steps end just before and just behind such
surfaces (steps.cuts): the jump is added in the short step between, with the slopes at its ends. Where the equations only have
a kink the slopes are the same, and nothing is added. Crossings in a step that is not short, since steps may not be cut again
and again, are counted (``uncut``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...kernels.executor import Address, Integer
from ...numbers import Condition, Number, maximum
from ..steps.memory import WIDE
from . import steps as tangents

if TYPE_CHECKING:
    from ..steps.stepper import Stepper

SHORT = 1e-3  # of the steps before: a longer one is not taken for a passage
NEAR = 10.0  # times the tolerance: ends of a step on either side of a limit that are a passage, however long it took
STILL = 1e-12  # a rate of g at which no time can be given, as that of what is constant on either side


def jump(stepper: Stepper, h: Number, full: Number, where: Condition) -> None:
    """In the step from ``y`` to ``new``, of length h, where it is accepted; ``full`` is the length before it was cut.

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

    def look(self) -> None:
        e, w = self.e, self.w
        e.each(0, w["surfaces"], self._surface)
        if "d_openings" in self.s.called:
            self._openings()

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
        limits = w["surface_tangents"].at(i * self._numbers())

        def times(c: Integer, part: int) -> Number:
            own, rate = limits[self._vector(c, part)], s.number(self.before, place)
            return (abs(rate) > STILL).select((own - self._tangent(c, place, part)) / rate, 0.0)

        def act() -> None:
            self._slopes()
            self._add(times)

        size = s.real("atol") + s.real("rtol") * (abs(limit) + abs(s.number(w["y"], place)))
        near = abs(gaps[1] - gaps[0]) <= NEAR * size
        self._passed(_differ(gaps[0] >= 0.0, gaps[1] >= 0.0), act, near)

    # openings -----------------------------------------------------------------------------------------------------

    def _openings(self) -> None:
        s, e, w = self.s, self.e, self.w
        buffer, arrays = w["buffer:opening"], self._arrays(w["new"])
        s.set_clock(s.real("t") + self.h)
        s.call("openings", arrays)
        e.each(0, w["openings"], lambda i: s.put_number(s.number(buffer, i), w["opening_middle"], i))
        s.set_clock(s.real("t"))
        s.call("openings", self._arrays(w["y"]))
        e.each(0, w["openings"], lambda i: s.put_number(s.number(buffer, i), w["opening_start"], i))

        def one(i: Integer) -> None:
            sides = [s.number(w[name], i) >= 0.0 for name in ("opening_start", "opening_middle")]
            self._passed(_differ(*sides), lambda: self._opening(i))

        e.each(0, w["openings"], one)

    def _arrays(self, state: Address) -> dict[str, Any]:
        w = self.w
        return {"q": state, "v": state.at(w["v_start"]), "t": w["clock"], "u": w["u"]}

    def _opening(self, i: Integer) -> None:
        """Any function of the state, by the kernel on dual numbers: along the motion, then along the parameters."""
        s, e, w = self.s, self.e, self.w
        self._slopes()
        self._directions()
        seeds = {"d_q": w["way_q"], "d_v": w["way_v"], "d_t": w["way_t"]}
        s.call("openings_along", self._arrays(w["y"]) | seeds)
        unit = 1 + s.called["openings_along"].tangents
        first = i * unit + 1
        s.set_real("rate_of_gap", s.number(w["buffer:opening"], first))
        rate = s.real("rate_of_gap")
        known = abs(rate) > STILL

        def act() -> None:
            def times(c: Integer, part: int) -> Number:
                place = i * (1 + s.tangents) + 1 + part * WIDE
                return -w["buffer:opening"].at(place).vector() / rate

            def gaps(c: Integer) -> None:
                dq, dv = tangents.parts(s, w["new"], c)
                tangents.call(s, "d_openings", c, self._arrays(w["y"]) | {"d_q": dq, "d_v": dv})

            self._add(times, gaps)

        e.when(s.any(known), act, lambda: s.add_count("uncut"))

    def _directions(self) -> None:
        """The motion, as the first of the tangents of ``openings_along``."""
        s, e, w = self.s, self.e, self.w
        wide = s.called["openings_along"].tangents
        speeds = self.before.at(w["v_start"])
        for source, to, count in ((self.before, "way_q", w["nq"]), (speeds, "way_v", w["nv"])):

            def one(i: Integer, source: Address = source, to: Address = to) -> None:
                s.put_number(s.number(source, i), w[to], i * wide)

            e.each(0, count, one)
        s.put_number(1.0, w["way_t"], 0)

    # the jump -----------------------------------------------------------------------------------------------------

    def _slopes(self) -> None:
        s, w, t = self.s, self.w, self.s.real("t")
        s.derivative(w["y"], self.before, t)
        s.derivative(w["new"], self.after, t + self.h)
        s.set_clock(t)

    def _numbers(self) -> Integer:
        return self.w["tangent_chunks"] * self.s.tangents

    def _vector(self, c: Integer, part: int) -> Integer:
        per = self.s.tangents // WIDE
        return c * per + part

    def _tangent(self, c: Integer, place: Any, part: int) -> Number:
        """Of a coordinate of the new state: a vector of its tangents."""
        s = self.s
        dq, _ = tangents.parts(s, self.w["new"], c)
        vector = place * s.tangents // WIDE + part
        return dq[vector]

    def _add(self, times: Callable[[str, int], Number], prepare: Callable[[Any], None] | None = None) -> None:
        """(f- - f+) dt*/dp to the tangents of the new state; ``times(chunk, part)``: vectors of dt*/dp."""
        s, e, w = self.s, self.e, self.w
        s.set_real("jumped", 1.0)
        per = s.tangents // WIDE

        def chunk(c: Integer, dq: Address, dv: Address) -> None:
            if prepare is not None:
                prepare(c)
            found = [times(c, part) for part in range(per)]
            for to, at, count in ((dq, 0, w["nq"]), (dv, w["v_start"], w["nv"])):

                def one(j: Integer, to: Address = to, at: Integer = at) -> None:
                    place = at + j
                    step = s.number(self.before, place) - s.number(self.after, place)
                    for part, x in enumerate(found):
                        vector = j * per + part
                        to[vector] = to[vector] + step * x

                e.each(0, count, one)

        tangents.each_chunk(s, w["new"], chunk)


def _differ(a: Condition, b: Condition) -> Condition:
    return (a & ~b) | (~a & b)
