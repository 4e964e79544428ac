"""Fixed: the child is part of its parent; kept as a joint so that its reaction can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..numbers import Number
from ..spatial import Motion
from ..spatial.vector import ZERO
from .base import Joint, JointMotion, Rest


class Fixed(Joint):
    kind = "fixed"
    nq, nv = 0, 0
    neutral: ClassVar[tuple[float, ...]] = ()
    q_names: ClassVar[tuple[str, ...]] = ()
    v_names: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def motion(q: Sequence[Number], rest: Rest) -> JointMotion:
        return JointMotion(ZERO, ())

    @staticmethod
    def directions(q: Sequence[Number]) -> tuple[Motion, ...]:
        return ()
