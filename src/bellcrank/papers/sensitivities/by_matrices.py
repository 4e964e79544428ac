"""Sensitivities by the mass matrix: M dqddot = K_,p + K_,q dq + K_,qdot dqdot - (M_,p + M_,q dq) qddot     (9)

With M_,q for every coordinate this is the traditional form, whose sums take O(n^3) operations each and O(n^4) together
(section 3.1); Appendix A finds the same by recursions in O(n^2) each and O(n^3) together. What is asked for is only M_,q dq,
along one direction for each parameter, which takes a factor n less: ``along="directions"``, as the paper does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .chain import Array, Chain, Link, Varied, links

System = Callable[[list[Link]], tuple[Varied, Varied]]


def by_sums(bodies: list[Link]) -> tuple[Varied, Varied]:
    """M_ij = sum_k P_i^k^T I^k P_j^k and K_i = sum_k P_i^k^T F^k, over all bodies that both move.    (25), (26), section 3.1"""
    n, P = len(bodies), _partials(bodies)
    M, K = _empty(bodies, (n, n)), _empty(bodies, (n,))
    for i in range(n):
        for k in range(i, n):
            _add(K, i, P[i, k] @ bodies[k].F)
            for j in range(i, k + 1):
                term = P[i, k] @ (bodies[k].I @ P[j, k])
                _add(M, (i, j), term)
                if j != i:
                    _add(M, (j, i), term)
    return M, K


def by_recursion(bodies: list[Link]) -> tuple[Varied, Varied]:
    """Appendix A, corrected: for i <= k, with S = ST^T of the next body,

    R2_i^k  = I P_i + S R2_i^{k+1}              M_ki   = P_k^T R2_i^k                                  (45)-(47)
    RI_i^k  = I_,p P_i + S RI_i^{k+1}           M_ki,p = P_k,p^T R2 + P_k^T (RI + RP + RRP)            (79), (81)
    RP_i^k  = I P_i,p + S RP_i^{k+1}                                                                   (82)
    RRP_i^k = S_,p R2_i^{k+1} + S RRP_i^{k+1}                                                          (83)

    and K_k = P_k^T F2^k, F2^k = F^k + S F2^{k+1}, likewise.                                           (89)-(96)
    """
    n, P = len(bodies), _partials(bodies)
    M, K = _empty(bodies, (n, n)), _empty(bodies, (n,))
    zero = np.zeros(6)
    for i in range(n):
        R2, RI, RP, RRP = zero, zero, zero, zero
        for k in reversed(range(i, n)):
            S, S_p = (bodies[k + 1].ST.v.T, bodies[k + 1].ST.d.T) if k + 1 < n else (np.zeros((6, 6)), np.zeros((6, 6)))
            I, P_i, P_k = bodies[k].I, P[i, k], bodies[k].P  # noqa: E741
            RRP = S_p @ R2 + S @ RRP
            R2, RI, RP = I.v @ P_i.v + S @ R2, I.d @ P_i.v + S @ RI, I.v @ P_i.d + S @ RP
            M.v[k, i] = M.v[i, k] = P_k.v @ R2
            M.d[k, i] = M.d[i, k] = P_k.d @ R2 + P_k.v @ (RI + RP + RRP)
    F2 = Varied(zero)
    for k in reversed(range(n)):
        F2 = bodies[k].F + (bodies[k + 1].ST.T @ F2 if k + 1 < n else F2)
        _add(K, k, bodies[k].P @ F2)
    return M, K


def sensitivities(
    chain: Chain,
    slopes: Sequence[dict[str, Array]],
    q: Array,
    v: Array,
    dq: Array,
    dv: Array,
    *,
    system: System = by_sums,
    along: str = "coordinates",
    tau: Array | None = None,
) -> tuple[Array, Array]:
    """qddot (n,) and its total derivatives (n, p), of dq and dv (n, p)."""
    n, still = len(chain), np.zeros(len(chain))
    M, K = system(links(chain, None, q, v, still, still))
    solve = factored(M.v)
    a = solve(K.v if tau is None else K.v + tau)
    if along == "directions":
        systems = [system(links(chain, slope, q, v, dq[:, k], dv[:, k])) for k, slope in enumerate(slopes)]
        return a, np.column_stack([solve(K.d - M.d @ a) for M, K in systems])
    unit = np.eye(n)
    by_q = [system(links(chain, None, q, v, unit[r], still)) for r in range(n)]
    by_v = [system(links(chain, None, q, v, still, unit[r])) for r in range(n)]
    turned = np.column_stack([K.d - M.d @ a for M, K in by_q])
    damped = np.column_stack([K.d for _, K in by_v])
    columns = []
    for k, slope in enumerate(slopes):
        M, K = system(links(chain, slope, q, v, still, still))
        columns.append(solve(K.d - M.d @ a + turned @ dq[:, k] + damped @ dv[:, k]))
    return a, np.column_stack(columns)


def _partials(bodies: list[Link]) -> dict[tuple[int, int], Varied]:
    """P_i^k: what a unit of the speed i does to body k.                                               (37), (72), (73)"""
    found = {}
    for i, body in enumerate(bodies):
        P = found[i, i] = body.P
        for k in range(i + 1, len(bodies)):
            P = found[i, k] = bodies[k].ST @ P
    return found


def _empty(bodies: list[Link], shape: tuple[int, ...]) -> Varied:
    kind = np.result_type(bodies[-1].F.v.dtype, bodies[-1].F.d.dtype)
    return Varied(np.zeros(shape, dtype=kind), np.zeros(shape, dtype=kind))


def _add(into: Varied, place: Any, x: Varied) -> None:
    into.v[place] = into.v[place] + x.v.item()
    into.d[place] = into.d[place] + x.d.item()


def factored(M: Array) -> Callable[[Array], Array]:
    """L D L^T once; what solves M x = r. On numbers of any kind."""
    if M.dtype == float:
        return lambda r: np.linalg.solve(M, r)
    n = len(M)
    L, D = M.copy(), []
    for j in range(n):
        D.append(L[j, j])
        for i in range(j + 1, n):
            L[i, j] = L[j, i] / D[j]
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                L[i, k] = L[i, k] - L[i, j] * L[j, k]
                L[k, i] = L[i, k]

    def solve(r: Array) -> Array:
        x = list(r)
        for j in range(n):
            for i in range(j + 1, n):
                x[i] = x[i] - L[i, j] * x[j]
        x = [y / d for y, d in zip(x, D, strict=True)]
        for j in reversed(range(n)):
            for i in range(j + 1, n):
                x[j] = x[j] - L[i, j] * x[i]
        return np.array(x)

    return solve
