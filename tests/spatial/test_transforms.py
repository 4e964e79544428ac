"""Moving motions, forces and inertias between frames. Numbers are of order one: 1e-13 is some hundred rounding errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.spatial import FullTurn, Matrix, RigidInertia, Vector
from tests.spatial import dense

NEAR = {"rtol": 1e-13, "atol": 1e-13}
seeds = given(st.integers(0, 2**32 - 1))
few = settings(max_examples=25)


@few
@seeds
def test_the_power_of_a_force_on_a_motion_is_the_same_in_either_frame(seed):
    rng = np.random.default_rng(seed)
    for X in dense.random_transforms(rng):
        above, below = dense.motion(rng.normal(size=6)), dense.force(rng.normal(size=6))
        assert X.down(above).dot(below) == pytest.approx(above.dot(X.up(below)), rel=1e-12, abs=1e-12)


@few
@seeds
def test_a_transform_is_a_turn_and_a_shift(seed):
    """w' = R^T w, v' = R^T (v + w x p), with R and p the pose of the child; forces go up by the transpose."""
    rng = np.random.default_rng(seed)
    for X in dense.random_transforms(rng):
        axes, origin = X.pose(Matrix.identity(), Vector(0.0, 0.0, 0.0))
        R, p = dense.matrix(axes), np.array(origin)
        np.testing.assert_allclose(R @ R.T, np.eye(3), **NEAR)
        expected = np.block([[R.T, np.zeros((3, 3))], [-R.T @ dense.cross(p), R.T]])
        np.testing.assert_allclose(dense.motion_matrix(X), expected, **NEAR)
        F = rng.normal(size=6)
        np.testing.assert_allclose(dense.six(X.up(dense.force(F))), expected.T @ F, **NEAR)
        u = dense.random_vector(rng)
        np.testing.assert_allclose(X.down_vector(u), R.T @ np.array(u), **NEAR)


@few
@seeds
def test_an_acceleration_given_apart_joins_between_the_turns(seed):
    rng = np.random.default_rng(seed)
    for X in dense.random_transforms(rng):
        a, extra = dense.motion(rng.normal(size=6)), dense.random_vector(rng)
        gained = X.down(a, extra).v - X.down(a).v
        for turn in X.after:
            extra = turn.down(extra)
        np.testing.assert_allclose(gained, extra, **NEAR)


@few
@seeds
def test_a_pose_composes(seed):
    """The child of a child: poses one after the other equal the product of the 6x6 matrices."""
    rng = np.random.default_rng(seed)
    for X, Y in zip(dense.random_transforms(rng), dense.random_transforms(rng), strict=True):
        axes, origin = Y.pose(*X.pose(Matrix.identity(), Vector(0.0, 0.0, 0.0)))
        R, p = dense.matrix(axes), np.array(origin)
        both = dense.motion_matrix(Y) @ dense.motion_matrix(X)
        np.testing.assert_allclose(both[:3, :3], R.T, **NEAR)
        np.testing.assert_allclose(both[3:, :3], -R.T @ dense.cross(p), **NEAR)


@few
@seeds
def test_an_articulated_inertia_goes_up_by_congruence(seed):
    """I' = X^T I X and p' = X^T (p + I (0, centripetal)), by 6x6 matrices. Entries of I are below 100."""
    rng = np.random.default_rng(seed)
    for X in dense.random_transforms(rng):
        I, p, between = dense.random_inertia(rng), rng.normal(size=6), dense.random_vector(rng)  # noqa: E741
        inertia, bias = X.up_articulated(dense.inertia(I), dense.force(p), between)
        M, below = dense.motion_matrix(X), between
        for turn in X.after:
            below = turn.down(below)
        np.testing.assert_allclose(dense.inertia(inertia), M.T @ I @ M, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dense.six(bias), M.T @ (p + I @ [0, 0, 0, *below]), rtol=1e-12, atol=1e-12)


@few
@seeds
def test_a_shifted_inertia_is_felt_through_a_lever(seed):
    """v at the old point is v + w x r."""
    rng = np.random.default_rng(seed)
    I, r = dense.random_inertia(rng), dense.random_vector(rng)  # noqa: E741
    lever = np.block([[np.eye(3), np.zeros((3, 3))], [-dense.cross(r), np.eye(3)]])
    shifted = dense.inertia(I).shifted(r)
    np.testing.assert_allclose(dense.inertia(shifted), lever.T @ I @ lever, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dense.inertia(shifted.shifted(-r)), I, rtol=1e-12, atol=1e-12)


@few
@seeds
def test_plane_turns_equal_full_turns(seed):
    rng = np.random.default_rng(seed)
    S, M, u = dense.symmetric(dense.random_inertia(rng)[:3, :3]), dense.full(rng.normal(size=(3, 3))), dense.random_vector(rng)
    for axis in "xz":
        turn = dense.plane_turn(axis, rng)
        same = FullTurn(turn.columns(Matrix.identity()))
        R = dense.matrix(same.r)
        k = "xyz".index(axis)
        assert R[k, k] == 1.0 and np.trace(R) == pytest.approx(1 + 2 * turn.c)
        np.testing.assert_allclose(turn.up(u), same.up(u), **NEAR)
        np.testing.assert_allclose(turn.down(u), same.down(u), **NEAR)
        np.testing.assert_allclose(turn.up_symmetric(S), same.up_symmetric(S), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dense.matrix(turn.up_symmetric(S)), R @ dense.matrix(S) @ R.T, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dense.matrix(turn.up_matrix(M)), R @ dense.matrix(M) @ R.T, **NEAR)
        np.testing.assert_allclose(dense.matrix(same.up_matrix(M)), R @ dense.matrix(M) @ R.T, **NEAR)
        np.testing.assert_allclose(dense.matrix(turn.columns(M)), dense.matrix(M) @ R, **NEAR)
        np.testing.assert_allclose(dense.matrix(same.columns(M)), dense.matrix(M) @ R, **NEAR)


def particles(rng, count=7):
    return rng.uniform(0.1, 1.0, count), rng.uniform(-1, 1, (count, 3))


def rigid(masses, places):
    J = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, places, strict=True))
    return RigidInertia(dense.symmetric(J), Vector(*(masses @ places)), masses.sum())


@few
@seeds
def test_a_rigid_inertia_is_that_of_its_particles(seed):
    """Momentum, and what turning takes, summed over particles: a_i = w x (w x r_i)."""
    rng = np.random.default_rng(seed)
    masses, places = particles(rng)
    body, (w, v) = rigid(masses, places), rng.normal(size=(2, 3))
    V = dense.motion([*w, *v])
    momenta = masses[:, None] * (v + np.cross(w, places))
    expected = np.concatenate([np.cross(places, momenta).sum(axis=0), momenta.sum(axis=0)])
    np.testing.assert_allclose(dense.six(body @ V), expected, **NEAR)
    np.testing.assert_allclose(dense.six(body.articulated() @ V), expected, **NEAR)
    pulls = masses[:, None] * np.cross(w, np.cross(w, places))
    expected = np.concatenate([np.cross(places, pulls).sum(axis=0), pulls.sum(axis=0)])
    np.testing.assert_allclose(dense.six(body.gyroscopic(Vector(*w))), expected, rtol=1e-12, atol=1e-12)


@few
@seeds
def test_a_rigid_assembly_goes_up_as_its_articulated_inertia_does(seed):
    rng = np.random.default_rng(seed)
    for X in dense.random_transforms(rng):
        masses, places = particles(rng)
        body = rigid(masses, places)
        zero = Vector(0.0, 0.0, 0.0)
        articulated, _ = X.up_articulated(body.articulated(), dense.force(np.zeros(6)), zero)
        np.testing.assert_allclose(
            dense.inertia(X.up_rigid(body).articulated()), dense.inertia(articulated), rtol=1e-12, atol=1e-12
        )
        R, p = X.pose(Matrix.identity(), zero)
        moved = rigid(masses, places @ dense.matrix(R).T + np.array(p))
        np.testing.assert_allclose(
            dense.inertia(X.up_rigid(body).articulated()), dense.inertia(moved.articulated()), rtol=1e-12, atol=1e-12
        )


def test_inertias_of_bodies_that_move_together_add():
    rng = np.random.default_rng(2)
    (m1, r1), (m2, r2) = particles(rng), particles(rng)
    together = rigid(np.append(m1, m2), np.concatenate([r1, r2]))
    both = rigid(m1, r1) + rigid(m2, r2)
    np.testing.assert_allclose(dense.inertia(both.articulated()), dense.inertia(together.articulated()), **NEAR)
    apart = rigid(m1, r1).articulated() + rigid(m2, r2).articulated()
    np.testing.assert_allclose(dense.inertia(apart), dense.inertia(together.articulated()), **NEAR)
