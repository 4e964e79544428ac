"""Results of real simulations, checked by statics and Newton's law: the labels are on the right numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.results import load_run

from .mechanisms import pendulum

HANGING = """
format = 1
name = "hanging"

[bodies.upper]
rod = { from = [0, 0, 0], to = [0, 0, -1], mass = 2.0, radius = 0.01 }

[bodies.lower]
rod = { from = [0, 0, -1], to = [0, 0, -2], mass = 3.0, radius = 0.01 }

[joints.top]
type = "revolute"
parent = "ground"
child = "upper"
point = [0, 0, 0]
axis = "y"

[joints.middle]
type = "spherical"
parent = "upper"
child = "lower"
point = [0, 0, -1]
"""


@pytest.fixture(scope="module")
def swinging():
    return bc.simulate(bc.load("double_pendulum"), duration=2.0, step=1e-3, rtol=1e-11, atol=1e-11)


def test_a_hanging_chain_stays_at_rest_and_each_joint_carries_what_hangs_on_it():
    run = bc.simulate(bc.load(HANGING), duration=1.0, step=0.1)
    assert run.energy_error == 0.0
    np.testing.assert_allclose(run.reactions.sel(joint="top", component="fz"), 5 * 9.81, rtol=1e-13)
    np.testing.assert_allclose(run.reactions.sel(joint="middle", component="fz"), 3 * 9.81, rtol=1e-13)
    np.testing.assert_allclose(run.positions.sel(body="lower", axis="z"), -1.0, rtol=1e-13)
    assert run.summary().largest_force.joint == "top"


def test_the_reaction_at_the_ground_changes_the_momentum(swinging):
    """Newton: dp/dt = reaction + weight. Central differences of 1 ms samples are good to about 1e-5 of the force."""
    p = swinging.momentum.linear.values
    rate = (p[2:] - p[:-2]) / 2e-3
    weight = swinging.model.mass.sum() * swinging.model.gravity
    force = swinging.reactions.sel(joint="shoulder", component=["fx", "fy", "fz"]).values[1:-1]
    np.testing.assert_allclose(force + weight, rate, atol=1e-4 * np.abs(force).max())


def test_velocities_are_the_rates_of_the_coordinates(swinging):
    rate = np.gradient(swinging.q.values, 1e-3, axis=0)[1:-1]
    np.testing.assert_allclose(rate, swinging.v.values[1:-1], atol=1e-4 * np.abs(swinging.v.values).max())


def test_the_knee_is_where_the_first_bar_ends(swinging):
    end = 1.22 * swinging.rotations.sel(body="upper", body_axis="x")
    np.testing.assert_allclose(swinging.positions.sel(body="lower"), end, atol=1e-12)


def test_the_energy_of_an_undamped_run_is_kept(swinging):
    assert swinging.energy_error < 1e-8


def test_the_compiled_model_of_a_run_gives_its_accelerations_and_its_kinetic_energy(swinging):
    """v' M v/2 is the kinetic energy."""
    dynamics, q, v = swinging.dynamics, swinging.values("q")[-1], swinging.values("v")[-1]
    assert dynamics.acceleration(q, v) == pytest.approx(swinging.values("a")[-1], rel=1e-12)
    assert v @ dynamics.mass_matrix(q) @ v / 2 == pytest.approx(swinging.values("kinetic")[-1], rel=1e-12)


def test_the_summary_tells_what_was_done(swinging):
    summary = swinging.summary()
    assert summary.formulation == "articulated_body"
    assert summary.method == "auto" and [item.event for item in summary.methods] == ["dopri5"]
    assert summary.final_time == pytest.approx(2.0)
    for value in (summary.steps, summary.rejected, summary.evaluations, summary.wall_time, summary.rtol, summary.atol):
        assert value is not None


def test_settings_are_plain_json(swinging):
    assert json.loads(json.dumps(swinging.settings)) == swinging.settings


def test_a_real_run_survives_its_file(swinging, tmp_path):
    back = load_run(swinging.save(tmp_path / "run.nc"))
    assert back.reactions.identical(swinging.reactions)
    assert back.energy.identical(swinging.energy)
    assert back.summary() == swinging.summary()


def test_the_command_line_runs_a_gallery_model(tmp_path):
    words = ["run", "double_pendulum", "--duration", "1", "--out", str(tmp_path), "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"] == "double pendulum"
    assert load_run(tmp_path / "run.nc").q.coordinate.values.tolist() == ["shoulder", "elbow"]
    assert (tmp_path / "run.png").exists()


def test_a_model_that_is_not_there_is_bad_input(tmp_path):
    result = CliRunner().invoke(main, ["run", str(tmp_path / "no.toml"), "--json"])
    assert result.exit_code == 2
    assert "no.toml" in json.loads(result.stdout)["error"]


def test_events_are_told_by_the_summary_and_survive_the_file(tmp_path):
    """A pendulum of 1 m, released at a small angle, first hangs straight after a quarter of 2 pi sqrt(l/g)."""
    event = bc.Event("j0", 0.0, then="mark", name="hangs straight")
    run = bc.simulate(pendulum(given_q=[1e-3]), 1.0, events=[event])
    back = load_run(run.save(tmp_path / "run.nc"))
    assert [crossing.event for crossing in back.crossings] == ["hangs straight"]
    np.testing.assert_array_equal(back.crossings[0].q, run.crossings[0].q)
    assert back.summary().events[0].time == pytest.approx(np.pi / 2 / np.sqrt(9.81), rel=1e-6)
    assert dict(back.summary().rows())["hangs straight"] == f"at t = {run.crossings[0].time:.6g} s"


def test_a_run_whose_energy_does_not_add_up_says_so():
    with pytest.warns(bc.BellcrankWarning, match="the energy balance does not close"):
        coarse = bc.simulate(bc.load("pendulum"), 10.0, method="rk4", step=1.0)
    assert coarse.energy_error > 0.1
    assert "do not trust this run" in str(coarse.summary())
    assert "do not trust this run" in coarse.summary().as_dict()["doubt"]
    assert "do not trust" not in str(bc.simulate(bc.load("pendulum"), 1.0).summary())
