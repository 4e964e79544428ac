"""Frames to compute in: composed at q = 0 they give back the user's geometry, whatever the axes.

The mechanisms are about 1 m; a placement is a product of three rotations, so a dozen of them may lose a hundred
rounding errors: 2e-14 m or rad.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.dynamics.output_frames import OutputFrames
from bellcrank.formulations import QUANTITIES
from bellcrank.machine.in_python import run_plain
from bellcrank.model.generators import humanoid, random_tree
from bellcrank.plan import choose_frames, depth_first, make_plan
from tests.plan.trees import ANY, chain_of_axes, tilted_axes, unit, with_joints, world_origins

NEAR = 2e-14
ANGLES = [10.0**-k for k in range(15)]


def rotation(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) if axis == "z" else np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def composed(model, style="plane"):
    """World rotation and origin of every computing frame at q = 0, from the angles and offsets alone."""
    tree = depth_first(model.parents)
    frames = choose_frames(model, tree, style)
    poses = []
    for i, p in enumerate(tree.parent):
        R, r = poses[p] if p >= 0 else (frames.ground_rotation, frames.ground_origin)
        if model.joints[tree.order[i]].plane and style == "plane":
            R = R @ rotation("z", frames.gamma[i]) @ rotation("x", frames.alpha[i])
            r = r + R @ frames.offset[i]
            R = R @ rotation("z", frames.rest[i])
        else:
            r = r + R @ frames.offset[i]
            R = R @ frames.turn[i]
        poses.append((R, r))
    return tree, frames, np.array([R for R, _ in poses]), np.array([r for _, r in poses])


def check(model, style="plane", near=NEAR):
    """Rotations and origins as the frames promise, joint axes on z, and the whole plan's poses."""
    tree, frames, R, r = composed(model, style)
    order = list(tree.order)
    np.testing.assert_allclose(R, frames.rotation, atol=near, rtol=0)
    np.testing.assert_allclose(r, world_origins(model)[order] + frames.origin, atol=near, rtol=0)
    for i, body in enumerate(order):
        joint = model.joints[body]
        if joint.has_axis:
            np.testing.assert_allclose(frames.rotation[i, :, 2], joint.axis, atol=1e-15, rtol=0)
        if joint.needs_axis2:
            np.testing.assert_allclose(frames.rotation[i, :, 0], joint.axis2, atol=1e-15, rtol=0)
    plan = make_plan(model, style)
    raw = run_plain(QUANTITIES["poses"], plan, q=model.neutral_q)
    (found,) = raw.values()
    places, turns = OutputFrames(plan).poses(np.array(found, dtype=float))
    np.testing.assert_allclose(places, world_origins(model), atol=near, rtol=0)
    np.testing.assert_allclose(turns, np.broadcast_to(np.eye(3), turns.shape), atol=near, rtol=0)
    return frames


@pytest.mark.parametrize("style", ["plane", "full"])
@pytest.mark.parametrize("seed", range(8))
def test_a_random_tree_stands_as_the_user_placed_it(seed, style):
    rng = np.random.default_rng(seed)
    shape = random_tree(12, seed, shuffle=seed % 2 == 0)
    kinds = rng.choice(ANY, 12)
    if seed % 3 == 0:
        kinds[shape.parents.index(-1)] = "free"
    axes = np.array([unit(a) for a in rng.normal(size=(12, 3))])
    check(with_joints(shape.parents, kinds, axes, shape.position, rng), style)


@pytest.mark.parametrize("angle", ANGLES, ids=lambda a: f"{a:.0e} rad")
def test_nearly_parallel_axes_lose_no_digits(angle):
    rng = np.random.default_rng(5)
    for kind in ("revolute", "cylindrical", "prismatic"):
        check(chain_of_axes(tilted_axes(8, angle, rng), rng.uniform(-0.3, 0.3, (8, 3)), kind))


@pytest.mark.parametrize("angle", ANGLES, ids=lambda a: f"{a:.0e} rad")
def test_nearly_opposite_and_nearly_intersecting_axes_lose_no_digits(angle):
    rng = np.random.default_rng(6)
    axes = tilted_axes(8, angle, rng) * np.array([1, -1] * 4)[:, None]
    check(chain_of_axes(axes, rng.uniform(-0.3, 0.3, (8, 3))))
    along = axes * rng.uniform(0.1, 0.3, (8, 1)) + angle * rng.uniform(-0.3, 0.3, (8, 3))
    check(chain_of_axes(axes, along))
    check(chain_of_axes(axes, np.zeros((8, 3))))


def test_parallel_axes_take_no_twist_and_offsets_along_x():
    """A planar mechanism: Rx folds, and so does the offset's y."""
    rng = np.random.default_rng(7)
    axis = unit(rng.normal(size=3))
    frames = check(chain_of_axes(np.tile(axis, (6, 1)), rng.uniform(-0.3, 0.3, (6, 3))))
    np.testing.assert_array_equal(frames.alpha, 0.0)
    np.testing.assert_array_equal(frames.gamma, 0.0)
    np.testing.assert_array_equal(frames.offset[1:, 1], 0.0)


def test_skew_axes_are_placed_by_one_twist_and_the_common_normal():
    """Denavit-Hartenberg: no first turn, offset (a, 0, d); where the guard against far origins does not act."""
    rng = np.random.default_rng(8)
    axes = tilted_axes(10, 1.0, rng)
    frames = check(chain_of_axes(axes, rng.uniform(-0.3, 0.3, (10, 3))))
    np.testing.assert_array_equal(frames.gamma, 0.0)
    guarded = np.append(False, (frames.origin == 0).all(axis=1)[:-1])
    assert guarded.sum() <= 4
    np.testing.assert_array_equal(frames.offset[1:][~guarded[1:], 1], 0.0)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_right_angles_are_exact(seed):
    """Axes and offsets along x, y, z, as machines have them: every sine and cosine is 0, 1 or -1, and folds."""
    rng = np.random.default_rng(seed)
    axes = np.eye(3)[rng.integers(0, 3, 8)] * rng.choice([-1, 1], (8, 1))
    model = chain_of_axes(axes, np.eye(3)[rng.integers(0, 3, 8)] * rng.uniform(0.1, 0.3, (8, 1)))
    check(model)
    plan = make_plan(model)
    turns = plan.data[:, :18].reshape(8, 3, 6)[:, :, :2]
    assert np.isin(turns, [-1.0, 0.0, 1.0]).all()


@pytest.mark.parametrize("angle", [*ANGLES, 0.0], ids=lambda a: f"{a:.0e} rad")
def test_no_origin_slides_farther_than_twice_the_joint_offset(angle):
    rng = np.random.default_rng(9)
    axes = tilted_axes(40, angle, rng) if angle else np.tile([0.0, 0.0, 1.0], (40, 1))
    model = chain_of_axes(axes, rng.uniform(-0.3, 0.3, (40, 3)))
    frames = choose_frames(model, depth_first(model.parents))
    reach = np.append(np.linalg.norm(model.position[1:], axis=1), 0.0)
    assert (np.linalg.norm(frames.origin, axis=1) <= 2.0 * reach * (1 + 1e-12)).all()


def test_full_rotations_keep_the_origins_at_the_joints():
    model = random_tree(10, 3)
    frames = choose_frames(model, depth_first(model.parents), "full")
    np.testing.assert_array_equal(frames.origin, 0.0)
    np.testing.assert_array_equal(frames.rest, 0.0)


def test_chains_of_fixed_joints_take_the_axes_of_what_they_are_fixed_to():
    """So their placement is an offset and nothing else; also on ground, and with a joint in the middle."""
    rng = np.random.default_rng(10)
    kinds = ["fixed", "fixed", "revolute", "fixed", "fixed", "prismatic", "fixed"]
    axes = np.array([unit(a) for a in rng.normal(size=(7, 3))])
    model = with_joints(list(range(-1, 6)), kinds, axes, rng.uniform(-0.3, 0.3, (7, 3)), rng)
    frames = check(model)
    for i, kind in enumerate(kinds):
        if kind == "fixed":
            np.testing.assert_allclose(frames.turn[i], np.eye(3), atol=1e-15)


def test_a_fixed_joint_on_a_branch_of_many_stands_right():
    rng = np.random.default_rng(11)
    kinds = ["revolute", "fixed", "fixed", "revolute", "spherical", "fixed", "universal"]
    axes = np.array([unit(a) for a in rng.normal(size=(7, 3))])
    check(with_joints([-1, 0, 0, 1, 2, 4, 5], kinds, axes, rng.uniform(-0.3, 0.3, (7, 3)), rng))


def test_the_humanoid_stands_straight():
    check(humanoid())
