"""Steps are cut where contacts begin or end and formulas have kinks: where one of the ``openings`` of a model changes its sign.

Unlike limits of coordinates (surfaces.py) these are any functions of the state, which a kernel evaluates along the dense output
of a step: at a few places between its ends, and where one of them has changed its sign, at those of a bisection. The step is
taken again, to end just before; from there a short one ends just behind. Where that does not get nearer, since states that
differ by less than their rounding have the same sign, the change is passed all the same. Where the sign changes back at once,
as that of a velocity at rest under a jump of friction does, steps are left to the control of their error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....kernels.executor import Address, Integer
from ....numbers import Number, maximum, minimum, negated, select
from .corners import start_of_step
from .roots import NO_ROOT

if TYPE_CHECKING:
    from ..stepper import Stepper

PLACES = 8  # in a step, at which the signs are looked at
HALVINGS = 36
CLOSE = 1e-10  # of a step: how far before and behind a change of sign steps end
APPROACHES = 3.0  # steps one after the other that end just before a change of sign, until one goes behind it
REST = 1e4  # times as much: the least time between two such cuts


def near_openings(stepper: Stepper, h: Number) -> Number:
    """More than zero where a sign may change, by the openings at both ends of the step and in its middle.

    It may not where the least of the three is larger than twice their spread.
    """
    s, e, w = stepper, stepper.e, stepper.words
    t, buffer = s.real("t"), w["buffer:opening"]
    for array, state, time in (
        ("opening_start", w["y"], start_of_step(s)),
        ("opening_middle", w["asked"], minimum(t + 0.5 * h, s.real("latest"))),
        ("", w["new"], minimum(t + h, s.real("latest"))),
    ):
        if array == "opening_middle":
            s.put_middle(h, state)
        _call(s, state, time)
        if array:
            e.each(0, w["openings"], lambda i, to=w[array]: s.put_number(s.number(buffer, i), to, i))

    def nearer(i: Integer, found: list[Number]) -> list[Number]:
        a, b, c = (s.number(array, i) for array in (w["opening_start"], w["opening_middle"], buffer))
        spread = maximum(maximum(a, b), c) - minimum(minimum(a, b), c)
        return [maximum(found[0], 2.0 * spread - minimum(minimum(abs(a), abs(b)), abs(c)))]

    return e.fold(0, w["openings"], [-1e300], nearer)[0]


def find_opening(stepper: Stepper, h: Number) -> None:
    """``cut``: the part of the step before, or just behind, the first change of a sign; near_openings has been asked."""
    s, e = stepper, stepper.e
    s.set_real("opening_low", 0.0)
    s.set_real("opening_high", NO_ROOT)

    def look(k: Integer) -> None:
        x = e.number_of(k) * (1.0 / PLACES)
        low, high = s.real("opening_low"), s.real("opening_high")
        changed = _evaluate(s, h, x) < 0.0
        fresh = s.real("opening_high") > 1.5
        s.set_real("opening_high", select(fresh & changed, x, high))
        s.set_real("opening_low", select(fresh & negated(changed), x, low))

    e.each(1, PLACES + 1, look)
    e.when(s.any(s.real("opening_high") <= 1.0), lambda: _cut(s, h))


def _cut(s: Stepper, h: Number) -> None:
    def halve(k: Integer) -> None:
        low, high = s.real("opening_low"), s.real("opening_high")
        middle = 0.5 * (low + high)
        changed = _evaluate(s, h, middle) < 0.0
        inside = high <= 1.0
        s.set_real("opening_high", select(inside & changed, middle, s.real("opening_high")))
        s.set_real("opening_low", select(inside & negated(changed), middle, s.real("opening_low")))

    s.e.each(0, HALVINGS, halve)
    low, high, t = s.real("opening_low"), s.real("opening_high"), s.real("t")
    close = maximum(s.close * maximum(h, s.real("full")), 4.0 * s.shortest())
    part = close / h
    again = abs(t - s.real("approached")) <= 4.0 * close
    soon = (high * h <= 4.0 * close) | (again & (s.real("approaches") >= s.approaches))
    rests = soon & (t - s.real("opened") < REST * close)
    found = select(soon, high + part, (1.0 - s.margin) * low - part)
    taken = (high <= 1.0) & (found < 1.0) & (found * h > s.shortest()) & negated(rests)
    before, approaches = taken & negated(soon), s.real("approaches")
    s.set_real("approaches", select(before, select(again, approaches + 1.0, 0.0), approaches))
    s.set_real("approached", select(before, t + found * h, s.real("approached")))
    s.set_real("opened", select((high <= 1.0) & soon & negated(rests), t, s.real("opened")))
    s.set_real("cut", select(taken, minimum(s.real("cut"), found), s.real("cut")))


def _evaluate(s: Stepper, h: Number, x: Number) -> Number:
    """The openings at a part of the step; the least of them, counted as positive on the side where the step begins."""
    w = s.words
    state, buffer = w["asked"], w["buffer:opening"]
    s.put_inside(h, x, state)
    _call(s, state, minimum(s.real("t") + x * h, s.real("latest")))

    def least(i: Integer, found: list[Number]) -> list[Number]:
        side = select(s.number(w["opening_start"], i) >= 0.0, 1.0, -1.0)
        return [minimum(found[0], side * s.number(buffer, i))]

    return s.e.fold(0, w["openings"], [1e300], least)[0]


def _call(s: Stepper, state: Address, time: Number) -> None:
    w = s.words
    s.set_clock(time)
    arrays = {"q": state, "v": s.velocities_of(state), "t": w["clock"], "u": w["u"], "opening": w["buffer:opening"]}
    s.call("openings", arrays)
