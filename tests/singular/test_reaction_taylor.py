"""Huang's method: reactions from the positions at the end of a step, with the projection that makes it usable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import StateError
from bellcrank.joints import make_joint
from bellcrank.model import Closure, Element, Law, PrescribedMotion
from bellcrank.papers.huang.taylor import integrate_reaction_taylor
from tests.closed_linkages import Bar, four_bar, linkage, parallelogram

from .cases import cranks_of, double_pendulum, exact_state, exact_turn, loaded, orders, start, turning, two_four_bars


def flat_linkage(angle=-0.6):
    return replace(parallelogram(angle=angle), gravity=np.array([0.0, -2.0, 0.0]))


def test_the_double_pendulum_has_the_errors_of_the_published_update():
    """Angles after 1 s, from rest: errors of first order, as EQUATIONS 5.3 has them from another program."""
    model = double_pendulum()
    dynamics = bc.compile(model, optimisation=0)
    given = start(model) | {"inputs": np.zeros(0), "t": 0.0}
    exact, errors = np.cumsum(exact_state(dynamics, given, 1.0)[:2]), []
    for step in (4e-3, 2e-3, 1e-3):
        out = integrate_reaction_taylor(dynamics, start(model), np.linspace(0, 1, 11), step)
        errors.append(np.abs(np.cumsum(out.q[-1]) - exact).max())
    np.testing.assert_allclose(errors, [3.1e-2, 1.5e-2, 7.6e-3], rtol=0.04)  # printed with two digits
    assert out.report.closure_velocity < 1e-13


@pytest.mark.parametrize("make", [flat_linkage, two_four_bars], ids=["parallelogram", "two four-bars"])
def test_a_change_point_is_passed_with_an_error_of_first_order(make):
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        model = make(-0.6)
        out = integrate_reaction_taylor(
            bc.compile(model, optimisation=0), start(model, v=turning(model, 2.0)), np.linspace(0, 0.6, 4), step
        )
        cranks = cranks_of(model)
        assert np.abs(out.q[-1, :cranks] - out.q[-1, 0]).max() < 1e-5  # positions are closed to the third power of the step
        assert len(out.report.passages) == 1 and out.report.passages[0].time == pytest.approx(0.38, abs=0.05)
        errors.append(abs(-0.6 + out.q[-1, 0] - exact_turn(model, -0.6, 2.0, 0.6)[0]))
    assert np.all((orders(errors) > 0.9) & (orders(errors) < 1.1))


def test_without_the_projection_an_error_of_the_velocities_changes_sign_in_every_step_and_stays():
    model = flat_linkage()
    dynamics = bc.compile(model, optimisation=0)
    first = start(model, v=[0.0, 0.01, 0.0])
    out = integrate_reaction_taylor(dynamics, first, np.linspace(0, 10e-3, 11), 1e-3, project=False)
    rates = dynamics.closure(out.q, out.v)[1][:, :2]
    assert np.abs(rates[0]).max() > 5e-3
    np.testing.assert_allclose(rates[1:], -rates[:-1], rtol=0, atol=1e-5)
    along = out.report.reactions.closures[:, 0, :2]
    assert np.abs(along[1:] - along[:-1]).max() > 5  # N, of an error of 1 cm/s


def test_without_the_projection_a_shorter_step_makes_the_passage_worse():
    model = flat_linkage()
    dynamics, errors = bc.compile(model, optimisation=0), {}
    for project in (True, False):
        for step in (2e-3, 0.5e-3):
            first = start(model, v=turning(model, 2.0))
            out = integrate_reaction_taylor(dynamics, first, np.linspace(0, 0.5, 3), step, project=project)
            errors[project, step] = out.report.energy_error
    assert errors[False, 0.5e-3] > 10 * errors[False, 2e-3]
    assert errors[True, 0.5e-3] < 0.3 * errors[True, 2e-3] < 1e-3


KINDS = [
    ("spherical", "revolute"),
    ("distance", "prismatic"),
    ("cylindrical", "planar"),
    ("universal", "point_on_line"),
    ("fixed", "point_on_plane"),
    ("perpendicular", "revolute"),
]


@pytest.mark.parametrize("kinds", KINDS, ids=" and ".join)
def test_all_its_joints_and_all_forces_are_followed_to_first_order(kinds):
    model, given = loaded(6, 3, kinds, plain=True, free_root=kinds[0] == "distance")
    dynamics, duration = bc.compile(model, optimisation=0), 0.05
    first = start(model, q=given["q"], v=given["v"], tau=given["tau"], u=given["inputs"])
    times = given["t"] + np.linspace(0, duration, 3)
    exact, errors = exact_state(dynamics, given, duration), []
    for count in (64, 128):
        out = integrate_reaction_taylor(dynamics, first, times, duration / count)
        errors.append(np.abs(np.concatenate([out.q[-1], out.v[-1]]) - exact).max())
    assert np.all((orders(errors) > 0.9) & (orders(errors) < 1.1))
    assert out.report.momentum.linear < 1e-11


@pytest.mark.parametrize("kinds", KINDS, ids=" and ".join)
def test_reactions_of_a_step_are_right_to_first_order(kinds):
    """Against those of the accelerations at its start: the error is c1 h + c2 h^2. Either part may be the larger at a step,
    and they may cancel; so twice the error of half the step less that of the step, in which c1 is gone, is of second order."""
    model, given = loaded(6, 3, kinds, plain=True, free_root=kinds[0] == "distance")
    dynamics = bc.compile(model, optimisation=0)
    first = start(model, q=given["q"], v=given["v"], tau=given["tau"], u=given["inputs"])
    a = dynamics.acceleration(**given)
    joints = dynamics.reactions(given["q"], given["v"], a, tau=given["tau"], t=given["t"], inputs=given["inputs"])
    closures = dynamics.closure_reactions(**given)
    off = []
    for step in (4e-4, 2e-4, 1e-4, 5e-5):
        found = integrate_reaction_taylor(dynamics, first, given["t"] + np.array([0, step])).report.reactions
        off.append(np.concatenate([(found.joints[0] - joints).ravel(), (found.closures[0] - closures).ravel()]))
    second = 2 * np.array(off[1:]) - np.array(off[:-1])
    assert np.abs(orders(np.abs(second).max(axis=1)) - 2).max() < 0.1
    assert np.abs(off[-1]).max() < 1e-3 * np.abs(joints).max()


def test_momentum_of_floating_bodies_is_kept():
    """Two bodies on a slider, free of weight: the linear momentum to rounding, the angular one to first order."""
    bars = [
        Bar("one", -1, (0, 0, 0), (1, 0, 0), "free", 2.0),
        Bar("two", 0, (0.5, 0.2, 0), (1, 1, 0), ("cylindrical", (1, 2, 3))),
    ]
    model, _ = linkage("floating", bars, gravity=(0, 0, 0))
    model = replace(model, inertia=model.inertia + 0.1 * np.eye(3))
    v = np.array([0.3, -0.2, 0.5, 1.0, 2.0, -1.5, 3.0, 0.7])
    angular = []
    for step in (2e-3, 1e-3):
        out = integrate_reaction_taylor(bc.compile(model, optimisation=0), start(model, v=v), np.linspace(0, 1, 3), step)
        assert out.report.momentum.linear < 1e-12
        angular.append(out.report.momentum.angular)
    assert angular[1] < 0.6 * angular[0] < 0.05


def test_joints_that_turn_many_times_are_counted():
    model, _ = linkage(
        "wheel", [Bar("wheel", -1, (0, 0, 0), (1, 0, 0)), Bar("arm", 0, (1, 0, 0), (2, 0, 0))], gravity=(0, 0, 0)
    )
    out = integrate_reaction_taylor(bc.compile(model, optimisation=0), start(model, v=[20.0, 0.0]), np.linspace(0, 2, 3), 2e-3)
    assert out.q[-1, 0] > 12 and np.all(np.diff(out.q[:, 0]) > 6)


def test_a_start_with_velocities_that_break_the_loop_is_an_impact():
    model = four_bar()
    out = integrate_reaction_taylor(
        bc.compile(model, optimisation=0), start(model, v=[1.0, 0.0, 0.0]), np.array([0.0, 0.01]), 1e-3
    )
    (impact,) = out.report.impacts
    assert impact.energy > 0.01 and impact.closures == ("pin1",)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")  # in the energy of a run that has burst
def test_a_run_that_bursts_stops_and_says_so():
    model = replace(four_bar(), gravity=np.zeros(3))
    out = integrate_reaction_taylor(
        bc.compile(model, optimisation=0), start(model, v=[1e160, 0, 0]), np.array([0.0, 0.1]), 1e-2, project=False
    )
    assert out.problem is not None and "no longer finite. Take shorter steps (max_step)" in out.problem


# What it cannot do --------------------------------------------------------------------------------------------------------------


def refused(model):
    with pytest.raises(StateError) as caught:
        integrate_reaction_taylor(bc.compile(model, optimisation=0), start(model), np.array([0.0, 0.1]))
    assert 'use method="rattle"' in str(caught.value)
    return str(caught.value)


def test_screws_and_couplers_are_refused_by_name():
    model = four_bar()
    joints = (make_joint("screw", (0, 0, 1), pitch=0.1), *model.joints[1:])
    assert 'does not support screw, and "crank_joint" is one' in refused(replace(model, joints=joints))
    gear = Closure("gear", "coupler", terms=((0, 0, 1.0), (2, 0, -1.0)))
    assert 'does not support coupler, and "gear" is one' in refused(replace(model, closures=(*model.closures, gear)))


def test_prescribed_motions_are_refused_by_name():
    model = four_bar()
    motion = PrescribedMotion((Law("polynomial", (0.0, 1.0)),))
    driven = replace(model, motions=(motion, None, None), given_q=np.zeros(2), given_v=np.zeros(2), armature=np.zeros(2))
    assert 'does not support prescribed motions, and "crank_joint" has one' in refused(driven)
    closing = (replace(model.closures[0], motion=motion),)
    assert 'does not support prescribed motions, and "pin1" has one' in refused(replace(model, closures=closing))


def test_armatures_are_refused_by_name():
    assert 'does not support armature, and "coupler_joint" has 0.5' in refused(
        replace(four_bar(), armature=np.array([0, 0.5, 0]))
    )


def test_bodies_without_mass_are_refused_by_name():
    model = four_bar()
    mass, inertia = model.mass.copy(), model.inertia.copy()
    mass[2], inertia[2] = 0.0, 0.0
    assert '"rocker" has no mass' in refused(replace(model, mass=mass, inertia=inertia))


@pytest.mark.filterwarnings("ignore:.*the energy does not add up")  # a method of first order
def test_particles_move_as_they_do_in_other_methods():
    """Their moments of inertia are zero, and the turns of the massless rods are held by the hinges: first order all the same."""
    model = bc.load("double_pendulum_particles")
    exact = bc.simulate(model, 0.2, step=0.1)
    runs = [bc.simulate(model, 0.2, step=0.1, max_step=h, method="reaction_taylor") for h in (2e-3, 1e-3)]
    errors = [np.abs(run.values("q") - exact.values("q")).max() for run in runs]
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.1) and errors[1] < 2e-3
    np.testing.assert_allclose(runs[1].values("reactions"), exact.values("reactions"), atol=0.1)


def test_a_run_has_the_reactions_that_the_method_found_also_in_the_flat_position():
    """A recomputation there would divide by zero."""
    model = bc.load("parallelogram")
    run = bc.simulate(model, 2e-3, step=1e-3, method="reaction_taylor", q=np.zeros(model.nq))
    reactions = run.values("reactions")
    assert reactions.shape[1] == 4 and np.isfinite(reactions[:2]).all() and np.abs(reactions[0, :, :3]).max() > 1


@pytest.mark.filterwarnings("ignore:.*:bellcrank.BellcrankWarning")
def test_a_run_that_grows_without_bound_is_kept():
    model = bc.load("double_pendulum_particles")
    with pytest.raises(bc.SimulationError, match="no longer finite") as found:
        bc.simulate(model, 50.0, step=0.2, method="reaction_taylor")
    assert len(found.value.run.values("q")) > 10


def test_efforts_act_on_both_bodies_of_a_joint():
    """A constant effort as an element and as tau gives the same run."""
    model = four_bar()
    motor = replace(model, elements=(Element("motor", "joint_effort", {"value": 3.0}, joint=1),))
    times = np.array([0.0, 0.05])
    by_tau = integrate_reaction_taylor(bc.compile(model, optimisation=0), start(model, tau=[0.0, 3.0, 0.0]), times, 1e-3)
    by_element = integrate_reaction_taylor(bc.compile(motor, optimisation=0), start(motor), times, 1e-3)
    np.testing.assert_allclose(by_tau.q, by_element.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(by_tau.works[-1, -1], by_element.works[-1, 0], rtol=1e-12)
