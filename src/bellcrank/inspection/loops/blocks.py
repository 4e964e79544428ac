"""Equations that touch each other through coordinates, block by block: ranks, redundant combinations, free motions.

Blocks are independent, so that their ranks add up. Inside a block each closure's own rows are first brought to rank (a planar
loop closed by a hinge keeps two of five); the rest is dense where it is small, and banded where it is large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...plan.plan import RANK_TOLERANCE

Array = NDArray[np.float64]
Index = NDArray[np.intp]

ZERO = 1e-12  # of the largest entry: rounding
DENSE = 1200  # rows and columns
MIXED = 4  # self-stresses of a large block


@dataclass(frozen=True)
class Block:
    """Equations ``rows`` and coordinates ``columns`` that belong together.

    rank       of the equations
    pivot      smallest singular value that counts, as a part of the largest
    stresses   (rows, k)     combinations of equations that say nothing: all of them, or of a large block some mixed at random
    motions    (columns, d)  motions that the equations allow, orthonormal; empty for large blocks
    """

    rows: Index
    columns: Index
    rank: int
    pivot: float
    stresses: Array
    motions: Array

    @property
    def redundant(self) -> int:
        return len(self.rows) - self.rank

    @property
    def mobility(self) -> int:
        return len(self.columns) - self.rank


def blocks(J: Array, groups: Index) -> tuple[list[Block], Index]:
    """The blocks of a matrix, and the columns that no equation touches. ``groups``: which closure each row belongs to."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    m, n = J.shape
    significant = np.abs(J) > ZERO * np.abs(J).max(initial=0.0)
    at_row, at_column = np.nonzero(significant)
    first = np.searchsorted(groups, groups)  # rows of a closure belong together
    ties = np.vstack([np.column_stack([at_row, m + at_column]), np.column_stack([np.arange(m), first])])
    graph = csr_array((np.ones(len(ties)), (ties[:, 0], ties[:, 1])), shape=(m + n, m + n))
    _, label = connected_components(graph, directed=False)
    found = []
    order = np.argsort(label, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        rows, columns = members[members < m], members[members >= m] - m
        if len(rows):
            found.append(_block(J, rows, columns, groups[rows]))
    return found, np.setdiff1d(np.arange(n), np.concatenate([np.zeros(0, dtype=np.intp), *(b.columns for b in found)]))


def _block(J: Array, rows: Index, columns: Index, groups: Index) -> Block:
    A = J[np.ix_(rows, columns)]
    if len(rows) <= DENSE and len(columns) <= DENSE:
        return _dense(A, rows, columns)
    return _large(A, rows, columns, groups)


def _dense(A: Array, rows: Index, columns: Index) -> Block:
    U, s, V = np.linalg.svd(A, full_matrices=True)
    rank = rank_of(s**2)
    pivot = float(s[rank - 1] / s[0]) if rank else 0.0
    return Block(rows, columns, rank, pivot, U[:, rank:], V[rank:].T)


def rank_of(squares: Array, noise: float = 0.0) -> int:
    """Of squares of singular values: those that are more than the tolerance of the largest, unsquared, count.

    ``noise``: rounding of squares that were found as such, as a part of the largest.
    """
    return int((squares > max(RANK_TOLERANCE**2, noise) * squares.max(initial=0.0)).sum())


def _large(A: Array, rows: Index, columns: Index, groups: Index) -> Block:
    """Own ranks of the closures, then eigenvalues of the banded rest."""
    from scipy.sparse import csr_array

    kept, own = [], []
    largest = np.abs(A).max()
    for group in np.unique(groups):
        at = np.flatnonzero(groups == group)
        touched = np.flatnonzero(np.abs(A[at]).max(axis=0) > 0)
        U, s, _ = np.linalg.svd(A[np.ix_(at, touched)], full_matrices=True)
        rank = rank_of(s**2) if s.max(initial=0.0) > ZERO * largest else 0
        kept += [(at, U[:, k]) for k in range(rank)]
        own += [(at, U[:, k]) for k in range(rank, len(at))]
    Q = _columns(kept, len(rows))
    squares, idle = _banded((Q.T @ csr_array(A)).tocsr())
    rank = rank_of(squares, _noise(squares))
    pivot = float(np.sqrt(squares[len(squares) - rank] / squares[-1])) if rank else 0.0
    mix = np.random.default_rng(1).normal(size=(len(own), MIXED))
    stresses = np.hstack([_columns(own, len(rows)) @ mix, Q @ idle])
    return Block(rows, columns, rank, pivot, stresses, np.zeros((len(columns), 0)))


def _banded(rows: Any) -> tuple[Array, Array]:
    """Eigenvalues of rows rows^T, ascending, and eigenvectors of those that do not count."""
    from scipy.linalg import eig_banded, eigvals_banded
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    square = (rows @ rows.T).tocsr()
    order = reverse_cuthill_mckee(square, symmetric_mode=True)
    arranged = square[order][:, order].tocoo()
    row, column = arranged.coords
    below = row >= column
    bands = np.zeros((int((row - column).max(initial=0)) + 1, len(order)))
    bands[(row - column)[below], column[below]] = arranged.data[below]
    values = np.asarray(eigvals_banded(bands, lower=True))
    lost = len(values) - rank_of(values, _noise(values))
    idle = np.zeros((len(order), lost))
    if lost:
        idle[order] = eig_banded(bands, lower=True, select="i", select_range=(0, lost - 1))[1]
    return values, idle


def _noise(eigenvalues: Array) -> float:
    return 10 * len(eigenvalues) * float(np.finfo(float).eps)


def _columns(parts: list[tuple[Index, Array]], rows: int) -> Any:
    from scipy.sparse import csc_array

    if not parts:
        return csc_array((rows, 0))
    at = np.concatenate([index for index, _ in parts])
    column = np.repeat(np.arange(len(parts)), [len(index) for index, _ in parts])
    return csc_array((np.concatenate([x for _, x in parts]), (at, column)), shape=(rows, len(parts)))
