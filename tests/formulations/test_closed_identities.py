"""What holds for every closed mechanism: inverses, efforts of drives and elements, power, projection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import QUANTITIES
from bellcrank.model import generators
from bellcrank.papers.operations import count_program

from .. import closed_equations as eq
from .. import closed_reference as ref
from .. import reference
from ..closed_states import displaced, flowing, settled
from ..closed_table import case

SOME = [  # compiling takes time
    "loops that share bodies",
    "guided points and a gear",
    "loops on driven bases",
    "driven closures",
    "driven platforms",
    "driven closures on driven bases",
    "every closure twice",
    "Bricard",
]


@pytest.fixture(scope="module", params=SOME)
def moved(request):
    """A mechanism in motion: model, dynamics, state, the reference's answer."""
    model, state, expected = case(request.param)
    return model, bc.compile(model, optimisation=0), state, expected


def now(state, *names):
    return {name: state[name] for name in ("t", *names)}


def test_the_efforts_of_a_motion_and_its_multipliers_are_those_that_were_given(moved):
    _, dynamics, state, expected = moved
    multipliers = dynamics.multipliers(**state)
    a = expected.a.astype(float)
    tau = dynamics.inverse_dynamics(state["q"], state["v"], a, multipliers=multipliers, **now(state, "inputs"))
    scale = np.abs(expected.joint_wrenches()).max() * max(1.0, expected.solution.multiplier_amplification)
    np.testing.assert_allclose(tau, state["tau"], rtol=0, atol=float(1e-14 * scale))


def test_efforts_of_drives_carry_the_loops(moved):
    """Along its own directions, what the joint of a driven body must bring."""
    model, dynamics, state, expected = moved
    found = dynamics.drive_efforts(state["q"], state["v"], expected.a.astype(float), **now(state, "tau", "inputs"))
    if not model.driven.any():
        assert found.size == 0
        return
    twin, q, _, _ = reference.whole(ref.tree_of(model), state["q"], state["v"], expected.a, state["t"])
    columns = reference.motion(twin, q, np.eye(twin.nv), np.zeros((twin.nv, twin.nv)))
    wrenches, wanted = expected.joint_wrenches(), []
    for i in np.flatnonzero(model.driven):
        own = slice(twin.v_index[i], twin.v_index[i] + model.joints[i].nv)
        # Unit velocities of the joint alone move its child along the joint's directions.
        S = np.concatenate([columns.p_rate[i, own], columns.w[i, own]], axis=1)
        wanted += list(S @ wrenches[i])
    scale = np.abs(wrenches).max() * expected.solution.multiplier_amplification
    np.testing.assert_allclose(found, np.array(wanted, dtype=float), rtol=0, atol=float(1e-14 * scale))


def test_elements_on_closing_joints_push_by_coordinate_and_speed(moved):
    model, dynamics, state, _ = moved
    _, power, force = dynamics.elements(state["q"], state["v"], **now(state, "inputs"))
    found = ref.bodies(model, state["q"], np.array([state["v"]]), np.zeros((1, model.nv)), state["t"])
    for k, e in enumerate(model.elements):
        if e.closure >= 0:
            coordinate, speed = ref.closing_state(model, e.closure, found)
            at = None if coordinate is None else coordinate[0, e.dof]
            effort = reference.joint_effort(e, at, speed[0, e.dof], state["t"], state["inputs"])
            assert force[k] == pytest.approx(float(effort), rel=1e-11, abs=1e-12)
            if e.kind in ("joint_damper", "joint_friction"):
                assert power[k] == pytest.approx(float(effort * speed[0, e.dof]), rel=1e-11, abs=1e-12)


def test_closures_that_no_law_moves_bring_no_power(moved):
    """Of the wrench of a on b and its reaction, with the motion of b relative to a at the point of b."""
    model, dynamics, state, _ = moved
    wrenches = dynamics.closure_reactions(**state)
    m = reference.motion(ref.tree_of(model), state["q"], state["v"], np.zeros(model.nv), state["t"])
    zero = np.zeros(3)
    for c, wrench in zip(model.closures, wrenches, strict=True):
        if c.kind == "coupler" or c.motion is not None:
            continue
        point = m.p[c.body_b, 0] + m.R[c.body_b, 0] @ np.array(c.point_b) if c.body_b >= 0 else np.array(c.point_b)
        (v_a, w_a), (v_b, w_b) = (
            (m.p_rate[i, 0] + np.cross(m.w[i, 0], point - m.p[i, 0]), m.w[i, 0]) if i >= 0 else (zero, zero)
            for i in (c.body_a, c.body_b)
        )
        power = wrench @ np.concatenate([v_b - v_a, w_b - w_a])
        assert abs(power) < 1e-12 * max(1.0, np.abs(wrench).max())


def test_a_state_beside_the_closures_is_brought_back(moved):
    """Newton's method closes all loops, and what was closed is left alone."""
    model, dynamics, state, _ = moved
    same_q, same_v = dynamics.projected(state["q"], state["v"], t=state["t"])
    np.testing.assert_allclose(same_q, state["q"], rtol=0, atol=1e-13)
    np.testing.assert_allclose(same_v, state["v"], rtol=0, atol=1e-12)
    rng = np.random.default_rng(4)
    q = displaced(model, state["q"], 0.01 * rng.uniform(-1, 1, model.nv))
    v = state["v"] + 0.1 * rng.uniform(-1, 1, model.nv)
    q, v = dynamics.projected(q, v, t=state["t"], steps=5)
    c = ref.constraints(model, q, v, state["t"])
    assert np.abs(c.position).max() < 1e-13 and np.abs(c.velocity).max() < 1e-12


def test_a_mechanism_described_from_the_other_end_moves_alike():
    """The four-bar with its coupler on the rocker, and the crank tied to it."""
    model, state, expected = case("four-bar of hinges")
    crank, coupler, rocker = (float(x) for x in expected.a)
    q, v = state["q"], state["v"]
    origins = np.array([np.zeros(3), model.position[1], model.position[2]])
    C = origins[2] + np.array(model.closures[0].point_b)
    position = np.array([model.position[0], C - origins[2], model.position[2]])
    center = np.array([model.center[0], origins[1] + model.center[1] - C, model.center[2]])
    tie = replace(model.closures[0], body_a=1, body_b=0, point_a=tuple(origins[1] - C), point_b=tuple(origins[1]))
    other = replace(model, parents=(-1, 2, -1), position=position, center=center, closures=(tie,))
    turned_q, turned_v = ([x[0], x[0] + x[1] - x[2], x[2]] for x in (q, v))
    turned_q = settled(other, np.array(turned_q), 0.0)
    turned_v = flowing(other, turned_q, np.array(turned_v), 0.0)
    # The effort on the coupler's hinge was between crank and coupler: as moments on the absolute angles, then on the new ones.
    on_crank, on_coupler, on_rocker = state["tau"][0] - state["tau"][1], state["tau"][1], state["tau"][2]
    tau = [on_crank, on_coupler, on_rocker + on_coupler]
    found = bc.compile(other).acceleration(turned_q, turned_v, tau)
    np.testing.assert_allclose(found, [crank, crank + coupler - rocker, rocker], rtol=0, atol=1e-11 * np.abs(expected.a).max())


def test_frames_of_the_reference_and_of_the_package_agree(moved):
    """Else nothing above would mean anything."""
    model, dynamics, state, _ = moved
    found = ref.bodies(model, state["q"], np.array([state["v"]]), np.zeros((1, model.nv)), state["t"])
    p, R = dynamics.poses(state["q"], t=state["t"])
    for i, pose in enumerate(found[:-1]):
        assert isinstance(pose, eq.Pose)
        np.testing.assert_allclose(p[i], pose.p.x[0].astype(float), rtol=0, atol=1e-13)
        np.testing.assert_allclose(R[i], pose.R.x[0].astype(float), rtol=0, atol=1e-13)


def test_the_right_hand_sides_of_closures_cost_as_much_for_every_loop():
    """Rungs hang on rungs: carried inward to the ground, equation by equation, they would cost more the further out they are."""
    counts = [count_program(generators.ladder(n), QUANTITIES["closure_right"], "plane", True).total for n in (2, 3, 4, 5)]
    assert len(set(np.diff(counts))) == 1
