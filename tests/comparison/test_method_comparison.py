"""Integrators beside each other: what is kept is found, trends are told from oscillations, and what fails says so."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.comparison.kept_momenta import kept_momenta
from bellcrank.comparison.trends import envelope, trend


def body_at(joint, point=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, -9.81), spring=None):
    m = bc.Mechanism(joint, gravity=gravity)
    m.body("b", 2.0, (point[0] + 0.3, point[1], point[2]), (0.1, 0.2, 0.25))
    m.joint("j", joint, "ground", "b", point)
    if spring is not None:
        m.line_spring("s", ("ground", spring), ("b", point), 5.0, length=0.1)
    return m.build()


def spans_same(rows, expected):
    """Two sets of orthonormal rows span the same space."""
    expected = np.linalg.qr(np.array(expected, dtype=float).T)[0].T
    return len(rows) == len(expected) and np.abs(rows.T @ rows - expected.T @ expected).max() < 1e-12


def about(point, axis, length):
    """Momentum about a line through a point, as a combination of P and L/length about the origin: L - point x P."""
    return np.concatenate([-np.cross(axis, point), np.multiply(axis, length)])


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        (body_at("free", gravity=(0, 0, 0)), None),
        (body_at("spherical", (0.4, -0.2, 1.0)), [((0.4, -0.2, 1.0), (0, 0, 1))]),
        (body_at("spherical", (0.4, -0.2, 1.0), (3.0, 0, 4.0)), [((0.4, -0.2, 1.0), (3.0, 0, 4.0))]),
        (body_at("free", gravity=(0, 0, 0), spring=(1.0, 0.5, 0)), [((1.0, 0.5, 0), axis) for axis in np.eye(3)]),
        (bc.load("pendulum"), []),
    ],
    ids=["floating", "ball joint", "inclined gravity", "on a spring", "pendulum"],
)
def test_the_momenta_that_a_model_keeps_are_found(model, lines):
    """By Noether: the motions that change neither the constraints nor the potential energy."""
    dynamics = bc.compile(model)
    found = kept_momenta(dynamics, 1.0)
    expected = np.eye(6) if lines is None else [about(*line, dynamics.plan.length) for line in lines]
    assert spans_same(found, np.reshape(expected, (-1, 6)))


def test_across_gravity_a_falling_body_keeps_its_momentum():
    found = kept_momenta(bc.compile(body_at("free")), 1.0)
    assert spans_same(found, np.eye(6)[[0, 1, 5]])


def test_a_trend_is_told_from_an_oscillation():
    t = np.linspace(0, 1000, 1001)
    swing = np.sin(2.3 * t)
    slope, doubt = trend(t, 1e-3 * t + swing)
    assert abs(slope - 1e-3) < 4 * doubt < 1e-3
    slope, doubt = trend(t, swing)
    assert abs(slope) < 4 * doubt < 1e-3
    assert trend(t[:5], swing[:5]) is None
    assert trend(t, np.where(t > 900, np.nan, swing)) is None


def test_an_envelope_has_the_largest_of_each_stretch():
    t, largest = envelope(np.arange(6.0), np.array([1, -2, 0, 3, -1, 1.0]), stretches=3)
    assert t.tolist() == [0.5, 2.5, 4.5] and largest.tolist() == [2, 3, 1]


@pytest.fixture(scope="module")
def spinning():
    """A heavy top over 4,000 steps."""
    return bc.compare_methods(
        bc.load("heavy_top"), 2.0, step=2e-2, max_step=5e-4, methods=["rk4", "dop853", "implicit_midpoint", "gauss4"]
    )


def test_the_variational_midpoint_keeps_the_momentum_about_the_vertical_and_rk4_does_not(spinning):
    rows = {row.method: row for row in spinning.rows}
    assert spinning.kept == 1
    assert rows["implicit_midpoint"].momentum < 1e-13  # rounding
    assert rows["rk4"].momentum > 1e-10
    assert rows["implicit_midpoint"].evaluations > rows["rk4"].evaluations == 4 * rows["rk4"].steps == 16_000
    assert rows["dop853"].energy < 1e-8


def test_a_method_that_does_not_fit_says_why(spinning):
    row = spinning.rows[-1]
    assert row.method == "gauss4" and "quaternions (tip)" in row.note and row.evaluations is None
    assert "gauss4" not in spinning.runs
    assert "quaternions (tip)" in " ".join(str(spinning).split())


def test_the_table_is_text_and_plain_data(spinning):
    plain = spinning.as_dict()
    assert plain["kept_momenta"] == 1 and len(plain["rows"]) == 4
    assert all(row["method"] in str(spinning) for row in plain["rows"])
    assert "momentum" in str(spinning) and "< " in str(spinning)


def test_the_picture_has_a_panel_for_energy_and_one_for_momenta(spinning, tmp_path):
    figure = spinning.plot(tmp_path / "methods.png")
    assert [len(axes.lines) for axes in figure.axes] == [3, 3]
    assert (tmp_path / "methods.png").stat().st_size > 10_000
    with pytest.raises(bc.StateError, match="exists already, and keep=True"):
        spinning.plot(tmp_path / "methods.png", keep=True)


def test_a_run_that_ends_early_is_kept_and_told():
    """Iterations of a step of 1 s cannot converge."""
    wanted = {"long": {"method": "implicit_midpoint", "max_step": 1.0}, "plain": {"rtol": 1e-6}}
    told = []
    found = bc.compare_methods(bc.load("pendulum"), 10.0, step=1.0, methods=wanted, progress=told.append)
    assert "did not converge" in found.rows[0].note and found.runs["long"].stopped
    assert found.rows[1].note == "" and found.runs["plain"].settings["rtol"] == 1e-6
    assert found.kept == 0 and found.rows[1].momentum is None and "momentum" not in str(found)
    assert told == sorted(told) and told[-1] == 1.0


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ("rk4", "give a list of names"),
        ([], "give a list of names"),
        (["rk5"], "there is no method 'rk5'"),
        ({"mine": {"method": "leapfrog"}}, "there is no method 'leapfrog'"),
    ],
)
def test_what_makes_no_sense_is_an_error(methods, message):
    with pytest.raises(bc.StateError, match=message):
        bc.compare_methods(bc.load("pendulum"), 1.0, methods=methods)


def test_a_model_that_no_method_takes_is_an_error():
    with pytest.raises(bc.StateError, match="no method took model 'bump': reaction_taylor: "):
        bc.compare_methods(bc.load("bump"), 0.1, methods=["reaction_taylor"])
