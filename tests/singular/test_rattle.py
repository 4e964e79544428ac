"""RATTLE with solves of least norm: second order everywhere, through change points too, on the branch of the velocity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Closure, Element, Law, PrescribedMotion
from bellcrank.singular import integrate_rattle
from tests.closed_linkages import bennett, four_bar

from .cases import cranks_of, exact_state, exact_turn, loaded, lopsided, orders, start, turning, two_four_bars

SPEED, DURATION = 6.0, 6.0  # eleven half turns and more
CHANGE_POINTS = {"parallelogram": lopsided, "two four-bars": two_four_bars}


def turned(make, angle, step):
    model = make(angle)
    times = np.linspace(0, DURATION, 13)
    return model, integrate_rattle(bc.compile(model, optimisation=0), start(model, v=turning(model, SPEED)), times, step)


@pytest.mark.parametrize("angle", [-0.6, 0.0], ids=["from the side", "from the flat position"])
@pytest.mark.parametrize("make", CHANGE_POINTS.values(), ids=CHANGE_POINTS)
def test_change_points_are_passed_on_the_right_branch_with_an_error_of_second_order(make, angle):
    errors = []
    for step in (8e-3, 4e-3, 2e-3):
        model, out = turned(make, angle, step)
        cranks = cranks_of(model)
        assert out.problem is None
        assert len(out.report.passages) >= 10
        assert np.abs(out.q[:, :cranks] - out.q[:, :1]).max() < 1e-12  # rounding of angles of 30 rad
        assert np.abs(out.q[:, cranks:] + out.q[:, :1]).max() < 1e-12
        assert out.report.closure_position < 1e-13 and out.report.closure_velocity < 1e-13
        errors.append(abs(angle + out.q[-1, 0] - exact_turn(model, angle, SPEED, DURATION)[0]))
    assert np.all((orders(errors) > 1.9) & (orders(errors) < 2.1))
    assert errors[-1] < 1e-3


def test_passages_are_told_with_their_time_the_loop_and_what_could_have_parted():
    angle = -0.6
    model, out = turned(two_four_bars, angle, 2e-3)
    first = out.report.passages[0]
    flat = exact_turn(model, angle, SPEED, first.time)[0]
    assert abs(flat) < 1e-4  # of second order in the step
    assert first.rank_lost == 2 and first.pivot < 1e-2
    assert first.closures == ("pin1", "pin2")
    assert set(first.joints) <= set(model.v_names) and "crank1_joint" in first.joints
    assert first.energy < 1e-8


def test_a_mechanism_that_meets_no_singular_position_tells_of_none():
    model = four_bar()
    out = integrate_rattle(bc.compile(model, optimisation=0), start(model), np.linspace(0, 2, 5), 2e-3)
    assert out.report.passages == [] and out.report.impacts == []
    assert out.report.energy_error < 1e-3


def test_a_step_that_ends_exactly_in_the_flat_position_goes_on():
    model = replace(lopsided(-0.5), gravity=np.zeros(3))
    out = integrate_rattle(bc.compile(model, optimisation=0), start(model, v=turning(model, 1.0)), np.linspace(0, 1, 3), 1e-2)
    np.testing.assert_allclose(out.q[-1], [1, 1, -1], rtol=0, atol=1e-4)  # the step squared
    np.testing.assert_allclose(out.v[-1], [1, 1, -1], rtol=0, atol=1e-4)


def test_a_velocity_between_two_branches_jumps_onto_the_nearer_one_and_the_lost_energy_is_told():
    """The cranks have unequal speeds in the flat position; what remains is the part along the parallel branch."""
    model = replace(lopsided(0.0), gravity=np.zeros(3))
    dynamics = bc.compile(model, optimisation=0)
    v, along = np.array([1.0, 1.3, -1.0]), turning(model, 1.0)
    M = dynamics.mass_matrix(model.initial_q)
    expected = (v @ M @ along) / (along @ M @ along)
    step = 1e-3
    out = integrate_rattle(dynamics, start(model, v=v), np.linspace(0, 0.5, 3), step)
    np.testing.assert_allclose(out.v[-1], expected * along, rtol=0, atol=0.1 * step)
    told = out.report.impacts[0].energy + out.report.passages[0].energy
    before, after = 0.5 * v @ M @ v, 0.5 * expected**2 * along @ M @ along
    assert told == pytest.approx(before - after, rel=10 * step)
    assert out.report.impacts[0].closures == ("pin1",)
    assert out.report.energy_error < 1e-4  # the loss is accounted for


@pytest.mark.parametrize(
    ("kinds", "seed", "how"),
    [
        (("revolute", "distance"), 3, {}),
        (("spherical", "driven prismatic"), 10, {}),
        (("spherical", "driven distance"), 6, {"driven": 0.5}),
        (("universal", "coupler", "point_on_line"), 3, {"free_root": True}),
        (("screw", "planar"), 3, {"free_root": True, "driven": 0.2}),
        (("cylindrical", "driven coupler", "driven distance"), 3, {}),
        (("fixed", "point_on_plane"), 3, {"free_root": True}),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else "",
)
def test_all_joints_forces_and_prescribed_motions_are_followed_to_second_order(kinds, seed, how):
    model, given = loaded(8, seed, kinds, **how)
    assert model.driven.any() == ("driven" in how)
    dynamics, duration = bc.compile(model, optimisation=0), 0.05
    exact, errors = exact_state(dynamics, given, duration), []
    for count in (32, 64):
        times = given["t"] + np.linspace(0, duration, 3)
        first = start(model, q=given["q"], v=given["v"], tau=given["tau"], u=given["inputs"])
        out = integrate_rattle(dynamics, first, times, duration / count)
        errors.append(np.abs(np.concatenate([out.q[-1], out.v[-1]]) - exact).max())
        assert out.report.closure_position < 1e-14 and out.report.closure_velocity < 1e-13
    assert np.all((orders(errors) > 1.9) & (orders(errors) < 2.1))
    assert out.report.energy_error < 1e-3  # works of elements, drives and driven closures explain the energy


def test_a_tree_without_loops_runs_too():
    model, given = loaded(6, 3, (), driven=0.2)
    dynamics, duration = bc.compile(model, optimisation=0), 0.05
    exact, errors = exact_state(dynamics, given, duration), []
    for count in (64, 128, 256):
        first = start(model, q=given["q"], v=given["v"], tau=given["tau"], u=given["inputs"])
        out = integrate_rattle(dynamics, first, given["t"] + np.array([0, duration]), duration / count)
        errors.append(np.abs(np.concatenate([out.q[-1], out.v[-1]]) - exact).max())
    assert np.all((orders(errors) > 1.9) & (orders(errors) < 2.1))


def test_running_back_in_time_leads_to_the_start():
    """The method is symmetric: with its velocities reversed, the mechanism returns, to the tolerance of the iterations."""
    model = four_bar()
    dynamics = bc.compile(model, optimisation=0)
    out = integrate_rattle(dynamics, start(model), np.array([0.0, 0.5]), 5e-3)
    back = integrate_rattle(dynamics, start(model, q=out.q[-1], v=-out.v[-1]), np.array([0.0, 0.5]), 5e-3)
    np.testing.assert_allclose(back.q[-1], model.initial_q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(-back.v[-1], model.initial_v, rtol=0, atol=1e-10)


def test_redundant_rows_that_stay_so_do_not_lock_a_mechanism():
    """Bennett's linkage has one degree of freedom with four hinges in space."""
    model = bennett()
    out = integrate_rattle(bc.compile(model, optimisation=0), start(model), np.linspace(0, 1, 3), 5e-3)
    assert out.problem is None
    assert np.abs(out.q[-1] - out.q[0]).max() > 0.1
    assert out.report.closure_position < 1e-12 and out.report.passages == []


def test_a_strong_damper_is_taken_implicitly():
    """Its time constant is a hundredth of the step."""
    model = four_bar()
    stiff = Element("damper", "joint_damper", {"damping": 1e3}, joint=2)
    model = replace(model, elements=(stiff,), gravity=np.zeros(3))
    out = integrate_rattle(bc.compile(model, optimisation=0), start(model), np.linspace(0, 1, 11), 0.1)
    assert out.problem is None
    assert np.abs(out.v[-1]).max() < np.abs(out.v[0]).max()


def test_a_mechanism_at_rest_in_equilibrium_stays_there():
    model = replace(four_bar(speed=0.0), gravity=np.zeros(3))
    out = integrate_rattle(bc.compile(model, optimisation=0), start(model), np.linspace(0, 1, 3), 0.1)
    assert out.problem is None and np.abs(out.v).max() == 0.0


def test_the_run_says_how_far_it_is_and_counts_its_steps():
    model, told = four_bar(), []
    out = integrate_rattle(bc.compile(model, optimisation=0), start(model), np.linspace(0, 0.1, 5), 1e-2, told.append)
    assert told == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert out.counts["steps"] == 12  # three in each interval of 25 ms
    np.testing.assert_allclose(out.times, np.linspace(0, 0.1, 5))


def test_the_interval_of_the_samples_is_the_step_unless_given():
    model = four_bar()
    assert integrate_rattle(bc.compile(model, optimisation=0), start(model), np.linspace(0, 0.1, 5)).counts["steps"] == 4


# Runs that end early ---------------------------------------------------------------------------------------------------------


def test_a_rod_that_grows_beyond_reach_stops_the_run_and_is_named():
    """Two bars of 1 m cannot span 2.2 m."""
    model = replace(four_bar(), closures=())
    rod = Closure(
        "rod", "distance", -1, 1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), motion=PrescribedMotion((Law("polynomial", (0.5, 0.3)),))
    )
    model = replace(model, closures=(rod,))
    out = integrate_rattle(bc.compile(model, optimisation=0), start(model), np.linspace(0, 2, 5), 1e-2)
    assert out.problem is not None
    assert '"rod" cannot be closed at t =' in out.problem and "max_step" in out.problem
    assert out.times[-1] < 2 and len(out.times) == len(out.q) == len(out.works)


def test_forces_that_grow_with_the_velocity_faster_than_the_step_can_follow_stop_the_run():
    """v = c + h/2 k/I v has no solution where h/2 k/I = 1."""
    model = two_four_bars(0.3)
    model = replace(model, closures=(), gravity=np.zeros(3))
    inertia = float(bc.compile(model, optimisation=0).mass_matrix(model.initial_q)[2, 2])
    push = Element("push", "joint_damper", {"damping": -2 * inertia / 0.125}, joint=2)
    model = replace(model, elements=(push,))
    out = integrate_rattle(bc.compile(model, optimisation=0), start(model, v=[0, 0, 1, 0, 0]), np.array([0.0, 0.125]))
    assert out.problem is not None and "forces that depend on velocities change too much in a step of 0.125 s" in out.problem
    assert len(out.times) == 1


def test_a_run_that_is_interrupted_keeps_what_it_has():
    def stop(fraction):
        if fraction >= 0.5:
            raise KeyboardInterrupt

    model = four_bar()
    out = integrate_rattle(bc.compile(model, optimisation=0), start(model), np.linspace(0, 1, 5), 1e-2, stop)
    assert out.problem == "interrupted at t = 0.5 s"
    np.testing.assert_allclose(out.times, [0, 0.25, 0.5])
