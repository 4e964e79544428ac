"""Tolerance analysis, tornado charts, tables, the command, and differences for comparison."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.errors import StateError

NAMES = ["upper.mass", "knee.y", "gravity.y"]
OUTPUTS = ["energy.kinetic", "energy.kinetic@end", "shoulder@end"]


@pytest.fixture(scope="module")
def found():
    return bc.sensitivity(bc.load("double_pendulum"), NAMES, OUTPUTS, 0.2, step=0.05)


def test_spreads_are_sums_of_slopes_times_tolerances(found):
    """|s| t in the worst case, the root of the sum of the squares if independent; by number, by part, by name."""
    slopes = np.abs(found.d("shoulder@end").values)
    spread = found.tolerances({"upper.mass": 0.1, "gravity.y": "1 %"})
    sizes = [0.1, 0.0, 0.01 * 9.81]
    np.testing.assert_allclose(spread.sizes, sizes, rtol=1e-12)
    assert spread.worst("shoulder@end") == pytest.approx(slopes @ sizes)
    assert spread.rss("shoulder@end") == pytest.approx(np.linalg.norm(slopes * sizes))
    assert spread.worst("energy.kinetic").shape == (5,)
    np.testing.assert_allclose(found.tolerances("2%").sizes, 0.02 * np.abs(found.at))
    np.testing.assert_allclose(found.tolerances(0.3).sizes, 0.3)
    assert "shoulder@end" in str(spread) and "gravity.y 100 %" in str(spread)
    assert spread.as_dict()["tolerances"]["upper.mass"] == 0.1


def test_what_matters_most_is_on_top_of_the_tornado(found, tmp_path):
    figure = found.tornado(tolerances="1 %", path=tmp_path / "tornado.png")
    assert (tmp_path / "tornado.png").stat().st_size > 1000
    parts = np.abs(found.tolerances("1 %").parts("energy.kinetic@end"))
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels[-1].startswith(NAMES[int(np.argmax(parts))])
    assert len(figure.axes) == 2  # curves have none
    with pytest.raises(StateError, match="'energy.kinetic' is a curve"):
        found.tornado("energy.kinetic", tolerances=1.0)


def test_differences_are_the_same_but_for_truncation_and_are_laid_over(found, tmp_path):
    other = bc.finite_differences(bc.load("double_pendulum"), NAMES, OUTPUTS, 0.2, step=0.05)
    for name in OUTPUTS:
        exact = np.asarray(found.d(name))
        np.testing.assert_allclose(other.d(name), exact, rtol=0, atol=1e-5 * np.abs(exact).max())
    np.testing.assert_allclose(other.dq_values, found.dq_values, rtol=0, atol=1e-5 * np.abs(found.dq_values).max())
    figure = found.plot(differences=other, path=tmp_path / "over.png")
    assert "differences" in [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    with pytest.raises(StateError, match="relative_step is 0"):
        bc.finite_differences(bc.load("double_pendulum"), NAMES, OUTPUTS, 0.2, relative_step=0.0)


def test_gradients_of_outputs_are_checked_by_two_steps():
    """The equilibrium of a hanging pendulum: rounding rules at 1e-6, and truncation falls by a hundred from 1e-3 to 1e-4."""
    model = bc.load("double_pendulum")
    table = bc.check_gradients(model, ["upper.mass"], outputs=["shoulder.fy"], analysis="equilibrium")
    assert table.worst < 1e-7 and "shoulder.fy" in str(table) and table.rows[0].derivative == pytest.approx(9.81)
    with pytest.raises(StateError, match="are for outputs"):
        bc.check_gradients(model, ["upper.mass"], duration=1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"upper.masss": 0.1}, "which is not among the parameters .did you mean 'upper.mass'"),
        ({"upper.mass": -0.1}, "give a number of zero or more"),
        ("much", "the tolerance of 'upper.mass' is 'much'"),
    ],
)
def test_tolerances_that_cannot_be_are_refused(found, given, message):
    with pytest.raises(StateError, match=message):
        found.tolerances(given)


def test_nothing_to_draw_is_told():
    found = bc.sensitivity(bc.load("double_pendulum"), ["upper.mass"], [], 0.01)
    with pytest.raises(StateError, match="no outputs to plot"):
        found.plot()


def run(*arguments):
    return CliRunner().invoke(main, ["sensitivity", *map(str, arguments)])


def test_the_command_prints_writes_and_draws(tmp_path):
    files = {name: tmp_path / name for name in ("d.csv", "d.nc", "d.png", "t.png")}
    common = ["double_pendulum", "--parameters", "upper.mass,knee.y", "--outputs", "max(energy.kinetic),elbow@end"]
    done = run(*common, "--duration", 0.1, "--tolerance", "1%", "--csv", files["d.csv"], "--out", files["d.nc"])
    assert done.exit_code == 0 and "spread of outputs" in done.output and "d/d upper.mass" in done.output
    rows = list(csv.reader(files["d.csv"].read_text().splitlines()))
    assert rows[0] == ["output", "at", "value", "d/d upper.mass", "d/d knee.y"] and len(rows) == 3
    more = ["--duration", 0.1, "--differences", "--plot", files["d.png"], "--tornado", files["t.png"], "--json"]
    done = run(*common, *more, "--tolerance", "upper.mass=0.1")
    found = json.loads(done.stdout)
    assert found["spread"]["tolerances"] == {"upper.mass": 0.1, "knee.y": 0.0}
    exact, other = (found[part]["elbow@end"]["d"]["upper.mass"] for part in ("outputs", "differences"))
    assert exact == pytest.approx(other, rel=1e-4)
    assert all(path.stat().st_size > 100 for path in files.values())
    kept = run(*common, "--csv", files["d.csv"], "--keep")
    assert kept.exit_code == 2


def test_the_command_drives_and_complains():
    driven = ["--analysis", "drive", "--coordinate", "shoulder", "--from", 0, "--to", 1, "--count", 3]
    done = run("double_pendulum", "--parameters", "knee.y", "--outputs", "lower.x", *driven, "--json")
    assert json.loads(done.stdout)["shoulder"] == [0.0, 0.5, 1.0]
    unknown = run("double_pendulum", "--parameters", "knee.y", "--outputs", "shoulder.effort", "--analysis", "inverse_motion")
    assert unknown.exit_code == 2 and "motion" in unknown.output
    refused = run("double_pendulum", "--parameters", "knee.y", "--tornado", "t.png")
    assert refused.exit_code == 2 and "needs tolerances" in refused.output
    wrong = run("double_pendulum", "--parameters", "knee.y", "--outputs", "lower.x@end", "--tolerance", "a=1,b")
    assert wrong.exit_code == 2 and "--tolerance b" in wrong.output
