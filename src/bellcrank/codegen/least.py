"""Multipliers of least norm, where equations are redundant and reactions not unique."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..topology.closing import row_scales

if TYPE_CHECKING:
    from .closed_dynamics import ClosedDynamics

Array = NDArray[np.float64]


def least_multipliers(
    dynamics: ClosedDynamics, multipliers: Array, ranks: NDArray[np.int64], q: ArrayLike, t: ArrayLike
) -> Array:
    """Take from the multipliers what does nothing: their part in the null space of G^T; ``ranks``: of G, of each state."""
    if (ranks == multipliers.shape[-1]).all() or dynamics.model.nv == 0:
        return multipliers
    scale = row_scales(dynamics.model, dynamics.plan.length)
    G = dynamics.closure_jacobian(q, t=t) * scale[:, None]
    G = np.broadcast_to(G, (*multipliers.shape[:-1], *G.shape[-2:])).reshape(-1, *G.shape[-2:])
    flat = (multipliers / scale).reshape(-1, len(scale))
    ranks = ranks.reshape(-1)
    finite = np.isfinite(G).all(axis=(1, 2)) & np.isfinite(flat).all(axis=1)
    for rank in np.unique(ranks[finite]):
        at = finite & (ranks == rank)
        idle = np.linalg.svd(G[at])[0][:, :, rank:]
        flat[at] -= np.einsum("bmk,bnk,bn->bm", idle, idle, flat[at])
    return (flat * scale).reshape(multipliers.shape)
