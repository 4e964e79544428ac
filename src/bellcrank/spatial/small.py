"""Small dense algebra, unrolled over any number: null spaces by Householder's reflections, LDL^T."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..numbers import Number, is_constant, less, minimum, select, sqrt
from .rank import is_redundant
from .vector import Vector

Rows = Sequence[Sequence[Number]]
NAN = float("nan")


class NullSpace(NamedTuple):
    """Solutions of G u = gamma: u = N y + k0.

    N      vectors (n numbers each) that span the null space of G
    k0     the smallest solution
    pivot  smallest part of a row that is new, squared, over the sum of squares of all of G: 0 where rows become dependent

    Where they are asked for, of each row: the direction of what it adds to those before, and that part, not squared.
    """

    N: tuple[tuple[Number, ...], ...]
    k0: tuple[Number, ...]
    pivot: Number
    directions: tuple[tuple[Number, ...], ...] = ()
    pivots: tuple[Number, ...] = ()


def null_space(G: Rows, gamma: Sequence[Number], n: int, *, directions: bool = False, least: Number | None = None) -> NullSpace:
    """The null space of rows that are independent; by QR of G^T without pivoting, so that nothing depends on values.

    Where one vector spans it, the last two rows are left to a cross product: fewer roots and divisions wait for each other.
    Where the pivot is below ``least``, k0 is not a number: the rows have become dependent.
    """
    if not G:
        return identity(n)
    turned = len(G) - 2 if len(G) == n - 1 >= 2 else len(G)
    return _householder([list(row) for row in G], turned, gamma, n, directions, least)


def identity(n: int) -> NullSpace:
    """The solution of no equations: u = y."""
    return NullSpace(tuple(tuple(1.0 if i == j else 0.0 for i in range(n)) for j in range(n)), (0.0,) * n, 1.0)


def _cross_product(
    a: Vector, b: Vector, gamma: Sequence[Number], beside: Number, directions: bool, least: Number | None
) -> NullSpace:
    """Two rows of three: N = a x b, k0 = (b g_1 - a g_2) x N / |N|^2.

    |N|^2 is the determinant of G G^T without cancellation (Lagrange).
    ``beside``: sum of squares of other rows, which count in what the pivots are parts of.
    """
    N = a.cross(b)
    aa, det = a.dot(a), N.dot(N)
    trace = aa + b.dot(b)
    whole = trace + beside
    inverse = _if_kept(det, least, trace * whole, 1.0 / det)
    scale = sqrt(inverse)  # not a number either: where gamma is zero by structure, nothing else would tell
    space = NullSpace((tuple(N * scale),), tuple((b * gamma[0] - a * gamma[1]).cross(N) * inverse), det / (trace * whole))
    if not directions:
        return space
    first, root = sqrt(aa), sqrt(whole)
    second = sqrt(det) / first
    new = (b - a * (a.dot(b) / aa)) * (1.0 / second)
    return space._replace(directions=(tuple(a * (1.0 / first)), tuple(new)), pivots=(first / root, second / root))


def _if_kept(x: Number, least: Number | None, whole: Number, then: Number) -> Number:
    """The number, or NaN where a row that adds x, squared, is redundant."""
    return then if least is None else select(is_redundant(least * whole, x), NAN, then)


def _householder(
    A: list[list[Number]], turned: int, gamma: Sequence[Number], n: int, directions: bool, least: Number | None
) -> NullSpace:
    """A: rows of G, which are the columns of G^T; so many by reflections, and two that are left by their cross product."""
    Q = _orthogonal(A, turned)
    z: list[Number] = []  # R^T z = gamma
    right = list(gamma)
    for r in range(len(A)):
        right[r] = right[r] - summed(Q.R[k][r] * z[k] for k in range(min(r, turned)))
        if r < turned:
            z.append(right[r] / Q.R[r][r])
    rest = identity(n - turned)
    if turned < len(A):
        a, b = (Vector(*row[turned:]) for row in A[turned:])
        rest = _cross_product(a, b, right[turned:], Q.whole, directions, least)
    if not turned:
        return rest
    whole = Q.whole + summed(x * x for row in A[turned:] for x in row[turned:])
    z[-1] = _if_kept(Q.smallest, least, whole, z[-1])
    N, k0 = tuple(Q.times([0.0] * turned + [*x]) for x in rest.N), Q.times([*z, *rest.k0])
    space = NullSpace(N, k0, minimum(Q.smallest / whole, rest.pivot) if turned < len(A) else Q.smallest / whole)
    if not directions:
        return space
    signs = [select(less(Q.R[k][k], 0.0), -1.0, 1.0) for k in range(turned)]
    own = [[sign if i == k else 0.0 for i in range(n)] for k, sign in enumerate(signs)]
    ways = tuple(Q.times(x) for x in (*own, *([0.0] * turned + [*y] for y in rest.directions)))
    return space._replace(directions=ways, pivots=(*(sqrt(part / whole) for part in Q.squares), *rest.pivots))


class _Orthogonal(NamedTuple):
    """G^T = Q R, Q as reflections, of the first rows or of all; ``squares``: of each of these what is new, squared."""

    reflections: list[tuple[list[Number], Number]]
    R: list[list[Number]]
    squares: list[Number]

    @property
    def smallest(self) -> Number:
        smallest = self.squares[0]
        for square in self.squares[1:]:
            smallest = minimum(smallest, square)
        return smallest

    @property
    def whole(self) -> Number:
        """Sum of squares of R, which is that of G where all rows are turned."""
        return summed([*self.squares, *(x * x for k, row in enumerate(self.R) for x in row[k + 1 :])])

    def times(self, y: list[Number]) -> tuple[Number, ...]:
        """Q y."""
        for k in reversed(range(len(self.reflections))):
            y = [*y[:k], *reflected(*self.reflections[k], y[k:])]
        return tuple(y)

    def transposed_times(self, x: list[Number]) -> list[Number]:
        """Q^T x."""
        for k, each in enumerate(self.reflections):
            x = [*x[:k], *reflected(*each, x[k:])]
        return x


def _orthogonal(A: list[list[Number]], turned: int) -> _Orthogonal:
    """Of so many rows of A; from the others, too, what is along these is taken away."""
    m = len(A)
    Q = _Orthogonal([], [[0.0] * m for _ in range(turned)], [])
    for k in range(turned):
        x = A[k][k:]
        square = summed(t * t for t in x)
        length = sqrt(square)
        signed = select(less(x[0], 0.0), -length, length)
        v = [x[0] + signed, *x[1:]]
        factor = 1.0 / (signed * v[0])
        Q.squares.append(square)
        Q.R[k][k] = -signed
        Q.reflections.append((v, factor))
        for r in range(k + 1, m):
            A[r][k:] = reflected(v, factor, A[r][k:])
            Q.R[k][r] = A[r][k]
    return Q


class Combination:
    """Writes a vector as a combination of independent rows: G^T c = x; of an x outside their span, the nearest inside."""

    def __init__(self, G: Rows):
        self.rows = len(G)
        self.pair = (Vector(*G[0]), Vector(*G[1])) if len(G) == 2 and len(G[0]) == 3 else None
        self.Q = None if self.pair else _orthogonal([list(row) for row in G], len(G))

    def of(self, x: Sequence[Number]) -> list[Number]:
        if self.pair is not None:
            return self._of_pair(Vector(*x))
        assert self.Q is not None
        R, y = self.Q.R, self.Q.transposed_times(list(x))
        c: list[Number] = [0.0] * self.rows
        for k in reversed(range(self.rows)):
            c[k] = (y[k] - summed(R[k][r] * c[r] for r in range(k + 1, self.rows))) / R[k][k]
        return c

    def _of_pair(self, x: Vector) -> list[Number]:
        """With N = a x b: ((b x N) . x, (N x a) . x) / |N|^2, which subtracts nothing."""
        assert self.pair is not None
        a, b = self.pair
        N = a.cross(b)
        scaled = N * (1.0 / N.dot(N))
        return [b.cross(scaled).dot(x), scaled.cross(a).dot(x)]


def reflection(x: Sequence[Number]) -> tuple[list[Number], Number]:
    """v and factor of 1 - v factor v^T, which turns x onto the first axis; safe at x = 0."""
    square = summed(t * t for t in x) + 1e-300
    length = sqrt(square)
    signed = select(less(x[0], 0.0), -length, length)
    v = [x[0] + signed, *x[1:]]
    return v, 1.0 / (signed * v[0])


def reflected(v: Sequence[Number], factor: Number, x: Sequence[Number]) -> list[Number]:
    """(1 - v factor v^T) x."""
    along = summed(a * b for a, b in zip(v, x, strict=True)) * factor
    return [a - along * b for a, b in zip(x, v, strict=True)]


class Factors(NamedTuple):
    """D = L diag(1/inverse) L^T; L by rows below the diagonal."""

    L: list[list[Number]]
    inverse: list[Number]


def factored(D: Rows) -> Factors:
    """LDL^T of a symmetric positive matrix given by its lower rows."""
    L: list[list[Number]] = []
    diagonal: list[Number] = []
    inverse: list[Number] = []
    for i, row in enumerate(D):
        scaled: list[Number] = []  # L_ij d_j
        below: list[Number] = []
        for j in range(i):
            x = row[j] - summed(scaled[k] * L[j][k] for k in range(j))
            scaled.append(x)
            below.append(x * inverse[j])
        pivot = row[i] - summed(scaled[k] * below[k] for k in range(i))
        L.append(below)
        diagonal.append(pivot)
        inverse.append(1.0 / pivot)
    return Factors(L, inverse)


def substituted(factors: Factors, right: Sequence[Number]) -> list[Number]:
    """D^-1 right."""
    L, inverse = factors
    y = list(right)
    for i in range(len(y)):
        y[i] = y[i] - summed(L[i][k] * y[k] for k in range(i))
    y = [x * e for x, e in zip(y, inverse, strict=True)]
    for i in reversed(range(len(y))):
        y[i] = y[i] - summed(L[k][i] * y[k] for k in range(i + 1, len(y)))
    return y


def summed(terms: object) -> Number:
    result: Number = 0.0
    for term in terms:  # type: ignore[attr-defined]
        result = term if is_constant(result) and not hasattr(result, "value") and result == 0 else result + term
    return result
