"""Friction that holds: a block on a floor, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError, StateError

F, K, M, LOAD = 10.0, 1e5, 2.0, 4.2  # N, N/m, kg, N

BLOCK = f"""
format = 1
name = "block"
gravity = [0, 0, 0]
[bodies.block]
mass = {M}
center = [0, 0, 0]
inertia = [0.1, 0.1, 0.1]
[joints.slide]
type = "prismatic"
parent = "ground"
child = "block"
point = [0, 0, 0]
axis = "x"
[frictions.floor]
joint = "slide"
effort = {F}
"""
HOLDS = f"stiffness = {K}\ndamping = 900\n"
PUSH = f'[motors.push]\njoint = "slide"\neffort = {LOAD}\n'


@pytest.fixture(scope="module")
def block():
    return bc.load(BLOCK + HOLDS + PUSH)


def slid(t):
    """From 1 m/s under the load, until it comes to rest."""
    a = (F - LOAD) / M
    t = np.minimum(t, 1 / a)
    return t - a * t * t / 2


@pytest.mark.parametrize("method", ["dopri5", "rk4", "radau", "bdf"])
def test_a_block_slides_exactly_comes_to_rest_and_stays(block, method):
    """It ends nearer by what the spring gives back, (F - LOAD) / K, and does not creep: smooth friction would by 23 mm."""
    run = bc.simulate(block, 5.0, step=0.1, v=[1.0], method=method, max_step=1e-3 if method == "rk4" else None)
    q, t = run.values("q")[:, 0], run.values("time")
    np.testing.assert_allclose(q[:4], slid(t[:4]), atol=1e-8)
    assert q[-1] == pytest.approx(slid(5.0) - (F - LOAD) / K, abs=1e-8)
    assert np.ptp(q[10:]) < 1e-9 and abs(run.values("v")[-1, 0]) < 1e-8
    assert run.values("forces")[-1, 0] == pytest.approx(-LOAD, abs=1e-5)
    assert run.energy_error < 1e-6


def test_many_runs_hold_as_one_does(block):
    runs = bc.simulate_many(block, 5.0, step=0.1, v=np.array([[1.0], [0.5], [0.0]]))
    assert runs.q.values[0, -1, 0] == pytest.approx(slid(5.0) - (F - LOAD) / K, abs=1e-8)
    assert runs.q.values[2, -1, 0] == pytest.approx(LOAD / K, abs=1e-8)
    assert np.ptp(runs.q.values[:, 20:, 0], axis=1).max() < 1e-8
    np.testing.assert_allclose(runs.a.values[:, -1], 0.0, atol=1e-3)


def test_an_oscillation_loses_as_much_at_every_turn_and_ends_off_its_middle():
    """m x'' = -c x -+ F: turning points 4 F / c apart a period, and rest where c |x| < F."""
    c = 200.0
    model = bc.load(BLOCK + "stiffness = 1e6\ndamping = 2000\n" + f'[springs.back]\njoint = "slide"\nstiffness = {c}\n')
    half = np.pi / np.sqrt(c / M)
    run = bc.simulate(model, 8 * half, step=half, q=[0.33])
    turns = [0.33, -0.23, 0.13, -0.03]
    np.testing.assert_allclose(run.values("q")[:4, 0], turns, atol=2e-4)  # 2 F / K a turn, and the time that takes
    assert run.values("q")[-1, 0] == pytest.approx(-0.03, abs=2e-4) and abs(run.values("v")[-1, 0]) < 1e-8


def test_a_run_goes_on_from_a_saved_one_where_it_was_held(block, tmp_path):
    whole = bc.simulate(block, 2.0, step=0.1, v=[1.0])
    first = bc.load_run(bc.simulate(block, 1.0, step=0.1, v=[1.0]).save(tmp_path / "run.nc"))
    second = bc.simulate(block, 1.0, step=0.1, after=first)
    assert second.values("q")[-1, 0] == pytest.approx(whole.values("q")[-1, 0], abs=1e-10)
    assert second.values("anchors")[-1, 0] == pytest.approx(whole.values("anchors")[-1, 0], abs=1e-10)


@pytest.mark.parametrize("formulation", ["mass_matrix", "reference_point"])
def test_all_formulations_hold_at_a_given_anchor(formulation, block):
    """Stretched by half of its reach it pulls with F / 2; without an anchor nothing is stretched."""
    dynamics = bc.compile(block, formulation)
    for anchor, effort in ((0.3 - 0.5 * F / K, -F / 2), (0.3 + 9.0, F), (0.0, 0.0)):
        a = dynamics.acceleration([0.3], [0.0], inputs=[anchor])
        assert a[0] == pytest.approx((effort + LOAD) / M, rel=1e-9)


def test_what_cannot_be_is_refused(block):
    with pytest.raises(ModelError, match="has a velocity, of smooth friction, and a stiffness"):
        bc.load(BLOCK + HOLDS + "velocity = 0.1\n")
    with pytest.raises(ModelError, match="smooth friction has no damping"):
        bc.load(BLOCK + "damping = 1.0\n")
    with pytest.raises(StateError, match="rattle does not support friction that holds .'floor'."):
        bc.simulate(block, 1.0, method="rattle")


def test_check_says_that_smooth_friction_creeps(block):
    assert any('friction "floor" is smooth and does not hold: under half' in text for text in bc.load(BLOCK).check().remarks)
    assert not any("creeps" in text for text in block.check().remarks)


def held_arm(shoulder, elbow):
    """Two rods of 1 m and 1 kg, stretched out along x: weight turns the shoulder by 2 g N m, the elbow by g/2 N m."""
    m = bc.Mechanism("arm", gravity=(0, 0, -10.0))
    m.rod("upper", (0, 0, 0), (1, 0, 0), mass=1.0, radius=0.02)
    m.rod("lower", (1, 0, 0), (2, 0, 0), mass=1.0, radius=0.02)
    m.joint("shoulder", "revolute", "ground", "upper", point=(0, 0, 0), axis="y")
    m.joint("elbow", "revolute", "upper", "lower", point=(1, 0, 0), axis="y")
    m.friction("at_shoulder", "shoulder", shoulder, stiffness=1e6, damping=1e3)
    m.friction("at_elbow", "elbow", elbow, stiffness=1e6, damping=1e3)
    return m.build()


def test_an_arm_is_held_at_both_joints():
    """It gives way by load / stiffness, 2e-5 rad, and stays there."""
    run = bc.simulate(held_arm(50.0, 12.0), 10.0, step=1.0)
    np.testing.assert_allclose(run.values("q")[1:], np.tile([20e-6, 5e-6], (10, 1)), atol=1e-9)


def test_an_elbow_that_holds_the_weight_slips_while_the_arm_settles():
    """The shoulder's spring stops the arm within a few ms, for which 6 N m at the elbow are too few: by the same law in small
    steps of time, with the mass matrix of the start."""
    model, step = held_arm(50.0, 6.0), 1e-6
    mobility, weight, most = (
        np.linalg.inv(bc.compile(model).mass_matrix(np.zeros(2))),
        np.array([20.0, 5.0]),
        np.array([50.0, 6.0]),
    )
    q, v, anchor = np.zeros((3, 2))
    for _ in range(10_000):
        friction = np.clip(-(1e6 * (q - anchor) + 1e3 * v), -most, most)
        v = v + step * mobility @ (weight + friction)
        q = q + step * v
        anchor = np.clip(anchor, q - most / 1e6, q + most / 1e6)
    run = bc.simulate(model, 0.01, step=0.005)
    assert q[1] > 5e-5
    np.testing.assert_allclose(run.values("q")[-1], q, rtol=5e-4)


def test_the_joint_that_is_too_weak_slips_and_the_other_holds():
    run = bc.simulate(held_arm(40.0, 4.0), 1.0, step=0.05)
    shoulder, elbow = run.values("q").T
    assert np.abs(shoulder).max() < 5e-5 and elbow.max() > 1.0
    assert run.energy_error < 1e-5


@pytest.mark.parametrize(("effort", "holds"), [(5.1, True), (4.5, False)])
def test_a_loop_is_held_at_one_of_its_joints(effort, holds):
    """A parallelogram drawn at 30 degrees: the weight of its three bars of 1 kg turns the crank by 2 g sin(30) / 2 N m."""
    x, z = 0.5, np.sqrt(0.75)
    m = bc.Mechanism("parallelogram", gravity=(0, 0, -5.0))
    m.rod("crank", (0, 0, 0), (x, 0, z), mass=1.0)
    m.rod("coupler", (x, 0, z), (2 + x, 0, z), mass=1.0)
    m.rod("rocker", (2, 0, 0), (2 + x, 0, z), mass=1.0)
    for name, parent, child, at in (
        ("A", "ground", "crank", (0, 0, 0)),
        ("B", "crank", "coupler", (x, 0, z)),
        ("C", "coupler", "rocker", (2 + x, 0, z)),
        ("D", "ground", "rocker", (2, 0, 0)),
    ):
        m.joint(name, "revolute", parent, child, point=at, axis="y", cut=name == "C")
    m.friction("brake", "A", effort, stiffness=1e6, damping=1e3)
    run = bc.simulate(m.build(), 1.2, step=0.1)
    turned = np.abs(run.values("q")[:, 0])
    assert turned[-1] == pytest.approx(turned[1], rel=1e-6) and turned[-1] < 1e-4 if holds else turned[-1] > 0.2
    assert run.energy_error < 1e-6


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_steps_end_where_friction_begins_to_slip(method):
    """There its power jumps from what damping takes to all that it does: otherwise 1e-4 of the energy is missing."""
    run = bc.simulate(held_arm(50.0, 6.0), 0.02, step=0.01, method=method)
    assert run.values("q")[-1, 1] > 5e-5 and run.energy_error < 1e-6
