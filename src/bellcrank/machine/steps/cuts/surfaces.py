"""Steps are cut where a coordinate crosses a limit at which a force begins or ends.

A step that error control would take is looked at on its dense output, a polynomial for each coordinate. Surfaces out of reach
of the speeds at the stages are left alone: a first, coarse look at all coordinates at once costs next to nothing. If the
coordinate goes deeper beyond the surface than ``depth``, which is the tolerance, the step is taken again, to end just before
the surface; from there a short one ends just behind it. All stages of a longer step are thus on one side: of methods without
control of the error by a ``margin``, a part of the way, since their stages may go farther than their ends. Which side that is
follows from where the step begins, so that nothing is remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....kernels.executor import Integer
from ....numbers import Condition, Number, maximum, minimum, select
from .roots import NO_ROOT, STATE

if TYPE_CHECKING:
    from ..stepper import Stepper

_ROUNDING = 1e-14


class Surface:
    """One of the surfaces of a model, in a step of length h with slopes k at its stages."""

    def __init__(self, stepper: Stepper, i: Integer, h: Number):
        self.stepper, self.h, w = stepper, h, stepper.words
        self.place = w["surface_places"].integer(i)
        limit = stepper.number(w["surface_limits"], i)
        y = stepper.number(w["y"], self.place)
        self.before, self.after = y - limit, stepper.number(w["new"], self.place) - limit
        size = abs(limit) + abs(y) + abs(self.after)
        self.depth = stepper.real("atol") + (stepper.real("rtol") + _ROUNDING) * size

    def slope(self, k: Any) -> Number:
        return self.stepper.number(k, self.place)

    def near(self, slopes: list[Number]) -> Condition:
        """Whether the step may reach it: speeds between the stages may leave their range by as much as it is wide."""
        low = high = slopes[0]
        for slope in slopes[1:]:
            low, high = minimum(low, slope), maximum(high, slope)
        spread = high - low
        lowest = self.before + self.h * minimum(low - spread, 0.0)
        highest = self.before + self.h * maximum(high + spread, 0.0)
        return (lowest <= self.depth) & (highest >= -self.depth)

    def crossed(self, coefficients: list[Number]) -> Number:
        """The part of the step after which it is to be cut; NO_ROOT if it need not be.

        ``coefficients`` of x, x^2, ... on the way from its start.
        """
        s, e, p = self.stepper, self.stepper.e, self.stepper.words["polynomial"]
        side = select(self.before >= 0.0, 1.0, -1.0)
        away = side * self.before
        answer = len(coefficients) + STATE

        def root(offset: Number) -> None:
            s.put_number(away + offset, p, 0)
            e.call("first_root", [], {"p": p})

        for k, c in enumerate(coefficients, start=1):
            s.put_number(side * c, p, k)
        root(self.depth)
        deep = s.number(p, answer) <= 1.0
        aim = select(away > self.depth, -maximum(0.5 * self.depth, s.margin * away), 0.5 * self.depth)
        e.when(s.any(deep), lambda: root(aim))
        return select(deep, s.number(p, answer), NO_ROOT)


def near_surfaces(stepper: Stepper, h: Number) -> Condition:
    """Whether one of the surfaces may be within reach of the step, by the speeds at its first and last stage."""
    s, e, w = stepper, stepper.e, stepper.words
    y, new, (first, last) = w["y"], w["new"], s.outer_slopes()
    coarse = 4.0 * (s.real("rtol") + _ROUNDING)

    def layer(k: Integer, found: list[Number]) -> list[Number]:
        lower = w["gates"].at(k * 2 * w["w_start"])
        upper = lower.at(w["w_start"])

        def reached(i: Integer) -> Number:
            before, after = y[i], new[i]
            reach = 2.0 * h * (abs(first[i]) + abs(last[i])) + abs(after - before)
            gap = minimum(abs(before - lower[i]), abs(before - upper[i]))
            return select((reach + coarse * (abs(before) + reach) + s.real("atol")) >= gap, 1.0, 0.0)

        return [maximum(found[0], s.folded(0, w["controlled"], reached, maximum))]

    return s.largest(e.fold(0, w["gate_layers"], [0.0], layer)[0]) > 0.5


def find_cut(stepper: Stepper, h: Number) -> None:
    """``cut``: the smallest part of the step after which a surface is crossed, unless that is shorter than rounding allows."""
    s = stepper

    def look(i: Integer) -> None:
        surface = Surface(s, i, h)
        near = surface.near(s.slopes_at(surface))

        def search() -> None:
            found = surface.crossed(s.polynomial(surface))
            taken = near & (found * h > s.shortest())
            s.set_real("cut", select(taken, minimum(s.real("cut"), found), s.real("cut")))

        s.e.when(s.any(near), search)

    s.e.each(0, s.words["surfaces"], look)
