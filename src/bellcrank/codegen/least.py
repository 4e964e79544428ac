"""Multipliers of least norm, where equations are redundant and reactions not unique."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..model import Model

if TYPE_CHECKING:
    from .closed_dynamics import ClosedDynamics

Array = NDArray[np.float64]

_TURNS = {"fixed": (3, 4, 5), "revolute": (3, 4), "universal": (3,), "cylindrical": (0, 1), "screw": (0, 1), "planar": (0, 1)}
_TURNS["prismatic"] = (0, 1, 4)


def row_scales(model: Model, length: float) -> Array:
    """What makes the equations comparable: all in metres, angles times a typical length; (m,)."""
    scales = []
    for closure in model.closures:
        own = np.ones(closure.rows)
        if closure.kind == "distance":
            own[:] = 1 / (2 * (closure.value or length))
        elif closure.joint is not None:
            kind = "fixed" if closure.motion is not None else closure.joint.kind
            own[list(_TURNS.get(kind, ()))] = length
        scales.append(own)
    return np.concatenate(scales) if scales else np.zeros(0)


def least_multipliers(
    dynamics: ClosedDynamics, multipliers: Array, kept: NDArray[np.bool_], q: ArrayLike, t: ArrayLike
) -> Array:
    """Take from the multipliers what does nothing: their part in the null space of G^T."""
    if kept.all() or dynamics.model.nv == 0:
        return multipliers
    scale = row_scales(dynamics.model, dynamics.plan.length)
    G = dynamics.closure_jacobian(q, t=t) * scale[:, None]
    G = np.broadcast_to(G, (*multipliers.shape[:-1], *G.shape[-2:])).reshape(-1, *G.shape[-2:])
    flat = (multipliers / scale).reshape(-1, len(scale))
    ranks = kept.reshape(-1, len(scale)).sum(axis=1)
    finite = np.isfinite(G).all(axis=(1, 2)) & np.isfinite(flat).all(axis=1)
    for rank in np.unique(ranks[finite]):
        at = finite & (ranks == rank)
        idle = np.linalg.svd(G[at])[0][:, :, rank:]
        flat[at] -= np.einsum("bmk,bnk,bn->bm", idle, idle, flat[at])
    return (flat * scale).reshape(multipliers.shape)
