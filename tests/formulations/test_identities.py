"""What holds for every mechanism: inverses, symmetry, energy, momentum, reactions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import QUANTITIES
from bellcrank.machine.in_python import run_plain
from bellcrank.model.generators import chain, random_state, random_tree
from bellcrank.plan import make_plan

from .. import reference
from .mechanisms import MECHANISMS, build


@pytest.fixture(scope="module", params=MECHANISMS)
def moving(request):
    """A mechanism in motion: model, dynamics, q, v, tau, and its accelerations."""
    model = MECHANISMS[request.param]()
    dynamics = bc.compile(model)
    q, v = random_state(model, 7)
    tau = np.random.default_rng(8).uniform(-1, 1, model.nv)
    return model, dynamics, q, v, tau, dynamics.acceleration(q, v, tau)


def test_inverse_dynamics_undoes_forward_dynamics(moving):
    """The efforts come back to rounding of the largest moment in the mechanism."""
    model, dynamics, q, v, tau, a = moving
    wrenches = reference.joint_wrenches(model, q, v, a).astype(float)
    back = dynamics.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(back, tau, rtol=0, atol=1e-13 * max(np.abs(wrenches).max(), np.abs(tau).max()))


def test_forward_dynamics_undoes_inverse_dynamics(moving):
    """Rounding of the efforts grows by the amplification of the solve."""
    model, dynamics, q, v, _, _ = moving
    a = np.random.default_rng(9).uniform(-1, 1, model.nv)
    tau = dynamics.inverse_dynamics(q, v, a)
    growth = reference.dynamics(model, q, v).amplification(tau)
    np.testing.assert_allclose(dynamics.acceleration(q, v, tau), a, rtol=0, atol=1e-14 * growth)


def test_the_mass_matrix_is_symmetric_and_positive(moving):
    _, dynamics, q, *_ = moving
    M = dynamics.mass_matrix(q)
    assert np.abs(M - M.T).max() < 1e-15 * np.abs(M).max()
    assert np.linalg.eigvalsh(M)[0] > 0


def test_the_columns_of_the_mass_matrix_are_efforts_of_unit_accelerations(moving):
    model, dynamics, q, *_ = moving
    M = dynamics.mass_matrix(q)
    weightless = bc.compile(replace(model, gravity=np.zeros(3)))
    columns = [weightless.inverse_dynamics(q, np.zeros(model.nv), e) for e in np.eye(model.nv)]
    np.testing.assert_allclose(np.array(columns).T, M, rtol=0, atol=1e-14 * np.abs(M).max())
    expected = reference.dynamics(model, q, np.zeros(model.nv)).M.astype(float)
    np.testing.assert_allclose(M, expected, rtol=0, atol=1e-14 * np.abs(M).max())


def test_energy_and_momentum_are_those_of_the_moving_bodies(moving):
    model, dynamics, q, v, _, _ = moving
    kinetic, potential = dynamics.energy(q, v)
    linear, angular = dynamics.momentum(q, v)
    expected = reference.totals(model, q, v)
    weight = 9.81 * model.mass.sum() * 10.0  # with lengths of order ten at most
    assert kinetic == pytest.approx(float(expected.kinetic), rel=1e-13)
    assert kinetic == pytest.approx(v @ dynamics.mass_matrix(q) @ v / 2, rel=1e-13)
    assert potential == pytest.approx(float(expected.potential), rel=1e-13, abs=1e-15 * weight)
    np.testing.assert_allclose(linear, expected.linear.astype(float), rtol=0, atol=1e-13 * np.abs(expected.linear).max())
    np.testing.assert_allclose(angular, expected.angular.astype(float), rtol=0, atol=1e-13 * np.abs(expected.angular).max())


def test_poses_are_those_of_the_design_position_moved(moving):
    model, dynamics, q, v, _, _ = moving
    positions, rotations = dynamics.poses(q)
    expected = reference.motion(model, q, v, v)
    np.testing.assert_allclose(positions, expected.p[:, 0].astype(float), rtol=0, atol=2e-14)
    np.testing.assert_allclose(rotations, expected.R[:, 0].astype(float), rtol=0, atol=2e-14)


def test_the_power_of_the_efforts_feeds_the_energy(moving):
    """dE/dt = tau.v, by a complex step of the energy along dq/dt, dv/dt; armature keeps its share."""
    model, dynamics, q, v, tau, a = moving
    h = 1e-30
    rates = dynamics.rates(q, v)
    state = {"q": q + 1j * h * rates, "v": v + 1j * h * a}
    rows = np.array(run_plain(QUANTITIES["energy"], make_plan(model), complex, **state)["energy"]).reshape(-1, 8)
    power = rows[:, :2].sum().imag / h
    size = np.abs(rows[:, :2].imag / h).sum() + np.abs(tau * v).sum()
    assert power == pytest.approx(tau @ v, abs=1e-12 * size)


def test_the_momentum_of_a_free_tree_is_kept_without_gravity():
    """By a complex step: d/dt of linear and angular momentum vanish when only inner efforts act."""
    model = replace(random_tree(8, 5, free_root=True), gravity=np.zeros(3))
    dynamics = bc.compile(model)
    q, v = random_state(model, 3)
    tau = np.random.default_rng(4).uniform(-1, 1, model.nv)
    base = model.joints.index(next(joint for joint in model.joints if joint.kind == "free"))
    first = model.v_index[base]
    tau[first : first + 6] = 0.0
    rate, size = momentum_rate(model, dynamics, q, v, tau)
    assert np.abs(rate).max() < 1e-12 * size


def test_gravity_and_a_push_change_the_momentum_of_a_free_tree():
    """dp/dt = m g + f, dL/dt = c x m g + r x f + n for a wrench f, n on the base at its origin r."""
    model = random_tree(8, 5, free_root=True)
    dynamics = bc.compile(model)
    q, v = random_state(model, 3)
    tau = np.random.default_rng(4).uniform(-1, 1, model.nv)
    rate, size = momentum_rate(model, dynamics, q, v, tau)
    m = reference.motion(model, q, v, v)
    R, r = m.R[0, 0].astype(float), m.p[0, 0].astype(float)
    push, twist = R @ tau[:3], R @ tau[3:6]
    weights = model.mass[:, None] * model.gravity
    moment = np.cross(m.c[:, 0].astype(float), weights).sum(axis=0) + np.cross(r, push) + twist
    np.testing.assert_allclose(rate, [*(weights.sum(axis=0) + push), *moment], rtol=0, atol=1e-12 * size)


def momentum_rate(model, dynamics, q, v, tau):
    """d/dt of (linear, angular), and the size of the terms that cancel in it."""
    h = 1e-30
    a = dynamics.acceleration(q, v, tau)
    state = {"q": q + 1j * h * dynamics.rates(q, v), "v": v + 1j * h * a}
    rows = np.array(run_plain(QUANTITIES["energy"], make_plan(model, "full"), complex, **state)["energy"]).reshape(-1, 8)
    return rows[:, 2:].sum(axis=0).imag / h, np.abs(rows[:, 2:].imag / h).sum()


def test_the_reaction_of_every_joint_balances_what_it_carries(moving):
    """Against the sum of m (acc - g) and its moments over all bodies outboard, from positions alone."""
    model, dynamics, q, v, _, a = moving
    wrenches = dynamics.reactions(q, v, a, effort=True)
    expected = reference.joint_wrenches(model, q, v, a).astype(float)
    np.testing.assert_allclose(wrenches, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_each_body_moves_as_its_reactions_and_its_weight_say(moving):
    """Newton and Euler of one body at a time: its own joint pushes, those of its children push back."""
    model, dynamics, q, v, _, a = moving
    wrenches = dynamics.reactions(q, v, a, effort=True)
    needed = reference.inertia_wrenches(model, q, v, a)[0].astype(float)
    m = reference.motion(model, q, v, a)
    points, centers = m.p[:, 0].astype(float), m.c[:, 0].astype(float)
    left = -needed
    for joint, parent in enumerate(model.parents):
        for body, sign in ((joint, 1.0), (parent, -1.0)):
            if body >= 0:
                force = sign * wrenches[joint, :3]
                left[body, :3] += force
                left[body, 3:] += sign * wrenches[joint, 3:] + np.cross(points[joint] - centers[body], force)
    assert np.abs(left).max() < 1e-12 * np.abs(wrenches).max()


def test_a_reaction_does_no_work_in_its_joint_and_the_rest_is_the_effort(moving):
    """Without effort nothing along the free directions; the difference to the whole wrench is tau - armature a there."""
    model, dynamics, q, v, tau, a = moving
    bare, whole = dynamics.reactions(q, v, a), dynamics.reactions(q, v, a, effort=True)
    _, rotations = dynamics.poses(q)
    small = 1e-13 * max(1.0, np.abs(whole).max())
    for i, joint in enumerate(model.joints):
        S = free_directions(joint, rotations[i])
        first = model.v_index[i]
        effort = (tau - model.armature * a)[first : first + joint.nv]
        np.testing.assert_allclose(S @ bare[i], 0.0, atol=small)
        np.testing.assert_allclose(S @ whole[i], effort, rtol=0, atol=small)
        np.testing.assert_allclose(whole[i] - bare[i], effort @ S, rtol=0, atol=small)


def free_directions(joint, R):
    """(nv, 6): unit force and moment directions in world axes that the joint does not carry."""
    zero, turned = np.zeros((3, 3)), R.T
    if joint.axis is not None:
        axis = R @ np.array(joint.axis)
        return np.array([[*np.zeros(3), *axis]] if joint.kind == "revolute" else [[*axis, *np.zeros(3)]])
    return {
        "fixed": np.zeros((0, 6)),
        "spherical": np.hstack([zero, turned]),
        "free": np.block([[turned, zero], [zero, turned]]),
    }[joint.kind]


def test_a_chain_described_from_its_other_end_moves_the_same():
    """A free chain rooted at its last body: joints turn backwards, bodies keep their poses, and so their accelerations."""
    n = 4
    forward = build(["free", *[("revolute", axis) for axis in AXES]], seed=11)
    backward = reversed_chain(forward)
    q, v = random_state(forward, 2)
    tau = np.random.default_rng(3).uniform(-1, 1, forward.nv)
    tau[:6] = 0.0
    ours = accelerations_of_bodies(forward, q, v, tau)
    m = reference.motion(forward, q, v, np.zeros(forward.nv))
    # The last body is now the base: its frame's origin is moved to where its pose is given, the world's axes are kept.
    R, r, w = (x[-1, 0].astype(float) for x in (m.R, m.p, m.w))
    v_back = np.concatenate([R.T @ m.p_rate[-1, 0].astype(float), R.T @ w, -v[6:][::-1]])
    q_back = np.concatenate([r, quaternion_of(R), -q[7:][::-1]])
    theirs = accelerations_of_bodies(backward, q_back, v_back, np.concatenate([np.zeros(6), -tau[6:][::-1]]))
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other[::-1], rtol=0, atol=1e-12 * np.abs(mine).max())
    assert len(ours[0]) == n


AXES = ((1, 2, 3), (-1, 1, 0), (0, 1, 4))


def reversed_chain(forward):
    """The same bodies, the last one first, on the same axes.

    A body's origin moves to its new inboard joint: the joint that was its outboard one. Positions and centres follow.
    """
    n = forward.n
    place = np.vstack(
        [forward.position[1:], np.zeros(3)]
    )  # new origin of each body, seen from its old one; the base keeps its own
    order = list(reversed(range(n)))
    position = np.zeros((n, 3))
    for new, old in enumerate(order[1:], start=1):
        position[new] = -place[old + 1]  # the joint point is the old origin of the new parent
    joints = tuple(forward.joints[old + 1] if new else forward.joints[0] for new, old in enumerate(order))
    return replace(
        forward,
        joints=joints,
        position=position,
        mass=forward.mass[order],
        center=(forward.center - place)[order],
        inertia=forward.inertia[order],
    )


def accelerations_of_bodies(model, q, v, tau):
    """Of the centres, and angular, in world axes."""
    a = bc.compile(model).acceleration(q, v, tau)
    m = reference.motion(model, q, v, a)
    return m.c_second[:, 0].astype(float), m.alpha[:, 0].astype(float)


def quaternion_of(R):
    w = np.sqrt(max(0.0, 1 + np.trace(R))) / 2
    return np.array([w, *(reference.of_cross_matrix(R) / (2 * w))])


def test_doubling_every_mass_and_effort_changes_nothing():
    model = chain(5)
    heavy = replace(model, mass=2 * model.mass, inertia=2 * model.inertia)
    q, v = random_state(model, 1)
    tau = np.linspace(-1, 1, 5)
    expected = bc.compile(model).acceleration(q, v, tau)
    np.testing.assert_allclose(bc.compile(heavy).acceleration(q, v, 2 * tau), expected, rtol=1e-13)
