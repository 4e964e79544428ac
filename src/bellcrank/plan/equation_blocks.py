"""Equations that touch each other through coordinates, block by block: ranks, redundant combinations, free motions.

Blocks are independent, so that their ranks add up (spatial.rank). Inside a block each closure's own rows are first brought to
rank (a planar loop closed by a hinge keeps two of five); the rest is dense where it is small, and banded where it is large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spatial.rank import RANK_TOLERANCE, factored, rank_of

Array = NDArray[np.float64]
Index = NDArray[np.intp]

ZERO = 1e-12  # of the largest entry: rounding
DENSE = 1200  # rows and columns
MIXED = 4  # self-stresses of a large block


@dataclass(frozen=True)
class EquationBlock:
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


def equation_blocks(J: Array, groups: Index, tolerance: float = RANK_TOLERANCE) -> tuple[list[EquationBlock], Index]:
    """The blocks of a matrix, and the columns that no equation touches. ``groups``: which closure each row belongs to."""
    found = [_block(J, rows, columns, groups[rows], tolerance) for rows, columns in connected(J, groups)]
    touched = np.concatenate([np.zeros(0, dtype=np.intp), *(b.columns for b in found)])
    return found, np.setdiff1d(np.arange(J.shape[1]), touched)


def connected(J: Array, groups: Index) -> list[tuple[Index, Index]]:
    """Rows and columns of every block."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    m, n = J.shape
    at_row, at_column = np.nonzero(np.abs(J) > ZERO * np.abs(J).max(initial=0.0))
    first = np.searchsorted(groups, groups)  # rows of a closure belong together
    ties = np.vstack([np.column_stack([at_row, m + at_column]), np.column_stack([np.arange(m), first])])
    graph = csr_array((np.ones(len(ties)), (ties[:, 0], ties[:, 1])), shape=(m + n, m + n))
    _, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
    return [(part[part < m], part[part >= m] - m) for part in parts if (part < m).any()]


def _block(J: Array, rows: Index, columns: Index, groups: Index, tolerance: float) -> EquationBlock:
    A = J[np.ix_(rows, columns)]
    if max(A.shape) > DENSE:
        return _large(A, rows, columns, groups, tolerance)
    found = factored(A, tolerance, whole=True)
    return EquationBlock(rows, columns, found.rank, found.pivot, found.stresses, found.motions)


def _large(A: Array, rows: Index, columns: Index, groups: Index, tolerance: float) -> EquationBlock:
    """Own ranks of the closures, then eigenvalues of the banded rest."""
    from scipy.sparse import csr_array

    kept, own = [], []
    largest = np.abs(A).max()
    for group in np.unique(groups):
        at = np.flatnonzero(groups == group)
        touched = np.flatnonzero(np.abs(A[at]).max(axis=0) > 0)
        found = factored(A[np.ix_(at, touched)], tolerance, whole=True)
        rank = found.rank if found.s.max(initial=0.0) > ZERO * largest else 0
        kept += [(at, found.U[:, k]) for k in range(rank)]
        own += [(at, found.U[:, k]) for k in range(rank, len(at))]
    Q = _columns(kept, len(rows))
    s, idle = _banded((Q.T @ csr_array(A)).tocsr(), tolerance)
    rank = len(s) - idle.shape[1]
    pivot = float(s[len(s) - rank] / s[-1]) if rank else 0.0
    mix = np.random.default_rng(1).normal(size=(len(own), MIXED))
    stresses = np.hstack([_columns(own, len(rows)) @ mix, Q @ idle])
    return EquationBlock(rows, columns, rank, pivot, stresses, np.zeros((len(columns), 0)))


def _banded(rows: Any, tolerance: float) -> tuple[Array, Array]:
    """Singular values, ascending: roots of the eigenvalues of rows rows^T; and eigenvectors of those that do not count."""
    from scipy.linalg import eig_banded, eigvals_banded
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    square = (rows @ rows.T).tocsr()
    order = reverse_cuthill_mckee(square, symmetric_mode=True)
    arranged = square[order][:, order].tocoo()
    row, column = arranged.coords
    below = row >= column
    bands = np.zeros((int((row - column).max(initial=0)) + 1, len(order)))
    bands[(row - column)[below], column[below]] = arranged.data[below]
    s = np.sqrt(np.maximum(eigvals_banded(bands, lower=True), 0.0))
    rounding = float(np.sqrt(10 * len(s) * np.finfo(float).eps))  # of values that were found as squares
    lost = len(s) - rank_of(s, max(tolerance, rounding))
    idle = np.zeros((len(order), lost))
    if lost:
        idle[order] = eig_banded(bands, lower=True, select="i", select_range=(0, lost - 1))[1]
    return s, idle


def _columns(parts: list[tuple[Index, Array]], rows: int) -> Any:
    from scipy.sparse import csc_array

    if not parts:
        return csc_array((rows, 0))
    at = np.concatenate([index for index, _ in parts])
    column = np.repeat(np.arange(len(parts)), [len(index) for index, _ in parts])
    return csc_array((np.concatenate([x for _, x in parts]), (at, column)), shape=(rows, len(parts)))
