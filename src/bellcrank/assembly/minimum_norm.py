"""The smallest x with J x = r, where equations may be redundant (spatial.rank).

The size of x is measured by its norm, or by a metric M (kinetic energy): with J = U S V^T cut to its rank,

    V^T x = S^-1 U^T r,    x = M^-1 V (V^T M^-1 V)^-1 S^-1 U^T r

Where matrices are large, the sparse equations (M x - J^T y = 0, J x + mu y = r) are solved, with a small mu and refinement.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..spatial.rank import factored

Array = NDArray[np.float64]

CLEAR = 3.2e-4  # of the largest singular value: while a way is sought, a step along weaker equations would be a leap
LARGE = 500  # rows and columns from which matrices are taken as sparse
SOFT = 1e-11  # mu, of the mean of the squares of the rows
REFINED = 3


def smallest_change(J: Array, r: Array, M: Array | None = None, *, tolerance: float = CLEAR) -> Array:
    """x of least norm, or of least x^T M x; of least squares where the equations contradict each other."""
    return smallest_changes(J, r[:, None], M, tolerance=tolerance)[:, 0]


def smallest_changes(J: Array, right: Array, M: Array | None = None, *, tolerance: float = CLEAR) -> Array:
    """The same for every column of ``right``, with one factorization: (n, columns)."""
    if not J.size:
        return np.zeros((J.shape[1], right.shape[1]))
    if min(J.shape) > LARGE:
        return np.array([_sparse(J, r, M) for r in right.T]).T.reshape(J.shape[1], right.shape[1])
    factors = factored(J, tolerance)
    x = factors.solve_many(right)
    if M is None or not factors.rank:
        return x
    V = factors.Vt[: factors.rank]
    moved = np.linalg.solve(M, V.T)
    return np.asarray(moved @ np.linalg.solve(V @ moved, V @ x))


def allowed_part(J: Array, x: Array, *, tolerance: float = CLEAR) -> Array:
    """The part of x that J allows: J of it is zero."""
    return np.asarray(x - smallest_change(J, J @ x, tolerance=tolerance))


def _sparse(J: Array, r: Array, M: Array | None) -> Array:
    from scipy.sparse import block_array, csc_array, diags_array
    from scipy.sparse.linalg import splu

    m, n = J.shape
    rows = csc_array(J)
    metric = diags_array(np.ones(n)) if M is None else csc_array(M)
    mu = SOFT * (rows.multiply(rows)).sum() / m / float(metric.diagonal().mean())
    lu = splu(csc_array(block_array([[metric, -rows.T], [rows, mu * diags_array(np.ones(m))]])))
    x, y = np.zeros(n), np.zeros(m)
    for _ in range(REFINED):  # of the proximal kind: what mu takes away comes back
        change = lu.solve(np.concatenate([rows.T @ y - metric @ x, r - rows @ x]))
        x, y = x + change[:n], y + change[n:]
    return x
