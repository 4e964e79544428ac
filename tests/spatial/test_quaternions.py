"""Quaternions w, x, y, z of any length, and their rates. Numbers are of order one: 1e-14 is fifty rounding errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bellcrank.numbers import Dual
from bellcrank.spatial import Vector, quaternion_rate, quaternion_turn
from tests.spatial import dense

parts = st.floats(-1, 1)
quaternions = st.tuples(parts, parts, parts, parts).filter(lambda q: np.linalg.norm(q) > 0.1)
few = settings(max_examples=50)


def rotation(q):
    return dense.matrix(quaternion_turn(q).r)


@few
@given(quaternions, st.floats(1e-100, 1e100), st.booleans())
def test_the_length_and_sign_of_a_quaternion_do_not_matter(q, size, negative):
    scaled = [(-size if negative else size) * part for part in q]
    np.testing.assert_allclose(rotation(scaled), rotation(q), atol=1e-14)


@few
@given(quaternions)
def test_the_rotation_is_orthogonal_and_keeps_hands(q):
    R = rotation(q)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-14)


@few
@given(st.floats(-3, 3), quaternions)
def test_it_turns_about_the_vector_part_by_twice_the_angle(half, direction):
    u = np.array(direction[1:])
    assume(np.linalg.norm(u) > 0.1)
    u /= np.linalg.norm(u)
    R = rotation([np.cos(half), *(np.sin(half) * u)])
    rodrigues = np.eye(3) + np.sin(2 * half) * dense.cross(u) + (1 - np.cos(2 * half)) * dense.cross(u) @ dense.cross(u)
    np.testing.assert_allclose(R, rodrigues, atol=1e-14)


@few
@given(quaternions, st.tuples(parts, parts, parts))
def test_the_rate_of_a_quaternion_turns_its_rotation(q, w):
    """R' = R w~ for w in the turned axes, by a complex step and by dual numbers; the length does not change."""
    rate = quaternion_rate(q, Vector(*w))
    expected = rotation(q) @ dense.cross(w)
    stepped = dense.matrix(quaternion_turn([complex(a, 1e-30 * b) for a, b in zip(q, rate, strict=True)]).r)
    np.testing.assert_allclose(stepped.imag / 1e-30, expected, atol=1e-13)
    dual = quaternion_turn([Dual(a, (b,)) for a, b in zip(q, rate, strict=True)]).r
    np.testing.assert_allclose([[x.tangents[0] for x in row] for row in dual], expected, atol=1e-13)
    assert np.dot(q, rate) == pytest.approx(0.0, abs=1e-15)
