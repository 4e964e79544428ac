"""Anchors of friction that holds (forces.joint_stiction) are drawn along at the end of a step.

They are inputs of the kernels, and at the end of every state too, where their rate is zero: so samples have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....forces.joint_stiction import TINY
from ....kernels.llvm.flow import each
from ....numbers import Condition, maximum, minimum

if TYPE_CHECKING:
    from ..stepper import Stepper


def draw_anchors(stepper: Stepper, where: Condition) -> None:
    """Where a step was taken: within their reach of the coordinates in y."""
    s, e, w = stepper, stepper.e, stepper.words

    def one(i: str) -> None:
        q, reach = s.number(w["y"], e.load_int(w["anchor_places"], i)), s.number(w["anchor_reach"], i)
        at = e.load_int(w["anchor_inputs"], i)
        before = s.number(w["u"], at)
        drawn = maximum(minimum(before, q + reach), q - reach)
        anchor = where.select((abs(drawn) > TINY).select(drawn, TINY), before)
        s.put_number(anchor, w["u"], at)
        s.put_number(anchor, w["y"], e.integer("add", w["anchor_start"], i))

    each(e, 0, w["anchors"], one)
