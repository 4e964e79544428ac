"""Multipliers of the model's closures from accelerations that are known: how constraint forces come out of a reduction.

With the accelerations known, each joint of the tree lacks an effort r_k to move as it does; the closures make it,

    G^T lambda = r,    r_k = P_k^T sum over bodies j outboard of k of (kS^j) (I^j A^j - Q^j) + J_k u'_k - tau_k

Where closures are redundant the shortest lambda is taken.
"""

from __future__ import annotations

import numpy as np

from .state import GROUND, Array, Mechanism

RANK = 1e-10  # of the largest singular value


def multipliers(mechanism: Mechanism, a: Array) -> Array:
    G, missing = jacobian(mechanism), missing_efforts(mechanism, a)
    size = np.linalg.norm(G, axis=1)
    size[size == 0] = 1.0
    return np.asarray(np.linalg.lstsq((G / size[:, None]).T, missing, rcond=RANK)[0] / size) if len(G) else np.zeros(0)


def missing_efforts(mechanism: Mechanism, a: Array) -> Array:
    """r: inverse dynamics of the tree."""
    A: list[Array] = []
    for body in mechanism.bodies:
        carried = body.ST @ A[body.parent] if body.parent != GROUND else 0.0
        A.append(carried + body.P @ a[body.first : body.first + len(body.J)] + body.c)
    felt = [body.I @ motion - body.Q for body, motion in zip(mechanism.bodies, A, strict=True)]
    r = np.zeros(len(a))
    for k, body in reversed(list(enumerate(mechanism.bodies))):
        own = slice(body.first, body.first + len(body.J))
        r[own] = body.P.T @ felt[k] + body.J * a[own] - body.tau
        if body.parent != GROUND:
            felt[body.parent] = felt[body.parent] + body.ST.T @ felt[k]
    return r


def jacobian(mechanism: Mechanism) -> Array:
    """G: each closure's rows, carried inward from the two bodies that it holds."""
    G = np.zeros((int(mechanism.model.closure_index[-1]), mechanism.model.nv))
    for tie in mechanism.ties:
        rows = slice(tie.first, tie.first + len(tie.gamma))
        for body, dof, factor in tie.terms:
            G[rows, mechanism.bodies[body].first + dof] += factor
        for end, Phi in ((tie.a, tie.Phi_a), (tie.b, tie.Phi_b)):
            for k in mechanism.ancestors(end)[:-1]:
                body_k = mechanism.bodies[k]
                G[rows, body_k.first : body_k.first + len(body_k.J)] += Phi @ body_k.P
                Phi = Phi @ body_k.ST
    return G


def right_side(mechanism: Mechanism) -> Array:
    """The right-hand side of G a: gamma less the part of velocities alone."""
    At: dict[int, Array] = {GROUND: np.zeros(6)}
    for k, body in enumerate(mechanism.bodies):
        At[k] = body.ST @ At[body.parent] + body.c
    right = [tie.gamma if tie.terms else tie.gamma - tie.Phi_a @ At[tie.a] - tie.Phi_b @ At[tie.b] for tie in mechanism.ties]
    return np.concatenate([np.zeros(0), *right])
