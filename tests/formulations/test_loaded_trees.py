"""Every joint, prescribed motion and force element: every formulation in every executor, against positions and virtual work."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bellcrank as bc
from bellcrank.formulations import FORMULATIONS, QUANTITIES
from bellcrank.joints import JOINTS
from bellcrank.machine.in_python import run_plain
from bellcrank.model.element import ELEMENTS
from bellcrank.plan import make_plan

from .. import mechanisms, reference
from ..mechanisms import loaded_tree
from ..mechanisms import moving as moving_state

# Of the largest acceleration. Measured on this table: 9e-15. On other random trees 5e-13, all of it from bushings that are
# turned by nearly half a turn: the reference divides by the cosine of half the angle, and axes are orthogonal to 1e-16 only.
AGREEMENT = 1e-11

TREES = {
    "every joint free": mechanisms.every_joint_free,
    "every joint driven": mechanisms.every_joint_driven,
}


@cache
def case(tree):
    """Model, state, the equations of motion from positions alone, and their accelerations."""
    model = TREES[tree]()
    state = moving_state(model, 1)
    expected = reference.dynamics(model, state["q"], state["v"], state["t"], state["inputs"])
    return model, state, expected, expected.acceleration(state["tau"])


def far(x, expected):
    return float(np.abs(np.asarray(x) - expected).max(initial=0.0) / np.abs(expected).max(initial=1e-300))


def plain(model, formulation, state, dtype=float):
    state = {"q": state["q"], "v": state["v"], "tau": state["tau"], "t": [state["t"]], "u": state["inputs"]}
    return run_plain(FORMULATIONS[formulation], make_plan(model), dtype, **state)["a"]


def plain_extended(model, formulation, state):
    return plain(model, formulation, state, np.longdouble)


def compiled(model, formulation):
    name, _, option = formulation.partition(":")
    return bc.compile(model, name, reference=option or None)


def one_state(model, formulation, state):
    return compiled(model, formulation).acceleration(**state)


def lanes(model, formulation, state):
    """Six states, each with its own time and inputs; the wanted one is in the second block."""
    others = [moving_state(model, 50 + k) | {"t": 0.1 * k} for k in range(5)]
    batch = {name: np.array([s[name] for s in [*others, state]]) for name in state}
    return compiled(model, formulation).acceleration(**batch)[-1]


EXECUTORS = {"plain": plain, "plain extended": plain_extended, "one state": one_state, "lanes": lanes}


def test_the_table_has_every_joint_law_and_element():
    models = [case(tree)[0] for tree in TREES]
    joints = [(joint.kind, bool(driven)) for m in models for joint, driven in zip(m.joints, m.driven, strict=True)]
    assert set(joints) >= {(kind, driven) for kind in JOINTS for driven in (False, True)} - {("fixed", True)}
    elsewhere = {"joint_stiction", "actuator", "one_sided_spring", "point_stop", "plane_contact", "cylinder_contact", "tyre"}
    elsewhere |= {"bearing_friction", "state_rate"}
    assert {e.kind for m in models for e in m.elements} == set(
        ELEMENTS
    ) - elsewhere  # they have tests of their own in tests/forces
    assert {law.kind for m in models for motion in m.motions if motion for law in motion.laws} == set(mechanisms.LAWS)
    assert {e.kind for m in models for e in m.elements if e.table} == {"joint_effort", "spring_damper"}


IN_MACHINE_CODE = ("articulated_body", "reference_point:joint")  # compiling takes time: the rest runs on plain numbers only
CASES = [
    (tree, formulation, executor)
    for tree in TREES
    for formulation in FORMULATIONS
    for executor in EXECUTORS
    if executor.startswith("plain") or formulation in IN_MACHINE_CODE
]


@pytest.mark.parametrize(("tree", "formulation", "executor"), CASES)
def test_accelerations_are_those_of_positions_and_virtual_work(tree, formulation, executor):
    model, state, _, expected = case(tree)
    assert far(EXECUTORS[executor](model, formulation, state), expected) < AGREEMENT


@settings(max_examples=25)
@given(n=st.integers(1, 7), seed=st.integers(0, 10_000), driven=st.sampled_from([0.0, 0.4, 0.8]))
def test_any_loaded_tree_accelerates_as_its_positions_say(n, seed, driven):
    """All formulations agree, and rounding grows by the amplification of the solve."""
    model = loaded_tree(n, seed, driven=driven)
    state = moving_state(model, seed)
    if model.nv == 0:
        return
    expected = reference.dynamics(model, state["q"], state["v"], state["t"], state["inputs"])
    a = expected.acceleration(state["tau"])
    for formulation in FORMULATIONS:
        assert far(plain(model, formulation, state), a) < AGREEMENT * max(1.0, expected.amplification(state["tau"]) / 100)


@pytest.fixture(scope="module", params=TREES)
def moving(request):
    model, state, expected, _ = case(request.param)
    dynamics = bc.compile(model)
    return model, dynamics, state, dynamics.acceleration(**state), expected


def parts(state):
    """Positional q, v and the keywords t, inputs."""
    return (state["q"], state["v"]), {"t": state["t"], "inputs": state["inputs"]}


def size(model, state, a):
    """The largest force or moment in the mechanism."""
    return float(np.abs(reference.joint_wrenches(model, state["q"], state["v"], a, state["t"])).max())


def test_inverse_dynamics_undoes_forward_dynamics_under_loads(moving):
    """Efforts come back to rounding of the largest moment; measured 1.3e-16 of it."""
    model, dynamics, state, a, _ = moving
    (q, v), now = parts(state)
    np.testing.assert_allclose(
        dynamics.inverse_dynamics(q, v, a, **now), state["tau"], rtol=0, atol=1e-13 * size(model, state, a)
    )


def test_inverse_dynamics_takes_what_virtual_work_says(moving):
    model, dynamics, state, _, expected = moving
    (q, v), now = parts(state)
    a = np.random.default_rng(3).uniform(-1, 1, model.nv)
    tau = (expected.M @ a + expected.h).astype(float)
    np.testing.assert_allclose(dynamics.inverse_dynamics(q, v, a, **now), tau, rtol=0, atol=AGREEMENT * size(model, state, a))


def test_the_mass_matrix_is_that_of_the_free_joints(moving):
    _, dynamics, state, _, expected = moving
    M = expected.M.astype(float)
    np.testing.assert_allclose(dynamics.mass_matrix(state["q"], t=state["t"]), M, rtol=0, atol=1e-13 * np.abs(M).max())


def test_efforts_of_drives_are_the_rows_of_the_driven_joints(moving):
    """In the order of the file, conjugate to each driven joint's own v."""
    model, dynamics, state, a, expected = moving
    (q, v), now = parts(state)
    efforts = dynamics.drive_efforts(q, v, a, **now)
    assert len(efforts) == sum(joint.nv for joint, driven in zip(model.joints, model.driven, strict=True) if driven)
    np.testing.assert_allclose(efforts, expected.drive_efforts(a).astype(float), rtol=0, atol=AGREEMENT * size(model, state, a))


def test_energy_momentum_and_poses_include_the_driven_motion(moving):
    model, dynamics, state, a, _ = moving
    q, v, t = state["q"], state["v"], state["t"]
    expected, bodies = reference.totals(model, q, v, t), reference.motion(model, q, v, a, t)
    kinetic, potential = dynamics.energy(q, v, t=t)
    assert kinetic == pytest.approx(float(expected.kinetic), rel=1e-13)
    assert potential == pytest.approx(float(expected.potential), rel=1e-12)
    for found, wanted in zip(dynamics.momentum(q, v, t=t), (expected.linear, expected.angular), strict=True):
        np.testing.assert_allclose(found, wanted.astype(float), rtol=0, atol=1e-13 * float(np.abs(wanted).max()))
    for found, wanted in zip(dynamics.poses(q, t=t), (bodies.p, bodies.R), strict=True):
        np.testing.assert_allclose(found, wanted[:, 0].astype(float), rtol=0, atol=2e-14)


def test_the_reaction_of_every_joint_balances_what_it_carries(moving):
    model, dynamics, state, a, _ = moving
    (q, v), now = parts(state)
    expected = reference.joint_wrenches(model, q, v, a, state["t"]).astype(float)
    found = dynamics.reactions(q, v, a, effort=True, **now)
    np.testing.assert_allclose(found, expected, rtol=0, atol=AGREEMENT * np.abs(expected).max())


def test_each_body_moves_as_reactions_elements_and_weight_say(moving):
    """Newton and Euler of one body at a time: its joint pushes, its children push back, force elements act."""
    model, dynamics, state, a, _ = moving
    (q, v), now = parts(state)
    wrenches = dynamics.reactions(q, v, a, effort=True, **now)
    m = reference.motion(model, q, v, a, state["t"])
    points, centers = m.p[:, 0].astype(float), m.c[:, 0].astype(float)
    left = reference.element_wrenches(model, q, v, state["t"]) - reference.inertia_wrenches(model, q, v, a, state["t"])[0]
    left = left.astype(float)
    for joint, parent in enumerate(model.parents):
        for body, sign in ((joint, 1.0), (parent, -1.0)):
            if body >= 0:
                force = sign * wrenches[joint, :3]
                left[body, :3] += force
                left[body, 3:] += sign * wrenches[joint, 3:] + np.cross(points[joint] - centers[body], force)
    assert np.abs(left).max() < AGREEMENT * np.abs(wrenches).max()


def test_a_reaction_does_no_work_in_its_joint_and_the_rest_is_the_effort(moving):
    """Along the free directions: tau and elements on the joint less armature a, or the effort of the drive."""
    model, dynamics, state, a, _ = moving
    (q, v), now = parts(state)
    bare, wholly = (dynamics.reactions(q, v, a, effort=effort, **now) for effort in (False, True))
    small = AGREEMENT * np.abs(wholly).max()
    twin, q_all, v_all, _ = reference.whole(model, q, v, a, state["t"])
    columns = reference.motion(twin, q_all, np.eye(twin.nv), np.zeros((twin.nv, twin.nv)))
    efforts = np.zeros(twin.nv)
    _, _, free, driven = reference.freed(model)
    of_elements = reference.joint_efforts(twin, q_all, v_all, state["t"], state["inputs"]).astype(float)
    efforts[free] = state["tau"] + of_elements[free] - model.armature * a
    efforts[driven] = dynamics.drive_efforts(q, v, a, **now)
    for i, joint in enumerate(model.joints):
        own = slice(twin.v_index[i], twin.v_index[i] + joint.nv)
        S = np.concatenate([columns.p_rate[i, own], columns.w[i, own]], axis=1).astype(float)
        np.testing.assert_allclose(S @ bare[i], 0.0, atol=small)
        np.testing.assert_allclose(S @ wholly[i], efforts[own], rtol=0, atol=small)
        if joint.kind == "screw":  # its effort is a torque, and the thread makes the force
            S[:, :3] = 0.0
        np.testing.assert_allclose(wholly[i] - bare[i], efforts[own] @ S, rtol=0, atol=small)


def test_every_power_feeds_the_energy(moving):
    """d/dt (kinetic + potential + stored) = powers of elements, of drives and of tau, by a complex step along the motion."""
    model, dynamics, state, a, _ = moving
    (q, v), now = parts(state)
    h = 1e-30
    step = {"q": q + 1j * h * dynamics.rates(q, v), "v": v + 1j * h * a, "t": [state["t"] + 1j * h], "u": state["inputs"]}
    bodies = np.array(run_plain(QUANTITIES["energy"], make_plan(model), complex, **step)["energy"]).reshape(-1, 8)[:, :2]
    stored = np.array(run_plain(QUANTITIES["elements"], make_plan(model), complex, **step)["element"]).reshape(-1, 3)[:, 0]
    rates = np.concatenate([bodies.ravel(), stored]).imag / h
    drives = driven_velocities(model, state["t"]) * dynamics.drive_efforts(q, v, a, **now)
    powers = np.concatenate([dynamics.elements(q, v, **now)[1], drives, state["tau"] * v])
    assert rates.sum() == pytest.approx(powers.sum(), abs=1e-12 * (np.abs(rates).sum() + np.abs(powers).sum()))


def driven_velocities(model, t):
    pairs = [(joint, motion) for joint, motion in zip(model.joints, model.motions, strict=True) if motion is not None]
    return np.concatenate([np.zeros(0), *(reference.driven_state(joint, motion, t)[1] for joint, motion in pairs)]).astype(
        float
    )


def test_forces_of_joint_elements_are_their_efforts(moving):
    model, dynamics, state, _, _ = moving
    (q, v), now = parts(state)
    found = dynamics.elements(q, v, **now)[2]
    for force, e in zip(found, model.elements, strict=True):
        if e.joint >= 0:
            scalar = model.joints[e.joint].quaternion is None
            at = q[model.q_index[e.joint] + e.dof] if scalar else None
            expected = reference.joint_effort(e, at, v[model.v_index[e.joint] + e.dof], state["t"], state["inputs"])
            assert force == pytest.approx(float(expected), rel=1e-12, abs=1e-14)
