"""Steps are cut where a coordinate crosses a limit at which a force begins or ends.

A step that error control would take is looked at on its dense output, a polynomial for each coordinate. Surfaces out of reach
of the speeds at the stages are left alone: a first, coarse look at all coordinates at once costs next to nothing. If the
coordinate goes deeper beyond the surface than ``depth``, which is the tolerance, the step is taken again, to end just before
the surface; from there a short one ends just behind it. All stages of a longer step are thus on one side. Which side that is
follows from where the step begins, so that nothing is remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....kernels.llvm.flow import each, total, when
from ....numbers import Condition, Number, Symbol, maximum, minimum
from .roots import NO_ROOT, STATE

if TYPE_CHECKING:
    from ..stepper import Stepper

_ROUNDING = 1e-14


class Surface:
    """One of the surfaces of a model, in a step of length h with slopes k at its stages."""

    def __init__(self, stepper: Stepper, i: str, h: Number):
        self.stepper, self.h, w = stepper, h, stepper.words
        e = stepper.e
        self.place = e.load_int(w["surface_places"], i)
        limit = stepper.number(w["surface_limits"], i)
        y = stepper.number(w["y"], self.place)
        self.before, self.after = y - limit, stepper.number(w["new"], self.place) - limit
        size = abs(limit) + abs(y) + abs(self.after)
        self.depth = stepper.real("atol") + (stepper.real("rtol") + _ROUNDING) * size

    def slope(self, k: str) -> Symbol:
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

    def crossed(self, coefficients: list[Number]) -> Symbol:
        """The part of the step after which it is to be cut; NO_ROOT if it need not be.

        ``coefficients`` of x, x^2, ... on the way from its start.
        """
        s, e, p = self.stepper, self.stepper.e, self.stepper.words["polynomial"]
        side = (self.before >= 0.0).select(1.0, -1.0)
        away = side * self.before
        answer = len(coefficients) + STATE

        def root(offset: Number) -> None:
            s.put_number(away + offset, p, 0)
            e.do(f"call void @first_root(ptr {p})")
            e.forget()

        for k, c in enumerate(coefficients, start=1):
            s.put_number(side * c, p, k)
        root(self.depth)
        deep = s.number(p, answer) <= 1.0
        aim = (away > self.depth).select(-0.5 * self.depth, 0.5 * self.depth)
        when(e, s.any(deep), lambda: root(aim))
        return deep.select(s.number(p, answer), NO_ROOT)


def near_surfaces(stepper: Stepper, h: Number) -> Condition:
    """Whether one of the surfaces may be within reach of the step, by the speeds at its first and last stage."""
    s, e, w = stepper, stepper.e, stepper.words
    vectors, (first, last) = w["controlled"], s.outer_slopes()
    coarse = 4.0 * (s.real("rtol") + _ROUNDING)

    def layer(k: str, found: str) -> str:
        lower = e.pointer(w["gates"], e.integer("mul", e.integer("mul", k, 2), w["w_start"]))
        upper = e.pointer(lower, w["w_start"])

        def reached(i: str) -> Number:
            y, new = s.get(w["y"], i), s.get(w["new"], i)
            reach = 2.0 * h * (abs(s.get(first, i)) + abs(s.get(last, i))) + abs(new - y)
            gap = minimum(abs(y - s.get(lower, i)), abs(y - s.get(upper, i)))
            return ((reach + coarse * (abs(y) + reach) + s.real("atol")) >= gap).select(1.0, 0.0)

        return e.operand(maximum(e.symbol(found), e.symbol(s.folded(0, vectors, reached, maximum))))

    return s.largest(total(e, 0, w["gate_layers"], e.constant(0.0), layer)) > 0.5


def find_cut(stepper: Stepper, h: Number) -> None:
    """``cut``: the smallest part of the step after which a surface is crossed, unless that is shorter than rounding allows."""
    s = stepper

    def look(i: str) -> None:
        surface = Surface(s, i, h)
        near = surface.near(s.slopes_at(surface))

        def search() -> None:
            found = surface.crossed(s.polynomial(surface))
            taken = near & (found * h > s.shortest())
            s.set_real("cut", taken.select(minimum(s.real("cut"), found), s.real("cut")))

        when(s.e, s.any(near), search)

    each(s.e, 0, s.words["surfaces"], look)
