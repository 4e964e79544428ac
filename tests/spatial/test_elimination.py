"""Eliminating joints direction by direction equals the Schur complement of the whole block, by dense 6x6 algebra.

The inertias have condition numbers below 1e4, so 1e-11 leaves room for a thousand rounding errors of that size.
"""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.joints.base import coordinate_directions
from bellcrank.spatial import eliminate, joint_acceleration
from bellcrank.spatial.elimination import coordinate
from tests.spatial import dense

NEAR = {"rtol": 1e-11, "atol": 1e-11}


def directions(name):
    """Directions of joints: motions by coordinates (set exactly and folded), and by other screws."""
    rng = np.random.default_rng(9)
    s, c = np.sin(0.6), np.cos(0.6)
    return {
        "fixed": (),
        "revolute": coordinate_directions(2),
        "prismatic": coordinate_directions(5),
        "cylindrical": coordinate_directions(2, 5),
        "spherical": coordinate_directions(0, 1, 2),
        "free": coordinate_directions(3, 4, 5, 0, 1, 2),
        "screw": (dense.motion([0, 0, 1.0, 0, 0, 0.3]),),
        "universal": (dense.motion([0, s, c, 0, 0, 0]), dense.motion([1.0, 0, 0, 0, 0, 0])),
        "planar": (dense.motion([0, 0, 0, c, -s, 0]), dense.motion([0, 0, 0, s, c, 0]), dense.motion([0, 0, 1.0, 0, 0, 0])),
        "any three screws": tuple(dense.motion(a) for a in rng.normal(size=(3, 6))),
    }[name]


JOINTS = [
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "spherical",
    "free",
    "screw",
    "universal",
    "planar",
    "any three screws",
]


@pytest.fixture(params=JOINTS)
def joint(request):
    return directions(request.param)


@pytest.fixture(params=[False, True], ids=["without armature", "with armature"])
def problem(request, joint):
    """Inertia, bias, directions as columns, efforts, armature; and the result of eliminating them."""
    rng = np.random.default_rng(21)
    S = np.array([dense.six(d) for d in joint]).reshape(-1, 6).T
    n = S.shape[1]
    I, p, tau = dense.random_inertia(rng), rng.normal(size=6), rng.normal(size=n)  # noqa: E741
    r = rng.uniform(0.1, 2.0, n) if request.param else np.zeros(n)
    armature = list(r) if request.param else [0.0] * n
    return I, p, S, tau, r, eliminate(dense.inertia(I), dense.force(p), joint, list(tau), armature)


def test_block_elimination_equals_the_schur_complement(problem):
    """I' = I - I S D^-1 S^T I,  p' = p + I S D^-1 (tau - S^T p),  D = S^T I S + r"""
    I, p, S, tau, r, (inertia, bias, _) = problem  # noqa: E741
    D = S.T @ I @ S + np.diag(r)
    np.testing.assert_allclose(dense.inertia(inertia), I - I @ S @ np.linalg.solve(D, S.T @ I), **NEAR)
    np.testing.assert_allclose(dense.six(bias), p + I @ S @ np.linalg.solve(D, tau - S.T @ p), **NEAR)


def test_back_substitution_equals_the_dense_solution(problem, joint):
    """D a = tau - S^T (I x + p), and the body accelerates with x + S a."""
    I, p, S, tau, r, (_, _, pivots) = problem  # noqa: E741
    x = np.random.default_rng(22).normal(size=6)
    a, body = joint_acceleration(dense.motion(x), joint, pivots)
    D = S.T @ I @ S + np.diag(r)
    expected = np.linalg.solve(D, tau - S.T @ (I @ x + p)) if len(tau) else np.zeros(0)
    np.testing.assert_allclose(np.array(a), expected, **NEAR)
    np.testing.assert_allclose(dense.six(body), x + S @ expected, **NEAR)


def test_what_is_felt_across_a_joint_gives_way_in_its_directions(problem):
    """Without armature I' S = 0 and S.p' = tau; with it I' stays symmetric, positive and weaker than I."""
    I, _, S, tau, r, (inertia, bias, _) = problem  # noqa: E741
    felt = dense.inertia(inertia)
    if not r.any():
        np.testing.assert_allclose(felt @ S, 0.0, atol=1e-11)
        np.testing.assert_allclose(S.T @ dense.six(bias), tau, atol=1e-11)
    np.testing.assert_array_equal(felt, felt.T)
    assert np.linalg.eigvalsh(felt).min() > -1e-10 and np.linalg.eigvalsh(I - felt).min() > -1e-10


@pytest.mark.parametrize("name", ["revolute", "prismatic", "cylindrical", "spherical", "free"])
def test_coordinate_directions_are_set_exactly(name):
    """Zeros that are exact fold when they are recorded."""
    rng = np.random.default_rng(23)
    chosen = directions(name)
    n = len(chosen)
    tau = rng.normal(size=n)
    I, p = dense.inertia(dense.random_inertia(rng)), dense.force(rng.normal(size=6))  # noqa: E741
    inertia, bias, _ = eliminate(I, p, chosen, list(tau), [0.0] * n)
    last = coordinate(chosen[-1])
    assert last is not None
    np.testing.assert_array_equal(dense.inertia(inertia)[last], 0.0)
    assert dense.six(bias)[last] == tau[-1]


def test_only_known_unit_directions_count_as_coordinates():
    assert [coordinate(S) for S in coordinate_directions(0, 4)] == [0, 4]
    for other in ([0, 0, -1.0, 0, 0, 0], [0, 0, 1.0, 0, 0, 0.3], [0, 0, 2.0, 0, 0, 0], [0, 0, np.longdouble(1), 0, 0, 0]):
        assert coordinate(dense.motion([x if isinstance(x, np.longdouble) else float(x) for x in other])) is None


def test_the_order_of_the_directions_does_not_matter():
    rng = np.random.default_rng(24)
    chosen = directions("any three screws")
    I, p = dense.inertia(dense.random_inertia(rng)), dense.force(rng.normal(size=6))  # noqa: E741
    tau, r = rng.normal(size=3), rng.uniform(0.1, 1, 3)
    one, force, _ = eliminate(I, p, chosen, tau, r)
    two, other, _ = eliminate(I, p, chosen[::-1], tau[::-1], r[::-1])
    np.testing.assert_allclose(dense.inertia(one), dense.inertia(two), **NEAR)
    np.testing.assert_allclose(dense.six(force), dense.six(other), **NEAR)


def test_a_huge_armature_locks_the_joint():
    rng = np.random.default_rng(25)
    I = dense.random_inertia(rng)  # noqa: E741
    inertia, _, _ = eliminate(dense.inertia(I), dense.force(np.zeros(6)), directions("spherical"), [0.0] * 3, [1e14] * 3)
    np.testing.assert_allclose(dense.inertia(inertia), I, rtol=1e-9)
