"""Coordinates as sums of two numbers: what rounding cuts off is carried along to the next step (compensated summation).

The angle of a crank that has gone round a thousand times is rounded to 1e-12 rad. A push that closes a loop over a step h
would answer to this rounding with impulses of its size over h, at random, and the energy would wander. So the rest of each
coordinate, what q + h v has too much for a double, is kept beside it, and closures are those of q and its rest:

    phi(q + rest) = phi(q) + G rest

word          meaning                                                          numbers
rest          of the state ``y``, of the start of a part, and of its end       nv each, zero where the rate is not a velocity

Source: O. Moller, Quasi double-precision in floating point addition, BIT 5 (1965); E. Hairer, C. Lubich & G. Wanner,
Geometric Numerical Integration, 2006, VIII.5. Property: start + step = sum + rest exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....kernels.executor import Address, Integer
from ....numbers import Number, Symbol

if TYPE_CHECKING:
    from ..stepper import Stepper


def sum_and_rest(start: Number, step: Number) -> tuple[Number, Number]:
    """Their rounded sum, and exactly what it lacks.   Moller (1965), Knuth"""
    found = start + step
    added = found - start
    return found, (start - (found - added)) + (step - added)


def over_scalars(s: Stepper, act: Callable[[Any, Any], None]) -> None:
    """act(place in q, place in v) of every coordinate whose rate is its velocity."""
    e, table = s.e, s.words["scalars"]

    def one(i: Integer) -> None:
        first = i * 2
        act(table.integer(first), table.integer(first + 1))

    e.each(0, s.words["scalar_count"], one)


def move_with_rest(s: Stepper, start: Any, part: Number, into: Address) -> None:
    """Scalar coordinates of ``into``: those of ``start`` and their rest, moved by a part of the slopes; its rest."""
    w = s.words

    def one(q: Integer, v: Integer) -> None:
        step = part * s.number(s.k[0], q) + s.number(w["rest_at_start"], v)
        moved, rest = sum_and_rest(s.number(start, q), step)
        s.put_number(moved, into, q)
        s.put_number(rest, w["rest_at_end"], v)

    over_scalars(s, one)


def take_rest(s: Stepper, source: Address, to: Address) -> None:
    w = s.words
    s.fill(w[to], w[source].__getitem__, 0, s.vectors("kept_row_width"))


def error_of_rest(s: Stepper, rows: Address, r: Integer) -> Symbol:
    """The part of the error of closure r that comes from the rest at the end of a part: G rest."""
    w, width = s.words, s.vectors("kept_row_width")

    def product(i: Integer) -> Number:
        return rows[r * width + i] * w["rest_at_end"][i]

    return s.added_up(s.folded(0, width, product, lambda a, b: a + b))
