"""The smallest change x that brings about J x = r, where equations may be redundant.

The rank is decided by the singular values of J, whose rows and columns have comparable units; the size of x is measured by its
norm, or by a metric M (kinetic energy): with J = U S V^T cut to its rank,

    V^T x = S^-1 U^T r,    x = M^-1 V (V^T M^-1 V)^-1 S^-1 U^T r

Where matrices are large, the sparse equations (M x - J^T y = 0, J x + mu y = r) are solved, with a small mu and refinement.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CUT = 1e-7  # squares of singular values below this part of the largest belong to redundant equations
FINE_CUT = 1e-16  # where only rounding counts as redundant
LARGE = 500  # rows and columns from which matrices are taken as sparse
SOFT = 1e-11  # mu, of the mean of the squares of the rows
REFINED = 3


def least_change(J: Array, r: Array, M: Array | None = None, *, cut: float = CUT) -> Array:
    """x of least norm, or of least x^T M x; of least squares where the equations contradict each other."""
    if not J.size:
        return np.zeros(J.shape[1])
    if min(J.shape) > LARGE:
        return _sparse(J, r, M)
    U, s, V = cut_svd(J, cut)
    wanted = (U.T @ r) / s
    if M is None or not len(s):
        return np.asarray(V.T @ wanted)
    moved = np.linalg.solve(M, V.T)
    return np.asarray(moved @ np.linalg.solve(V @ moved, wanted))


def cut_svd(J: Array, cut: float = CUT) -> tuple[Array, Array, Array]:
    """U, s, V of the singular values that count: J is about U diag(s) V."""
    U, s, V = np.linalg.svd(J, full_matrices=False)
    rank = int((s**2 > cut * s.max(initial=0.0) ** 2).sum())
    return U[:, :rank], s[:rank], V[:rank]


def along(J: Array, x: Array, *, cut: float = CUT) -> Array:
    """The part of x that J allows: J of it is zero."""
    return np.asarray(x - least_change(J, J @ x, cut=cut))


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
