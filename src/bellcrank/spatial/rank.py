"""The rank of equations: the one rule by which an equation that closes loops counts as redundant.

Rows and columns are comparable (equations in typical lengths, turns in rad, slides in typical lengths). An equation is
redundant if what it adds to the others is less than the tolerance of the largest,

    s_k <= tolerance s_1               singular values of a block of equations
    n_k^2 <= tolerance^2 w             where rows are taken one after the other, with squares: n_k what row k adds, w the whole

and a pivot that a user sees is s_r/s_1, or n_r/sqrt(w), unsquared. The rank of a mechanism is generic: the largest that is
found at several configurations on the closures (dynamics.node_ranks). An equation that was left out is satisfied by the others
only as well as it is redundant: what it leaves may be LENIENT times the tolerance of the terms in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numbers import Number, less

Array = NDArray[np.float64]

RANK_TOLERANCE = 1e-7
LENIENT = 10.0
ROUNDING = 1e-15  # the tolerance for rows that are known to be independent


def keeps(least: Number, new: Number) -> Any:
    """Whether a row is kept that adds so much; ``least``: the tolerance times the whole. Both are squares, or none is."""
    return less(least, new)


def is_redundant(least: Number, new: Number) -> Any:
    """Whether a row is redundant that adds so much: the contrary, also of a row that adds no number."""
    return less(new, least)


def rank_of(s: Array, tolerance: float = RANK_TOLERANCE, unit: float = 0.0) -> int:
    """How many singular values count, of values in any order; ``unit``: what the largest is compared with at least."""
    return int((s > tolerance * s.max(initial=unit)).sum())


class Factors(NamedTuple):
    """J = U diag(s) Vt, of which the first ``rank`` singular values count.

    U and Vt may be whole, or have only as many columns and rows as there are singular values. ``kept``, if more than the rank:
    the first of them whose directions are determined and meant although they do not count (singular.factors).
    """

    U: Array
    s: Array
    Vt: Array
    rank: int
    kept: int = 0

    @property
    def pivot(self) -> float:
        """The smallest singular value that counts, as a part of the largest; 0 where none does."""
        return float(self.s[self.rank - 1] / self.s[0]) if self.rank else 0.0

    @property
    def stresses(self) -> Array:
        """Columns: combinations of equations that say nothing."""
        return self.U[:, self.rank :]

    @property
    def motions(self) -> Array:
        """Columns: what the equations allow, orthonormal."""
        return self.Vt[self.rank :].T

    def solve(self, right: Array) -> Array:
        """The shortest x of J x = right; directions that do not count are left alone."""
        r = self.rank
        return np.asarray(self.Vt[:r].T @ ((self.U[:, :r].T @ right) / self.s[:r]))

    def solve_many(self, right: NDArray[Any]) -> NDArray[Any]:
        """The shortest X of J X = right, column by column."""
        r = self.rank
        return np.asarray(self.Vt[:r].T @ ((self.U[:, :r].T @ right) / self.s[:r, None]))

    def solve_transposed(self, x: Array) -> Array:
        """The shortest y of J^T y = x, for an x that the rows can reach."""
        r = self.rank
        return np.asarray(self.U[:, :r] @ ((self.Vt[:r] @ x) / self.s[:r]))

    def without(self, x: Array) -> Array:
        """x without what the rows forbid."""
        V = self.Vt[: max(self.kept, self.rank)]
        return np.asarray(x - V.T @ (V @ x))


def factored(J: Array, tolerance: float = RANK_TOLERANCE, *, whole: bool = False, unit: float = 0.0) -> Factors:
    """Of any matrix; ``whole``: with all stresses and motions; ``unit``: what the largest is compared with at least."""
    U, s, Vt = np.linalg.svd(J, full_matrices=whole or not J.size)
    return Factors(U, s, Vt, rank_of(s, tolerance, unit))


def rank(J: Array, tolerance: float = RANK_TOLERANCE, unit: float = 0.0) -> int:
    """How many rows are independent; ``unit``: the size of rows that say something, where all may say nothing."""
    return rank_of(np.asarray(np.linalg.svd(J, compute_uv=False), dtype=np.float64), tolerance, unit) if J.size else 0


def null_space(J: Array, tolerance: float = RANK_TOLERANCE) -> Array:
    """Columns: what the equations allow, orthonormal."""
    return factored(J, tolerance, whole=True).motions


def orthonormal_rows(G: Array, order: tuple[int, ...], tolerance: float, most: int | None = None) -> tuple[Array, Array]:
    """Rows made orthonormal one after the other, and what each adds; zero for redundant ones, and once ``most`` were found.

    Of what a row could add the root of the number of columns is taken: entries of comparable rows are about one.
    """
    Q, added = np.zeros_like(G), np.zeros(len(G))
    for r in order:
        if most is not None and np.count_nonzero(added) >= most:
            break
        row = G[r]
        for _ in range(2):
            row = row - Q.T @ (Q @ row)
        new = float(np.linalg.norm(row)) / np.sqrt(max(1, G.shape[1]))
        if new > tolerance:
            Q[r], added[r] = row / np.linalg.norm(row), new
    return Q, added


def independent_rows(G: Array, tolerance: float, rounds: tuple[float, ...] = ()) -> tuple[int, ...]:
    """As many rows as the rank, each time the one that adds most to those before it: QR of G^T with pivots.

    ``rounds``: before that, in their order, all rows that add at least such parts of the largest.
    """
    rest, chosen, most = G.copy(), list[int](), rank(G, tolerance)
    largest = np.linalg.norm(G, axis=1).max(initial=0.0)

    def choose(r: int) -> None:
        chosen.append(r)
        way = rest[r] / np.linalg.norm(rest[r])
        rest[:] -= np.outer(rest @ way, way)
        rest[chosen] = 0.0

    for least in rounds:
        for r in range(len(G)):
            if len(chosen) < most and np.linalg.norm(rest[r]) > least * largest:
                choose(r)
    while len(chosen) < most:
        choose(int(np.argmax(np.linalg.norm(rest, axis=1))))
    return tuple(chosen)


def smallest_added(G: Array) -> tuple[float, int]:
    """The smallest part that a row adds to those before it, of the root of the sum of squares of all: a pivot; and which."""
    added = np.abs(np.diag(np.linalg.qr(G.T, mode="r")))
    return (float(added.min() / np.linalg.norm(G)), int(np.argmin(added))) if len(G) else (1.0, -1)
