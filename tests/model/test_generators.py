"""Generated mechanisms are possible, general, and the same for a seed on every machine."""

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.model.generators import chain, humanoid, random_state, random_tree


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "spherical", "free", "fixed"])
def test_a_chain_hangs_each_body_on_the_one_before(kind):
    model = chain(5, kind=kind)
    assert model.parents == (-1, 0, 1, 2, 3) and {joint.kind for joint in model.joints} == {kind}


def test_a_chain_is_general_and_within_its_bounds():
    model = chain(50, seed=3)
    assert np.abs(model.position).max() <= 0.3 and np.abs(model.center).max() <= 0.1
    assert model.mass.min() >= 0.5 and model.mass.max() <= 2.0
    assert all(np.abs(joint.axis).min() > 0 for joint in model.joints)
    assert np.abs(model.inertia).min() > 0


def test_the_same_seed_gives_the_same_model_and_another_seed_another():
    a, b, c = chain(4, 1), chain(4, 1), chain(4, 2)
    np.testing.assert_array_equal(a.inertia, b.inertia)
    assert a.joints == b.joints and a.joints != c.joints
    np.testing.assert_array_equal(random_state(a, 5)[0], random_state(b, 5)[0])


def test_the_stream_of_the_seed_has_not_moved():
    """Benchmarks compare across versions: this axis was printed by the first one, with numpy 2.4."""
    assert chain(1, 0).joints[0].axis == pytest.approx(
        (0.18881711923692268, -0.19839032737660417, 0.9617636786063787), rel=1e-12
    )


def test_a_tree_branches_and_mixes_joints():
    model = random_tree(60, 0)
    assert len(set(model.parents)) < 60 - 1
    assert {joint.kind for joint in model.joints} == {"revolute", "prismatic", "spherical", "fixed"}
    assert not model.armature.any()


def test_a_tree_may_have_a_free_root_armature_and_any_order():
    model = random_tree(40, 1, free_root=True, armature=True, shuffle=True)
    root = model.parents.index(-1)
    assert model.joints[root].kind == "free" and not model.position[root].any()
    assert (model.armature > 0).all()
    assert any(parent > i for i, parent in enumerate(model.parents))


def test_a_random_state_has_unit_quaternions():
    model = random_tree(20, 2, ["spherical", "free"])
    q, v = random_state(model)
    assert q.shape == (model.nq,) and v.shape == (model.nv,)
    for joint, start in zip(model.joints, model.q_index, strict=True):
        k = start + joint.quaternion
        assert np.linalg.norm(q[k : k + 4]) == pytest.approx(1, abs=1e-15)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ModelError, match="no joint type"):
        chain(2, kind="rubber")


def test_the_humanoid_has_36_degrees_of_freedom_and_is_symmetric():
    model = humanoid()
    assert (model.n, model.nq, model.nv) == (31, 37, 36)
    assert 50 < model.mass.sum() < 80
    mirror = np.array([1, -1, 1])
    for i, name in enumerate(model.body_names):
        if name.startswith("left_"):
            j = model.body_names.index(name.replace("left_", "right_"))
            assert model.mass[i] == model.mass[j] and model.joints[i] == model.joints[j]
            np.testing.assert_array_equal(model.position[i], model.position[j] * mirror)
            np.testing.assert_array_equal(model.center[i], model.center[j] * mirror)


def test_the_humanoid_stands_on_the_ground_within_five_centimetres():
    """Straight legs: the sole is 5 cm below the ankle, near z = 0."""
    model = humanoid()
    i, height = model.joint_names.index("left_ankle_roll"), 0.0
    while i >= 0:
        height, i = height + model.position[i, 2], model.parents[i]
    assert abs(model.initial_q[2] + height - 0.05) < 0.05
