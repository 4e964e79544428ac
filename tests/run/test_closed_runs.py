"""Runs of mechanisms with closed loops: nothing drifts, energy adds up, singular configurations are noticed and passed."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Closure, Law, PrescribedMotion

from ..closed_linkages import four_bar, ladder, parallelogram

STEP = 1e-3


@pytest.fixture(scope="module")
def linkage():
    return bc.load("four_bar")


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.BellcrankWarning)
        return bc.simulate(*arguments, **options)


@pytest.mark.parametrize("formulation", ["coordinate_reduction", "multipliers"])
def test_ten_seconds_of_the_four_bar_keep_the_loop_and_the_energy(linkage, formulation):
    run = bc.simulate(linkage, 10.0, step=0.01, method="rk4", max_step=STEP, formulation=formulation)
    assert run.closure_error.position < 1e-13
    assert np.abs(run.values("balance")).max() < 1e-7  # of 25 J


@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau", "bdf"])
def test_every_method_stays_on_the_closures(linkage, method):
    run = bc.simulate(linkage, 1.0, method=method, rtol=1e-8, atol=1e-8)
    assert run.closure_error.position < 1e-13 and run.closure_error.velocity < 1e-12
    reference = bc.simulate(linkage, 1.0)
    assert np.abs(run.values("q") - reference.values("q")).max() < (1e-4 if method == "bdf" else 1e-5)


def test_controllers_in_python_stay_on_the_closures(linkage):
    run = quietly(linkage, 0.5, tau=lambda t, q, v: -0.1 * v, rtol=1e-8, atol=1e-8)
    assert run.closure_error.position < 1e-13
    assert run.energy_error < 1e-6


def test_without_projection_the_loop_drifts_and_baumgarte_slows_it(linkage):
    loose = {"rtol": 1e-6, "atol": 1e-6, "projection": "none"}
    drifting = bc.simulate(linkage, 2.0, **loose).closure_error.position
    held = bc.simulate(linkage, 2.0, baumgarte=(20.0, 20.0), **loose).closure_error.position
    assert 1e-9 < held < 0.1 * drifting


def test_a_projection_in_the_metric_of_the_energy_goes_the_same_way(linkage):
    runs = [bc.simulate(linkage, 1.0, projection=p) for p in ("minimum_norm", "mass")]
    assert np.abs(runs[0].values("q") - runs[1].values("q")).max() < 1e-7
    assert runs[1].closure_error.position < 1e-13


@pytest.mark.filterwarnings("ignore:tau or inputs are Python functions")
def test_reactions_feel_efforts_whether_they_are_numbers_or_a_function(linkage):
    tau = np.array([3.0, 0.0, 0.0])
    runs = [bc.simulate(linkage, 0.1, step=0.02, tau=given) for given in (tau, lambda t, q, v: tau)]
    np.testing.assert_allclose(runs[1].values("reactions"), runs[0].values("reactions"), atol=1e-10)


def test_many_runs_are_the_single_ones(linkage):
    dyn = bc.compile(linkage)
    q, v = dyn.projected(linkage.initial_q, linkage.initial_v)
    speeds = np.outer(np.linspace(0.5, 2.0, 6), v)
    runs = bc.simulate_many(linkage, 1.0, q=q, v=speeds)
    assert not np.any(runs.status)
    one = bc.simulate(linkage, 1.0, q=q, v=speeds[4], rtol=1e-9, atol=1e-9)
    assert np.abs(np.asarray(runs.q)[4] - one.values("q")).max() < 1e-7
    position, _ = dyn.closure(np.asarray(runs.q).reshape(-1, 3), np.asarray(runs.v).reshape(-1, 3))
    assert np.abs(position).max() < 1e-13


def test_drives_of_loops_do_the_work_that_the_energy_shows():
    run = bc.simulate(bc.load("excavator"), 1.0)
    assert {"drive of boom_cylinder", "drive of stick_ram", "drive of bucket_ram"} <= set(run.labels.sources)
    assert run.energy_error < 1e-7
    assert run.labels.drives == ("boom_cylinder", "stick_ram", "bucket_ram")
    t, rods = run.values("time"), {c.name: c.motion.laws[0] for c in run.model.closures if c.kind == "distance"}
    for name, law in rods.items():
        _, amplitude, frequency, phase = law.values
        rate = 2 * np.pi * frequency * amplitude * np.cos(2 * np.pi * frequency * t + phase)
        work = np.trapezoid(run.drives.sel(drive=name).values * rate, t)
        assert work == pytest.approx(float(run.work.sel(source=f"drive of {name}")[-1]), rel=1e-3)


def test_a_parallelogram_stops_before_its_flat_position():
    model = bc.load("parallelogram")
    with pytest.raises(bc.SimulationError, match='the loop through "right_pin" could go on in more than one way') as caught:
        bc.simulate(model, 2.0)
    run = caught.value.run
    assert run.closure_error.position < 1e-13
    assert run.settings["passages"][0][1] == "right_pin"


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_a_parallelogram_passes_its_flat_position_on_its_branch(method):
    """The cranks stay parallel, and the energy stays what it was."""
    with pytest.warns(bc.BellcrankWarning, match="rattle took it through"):
        run = bc.simulate(bc.load("parallelogram"), 2.0, step=0.01, method=method, max_step=STEP, on_singular="pass")
    q = run.values("q")
    assert run.values("time").size == 201
    assert np.abs(q[:, 0] + q[:, 1]).max() < 1e-9
    assert run.energy_error < 1e-6
    assert len(run.settings["passages"]) == 5
    rattle = bc.simulate(bc.load("parallelogram"), 2.0, step=0.01, method="rattle", max_step=STEP)
    assert np.abs(rattle.values("q") - q).max() < 1e-4


def test_a_run_that_goes_on_says_so():
    with pytest.warns(bc.BellcrankWarning, match="check which branch it took"):
        bc.simulate(bc.load("parallelogram"), 0.3, on_singular="warn")


def test_lanes_stop_at_singular_configurations_of_their_own():
    model = bc.load("parallelogram")
    q, v = bc.compile(model).projected(model.initial_q, model.initial_v)
    runs = bc.simulate_many(model, 0.3, q=q, v=np.outer([0.2, 1.0], v))
    assert all("singular" in message for message in runs.messages)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"projection": "soft"}, "projection is 'soft'"),
        ({"on_singular": "ignore"}, "on_singular is 'ignore'"),
        ({"rank_tolerance": 0.0}, "rank_tolerance is 0.0"),
        ({"rank_tolerance": "tight"}, "rank_tolerance is 'tight'"),
        ({"baumgarte": (1.0, -2.0)}, "baumgarte is"),
        ({"baumgarte": "stiff"}, "baumgarte is 'stiff'"),
        ({"formulation": "articulated_body"}, "is for trees, and this model has closed loops"),
        ({"method": "rattle", "tau": lambda t, q, v: v}, "not with rattle"),
    ],
)
def test_what_cannot_be_is_refused(linkage, options, message):
    with pytest.raises(bc.StateError, match=message):
        bc.simulate(linkage, 0.1, **options)


def test_many_runs_know_no_passing(linkage):
    with pytest.raises(bc.StateError, match="many runs know stop and warn"):
        bc.simulate_many(linkage, 0.1, on_singular="pass")


def test_contradictory_drivers_are_refused():
    model = four_bar()
    both = [
        Closure(f"c{k}", "coupler", terms=((0, 0, 1.0),), motion=PrescribedMotion((Law("polynomial", (0, 0, k)),)))
        for k in (1, 2)
    ]
    start = {"given_v": np.zeros(3)}
    with pytest.raises(bc.StateError, match="the prescribed motions of c1, c2 contradict each other"):
        bc.simulate(replace(model, closures=(*model.closures, *both), **start), 0.1)
    with pytest.raises(bc.DynamicsError, match='"c1", "c2" contradict each other at this state'):
        bc.compile(replace(model, closures=(*model.closures, *both)), optimisation=0).acceleration(model.initial_q, np.zeros(3))


def test_a_mechanism_that_cannot_move_is_refused():
    """A four-bar with a diagonal rod is a truss."""
    model = four_bar()
    rod = Closure("diagonal", "distance", -1, 1, (0.0, 0.0, 0.0), tuple(2 * model.center[1]), value=_diagonal(model))
    with pytest.raises(bc.StateError, match="cannot move: its closed loops leave no degree of freedom"):
        bc.simulate(replace(model, closures=(*model.closures, rod), given_v=np.zeros(3)), 0.1)


def _diagonal(model):
    crank_tip = model.position[1]
    return float(np.linalg.norm(crank_tip + 2 * model.center[1]))


def test_a_given_start_that_does_not_close_is_moved_and_said():
    model = bc.load("four_bar")
    with pytest.warns(bc.BellcrankWarning, match="does not satisfy the loops and was changed: .crank_pivot. from 0 to -0.008"):
        bc.simulate(model, 0.1, q=model.initial_q + [0.0, 0.01, 0.0])


def test_long_ladders_and_extra_bars_run():
    assert bc.simulate(ladder(12), 0.2).closure_error.position < 1e-12
    assert bc.simulate(parallelogram(2), 0.05).closure_error.position < 1e-12


FLAT = np.array([1.0, -1.0, 1.0]) * (np.pi - np.radians(50))  # of the gallery's parallelogram
TURNING = np.array([3.0, -3.0, 3.0])


@pytest.mark.parametrize("options", [{"method": "rattle", "max_step": STEP}, {"on_singular": "pass"}])
def test_runs_may_start_in_a_singular_position(options):
    run = quietly(bc.load("parallelogram"), 0.2, step=0.01, q=FLAT, v=TURNING, **options)
    assert run.settings["passages"][0][1] == "right_pin"
    assert run.energy_error < 1e-5
    assert np.abs(run.values("q") @ np.array([[1, 0], [1, 1], [0, 1]])).max() < 1e-9  # the cranks stay parallel


@pytest.mark.parametrize("on_singular", ["stop", "warn"])
def test_runs_of_other_methods_say_why_they_cannot_start_there(on_singular):
    with pytest.raises(bc.DynamicsError, match='singular position of the loop through "right_pin"'):
        bc.simulate(bc.load("parallelogram"), 0.2, q=FLAT, v=TURNING, on_singular=on_singular)


def test_a_stage_that_falls_on_a_singular_position_is_told_as_one():
    """The second stage of this first step of rk4 is flat."""
    with pytest.raises(bc.SimulationError, match='the loop through "right_pin" could go on in more than one way'):
        bc.simulate(bc.load("parallelogram"), 0.1, step=0.01, method="rk4", q=FLAT - 0.005 * TURNING, v=TURNING)
