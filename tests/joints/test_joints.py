"""Every joint of the registry: its directions, bias, efforts and rates all follow from how it places the child's frame."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.joints import JOINTS, JOINTS_BY_KEY, JointData, make_joint
from bellcrank.numbers import CountingGraph, Dual, is_constant
from bellcrank.spatial import Matrix, Motion, PlaneTurn, Vector
from tests.spatial import dense

STEP = 1e-30  # of complex steps: the error of the method is far below rounding
NEAR = {"rtol": 0, "atol": 1e-13}  # numbers of order one, tens of operations


def data_for(joint):
    rest = (0.4, PlaneTurn.angle("z", 0.4)) if joint.plane else ()
    return JointData(*rest, pitch=0.3)


@pytest.fixture(params=[key for key, joint in JOINTS_BY_KEY.items() if joint.mechanical], ids=str)
def joint(request):
    return JOINTS_BY_KEY[request.param]


@pytest.fixture
def state(joint):
    """Any q and v; a quaternion of any length."""
    rng = np.random.default_rng(17)
    return rng.uniform(-1, 1, joint.nq) + 0.1, rng.uniform(-1, 1, joint.nv)


def pose(joint, q, data):
    """Rotation and origin of the child's frame in the joint's."""
    slide, turns = joint.motion(q, data)
    axes = Matrix.identity()
    for turn in turns:
        axes = turn.columns(axes)
    return dense.matrix(axes), np.array(list(slide))


def moved(joint, q, v):
    """q along its rates, for a complex step."""
    rates = joint.rates(q, v)
    assert len(rates) == joint.nq
    return [complex(a, STEP * b) for a, b in zip(q, rates, strict=True)]


def total(joint, q, v, data):
    return sum((dense.six(S) * x for S, x in zip(joint.directions(q, data), v, strict=True)), start=np.zeros(6))


def test_directions_are_the_motion_that_the_rates_make(joint, state):
    """S v = (w, R^T p') in the child's axes, where R' = R w~."""
    q, v = state
    data = data_for(joint)
    R, _ = pose(joint, q, data)
    R_step, p_step = pose(joint, moved(joint, q, v), data)
    spin = R.T @ (np.imag(R_step) / STEP)
    np.testing.assert_allclose(spin, -spin.T, **NEAR)
    w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    np.testing.assert_allclose(total(joint, q, v, data), [*w, *(R.T @ (np.imag(p_step) / STEP))], **NEAR)


def test_the_same_by_dual_numbers(joint, state):
    q, v = state
    data = data_for(joint)
    R, p = pose(joint, [Dual(a, (b,)) for a, b in zip(q, joint.rates(q, v), strict=True)], data)
    slope = np.vectorize(lambda x: x.tangents[0] if isinstance(x, Dual) else 0.0, otypes=[float])
    R_real = pose(joint, q, data)[0]
    spin = R_real.T @ slope(R)
    np.testing.assert_allclose(total(joint, q, v, data)[:3], [spin[2, 1], spin[0, 2], spin[1, 0]], **NEAR)
    np.testing.assert_allclose(total(joint, q, v, data)[3:], R_real.T @ slope(p), **NEAR)


def test_the_bias_is_the_rate_of_the_directions(joint, state):
    q, v = state
    data = data_for(joint)
    rate = np.imag(total(joint, moved(joint, q, v), v, data)) / STEP
    np.testing.assert_allclose(dense.six(joint.bias(q, v, data)), rate, **NEAR)


def test_efforts_do_work_in_their_own_direction_only(joint, state):
    q, _ = state
    data = data_for(joint)
    S, E = joint.directions(q, data), joint.efforts(q, data)
    np.testing.assert_allclose(np.reshape([[s.dot(e) for e in E] for s in S], (joint.nv, joint.nv)), np.eye(joint.nv), **NEAR)


def test_neutral_is_the_identity(joint):
    R, p = pose(joint, joint.neutral, JointData(pitch=0.3))
    np.testing.assert_array_equal(R, np.eye(3))
    np.testing.assert_array_equal(p, 0.0)


def test_a_turn_at_rest_comes_after_the_joints_own_place(joint):
    """Where frames ask for one, the neutral pose is that turn about z."""
    if joint.plane:
        R, p = pose(joint, joint.neutral, data_for(joint))
        np.testing.assert_allclose(R, dense.matrix(PlaneTurn.angle("z", 0.4).columns(Matrix.identity())), **NEAR)
        np.testing.assert_array_equal(p, 0.0)


def test_lists_have_the_lengths_of_the_coordinates(joint, state):
    q, v = state
    assert len(joint.neutral) == len(joint.q_names) == len(joint.q_units) == joint.nq
    assert len(joint.v_names) == len(joint.v_units) == joint.nv
    assert len(joint.directions(q)) == joint.nv and len(joint.rates(q, v)) == joint.nq
    assert len(set(joint.q_names)) == joint.nq and len(set(joint.v_names)) == joint.nv


def test_a_quaternion_keeps_its_length(joint, state):
    q, v = state
    if joint.quaternion is None:
        return
    part = slice(joint.quaternion, joint.quaternion + 4)
    assert np.dot(q[part], np.array(joint.rates(q, v))[part]) == pytest.approx(0.0, abs=1e-15)
    assert joint.neutral[part] == (1.0, 0.0, 0.0, 0.0)


def test_six_directions_are_enough_and_independent(joint, state):
    q, _ = state
    S = np.array([dense.six(d) for d in joint.directions(q, data_for(joint))]).reshape(-1, 6)
    assert np.linalg.matrix_rank(S) == joint.nv <= 6


def test_a_joint_runs_on_recorded_numbers(joint):
    """And zero directions stay structural: a revolute joint's six numbers are known."""
    graph = CountingGraph()
    q, v = graph.inputs(joint.nq), graph.inputs(joint.nv)
    joint.motion(q, JointData(pitch=graph.input()))
    assert len(joint.rates(q, v)) == joint.nq
    bias = joint.bias(q, v)
    assert isinstance(bias, Motion) and isinstance(bias.w, Vector)
    if joint.key in ("revolute", "prismatic", "cylindrical", "spherical", "free"):
        assert all(is_constant(x) for S in joint.directions(q) for x in dense.six(S))


def ingredients(joint):
    given = {}
    if joint.has_axis:
        given["axis"] = (0.0, 0.0, 2.0)
    if joint.needs_axis2:
        given["axis2"] = (3.0, 0.0, 0.0)
    if joint.needs_pitch:
        given["pitch"] = 0.1
    return given


def test_a_joint_is_made_by_its_name_with_unit_axes(joint):
    made = make_joint(joint.kind, **ingredients(joint))
    assert type(made) is JOINTS[joint.kind] and made.kind == joint.kind
    assert made.axis == ((0.0, 0.0, 1.0) if joint.has_axis else None)
    assert made.axis2 == ((1.0, 0.0, 0.0) if joint.needs_axis2 else None)
    assert made.pitch == (0.1 if joint.needs_pitch else None)


@pytest.mark.parametrize("name", ["axis", "axis2", "pitch"])
def test_what_a_joint_lacks_or_does_not_have_is_named(joint, name):
    given = ingredients(joint)
    if name in given:
        del given[name]
        with pytest.raises(ModelError, match=rf"a {joint.kind} joint needs an? {name}"):
            make_joint(joint.kind, **given)
    else:
        given[name] = (1.0, 0.0, 0.0) if name != "pitch" else 0.1
        with pytest.raises(ModelError, match=rf"a {joint.kind} joint has no {name}: remove it"):
            make_joint(joint.kind, **given)


@pytest.mark.parametrize("axis", [(0, 0, 0), (np.nan, 0, 1), (np.inf, 0, 0)])
def test_an_axis_must_point_somewhere(axis):
    with pytest.raises(ModelError, match="axis of a revolute joint must be a finite vector that is not zero; it is"):
        make_joint("revolute", axis)


@pytest.mark.parametrize("axis", [(0, 1), (0, 1, 2, 3), "up", 3.0, ("a", "b", "c"), None])
def test_an_axis_must_be_three_numbers(axis):
    with pytest.raises(
        ModelError, match="revolute joint (needs an axis|must be)|axis of a revolute joint must be three numbers"
    ):
        make_joint("revolute", axis)


@pytest.mark.parametrize("size", [1e-200, 1e200, 5e-324])
def test_an_axis_may_have_any_length(size):
    assert make_joint("revolute", (0.0, size, 0.0)).axis == (0.0, 1.0, 0.0)


def test_an_unknown_joint_lists_what_there_is():
    with pytest.raises(ModelError, match=f"no joint type 'hinge': use one of {', '.join(JOINTS)}"):
        make_joint("hinge")


def test_two_axes_must_be_perpendicular():
    with pytest.raises(ModelError, match="must be perpendicular; .* meet at 45 degrees"):
        make_joint("universal", axis=(0, 0, 1), axis2=(1, 0, 1))
    nearly = make_joint("universal", axis=(0, 0, 1), axis2=(1, 0, 1e-7))
    assert np.dot(nearly.axis, nearly.axis2) == 0.0


@pytest.mark.parametrize("pitch", [np.nan, np.inf])
def test_a_pitch_must_be_finite(pitch):
    with pytest.raises(ModelError, match="pitch of a screw joint must be a finite number"):
        make_joint("screw", axis=(0, 0, 1), pitch=pitch)
