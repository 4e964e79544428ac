"""Fits of measured curves: parameters that were known, and intervals as the textbook has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.studies.fitting.curves import curves_of
from bellcrank.studies.study.spec import Case
from tests.studies.carts import cart

COLUMNS = {"rail.q": "x"}
COASTING = {"initial.rail.q.0": (-5.0, 5.0), "initial.rail.v.0": (-5.0, 5.0)}


def measured(seed=0, deviation=0.02, times=None):
    """A cart that coasts: x = 0.4 + 0.8 t, with noise."""
    t = np.linspace(0.0, 1.0, 21) if times is None else times
    return {"time": t, "x": 0.4 + 0.8 * t + deviation * np.random.default_rng(seed).standard_normal(len(t))}


def coasting():
    return cart().with_parameters({"parameters.F": 0.0})


def test_a_mass_is_found_from_its_motion_exactly():
    t = np.linspace(0.0, 1.0, 21)
    found = bc.fit(cart(), {"time": t, "x": 1.1 * t**2}, {"parameters.m": (0.5, 5.0)}, columns=COLUMNS, rtol=1e-10, atol=1e-10)
    assert found.success
    assert found.x[0] == pytest.approx(3 / 2.2, rel=1e-8)


@pytest.mark.parametrize("deviation", [0.02, None])
@pytest.mark.parametrize("even", [True, False])
def test_intervals_are_those_of_linear_regression(deviation, even):
    """Of a straight line: covariance s^2 (A^T A)^-1 with A = [1, t]; Student's t where the deviation is estimated."""
    from scipy.stats import norm
    from scipy.stats import t as student

    t = np.linspace(0.0, 1.0, 21) if even else np.sort(np.random.default_rng(5).random(17))
    data = measured(times=t)
    found = bc.fit(coasting(), data, COASTING, columns=COLUMNS, deviation=deviation)
    A = np.stack([np.ones(len(t)), t], axis=1)
    x, rest, *_ = np.linalg.lstsq(A, data["x"], rcond=None)
    s = deviation or np.sqrt(rest[0] / (len(t) - 2))
    reach = norm.ppf(0.975) if deviation else student.ppf(0.975, len(t) - 2)
    spread = s * np.sqrt(np.diag(np.linalg.inv(A.T @ A)))
    np.testing.assert_allclose(found.x, x, rtol=1e-6)
    np.testing.assert_allclose(found.interval, np.stack([x - reach * spread, x + reach * spread], axis=1), rtol=1e-5)


def test_curves_of_unknown_and_unequal_deviation_are_weighed_by_what_is_left_over():
    """Velocities with a tenth of the noise: the deviations that are estimated are those of the residuals."""
    rng, data = np.random.default_rng(2), measured()
    data["v"] = 0.8 + 0.002 * rng.standard_normal(21)
    found = bc.fit(coasting(), data, COASTING, columns={"rail.q": "x", "rail.v": "v"})
    assert found.problem.deviations["x"] == pytest.approx(0.02, rel=0.4)
    assert found.problem.deviations["v"] == pytest.approx(0.002, rel=0.4)
    assert found.deviation[1] < 0.001
    assert found.first_cost > found.cost


def test_parameters_that_the_curves_do_not_determine_are_named():
    """Only F/m shows in the motion of a cart that is pushed."""
    t = np.linspace(0.0, 1.0, 11)
    over = {"parameters.m": (0.5, 5.0), "parameters.F": (0.5, 9.0)}
    found = bc.fit(cart(), {"time": t, "x": 0.7 * t**2}, over, columns=COLUMNS, deviation=0.01)
    assert found.undetermined == ["parameters.m", "parameters.F"]
    assert "do not determine parameters.m, parameters.F" in str(found)
    assert found.as_dict()["intervals"]["parameters.m"] == [None, None]


def test_two_recordings_are_fitted_together(tmp_path):
    """Each case has its own push and its own file; one value is missing."""
    t = np.linspace(0.0, 1.0, 11)
    for name, push in (("soft", 2.0), ("hard", 5.0)):
        rows = [f"{a:.12g},{push * a**2 / (2 * 1.7):.15g}" for a in t]
        rows[4] = f"{t[4]:.12g},"
        (tmp_path / f"{name}.csv").write_text("\n".join(["time (s),x (m)", *rows]))
    cases = {
        name: {"set": {"parameters.F": f}, "data": str(tmp_path / f"{name}.csv")} for name, f in (("soft", 2.0), ("hard", 5.0))
    }
    found = bc.fit(cart(), None, {"parameters.m": (0.5, 5.0)}, columns=COLUMNS, cases=cases)
    assert found.x[0] == pytest.approx(1.7, rel=1e-6)
    assert len(found.residuals) == 20


STUDY = """
format = 1
model = "cart.toml"
[parameters]
"parameters.m" = { min = 0.5, max = 5.0 }
[outputs]
x = "rail.q@end"
[cost]
minimize = "=(x - 1)**2"
[fit]
columns = { "rail.q" = "x" }
deviation = 0.01
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    from tests.studies.carts import CART

    (tmp_path / "cart.toml").write_text(CART)
    (tmp_path / "study.toml").write_text(STUDY)
    t = np.linspace(0.0, 1.0, 11)
    (tmp_path / "data.csv").write_text("\n".join(["time,x", *(f"{a:.12g},{a**2:.15g}" for a in t)]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*words):
    return CliRunner().invoke(main, words)


def test_the_command_fit_prints_intervals_and_writes_the_model(folder):
    text = STUDY.replace('[cost]\nminimize = "=(x - 1)**2"\n', "")
    (folder / "study.toml").write_text(text)
    done = called("fit", "study.toml", "data.csv", "--out", "found")
    assert done.exit_code == 0, done.output
    assert "parameters.m = 1.5, between" in done.output
    assert bc.load(folder / "found" / "better.toml").parameters["parameters.m"] == pytest.approx(1.5, rel=1e-6)
    assert {file.name for file in (folder / "found").iterdir()} == {"better.toml", "study.png", "evaluations.jsonl"}
    assert called("fit", "study.toml", "data.csv", "--out", "found", "--keep").exit_code == 2
    assert "It is a fit" in called("optimize", "study.toml", "--no-plot").output


def test_a_file_given_by_name_is_in_the_working_folder_or_else_beside_the_study(folder, monkeypatch):
    fit = bc.load_study("study.toml").fit
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    (beside,) = curves_of((Case(),), fit, folder, "data.csv")
    Path("data.csv").write_text("time,x\n0,0\n1,1\n2,4\n")
    (here,) = curves_of((Case(),), fit, folder, "data.csv")
    assert (len(beside.times), len(here.times)) == (11, 3)


def test_the_command_optimize_goes_on_where_it_was(folder):
    text = STUDY[: STUDY.index("[fit]")]
    (folder / "study.toml").write_text(text)
    done = called("optimize", "study.toml", "--no-plot", "--json")
    assert done.exit_code == 0, done.output
    assert '"success": true' in done.output
    assert '"play": {' in done.output
    lines = (folder / "evaluations.jsonl").read_text()
    assert called("optimize", "study.toml", "--no-plot", "--resume", "--method", "L-BFGS-B").exit_code == 0
    assert (folder / "evaluations.jsonl").read_text() == lines
    (folder / "wrong.toml").write_text(text.replace("rail.q@end", "rails.q@end"))
    wrong = called("optimize", "wrong.toml")
    assert wrong.exit_code == 2
    assert "wrong.toml, line 7" in wrong.output


WRONG = {
    "no over": (lambda: bc.fit(cart(), measured()), "over is missing"),
    "no columns": (lambda: bc.fit(cart(), measured(), COASTING), "no \\[fit\\] with columns"),
    "no data": (lambda: bc.fit(cart(), None, COASTING, columns=COLUMNS), "the fit has no data"),
    "kind": (lambda: bc.fit(cart(), 3.0, COASTING, columns=COLUMNS), "give a CSV file"),
    "column": (lambda: bc.fit(cart(), measured(), COASTING, columns={"rail.q": "z"}), "has no column 'z'; it has time, x"),
    "length": (lambda: bc.fit(cart(), {"time": [0.0, 1.0], "x": [0.0]}, COASTING, columns=COLUMNS), "not equally long"),
    "times": (lambda: bc.fit(cart(), {"time": [1.0, 0.0], "x": [0.0, 1.0]}, COASTING, columns=COLUMNS), "increase from row"),
    "file": (lambda: bc.fit(cart(), "none.csv", COASTING, columns=COLUMNS), "none.csv cannot be read"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_fit_is_said(case):
    call, said = WRONG[case]
    with pytest.raises(bc.StudyError, match=said):
        call()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time,x\n", "has no rows"),
        ("time,x\n0,1,2\n", "row 2 has 3 cells"),
        ("time,x\n0,a\n1,2\n", "'a' in column 'x' is not a number"),
    ],
)
def test_a_data_file_that_cannot_be_used_says_where(tmp_path, text, said):
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(bc.StudyError, match=said):
        bc.fit(cart(), tmp_path / "data.csv", COASTING, columns=COLUMNS)
