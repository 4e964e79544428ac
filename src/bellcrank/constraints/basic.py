"""The four basic constraints between two bodies i and j: d1, d2, s, ss.

Source: Kang & Yoon, tables 1 to 4, corrected as in EQUATIONS 1.6. The tables differ only in the point at which a body's
acceleration is taken. Here it is taken at the constrained point p itself, where most of their terms vanish:

    n_i . alpha_i + f_i . p_i'' + n_j . alpha_j + f_j . p_j'' = gamma

At another point of the body, from which p is seen at s, p'' = (that point's) + alpha x s + w x s', and the equation has

    n + s x f  instead of n,    gamma - f . (w x s')  instead of gamma                     tables 1 to 4

code    paper     meaning, in the ground's axes                          unit
p_ij    p_ij      p_j - p_i                                              m
n, f    Phi_Z     rows of the Jacobian: on the angular, the linear part
gamma   gamma     right-hand side, of velocities only
error             what the equation demands to be zero
rate              its time derivative
"""

from __future__ import annotations

from typing import NamedTuple

from ..numbers import Number
from ..spatial import Force, Matrix, Motion, Vector
from ..spatial.vector import ZERO


class Frame(NamedTuple):
    """A point and axes on a body that close a loop; ``known`` is an acceleration relative to the body that is prescribed."""

    A: Matrix  # columns: the axes
    p: Vector
    pdot: Vector
    w: Vector
    known: Motion = Motion.zero()

    def axis(self, k: int) -> Vector:
        return Vector(self.A.x[k], self.A.y[k], self.A.z[k])

    @property
    def velocity(self) -> Motion:
        return Motion(self.w, self.pdot)


class Equation(NamedTuple):
    on_i: Force
    on_j: Force
    gamma: Number
    error: Number
    rate: Number


class Law(NamedTuple):
    """A value that may be prescribed: with its first and second time derivatives."""

    value: Number
    slope: Number = 0.0
    bend: Number = 0.0


NOTHING = Law(0.0)


def _equation(i: Frame, j: Frame, on_i: Force, on_j: Force, gamma: Number, error: Number, law_rate: Number = 0.0) -> Equation:
    rate = i.velocity.dot(on_i) + j.velocity.dot(on_j) - law_rate
    known = i.known.dot(on_i) + j.known.dot(on_j)
    return Equation(on_i, on_j, gamma - known, error, rate)


def d1(i: Frame, j: Frame, a_i: Vector, a_j: Vector) -> Equation:
    """Two directions stay perpendicular: a_i . a_j = 0."""
    n = a_i.cross(a_j)
    adot_i, adot_j = i.w.cross(a_i), j.w.cross(a_j)
    gamma = -(a_j.dot(i.w.cross(adot_i)) + 2.0 * adot_i.dot(adot_j) + a_i.dot(j.w.cross(adot_j)))
    return _equation(i, j, Force(n, ZERO), Force(-n, ZERO), gamma, a_i.dot(a_j))


def d2(i: Frame, j: Frame, a_i: Vector, along: Law = NOTHING) -> Equation:
    """A direction of i stays perpendicular to the way from p_i to p_j, or p_j is ``along`` it: a_i . p_ij = along."""
    p_ij, pdot_ij = j.p - i.p, j.pdot - i.pdot
    adot_i = i.w.cross(a_i)
    gamma = -(p_ij.dot(i.w.cross(adot_i)) + 2.0 * pdot_ij.dot(adot_i)) + along.bend
    return _equation(i, j, Force(a_i.cross(p_ij), -a_i), Force(ZERO, a_i), gamma, a_i.dot(p_ij) - along.value, along.slope)


def s(i: Frame, j: Frame, e: Vector) -> Equation:
    """Two points coincide, p_ij = 0: its component along a direction e of ground."""
    return _equation(i, j, Force(ZERO, -e), Force(ZERO, e), 0.0, e.dot(j.p - i.p))


def ss(i: Frame, j: Frame, length: Law) -> Equation:
    """Two points stay ``length`` apart: p_ij . p_ij = L^2."""
    p_ij, pdot_ij = j.p - i.p, j.pdot - i.pdot
    p2 = p_ij * 2.0
    L, slope, bend = length
    gamma = -2.0 * pdot_ij.dot(pdot_ij) + 2.0 * (slope * slope + L * bend)
    return _equation(i, j, Force(ZERO, -p2), Force(ZERO, p2), gamma, p_ij.dot(p_ij) - L * L, 2.0 * L * slope)
