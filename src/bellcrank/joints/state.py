"""State: carries no body, only a user-defined number, which changes at a given rate (``[states]``).

Like a coordinate's velocity it has an entry in v, whose effort is its rate: its row has no mass and an armature of one. It has
nothing in q. Every formulation, method and derivative so takes it as it takes velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..constraints import Equation, Frame, Given
from ..numbers import Number
from ..spatial import Motion
from ..spatial.vector import ZERO
from .base import NO_DATA, Joint, JointData, JointMotion, coordinate_directions


@dataclass(frozen=True)
class State(Joint):
    """A user-defined state; ``unit`` is the user's, "" where none is given."""

    unit: str = ""

    kind = "state"
    mechanical = False
    q_names = ()
    q_units = ()
    v_names = ("",)

    @property
    def v_units(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.unit,)

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(ZERO, ())

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return coordinate_directions(5)

    @staticmethod
    def rates(q: Sequence[Number], v: Sequence[Number]) -> tuple[Number, ...]:
        return ()

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        return []
