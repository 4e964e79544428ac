"""The example of a million steps, with ten thousand."""

import importlib.util
import sys
from pathlib import Path

import pytest

STEPS = 10_000


@pytest.fixture(scope="module")
def long_time():
    path = Path(__file__).parents[2] / "examples" / "long_time.py"
    spec = importlib.util.spec_from_file_location("long_time", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_chain_keeps_its_energy_by_implicit_methods(long_time):
    rows = {row.method.partition(",")[0]: row for row in long_time.compare_on_chain(STEPS).rows}
    assert rows["implicit_midpoint"].energy < 2e-3 and rows["gauss4"].energy < 5e-6  # bounds that hold for 10^6 steps too
    assert 0.5 < rows["dop853"].evaluations / rows["implicit_midpoint"].evaluations < 2
    assert rows["implicit_midpoint"].steps == STEPS


def test_a_floating_mechanism_keeps_its_momenta_by_the_variational_midpoint(long_time):
    found = long_time.compare_floating(STEPS)
    rows = {row.method: row for row in found.rows}
    assert found.kept == 6
    assert rows["implicit_midpoint"].momentum < 1e-13 * (STEPS / 100) ** 0.5  # rounding
    assert rows["rk4"].momentum > 1e-8


@pytest.mark.parametrize(("name", "step"), [("four_bar", 0.005), ("bricard", 0.002)])
def test_closed_linkages_have_no_trend(long_time, name, step):
    """Their motion is regular: stretches are independent of each other, and slopes within two standard errors are none.

    Such a motion does not depend on how a processor rounds, and so does the slope: 0.9 standard errors at most.
    """
    rows = {row.method: row for row in long_time.compare_loop(name, step, STEPS).rows}
    for method in ("implicit_midpoint", "midpoint4"):
        assert abs(rows[method].trend) < 2 * rows[method].trend_error
    assert rows["rk4"].trend < -100 * rows["rk4"].trend_error or name == "bricard"


def test_a_trend_is_told_from_none_by_the_length_of_the_run(long_time):
    """A chain whose motion changes slowly: for 100 s its energy error has a slope by any method. That of Runge and Kutta's
    grows with the length of the run, that of the midpoint rule does not. (Over 10^6 steps: 12,000 times, and not at all.)"""
    found = long_time.changes_by_length(STEPS * 5, starts=3)
    assert found["implicit_midpoint", 5_000][2] > 0.3  # neighbouring stretches are alike: a standard error would mislead
    assert abs(found["rk4", 50_000][0]) > 20 * abs(found["rk4", 5_000][0])
    assert abs(found["implicit_midpoint", 50_000][0]) < 2e-4


def test_it_prints_tables_and_writes_pictures(long_time, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["long_time.py", "--steps", "200", "--out", str(tmp_path)])
    long_time.main()
    assert "implicit_midpoint" in capsys.readouterr().out
    assert {file.name for file in tmp_path.iterdir()} == {f"{name}.png" for name in long_time.COMPARED}
