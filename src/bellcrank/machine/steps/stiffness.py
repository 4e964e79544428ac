"""Hairer's test of stiffness, in the loops that adapt their step.   Hairer & Wanner, Solving ODEs II, IV.2

The last two stages of a step are both at its end, with states y_a and y_b that differ a little. From them the fastest rate
lambda at which the motion can die out is known without a further evaluation:

    h lambda = h |f(y_b) - f(y_a)| / |y_b - y_a|,     y_b - y_a = h sum_j (b_j - a_j) k_j

Where accuracy decides on the step, h lambda is about 1 or less. A step at which it is at the end of the method's stability on
the negative real axis (``RungeKutta.stable``) is short for the sake of stability alone. SUSPICIONS such steps, with fewer than
CALM others in a row between, make a run stiff. One step in EVERY is looked at, and all steps once there is a suspicion. The
host hears of it right after the step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...integrate import RungeKutta
from ...integrate.runge_kutta import Row
from ...numbers import Condition, minimum, select, sqrt

if TYPE_CHECKING:
    from .adaptive import AdaptiveStepper

SUSPICIONS, CALM = 15, 6
EVERY = 16


def last_difference(method: RungeKutta) -> Row:
    """Weights of y_b - y_a: of the new state less that of the last stage before it."""
    last = method.A[-1]
    return tuple(b - a for b, a in zip(method.b, (*last, *[0.0] * len(method.b)), strict=False))


def notice_stiffness(stepper: AdaptiveStepper, good: Condition) -> None:
    """After a step that is good in some places, while its stages are still there."""
    s = stepper
    undecided = (s.real("suspicions") > 0.0) & (s.real("stiff_time") > s.real("end"))
    due = good & ((s.real("unseen") <= 0.0) | undecided)
    s.set_real("unseen", select(due, EVERY - 1.0, s.real("unseen") - select(good, 1.0, 0.0)))
    s.e.when(s.any(due), lambda: _look(stepper, due))


def _look(s: AdaptiveStepper, good: Condition) -> None:
    assert s.method.stable is not None
    last, size = s.stages - 1, s.words["controlled"]
    slopes = s.sum_of_squares(lambda i: s.k[last][i] - s.k[last - 1][i], 0, size)
    states = s.sum_of_squares(lambda i: s.combination(last_difference(s.method), i), 0, size)
    suspicious = (slopes > s.method.stable**2 * states) & good
    calm = s.real("calm") + select(good, 1.0, 0.0)
    suspicions = select(calm >= float(CALM), 0.0, s.real("suspicions"))
    suspicions = select(suspicious, s.real("suspicions") + 1.0, suspicions)
    undecided = s.real("stiff_time") > s.real("end")
    s.set_real("rate", select(suspicious & undecided, sqrt(slopes / states) / s.real("h"), s.real("rate")))
    stiff = suspicions >= float(SUSPICIONS)
    s.e.when(s.any(stiff & undecided), lambda: s.set_count("budget", 0))
    s.set_real("stiff_time", select(stiff, minimum(s.real("stiff_time"), s.real("t")), s.real("stiff_time")))
    s.set_real("suspicions", suspicions)
    s.set_real("calm", select(suspicious, 0.0, calm))
