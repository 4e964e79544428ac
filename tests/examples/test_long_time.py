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
    """A trend is a slope of the means of 20 stretches that is more than four of its standard errors; runge-kutta has one."""
    rows = {row.method: row for row in long_time.compare_loop(name, step, STEPS).rows}
    own, other = rows["implicit_midpoint"], rows["rk4"]
    assert abs(own.trend) < 4 * own.trend_error
    assert other.trend < -4 * other.trend_error or name == "bricard"


def test_it_prints_tables_and_writes_pictures(long_time, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["long_time.py", "--steps", "200", "--out", str(tmp_path)])
    long_time.main()
    assert "implicit_midpoint" in capsys.readouterr().out
    assert {file.name for file in tmp_path.iterdir()} == {f"{name}.png" for name in long_time.COMPARED}
