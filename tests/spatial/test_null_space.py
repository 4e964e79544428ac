"""Solutions of few equations, unrolled: by reflections, and by a cross product where one direction is free."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.spatial.small import null_space

SHAPES = [(1, 3), (2, 3), (2, 5), (3, 4), (3, 6), (5, 6), (6, 7)]


def drawn(m, n, spread, seed):
    """Rows whose singular values are one and the spread."""
    rng = np.random.default_rng(seed)
    U, _, Vt = np.linalg.svd(rng.normal(size=(m, n)), full_matrices=False)
    return (U * np.append(1.0, np.full(m - 1, spread))) @ Vt, rng.normal(size=m)


@pytest.mark.parametrize("spread", [1.0, 1e-4])
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_solutions_are_orthonormal_and_the_smallest_one_is_that_of_lapack(m, n, spread):
    """Measured: 8e-16 and 6e-13 of k0, where the error may grow with the condition."""
    G, gamma = drawn(m, n, spread, 0)
    space = null_space(G.tolist(), gamma.tolist(), n, directions=True)
    N, k0, ways = np.array(space.N), np.array(space.k0), np.array(space.directions)
    np.testing.assert_allclose(G @ N.T, 0.0, atol=1e-14)
    np.testing.assert_allclose(N @ N.T, np.eye(n - m), atol=1e-11)
    expected = np.linalg.lstsq(G, gamma, rcond=None)[0]
    np.testing.assert_allclose(k0, expected, rtol=0, atol=1e-14 / spread * np.abs(expected).max())
    np.testing.assert_allclose(ways @ ways.T, np.eye(m), atol=1e-11)
    np.testing.assert_allclose(ways[0], G[0] / np.linalg.norm(G[0]), atol=1e-14)
    added = np.abs(np.diag(np.linalg.qr(G.T, mode="r"))) / np.linalg.norm(G)
    np.testing.assert_allclose(space.pivots, added, rtol=1e-9)
    assert 0.2 * added.min() ** 2 < space.pivot < 5 * added.min() ** 2


@pytest.mark.parametrize("which", ["first", "last"])
@pytest.mark.parametrize(("m", "n"), [shape for shape in SHAPES if shape[0] > 1])
def test_where_rows_depend_on_each_other_there_is_no_solution(m, n, which):
    G, gamma = drawn(m, n, 1.0, 1)
    if which == "last":
        G[-1] = G[0] * (1 + 1e-9) + 1e-9 * G[-1]
    elif m > 2:
        G[1] = G[0] * (1 + 1e-9) + 1e-9 * G[1]
    else:
        G[0] = 1e-9 * G[0]
    assert np.isnan(null_space(G.tolist(), gamma.tolist(), n, least=1e-14).k0).all()
    assert np.isfinite(null_space(G.tolist(), gamma.tolist(), n, least=1e-30).k0).all()
