"""States of closed mechanisms: Newton on the positions of tests/closed_reference.py, from the design position outward."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import closed_reference as ref
from .reference import Array

T = 0.37  # a time inside all tables
CLOSED = 1e-14  # m, and rad
CUT = 1e-5  # singular values below this part of the largest belong to redundant rows


class Unfit(Exception):
    """A random mechanism that cannot be closed, or not here."""


def displaced(model: Any, q: Array, step: Array) -> Array:
    """q moved by a displacement in the directions of v; quaternions by q (1, step/2)."""
    q = np.array(q, dtype=float)
    for joint, driven, iq, iv in zip(model.joints, model.driven, model.q_index, model.v_index, strict=True):
        if driven:
            continue
        d = step[iv : iv + joint.nv]
        if joint.quaternion is None:
            q[iq : iq + joint.nq] += d
            continue
        k = slice(iq + joint.quaternion, iq + joint.quaternion + 4)
        if joint.kind == "free":
            q[iq : iq + 3] += ref.reference.rotation(q[k]).astype(float) @ d[:3]
        turned = ref.reference.quaternion_product(q[k], np.array([1.0, *(d[-3:] / 2)]))
        q[k] = turned / np.linalg.norm(turned)
    return q


def shortest(G: Array, wanted: Array) -> Array:
    """The shortest x of G x = wanted."""
    return np.linalg.pinv(G.astype(float), rcond=CUT) @ wanted.astype(float) if len(wanted) else np.zeros(G.shape[1])


def settled(model: Any, q: Array, t: float) -> Array:
    """A nearby q that closes all loops, as well as doubles can."""
    last = np.inf
    for _ in range(30):
        c = ref.constraints(model, q, np.zeros(model.nv), t)
        error = float(np.abs(c.position).max(initial=0.0))
        if error < 1e-16 or last / 2 < error < CLOSED:
            return q
        last, q = error, displaced(model, q, -shortest(c.G, c.position))
    raise Unfit(f"{model.name} does not close: {c.position.astype(float)}")


def free_directions(G: Array) -> Array:
    """Columns: velocities that all closures allow."""
    _, s, V = np.linalg.svd(G.astype(float), full_matrices=True)
    return V[int((s > CUT * s.max(initial=0.0)).sum()) :].T


def flowing(model: Any, q: Array, v: Array, t: float) -> Array:
    """A nearby v that keeps all loops closed."""
    for _ in range(2):
        c = ref.constraints(model, q, v, t)
        v = v - shortest(c.G, c.velocity)
    return v


def moving(model: Any, seed: int = 1, *, reach: float = 0.4, t: float = T) -> dict[str, Any]:
    """A state near the design position (``given_q``) that satisfies the closures, with efforts, time and inputs."""
    rng = np.random.default_rng([seed, model.nv])
    way, steps = reach * rng.uniform(-1, 1, model.nv), 4
    q = np.array(model.given_q, dtype=float)
    for k in range(1, steps + 1):
        q = settled(model, displaced(model, q, way / steps), t * k / steps)
    N = free_directions(ref.constraints(model, q, np.zeros(model.nv), t).G)
    v = flowing(model, q, N @ (rng.choice([-1, 1], N.shape[1]) * rng.uniform(0.5, 1.5, N.shape[1])), t)
    return {"q": q, "v": v, "tau": rng.uniform(-1, 1, model.nv), "t": t, "inputs": rng.uniform(-1, 1, len(model.inputs))}
