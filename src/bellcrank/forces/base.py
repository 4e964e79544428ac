"""The interface of a force element: the quantities that it is given and those that it returns, over any kind of number.

Every element says the energy that it stores and the power that it takes from elsewhere (negative: dissipates), so that

    d/dt (kinetic + potential + stored energy) = sum of the powers + power of drives and of applied efforts
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, NamedTuple

from ..numbers import Number
from ..numbers.spline import Curve
from ..spatial import Force, Matrix, Motion, Vector


class JointState(NamedTuple):
    """One coordinate of a joint; ``q`` is None where the velocity is not the rate of a coordinate."""

    q: Number
    v: Number


class Effort(NamedTuple):
    effort: Number
    energy: Number
    power: Number


class BodyState(NamedTuple):
    """A body in the ground's axes: its axes, origin, angular velocity, velocity of the origin.

    ``known``, where a program asks for it: the acceleration, of the origin too, that velocities bring about.
    """

    R: Matrix
    r: Vector
    w: Vector
    v: Vector
    known: Motion | None = None

    def point(self, p: Vector) -> tuple[Vector, Vector, Vector]:
        """Arm from the origin, position and velocity of a point fixed in the body."""
        arm = self.R @ p
        return arm, self.r + arm, self.v + self.w.cross(arm)

    @classmethod
    def ground(cls) -> BodyState:
        zero = Vector(0.0, 0.0, 0.0)
        return cls(Matrix.identity(), zero, zero, zero)


class Wrenches(NamedTuple):
    """Wrenches on the two bodies, in the ground's axes at their origins; ``force`` is the element's own measure."""

    on_a: Force
    on_b: Force
    energy: Number
    power: Number
    force: Number


class Settings(NamedTuple):
    """The numbers of an element: its values by name, the time, its input, its table, and what changes its sign at the breaks
    of the table."""

    value: Callable[[str], Number]
    t: Number
    u: Number
    table: Callable[[Number], Curve] | None
    table_gates: Callable[[Number], list[Number]]
    point_a: Vector
    point_b: Vector
    axes_a: Matrix
    axes_b: Matrix


class JointForce:
    """An element on one coordinate of a joint."""

    kind: ClassVar[str]
    values: ClassVar[tuple[str, ...]]
    gates: ClassVar[int] = 0  # numbers of ``openings``
    watches_table: ClassVar[bool] = False

    @staticmethod
    def effort(state: JointState, given: Settings) -> Effort:
        raise NotImplementedError

    @staticmethod
    def openings(state: JointState, given: Settings) -> list[Number]:
        """Numbers that change their sign where the force begins or ends, or has a kink."""
        return []


class BodyForce:
    """An element between two bodies, or on one."""

    kind: ClassVar[str]
    values: ClassVar[tuple[str, ...]]
    gates: ClassVar[int] = 0
    watches_table: ClassVar[bool] = False  # ``openings`` has the table's gates too: its argument is of the state

    @staticmethod
    def wrenches(a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        raise NotImplementedError

    @staticmethod
    def openings(a: BodyState, b: BodyState, given: Settings) -> list[Number]:
        """As of an element on a joint."""
        return []
