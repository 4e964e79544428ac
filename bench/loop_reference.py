"""Accelerations of closed loops beyond double precision: the dense equations of motion, solved as they stand.

    [ M  -G^T ] [ a      ]   [ tau - h ]
    [ G   0   ] [ lambda ] = [ gamma   ]

M, h, G and gamma are evaluated in long double by the plain walk; of G's rows an independent set is taken, and Gaussian
elimination with pivots goes on in long double. O((n + m)^3): for a hundred loops it takes some seconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from bellcrank.formulations import QUANTITIES
from bellcrank.machine.in_python import run_plain
from bellcrank.model import Model
from bellcrank.plan import make_plan

Array = NDArray[Any]
LONG = np.longdouble


def acceleration(model: Model, q: Array, v: Array, tau: Array) -> Array:
    plan = make_plan(model)
    nv, m = model.nv, int(model.closure_index[-1])

    def ask(name: str, **inputs: Array) -> Array:
        outputs = run_plain(QUANTITIES[name], plan, LONG, **inputs)
        return np.array(next(iter(outputs.values())), dtype=LONG)

    M = ask("mass_matrix", q=q).reshape(nv, nv)
    h = ask("inverse_dynamics", q=q, v=v, a=np.zeros(nv))
    G = ask("closure_jacobian", q=q, v=v).reshape(m, nv)
    gamma = ask("closure_right", q=q, v=v)
    kept = independent(G.astype(float))
    G, gamma = G[kept], gamma[kept]
    zero = np.zeros((len(kept), len(kept)), dtype=LONG)
    return solve(np.block([[M, -G.T], [G, zero]]), np.concatenate([tau - h, gamma]))[:nv]


def independent(G: Array, tolerance: float = 1e-9) -> Array:
    """A largest set of rows none of which follows from the others."""
    _, R, order = qr(G.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return np.sort(order[: int((size > tolerance * size[0]).sum())])


def solve(A: Array, b: Array) -> Array:
    """Gaussian elimination with row pivots, in the numbers of A."""
    A, x, n = A.copy(), b.copy(), len(b)
    for k in range(n):
        p = k + int(np.argmax(np.abs(A[k:, k])))
        A[[k, p]], x[[k, p]] = A[[p, k]], x[[p, k]]
        factor = A[k + 1 :, k] / A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(factor, A[k, k + 1 :])
        x[k + 1 :] -= factor * x[k]
    for k in reversed(range(n)):
        x[k] = (x[k] - A[k, k + 1 :] @ x[k + 1 :]) / A[k, k]
    return x
