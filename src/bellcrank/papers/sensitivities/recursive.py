"""Anderson & Hsu's fully recursive sensitivities: O(n) for each parameter, and no matrix of the system.

Inward, from the last body, with P and I of that body and S = ST^T:

    M = P^T I P,   I^{k-1} += S (I - I P M^-1 P^T I) S^T,   F^{k-1} += S (F - I P M^-1 (P^T F + tau))       (57)-(59)

outward  qddot = M^-1 (P^T (F - I S^T A) + tau),   A^k = S^T A + P qddot                                    (60), (61)

and every step with its derivative, d(M^-1) = -M^-1 dM M^-1                                                 (62)-(70)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .chain import Array, Chain, Varied, links


def sensitivities(
    chain: Chain, slopes: Sequence[dict[str, Array]], q: Array, v: Array, dq: Array, dv: Array, *, tau: Array | None = None
) -> tuple[Array, Array]:
    """qddot (n,) and its total derivatives (n, p), of dq and dv (n, p)."""
    found = [_along(chain, slope, q, v, dq[:, k], dv[:, k], tau) for k, slope in enumerate(slopes)]
    return found[0][0], np.column_stack([da for _, da in found])


def _along(
    chain: Chain, slope: dict[str, Array], q: Array, v: Array, dq: Array, dv: Array, tau: Array | None
) -> tuple[Array, Array]:
    bodies, n = links(chain, slope, q, v, dq, dv), len(chain)
    inertias, forces = [body.I for body in bodies], [body.F for body in bodies]
    pushes, inverses, efforts = [Varied(np.zeros(6))] * n, [Varied(np.zeros(()))] * n, [Varied(np.zeros(()))] * n
    for k in reversed(range(n)):
        P, ST = bodies[k].P, bodies[k].ST
        IP = pushes[k] = inertias[k] @ P
        Mi = inverses[k] = (P @ IP).inverse
        u = efforts[k] = P @ forces[k] + (0.0 if tau is None else tau[k])
        if k:
            scaled = IP * Mi
            inertias[k - 1] = inertias[k - 1] + ST.T @ ((inertias[k] - _outer(scaled, IP)) @ ST)
            forces[k - 1] = forces[k - 1] + ST.T @ (forces[k] - scaled * u)
    A, a, da = Varied(np.zeros(6)), [], []
    for k in range(n):
        A = bodies[k].ST @ A
        x = inverses[k] * (efforts[k] - pushes[k] @ A)
        A = A + bodies[k].P * x
        a.append(x.v.item())
        da.append(x.d.item())
    return np.array(a), np.array(da)


def _outer(x: Varied, y: Varied) -> Varied:
    return Varied(np.outer(x.v, y.v), np.outer(x.d, y.v) + np.outer(x.v, y.d))
