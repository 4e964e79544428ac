"""Fixed: the child is part of its parent; kept as a joint so that its reaction can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..numbers import Number
from ..spatial import Motion
from ..spatial.vector import ZERO
from .base import NO_DATA, Joint, JointData, JointMotion


class Fixed(Joint):
    kind = "fixed"
    nq, nv = 0, 0
    neutral: ClassVar[tuple[float, ...]] = ()
    q_names: ClassVar[tuple[str, ...]] = ()
    v_names: ClassVar[tuple[str, ...]] = ()
    q_units: ClassVar[tuple[str, ...]] = ()
    v_units: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(ZERO, ())

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return ()
