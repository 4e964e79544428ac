"""Spatial quantities as plain numpy arrays (angular part first), made in other ways than the package makes them."""

from __future__ import annotations

import numpy as np

from bellcrank.spatial import ArticulatedInertia, Force, FullTurn, Matrix, Motion, PlaneTurn, Symmetric, Transform, Vector

UPPER = np.triu_indices(3)


def six(part):
    """A Motion or a Force as an array of six."""
    return np.array([*part[0], *part[1]])


def motion(a):
    return Motion(Vector(*a[:3]), Vector(*a[3:]))


def force(a):
    return Force(Vector(*a[:3]), Vector(*a[3:]))


def matrix(m):
    return np.array([list(row) for row in m.rows()])


def symmetric(m):
    return Symmetric(*np.asarray(m)[UPPER])


def full(m):
    return Matrix(*[Vector(*row) for row in np.asarray(m)])


def inertia(I):  # noqa: E741
    """A symmetric 6x6 array as an articulated inertia, and back."""
    if isinstance(I, ArticulatedInertia):
        return np.block([[matrix(I.A), matrix(I.B)], [matrix(I.B).T, matrix(I.M)]])
    return ArticulatedInertia(symmetric(I[:3, :3]), full(I[:3, 3:]), symmetric(I[3:, 3:]))


def motion_matrix(X):
    """The 6x6 matrix that takes motions down, column by column."""
    return np.stack([six(X.down(motion(unit))) for unit in np.eye(6)], axis=1)


def cross(u):
    return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])


def random_rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def random_inertia(rng):
    """Symmetric and positive definite, with a condition number of some hundreds."""
    g = rng.normal(size=(6, 6))
    return g @ g.T + np.eye(6)


def random_vector(rng):
    return Vector(*rng.uniform(-1, 1, 3))


def plane_turn(axis, rng):
    return PlaneTurn.angle(axis, rng.uniform(-np.pi, np.pi))


def random_transforms(rng):
    """One of each make: plane turns around an offset, a full rotation, turns on one side only, none."""
    offset = random_vector(rng)
    return [
        Transform((plane_turn("z", rng), plane_turn("x", rng)), offset, (plane_turn("z", rng),)),
        Transform((plane_turn("x", rng),), offset, (plane_turn("z", rng), plane_turn("x", rng))),
        Transform((), offset, (FullTurn(full(random_rotation(rng))),)),
        Transform((FullTurn(full(random_rotation(rng))),), Vector(offset.x, 0.0, offset.z), ()),
        Transform((), offset, ()),
    ]
