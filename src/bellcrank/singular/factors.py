"""Solves of least norm with rows that may depend on each other, in the metric of the kinetic energy.

With M = L L^T, x = L^T v has the kinetic energy |x|^2 / 2. A row g of the Jacobian is g L^-T there, and

    A = G L^-T = U diag(s) V^T

V spans what the closures can do to the velocities; what is orthogonal to it is free. A small s says that a direction is about
to be lost, or is: EQUATIONS 5.3.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import DynamicsError
from ..spatial.rank import Factors, rank_of

Array = NDArray[np.float64]

DETERMINED = 1e-12  # a singular value above this part of the largest has directions that are more than rounding


@cache
def lapack() -> Any:
    from scipy.linalg import lapack as routines

    return routines


class Metric(NamedTuple):
    """L and its inverse, M = L L^T."""

    L: Array
    inverse: Array

    @classmethod
    def of(cls, M: Array) -> Metric:
        if not len(M):
            return cls(M, M)
        L, wrong = lapack().dpotrf(M, lower=1, clean=1)
        if wrong:
            raise DynamicsError("the mass matrix is not positive definite: a body without mass or inertia can move freely")
        return cls(L, lapack().dtrtri(L, lower=1)[0])


def factored(A: Array, tolerance: float, regular: int = 0, most: int | None = None) -> Factors:
    """Singular values and their directions; up to ``regular`` of them are kept below the tolerance too, if determined.

    ``most``: the rank without the metric, where that is known: masses must not make more of an equation.

    Where rows lose their rank only for a moment, the direction that they lose is still known from the small rest of them.
    Where they are redundant all the time that rest is an inaccuracy of the model, and must not count.
    """
    if not A.size:
        return Factors(np.zeros((len(A), 0)), np.zeros(0), np.zeros((0, A.shape[1])), 0, 0)
    U, s, Vt, wrong = lapack().dgesvd(A, full_matrices=0)  # dgesdd is slow where threads compete
    if wrong or not np.isfinite(s[0]):
        raise DynamicsError("the equations that close the loops are not finite")
    rank = min(rank_of(s, tolerance), len(s) if most is None else most)
    return Factors(U, s, Vt, rank, max(rank, min(regular, rank_of(s, DETERMINED))))
