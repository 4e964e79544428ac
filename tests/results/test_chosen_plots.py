"""Figures of chosen quantities have the curves of the run, units on every axis, and refuse what does not exist by name."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.results.plots import color_cycle


@pytest.fixture(scope="module")
def run():
    return bc.simulate(bc.load("four_bar"), duration=0.5)


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def test_any_measure_of_a_run_by_path(run):
    found = run.measure("crank_pivot.q", "crank_pivot.fx", "energy.kinetic")
    assert list(found.measures_unit.values) == ["rad", "N", "J"]
    assert np.allclose(found.values[:, 0], run.q.sel(coordinate="crank_pivot"), atol=1e-14)
    assert np.allclose(found.values[:, 1], run.reactions.sel(joint="crank_pivot", component="fx"), rtol=1e-9, atol=1e-9)
    assert np.allclose(found.values[:, 2], run.energy.kinetic, rtol=1e-12)


def test_a_panel_for_each_unit_with_the_curves_of_the_run(run, tmp_path):
    figure = run.plot(["crank_pivot.q", "rocker_pin.q", "crank_pivot.v", "coupler.path"], tmp_path / "x.png")
    angles, speeds, path = figure.axes
    assert (tmp_path / "x.png").stat().st_size > 10_000
    assert (angles.get_ylabel(), speeds.get_ylabel()) == ("angle (rad)", "crank_pivot.v (rad/s)")
    assert (path.get_xlabel(), path.get_ylabel()) == ("x (m)", "y (m)")
    assert np.allclose(lines(angles)["rocker_pin.q"].get_ydata(), run.q.sel(coordinate="rocker_pin"), atol=1e-12)
    assert np.allclose(np.hypot(*lines(path)["coupler"].get_data()), 0.5, atol=1e-9)  # the end of the crank: a circle


def test_a_phase_plot_and_runs_beside_each_other(run):
    other = bc.simulate(bc.load("four_bar"), duration=0.5, v={"crank_pivot": 3.0})
    (axes,) = run.plot(["crank_pivot.v"], over="crank_pivot.q", beside={"slow": other}).axes
    assert axes.get_xlabel() == "crank_pivot.q (rad)"
    assert set(lines(axes)) == {"crank_pivot.v", "crank_pivot.v, slow"}
    assert lines(axes)["crank_pivot.v, slow"].get_ydata()[0] == pytest.approx(3.0)


def test_what_does_not_exist_is_named(run):
    with pytest.raises(bc.StateError, match="crank_pivott"):
        run.plot(["crank_pivott.q"])
    with pytest.raises(bc.StateError, match="names is empty"):
        run.plot([])
    with pytest.raises(bc.StateError, match=r"the names as a list, and then the file: run.plot\(\[...\], 'x.png'\)"):
        run.plot("x.png", ["crank_pivot.q"])
    with pytest.raises(bc.StateError, match="give the names"):
        run.plot(over="crank_pivot.q")


def test_neighbouring_colours_differ():
    colors = np.array(color_cycle(36))
    assert np.linalg.norm(np.diff(colors, axis=0), axis=1).min() > 0.3


def test_a_joint_that_has_only_a_quaternion_leaves_the_velocities():
    figure = bc.simulate(bc.load("heavy_top"), duration=0.05).plot()
    assert [axes.get_ylabel() for axes in figure.axes][:2] == ["angular velocity (rad/s)", "energy (J)"]


def test_a_drive_has_units_and_names_its_dead_centres():
    figure = bc.drive(bc.load("four_bar"), "rocker_pin", np.linspace(-0.3, 0.3, 20)).plot()
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "angle (rad)", "angular velocity (rad/s)", "angular acceleration (rad/s2)",
    ]  # fmt: skip
    assert any("dead centre -0.1266 rad" in text.get_text() for text in figure.axes[0].texts)
