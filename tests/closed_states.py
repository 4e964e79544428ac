"""States of closed mechanisms: Newton on the positions of tests/closed_reference.py, from the design position outward."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import closed_reference as ref
from .reference import Array

T = 0.37  # a time inside all tables
CLOSED = 1e-14  # m, and rad
BENT = 0.05  # m/s2: terms in velocity squared that are large enough to test something
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


def allowed(G: Array, x: Array) -> Array:
    """The nearest direction to x along which all closures stay closed, x - G^+ G x: the same whatever basis LAPACK finds."""
    return x - shortest(G, G @ x)


def flowing(model: Any, q: Array, v: Array, t: float) -> Array:
    """A nearby v that keeps all loops closed."""
    for _ in range(2):
        c = ref.constraints(model, q, v, t)
        v = v - shortest(c.G, c.velocity)
    return v


def pushed(model: Any, q: Array, t: float, push: Array) -> Array:
    """Velocities along a push of all joints as far as the closures allow, of length one for each degree of freedom.

    This does not depend on the basis that LAPACK happens to find for the directions left free.
    """
    G = ref.constraints(model, q, np.zeros(model.nv), t).G.astype(float)
    v = allowed(G, push)
    freedom = model.nv - (np.linalg.matrix_rank(G, tol=CUT * np.linalg.norm(G, 2)) if G.size else 0)
    return flowing(model, q, v * np.sqrt(freedom) / max(np.linalg.norm(v), 1e-300), t)


def bend(model: Any, q: Array, v: Array, t: float) -> float:
    """The least over the closures, but not the gears, of the terms in velocity squared."""
    gamma, ends = ref.constraints(model, q, v, t).gamma, model.closure_index
    rows = [slice(ends[k], ends[k + 1]) for k, c in enumerate(model.closures) if c.kind != "coupler"]
    return min((float(np.abs(gamma[at]).max()) for at in rows), default=np.inf)


def moving(model: Any, seed: int = 1, *, reach: float = 0.4, t: float = T) -> dict[str, Any]:
    """A state near the design position (``given_q``) that satisfies the closures, with efforts, time and inputs.

    Of some random velocities the first that bends the path of every closure; where none does (parallelograms), the first.
    """
    rng = np.random.default_rng([seed, model.nv])
    way, steps = reach * rng.uniform(-1, 1, model.nv), 4
    q = np.array(model.given_q, dtype=float)
    for k in range(1, steps + 1):
        q = settled(model, displaced(model, q, way / steps), t * k / steps)
    pushes = rng.choice([-1, 1], (8, model.nv)) * rng.uniform(0.5, 1.5, (8, model.nv))
    tried = (pushed(model, q, t, push) for push in pushes)
    v = next((v for v in tried if bend(model, q, v, t) > BENT), None)
    v = pushed(model, q, t, pushes[0]) if v is None else v
    return {"q": q, "v": v, "tau": rng.uniform(-1, 1, model.nv), "t": t, "inputs": rng.uniform(-1, 1, len(model.inputs))}
