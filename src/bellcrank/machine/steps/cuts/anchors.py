"""Anchors of friction that holds (forces.joint_stiction) are dragged along at the end of a step.

They are inputs of the kernels, and at the end of every state too, where their rate is zero: so samples have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....forces.joint_stiction import TINY
from ....kernels.executor import Integer
from ....numbers import Condition, maximum, minimum, select

if TYPE_CHECKING:
    from ..stepper import Stepper


def draw_anchors(stepper: Stepper, where: Condition) -> None:
    """Where a step was taken, moves anchors to within their reach of the coordinates in y."""
    s, w = stepper, stepper.words

    def one(i: Integer) -> None:
        q, reach = s.number(w["y"], w["anchor_places"].integer(i)), s.number(w["anchor_reach"], i)
        at = w["anchor_inputs"].integer(i)
        before = s.number(w["u"], at)
        drawn = maximum(minimum(before, q + reach), q - reach)
        anchor = select(where, select(abs(drawn) > TINY, drawn, TINY), before)
        s.put_number(anchor, w["u"], at)
        s.put_number(anchor, w["y"], w["anchor_start"] + i)

    s.e.each(0, w["anchors"], one)
