"""Motions (angular w, linear v) and forces (moment n, force f): the two kinds of six-vector."""

from __future__ import annotations

from typing import NamedTuple

from ..numbers import Number
from .vector import ZERO, Vector


class Motion(NamedTuple):
    """A velocity, an acceleration, or a direction of motion, of a body at its origin."""

    w: Vector
    v: Vector

    def __add__(self, other: Motion) -> Motion:  # type: ignore[override]
        return Motion(self.w + other.w, self.v + other.v)

    def __mul__(self, scalar: Number) -> Motion:
        return Motion(self.w * scalar, self.v * scalar)

    def __rmul__(self, scalar: Number) -> Motion:
        return self * scalar

    def dot(self, force: Force) -> Number:
        """Power of a force on this motion."""
        return self.w.dot(force.n) + self.v.dot(force.f)

    @classmethod
    def zero(cls) -> Motion:
        return cls(ZERO, ZERO)


class Force(NamedTuple):
    """A wrench at a body's origin, or a momentum."""

    n: Vector
    f: Vector

    def __add__(self, other: Force) -> Force:  # type: ignore[override]
        return Force(self.n + other.n, self.f + other.f)

    def __sub__(self, other: Force) -> Force:
        return Force(self.n - other.n, self.f - other.f)

    def __mul__(self, scalar: Number) -> Force:
        return Force(self.n * scalar, self.f * scalar)

    def __rmul__(self, scalar: Number) -> Force:
        return self * scalar

    @classmethod
    def zero(cls) -> Force:
        return cls(ZERO, ZERO)
