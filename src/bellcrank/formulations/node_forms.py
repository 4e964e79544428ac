"""What the motion of a node takes, as a quadratic form in its unknowns; and eliminating them.   EQUATIONS 3.10"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..numbers import Number
from ..spatial import ArticulatedInertia, Force, FullTurn, Motion, RigidInertia, Transform, Vector
from ..spatial.small import substituted
from .base import Placed
from .node_places import Rows

Bias = Callable[[Any, Placed, RigidInertia], Force]


class Form(NamedTuple):
    """What a node's motion takes: 1/2 (A y)^T [I U; U^T D] (A y) + P A - d y, A the acceleration of the base.

    Of a node on ground, whose acceleration is known, only D and d are there.
    """

    I: RigidInertia  # noqa: E741
    P: Force
    U: tuple[Force, ...]
    D: tuple[tuple[Number, ...], ...]  # lower triangle
    d: tuple[Number, ...]


class Sums:
    """Adds up a Form over motions A_i = A + J_i y + c_i."""

    def __init__(self, size: int, on_ground: bool) -> None:
        self.on_ground = on_ground
        self.I, self.P = RigidInertia.zero(), Force.zero()
        self.U = [Force.zero() for _ in range(size)]
        self.D: Rows = [[0.0] * (a + 1) for a in range(size)]
        self.d: list[Number] = [0.0] * size

    def add_body(self, body: Any, at: Placed, J: Sequence[Motion], c: Motion, bias: Bias) -> None:
        inertia = Transform((), at.p, (FullTurn(at.R),)).up_rigid(body.inertia)
        self.add(inertia, (inertia @ c) + bias(body, at, inertia), J)
        if not self.on_ground:
            self.I = self.I + inertia

    def add(self, inertia: RigidInertia | ArticulatedInertia, h: Force, J: Sequence[Motion]) -> None:
        for a, J_a in enumerate(J):
            felt = inertia @ J_a
            self.d[a] = self.d[a] - J_a.dot(h)
            for b in range(a + 1):
                self.D[a][b] = self.D[a][b] + J[b].dot(felt)
            if not self.on_ground:
                self.U[a] = self.U[a] + felt
        if not self.on_ground:
            self.P = self.P + h

    def add_joint(self, N: Sequence[Number], effort: Number, armature: Number) -> None:
        for a, N_a in enumerate(N):
            self.d[a] = self.d[a] + N_a * effort
            for b in range(a + 1):
                self.D[a][b] = self.D[a][b] + N_a * armature * N[b]

    def form(self) -> Form:
        return Form(self.I, self.P, tuple(self.U), tuple(tuple(row) for row in self.D), tuple(self.d))


def bias_force(body: Any, at: Placed, inertia: RigidInertia) -> Force:
    """V x* I V, less what force elements give."""
    momentum, V = inertia @ at.V, at.V
    n, f = body.applied
    pushed = at.R @ f
    gyroscopic = Force(V.w.cross(momentum.n) + V.v.cross(momentum.f), V.w.cross(momentum.f))
    return gyroscopic - Force((at.R @ n) + at.p.cross(pushed), pushed)


def resumed(form: Form, on_ground: bool) -> Sums:
    sums = Sums(len(form.d), on_ground)
    sums.P, sums.U, sums.d = form.P, list(form.U), list(form.d)
    sums.D = [list(row) for row in form.D]
    return sums


def gains(factors: Any, U: Sequence[Force]) -> tuple[Force, ...]:
    """D^-1 U^T, a wrench for each y."""
    columns = [substituted(factors, [u[part][k] for u in U]) for part in (0, 1) for k in range(3)]
    return tuple(Force(Vector(*[x[a] for x in columns[:3]]), Vector(*[x[a] for x in columns[3:]])) for a in range(len(U)))


def message(
    I: ArticulatedInertia,  # noqa: E741
    P: Force,
    U: Sequence[Force],
    gain: Sequence[Force],
    free: Sequence[Number],
) -> tuple[ArticulatedInertia, Force]:
    """I - U D^-1 U^T, P + U D^-1 d."""
    for u, g, e in zip(U, gain, free, strict=True):
        I, P = I.minus_outer(u, g), P + u * e  # noqa: E741
    return I, P


def total(terms: Any) -> Number:
    result: Number = 0.0
    for term in terms:
        result = result + term
    return result


def dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    return total(x * y for x, y in zip(a, b, strict=True))
