"""Gauss' function of a node as a quadratic form in its unknowns, and the elimination of unknowns.   EQUATIONS 3.10"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...numbers import Number, is_constant
from ...spatial import ArticulatedInertia, Force, FullTurn, Motion, RigidInertia, Transform, Vector
from ...spatial.small import substituted
from ..nodes import Placed
from .node_places import Rows

Takes = Callable[[Any, Placed, RigidInertia, Motion], Force]  # what a body takes to accelerate by c


class Form(NamedTuple):
    """The quadratic form of a node: 1/2 (A y)^T [I U; U^T D] (A y) + P A - d y, A the acceleration of the base.

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

    def add_body(self, body: Any, at: Placed, J: Sequence[Motion], c: Motion, takes: Takes) -> None:
        inertia = Transform((), at.p, (FullTurn(at.R),)).up_rigid(body.inertia)
        self.add(inertia, takes(body, at, inertia, c), J)
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

    def matrix(self, node: Any, I: ArticulatedInertia) -> tuple[Any, Sequence[int]]:  # noqa: E741
        """Over (y; 1; A), and which y; I: inertia of all."""
        n = len(self.d)
        H = node.zeros(n + self.tail, n + self.tail)
        for a in range(n):
            H[a, n] = H[n, a] = -self.d[a]
            for b in range(a + 1):
                H[a, b] = H[b, a] = self.D[a][b]
            for k, u in enumerate(_six(self.U[a]) if self.tail > 1 else ()):
                H[a, n + 1 + k] = H[n + 1 + k, a] = u
        self._end(H, I)
        return H, range(n)

    @property
    def tail(self) -> int:
        return 1 if self.on_ground else 7

    def _end(self, H: Any, I: ArticulatedInertia) -> None:  # noqa: E741
        """The part of the form that is about the base alone."""
        if self.on_ground:
            return
        n = H.rows - 6
        for k, (p, row) in enumerate(zip(_six(self.P), six_rows(I), strict=True)):
            H[n - 1, n + k] = H[n + k, n - 1] = p
            for j, x in enumerate(row):
                H[n + k, n + j] = x


class DeferredForm(NamedTuple):
    """A Form that is not added up yet: inertia, force and motions of each body; effort and armature of each coordinate.

    Motions come with the coordinate that brings them about, a word: structure.
    """

    I: RigidInertia  # noqa: E741
    P: Force
    terms: tuple[tuple[Any, Force, tuple[tuple[str, Motion], ...]], ...]
    joints: tuple[tuple[Number, Number], ...]


class DeferredSums(Sums):
    """The sums of a wide node: terms are added up in memory once all of them are known; until then they take less memory."""

    def __init__(self, size: int, on_ground: bool) -> None:
        super().__init__(0, on_ground)
        self.terms: list[Any] = []
        self.joints: list[tuple[Number, Number]] = [(0.0, 0.0)] * size

    def add(self, inertia: RigidInertia | ArticulatedInertia, h: Force, J: Sequence[Motion]) -> None:
        moves = tuple((str(j), J_j) for j, J_j in enumerate(J) if any(map(_is_there, _six(J_j))))
        self.terms.append((inertia, h, moves))
        if not self.on_ground:
            self.P = self.P + h

    def add_joint(self, N: Sequence[Number], effort: Number, armature: Number) -> None:
        """Adds a joint to a node whose y are its coordinates."""
        self.joints[N.index(1.0)] = effort, armature

    def form(self) -> Any:
        return DeferredForm(self.I, self.P, tuple(self.terms), tuple(self.joints))

    def matrix(self, node: Any, I: ArticulatedInertia) -> tuple[Any, Sequence[int]]:  # noqa: E741
        """H += J^T (I J, h, I) for all terms, over those y that move anything here."""
        among = self._moving()
        n, tail = len(among), self.tail
        H = node.zeros(n + tail, n + tail)
        left, right = node.empty(6, n), node.empty(6, n + tail)
        for inertia, h, moves in self.terms:
            J = {int(j): J_j for j, J_j in moves}
            ways, felt = [_ZERO_SIX] * n, [_ZERO_SIX] * n
            for at, j in enumerate(among):
                if j in J:
                    ways[at], felt[at] = _six(J[j]), _six(inertia @ J[j])
            own = six_rows(inertia if isinstance(inertia, ArticulatedInertia) else inertia.articulated())
            rows = [k for k in range(6) if any(_is_there(way[k]) for way in ways)]
            left.fill([[way[k] for way in ways] for k in rows])
            right.fill([[*(f[k] for f in felt), _six(h)[k], *own[k][: tail - 1]] for k in rows])
            above = H.part(range(n), range(n + tail))
            above.add_transposed_product(left.part(range(len(rows)), range(n)), right.part(range(len(rows)), range(n + tail)))
        for at, j in enumerate(among):
            for place, x in zip((n, at), (-self.joints[j][0], self.joints[j][1]), strict=True):
                if _is_there(x):
                    H[at, place] = H[at, place] + x
        H.put_transposed(n, 0, H.part(range(n), range(n, n + tail)))
        self._end(H, I)
        return H, among

    def _moving(self) -> list[int]:
        """Coordinates that move a body, or whose joint takes an effort."""
        moves = {int(j) for _, _, own in self.terms for j, _ in own}
        return [j for j, own in enumerate(self.joints) if j in moves or any(map(_is_there, own))]


_ZERO_SIX: tuple[Number, ...] = (0.0,) * 6


def _is_there(x: Number) -> bool:
    """Whether a number is not zero by structure."""
    return not is_constant(x) or x != 0


def _six(x: Motion | Force) -> tuple[Number, ...]:
    return (*x[0], *x[1])


def six_rows(I: ArticulatedInertia) -> list[tuple[Number, ...]]:  # noqa: E741
    upper = [(*a, *b) for a, b in zip(I.A.rows(), I.B, strict=True)]
    return upper + [(*b, *m) for b, m in zip(I.B.transpose(), I.M.rows(), strict=True)]


def sums_of(node: Any, size: int) -> Sums:
    return DeferredSums(size, node.on_ground) if node.in_memory else Sums(size, node.on_ground)


def inertia_force(body: Any, at: Placed, inertia: RigidInertia, c: Motion) -> Force:
    """I c + V x* I V, less what force elements give.

    With the acceleration of the point of the body that is at the base's origin, c.v + w x v, little of V x* I V is left.
    """
    point = Motion(c.w, c.v + at.V.w.cross(at.V.v))
    n, f = body.applied
    pushed = at.R @ f
    return (inertia @ point) + inertia.gyroscopic(at.V.w) - Force((at.R @ n) + at.p.cross(pushed), pushed)


def resumed(form: Any, on_ground: bool) -> Sums:
    if isinstance(form, DeferredForm):
        late = DeferredSums(0, on_ground)
        late.P, late.terms, late.joints = form.P, list(form.terms), list(form.joints)
        return late
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
