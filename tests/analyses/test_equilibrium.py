"""Positions of rest, and whether they are stable."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

import bellcrank as bc
from bellcrank.model import Law, PrescribedMotion
from bellcrank.model.generators import random_state, random_tree
from tests.formulations.mechanisms import build

from .mechanisms import (
    GRAVITY,
    ZIEGLER,
    element,
    follower_column,
    governor,
    hanging_chain,
    oscillator,
    pendulum,
    spring,
)

EXACT = 1e-10  # rad or m: the search ends when the Newton step is below 1e-11 of these


@pytest.mark.parametrize("start", [0.4, 1.5, 3.0, -3.1])
def test_a_pendulum_hangs_down_wherever_it_begins(start):
    found = bc.equilibrium(pendulum(), q0=[start])
    assert found.q[0] == pytest.approx(0.0, abs=EXACT)
    assert found.stable and found.neutral == () and found.verdict == "stable"
    assert found.stiffness[0] == pytest.approx(GRAVITY / 0.7, rel=1e-13)
    np.testing.assert_allclose(found.reactions[0], [0, 0, GRAVITY, 0, 0, 0], atol=1e-9)


def test_an_inverted_pendulum_is_unstable():
    found = bc.equilibrium(pendulum(), q0=[np.pi], seek="nearest")
    assert found.iterations == 0 and not found.stable
    assert found.unstable == ("joint1",) and found.verdict == "unstable along 'joint1'"
    assert found.stiffness[0] == pytest.approx(-GRAVITY / 0.7, rel=1e-13)


def test_who_seeks_a_stable_equilibrium_leaves_an_unstable_one():
    """From the summit itself, where nothing pulls to either side, and of a chain from one saddle to the next."""
    found = bc.equilibrium(pendulum(), q0=[np.pi])
    assert found.stable and np.cos(found.q[0]) == pytest.approx(1.0, abs=EXACT)
    chain = hanging_chain(3, 0.0)
    upright = np.array([-np.pi / 2, 0.0, 0.0])
    assert not bc.equilibrium(chain, q0=upright, seek="nearest").stable
    hanging = bc.equilibrium(chain, q0=upright)
    assert hanging.stable and np.abs(np.sin(np.cumsum(hanging.q))) == pytest.approx(np.ones(3), abs=EXACT)


def test_where_nothing_stable_is_found_this_is_said():
    """Beyond Ziegler's load the column flutters: no direction leads to a better place."""
    with pytest.raises(
        bc.DynamicsError, match=r"has no stable equilibrium near its start: that at 'joint1' = .* is unstable along .*q0"
    ):
        bc.equilibrium(follower_column(3.0))


def test_a_bead_on_a_turning_rod_has_no_stable_place():
    """r'' = w^2 r: it is at rest on the axis, and flies out to either side."""
    turning = PrescribedMotion((Law("polynomial", (0.0, 2.0)),))
    joints = [("revolute", (0, 0, 1)), ("prismatic", (1, 0, 0))]
    model = build(joints, armature=np.zeros(1), motions=(turning, None), given_q=[0.0], given_v=[0.0], center=np.zeros((2, 3)))
    assert bc.equilibrium(model, seek="nearest").stiffness == pytest.approx([-4.0])
    with pytest.raises(bc.DynamicsError, match="'joint2' = 0 m is unstable along 'joint2', and no stable one was found"):
        bc.equilibrium(model)


def test_the_nearest_equilibrium_may_be_a_summit():
    found = bc.equilibrium(pendulum(), q0=[2.6], seek="nearest")
    assert found.q[0] == pytest.approx(np.pi, abs=EXACT) and not found.stable


@pytest.mark.parametrize("seek", ["stable", "nearest"])
def test_a_search_may_begin_where_the_stiffness_vanishes(seek):
    """A horizontal pendulum: m g l cos q = 0."""
    found = bc.equilibrium(pendulum(), q0=[np.pi / 2], seek=seek)
    assert np.sin(found.q[0]) == pytest.approx(0.0, abs=EXACT)


@pytest.mark.parametrize("moment", [0.0, 3.0, 6.5])
def test_a_moment_lifts_a_pendulum(moment):
    """m g l sin q = moment, given as tau."""
    found = bc.equilibrium(pendulum(), tau=[moment])
    assert found.q[0] == pytest.approx(np.arcsin(moment / (0.7 * GRAVITY)), abs=EXACT)


def test_a_spring_carries_a_weight_and_says_its_force():
    model = build([("prismatic", (0, 0, 1))], mass=[2.0], elements=(spring(0, 50.0, 0.1),))
    found = bc.equilibrium(model)
    assert found.q[0] == pytest.approx(0.1 - 2 * GRAVITY / 50, abs=EXACT)
    assert found.efforts["spring00"] == pytest.approx(2 * GRAVITY, rel=1e-9)


def test_a_beam_comes_to_rest_on_its_stop():
    """m g l cos q = k (q - upper); the force has a corner where the stop begins."""
    values = {"lower": -np.inf, "upper": 0.2, "stiffness": 1000.0, "damping": 1.0}
    stop = element("stop", "joint_stop", values, joint=0)
    model = build([("revolute", (0, 1, 0))], center=[[1, 0, 0]], inertia=np.zeros((1, 3, 3)), elements=(stop,))
    q = bc.equilibrium(model, q0=[-1.0]).q[0]
    assert GRAVITY * np.cos(q) == pytest.approx(1000.0 * (q - 0.2), rel=1e-9)


@pytest.mark.parametrize("turn", [0.3, 1.6, 3.0])
def test_a_body_on_a_ball_hangs_down_and_may_spin(turn):
    model = build(["spherical"], center=[[0, 0, -0.5]], inertia=[np.diag([0.1, 0.2, 0.15])])
    found = bc.equilibrium(model, q0=[np.cos(turn / 2), np.sin(turn / 2), 0, 0])
    _, rotations = bc.compile(model).poses(found.q)
    np.testing.assert_allclose(rotations[0] @ [0, 0, -0.5], [0, 0, -0.5], atol=EXACT)
    assert found.stable and found.neutral == ("joint1.wz",)
    assert found.verdict == "neutral along 'joint1.wz', stable otherwise"
    np.testing.assert_allclose(found.stiffness[1:], [GRAVITY * 0.5 / 0.45, GRAVITY * 0.5 / 0.35], rtol=1e-12)


def test_the_links_of_a_hanging_chain_lie_along_the_tension():
    """Moments about the inboard joint of link i: tan(angle) = (weight beyond its middle) / pull. Exact, but for rounding."""
    n, pull = 40, 0.3
    found = bc.equilibrium(hanging_chain(n, pull))
    beyond = 1 - (np.arange(n) + 0.5) / n
    np.testing.assert_allclose(np.cumsum(found.q), np.arctan2(beyond, pull), atol=1e-11)
    assert found.stable and found.neutral == ()


def test_a_hanging_chain_tends_to_the_catenary():
    """x = a asinh(1/a), sag = sqrt(1 + a^2) - a with a = pull/weight; links turn at their middles, so the error is O(1/n^2).

    From n to 4 n it falls by 16, within 3 % from n = 10 on.
    """
    pull = 0.3
    exact = np.array([pull * np.arcsinh(1 / pull), np.hypot(1, pull) - pull])
    errors = []
    for n in (10, 40, 160):
        angles = np.cumsum(bc.equilibrium(hanging_chain(n, pull)).q)
        errors.append(np.array([np.cos(angles).sum(), np.sin(angles).sum()]) / n - exact)
    np.testing.assert_allclose(errors[0] / errors[1], 16, rtol=0.03)
    np.testing.assert_allclose(errors[1] / errors[2], 16, rtol=0.03)
    assert np.abs(errors[2]).max() < 6e-6


def test_a_governor_lifts_its_balls_at_speed():
    """Relative equilibrium: cos q = g/(l w^2)."""
    found = bc.equilibrium(governor(6.0))
    assert abs(found.q[0]) == pytest.approx(np.arccos(GRAVITY / (0.7 * 36)), abs=EXACT) and found.stable


def test_a_driven_joint_moves_as_it_does_at_that_time():
    """The support goes round at w: the pendulum hangs along gravity less the support's acceleration, -w^2 r."""
    hinge, w, t = ("revolute", (0, 1, 0)), 0.8, 2.0
    model = build(
        [hinge, hinge],
        position=[[0, 0, 0], [1, 0, 0]],
        center=[[0.5, 0, 0], [0, 0, -0.4]],
        armature=np.zeros(1),
        motions=(PrescribedMotion((Law("polynomial", (0.0, w)),)), None),
        given_q=[0.1],
        given_v=[0.0],
    )
    x, z = w**2 * np.cos(w * t), -GRAVITY - w**2 * np.sin(w * t)
    assert bc.equilibrium(model, t=t).q[0] == pytest.approx(np.arctan2(-x, -z) - w * t, abs=EXACT)


@pytest.mark.parametrize(("load", "stable"), [(1.0, True), (ZIEGLER - 1e-3, True), (ZIEGLER + 1e-3, False), (3.0, False)])
def test_a_column_under_a_follower_load_flutters_beyond_zieglers_load(load, stable):
    found = bc.equilibrium(follower_column(load), seek="nearest")
    assert found.stable is stable
    assert (found.unstable == ("joint1", "joint2")) is not stable


def test_a_free_body_without_gravity_rests_anywhere():
    found = bc.equilibrium(build(["free"], gravity=np.zeros(3)))
    assert found.stable and len(found.neutral) == 6 and found.iterations == 0


def test_a_tree_of_any_shape_hangs_balanced_where_it_rests():
    """Efforts below 1e-9 of the largest carried, after a search from any state; then nothing accelerates."""
    model = random_tree(6, 3, ("revolute", "spherical", "universal"), shuffle=True)
    found = bc.equilibrium(model, q0=random_state(model, 1)[0])
    carried = np.abs(bc.compile(model).reactions(found.q, np.zeros(model.nv), np.zeros(model.nv))).max()
    assert np.abs(found.residual).max() < 1e-9 * carried
    np.testing.assert_allclose(bc.compile(model).acceleration(found.q, np.zeros(model.nv)), 0, atol=1e-6)
    assert found.stable


def test_the_nearest_equilibrium_of_a_tree_is_found_where_its_stiffness_is_not_symmetric():
    """Far from equilibrium, turns of a ball joint do not commute; in this tree that makes the matrix singular to rounding."""
    model = random_tree(8, 4, ("revolute", "spherical", "universal"), shuffle=True)
    found = bc.equilibrium(model, q0=random_state(model, 4)[0], seek="nearest")
    np.testing.assert_allclose(bc.compile(model).acceleration(found.q, np.zeros(model.nv)), 0, atol=1e-6)


def test_a_mechanism_without_freedom_is_in_equilibrium():
    found = bc.equilibrium(build(["fixed"]))
    assert found.stable and found.q.shape == (0,) and "stable" in str(found)


def test_what_falls_is_named():
    with pytest.raises(bc.DynamicsError, match=r"nothing holds 'joint1\.vz': .* Unbalanced: 'joint1\.vz' -9\.81 N\."):
        bc.equilibrium(build(["free"]))


def test_too_large_a_moment_is_told_with_its_value():
    with pytest.raises(bc.DynamicsError, match=r"in 200 steps; there may be none nearby.*'joint1' [\d.]+ N m"):
        bc.equilibrium(pendulum(), tau=[9.0])


def test_the_nearest_position_that_is_still_unbalanced_is_told():
    with pytest.raises(
        bc.DynamicsError, match=r"no further step reduces the unbalanced efforts.*Unbalanced: 'joint1' 2\.1\d* N m"
    ):
        bc.equilibrium(pendulum(), tau=[9.0], seek="nearest", q0=[0.1])


def test_what_has_no_mass_is_named():
    with pytest.raises(bc.DynamicsError, match="joint 'joint1' moves no inertia"):
        bc.equilibrium(build([("revolute", (0, 1, 0))], mass=[0.0], inertia=np.zeros((1, 3, 3))))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seek": "flat"}, "seek must be 'stable' or 'nearest'; it is 'flat'"),
        ({"max_iterations": 0}, "max_iterations must be 1 at least; it is 0"),
        ({"q0": [1.0, 1.0, 0.0, 0.0]}, "the quaternion of joint 'joint1' has length 1.41421: it must be 1"),
        ({"q0": [np.nan, 0, 0, 0]}, "q0 of 'joint1.w' is nan: all of it must be finite"),
        ({"q0": np.ones((2, 4))}, "q0 must be one state"),
        ({"tau": [0.0, np.inf, 0.0]}, "tau of 'joint1.wy' is inf"),
        ({"t": np.nan}, "t must be one finite number; it is nan"),
        ({"t": [0.0, 1.0]}, "t must be one finite number"),
        ({"inputs": [1.0]}, r"inputs has shape \(1,\); model 'by hand' has 0 inputs"),
    ],
)
def test_an_argument_that_cannot_be_is_refused(options, message):
    with pytest.raises(bc.StateError, match=message):
        bc.equilibrium(build(["spherical"], center=[[0, 0, -0.5]]), **options)


def test_an_equilibrium_is_a_table_for_people_and_json_for_machines():
    found = bc.equilibrium(oscillator(2.0, 50.0, 1.0), q0=[0.3])
    console = Console(width=100)
    with console.capture() as shown:
        console.print(found)
    assert "equilibrium, stable" in shown.get() and "joint1" in shown.get()
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["stable"] is True and abs(plain["q"]["joint1"]) < EXACT


def test_importing_bellcrank_does_not_load_the_analyses():
    code = "import sys, bellcrank; bellcrank.equilibrium; print('scipy.linalg' in sys.modules)"
    assert "True" in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    code = "import sys, bellcrank; print('bellcrank.analyses' in sys.modules)"
    assert "False" in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
