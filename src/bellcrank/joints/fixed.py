"""Fixed: the child is part of its parent; kept as a joint so that its reaction can be asked for."""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Equation, Frame, Given, X, Y, Z, d1, points_meet
from ..numbers import Number
from ..spatial import Motion
from ..spatial.vector import ZERO
from .base import NO_DATA, Joint, JointData, JointMotion


class Fixed(Joint):
    kind = "fixed"
    q_names = ()
    q_units = ()
    mjcf = ()
    mjcf_loop = "weld"
    urdf = (("fixed", ""),)

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(ZERO, ())

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return ()

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        turns = [d1(i, j, i.axis(a), j.axis(b)) for a, b in ((X, Y), (Y, Z), (Z, X))]
        return points_meet(i, j, given) + turns
