"""A run whose steps are short for stability alone notices; it says so while it goes on, or changes to radau by itself."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.kernels import stopwatch
from bellcrank.wording import duration_words

ARM = """
format = 1
name = "arm"
[bodies.arm]
point_mass = { at = [0.5, 0, 0], mass = 2 }
[joints.hinge]
type = "revolute"
parent = "ground"
child = "arm"
point = [0, 0, 0]
axis = "y"
"""
DAMPER = '[dampers.grease]\njoint = "hinge"\ndamping = '
MODELS = Path(__file__).parents[2] / "models"
LOOSE = {"rtol": 1e-7, "atol": 1e-7}


def arm(damping):
    """Its velocity dies out at damping/(m l^2) = 2 damping, in 1/s."""
    return bc.load(f"{ARM}{DAMPER}{damping}")


def warned(action):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = action()
    return result, [str(w.message) for w in told if w.category is bc.StiffnessWarning]


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
@pytest.mark.parametrize("formulation", ["articulated_body", "canonical_momenta"])
def test_the_rate_is_that_of_the_damper(method, formulation):
    run, told = warned(lambda: bc.simulate(arm(1e5), 1.0, method=method, formulation=formulation, **LOOSE))
    time, rate, dof = run.settings["stiff"]
    assert 0 < time < 0.01 and dof == "hinge"
    assert rate == pytest.approx(2e5, rel=1e-6)
    (message,) = told
    steps = float(re.search(r"steps of (\S+) s to stay stable", message)[1])
    assert 2e5 * steps == pytest.approx({"dopri5": 3.25, "dop853": 6.1}[method], rel=0.3)
    for words in ("model 'arm' is stiff", "in hinge", "2e+05 1/s", f"{method} takes steps", 'method="radau"'):
        assert words in message


def test_it_is_said_while_the_run_goes_on():
    happened = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *about: happened.append("told")
        bc.simulate(arm(1e5), 1.0, method="dopri5", progress=happened.append, **LOOSE)
    assert happened.count("told") == 1
    assert happened[happened.index("told") + 1] < 0.5 and happened[-1] == 1.0


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_stiff_methods_need_few_steps_where_dopri5_needs_many(method):
    run, told = warned(lambda: bc.simulate(arm(1e5), 0.1, method=method, **LOOSE))
    assert not told and run.settings["steps"] < 100 and run.settings["stiff"] is None


def test_auto_leaves_a_stiff_run_to_radau_and_says_so():
    """Samples, works and events go on; what was found, and the change, is in the settings, in the summary and in its dict."""
    falls = bc.Event("hinge", 1e-6, then="mark")
    run, told = warned(lambda: bc.simulate(arm(1e5), 1.0, step=0.01, events=[falls]))
    (first, dopri5), (second, radau) = run.settings["methods"]
    assert not told and (first, dopri5, radau) == (0.0, "dopri5", "radau") and 0 < second < 0.01
    assert run.settings["steps"] < 300 and run.settings["stiff"][2] == "hinge"
    np.testing.assert_allclose(run.values("time"), np.linspace(0, 1, 101), atol=1e-15)
    exact = bc.simulate(arm(1e5), 1.0, step=0.01, method="radau", rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run.values("q"), exact.values("q"), atol=1e-9)
    np.testing.assert_allclose(run.values("work"), exact.values("work"), atol=1e-9)
    assert run.crossings[0].time == pytest.approx(0.010199, abs=1e-6)  # 1e-6 rad at 9.81/1e5 rad/s, after a short start
    summary = run.summary()
    assert [item["event"] for item in summary.as_dict()["methods"]] == ["dopri5", "radau"]
    assert "auto: dopri5; radau from t = " in str(summary) and "2e+05 1/s in hinge: radau took over" in str(summary)


def test_what_is_not_stiff_stays_with_dopri5_to_the_last_bit():
    model = bc.load("double_pendulum")
    auto, chosen = (bc.simulate(model, 1.0, **given) for given in ({}, {"method": "dopri5"}))
    assert (auto.values("q") == chosen.values("q")).all() and auto.settings["methods"] == [[0.0, "dopri5"]]


def test_the_command_line_says_it_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("arm.toml").write_text(f"{ARM}{DAMPER}1e5")
    found = CliRunner().invoke(main, ["run", "arm.toml", "--duration", "0.3", "--rtol", "1e-6", "--json", "--no-plot"])
    assert found.exit_code == 0
    told = json.loads(found.stdout)
    assert told["stiff"]["dof"] == "hinge" and told["compile_time"] > 0
    assert told["method"] == "auto" and told["methods"][-1]["event"] == "radau"
    options = ["--duration", "0.3", "--rtol", "1e-6", "--method", "dopri5", "--no-plot"]
    found = CliRunner().invoke(main, ["run", "arm.toml", *options])
    assert "warning: model 'arm' is stiff" in found.stderr and "--method radau" in found.stderr


def test_a_stiff_run_that_will_soon_end_is_noted_only():
    run, told = warned(lambda: bc.simulate(arm(1e5), 0.02, **LOOSE))
    assert not told
    summary = run.summary()
    assert summary.as_dict()["stiff"]["rate"] == pytest.approx(2e5, rel=1e-6)
    assert re.search(r"stiff +from t = .* s on, 2e\+05 1/s in hinge: radau takes longer steps", str(summary))


def test_vibration_without_damping_is_not_stiff():
    """Every method has to follow it."""
    model = bc.load(f'{ARM}[springs.steel]\njoint = "hinge"\nstiffness = 1e6\n')
    run, told = warned(lambda: bc.simulate(model, 0.5, q=[0.1], **LOOSE))
    assert run.settings["steps"] > 1000 and run.settings["stiff"] is None and not told


@pytest.mark.parametrize("name", ["pendulum", "four_bar"])
def test_no_ordinary_run_is_stiff(name):
    run, told = warned(lambda: bc.simulate(bc.load(name)))
    assert run.settings["stiff"] is None and not told and "stiff" not in str(run.summary())


def test_closed_loops_are_noticed_with_the_fastest_rate_of_their_equations():
    """The largest eigenvalue of the damping in the four-bar's equations of motion, at the time when it was noticed."""
    rust = '\n[dampers.rust]\njoint = "crank_pivot"\ndamping = 2e4\n'
    model = bc.load((MODELS / "four_bar.toml").read_text() + rust)
    run, _ = warned(lambda: bc.simulate(model, 0.05, step=1e-3, **LOOSE))
    time, rate, _ = run.settings["stiff"]
    at = int(np.searchsorted(run.values("time"), time))
    J = bc.compile(model).jacobians(run.values("q")[at], run.values("v")[at])
    assert rate == pytest.approx(np.abs(np.linalg.eigvals(J.dv)).max(), rel=0.05)


def test_many_runs_name_the_one_that_is_stiff(monkeypatch):
    """The start with no velocity is as stiff as the other; what is not damped is not."""
    monkeypatch.setattr("bellcrank.machine.steps.lanes.runs._LOOK_SECONDS", 0.0)
    runs, told = warned(lambda: bc.simulate_many(arm(2e5), 1.0, v=[[0.0], [3.0]], method="dopri5", **LOOSE))
    assert [run["stiff"][1] for run in runs.per_run] == pytest.approx([4e5, 4e5], rel=1e-6)
    (message,) = told
    assert re.search(r"stiff in run [01]: .* 4e\+05 1/s", message) and 'method="radau"' in message
    calm, told = warned(lambda: bc.simulate_many(arm(0.1), 1.0, v=[[0.0], [3.0]], **LOOSE))
    assert [run["stiff"] for run in calm.per_run] == [None, None] and not told


def test_a_controller_that_makes_a_run_stiff_is_found_too():
    def control(t, q, v):
        return -1e4 * v

    run, told = warned(lambda: bc.simulate(bc.load(ARM), 0.1, step=0.1, tau=control, **LOOSE))
    assert run.settings["stiff"][1] == pytest.approx(2e4, rel=1e-4) and run.settings["stiff"][2] == "hinge"
    assert not told and run.settings["methods"][-1][1] == "radau"


def test_many_runs_leave_what_is_stiff_to_radau_one_by_one():
    """Each at its own time, with its samples behind it; the result is that of a run by itself."""
    starts = [[0.0], [3.0], [-2.0], [1.0], [0.5]]
    runs, told = warned(lambda: bc.simulate_many(arm(2e5), 1.0, v=starts))
    assert not told and (runs.status == 0).all()
    assert all(run["methods"][1][1] == "radau" and run["steps"] < 500 and run["stiff"][1] > 3e5 for run in runs.per_run)
    assert len({run["methods"][1][0] for run in runs.per_run}) == 5
    alone = bc.simulate(arm(2e5), 1.0, v=starts[1], method="radau", rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(runs.q_values[1], alone.values("q"), atol=1e-9)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.034, "0.03 s"), (42.2, "42 s"), (600, "10 minutes"), (9000, "2 hours"), (3e5, "3 days")],
)
def test_how_long_it_takes_is_said_in_round_numbers(seconds, text):
    assert duration_words(seconds) == f"about {text}"


def test_compiling_inside_compiling_counts_once(monkeypatch):
    """A clock that goes on by a second at each look."""
    seconds = iter(range(100))
    monkeypatch.setattr(stopwatch.time, "perf_counter", lambda: float(next(seconds)))
    watch = stopwatch.Stopwatch()  # 0
    with stopwatch.compiling(), stopwatch.compiling():  # 1, 2
        pass  # 3, when the outer one ends
    assert watch.times() == {"compile_time": 2.0, "wall_time": 2.0}  # 4


def test_a_run_tells_compiling_apart():
    run = bc.simulate(arm(0.3), 0.1)
    rows = dict(run.summary().rows())
    assert {"compile time", "wall time"} <= set(rows)
    assert run.summary().as_dict()["compile_time"] == run.settings["compile_time"] > 0
