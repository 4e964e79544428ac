"""Inputs that are tables over time, and functions that give what they should not."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc

SLED = """
format = 1
name = "sled"
inputs = ["push", "pull"]
gravity = [0, 0, 0]
[bodies.sled]
mass = 2.0
center = [0, 0, 0]
inertia = [0.1, 0.1, 0.1]
[joints.rail]
type = "prismatic"
parent = "ground"
child = "sled"
point = [0, 0, 0]
axis = "x"
[motors.thruster]
joint = "rail"
input = "push"
[motors.winch]
joint = "rail"
input = "pull"
"""
RAMP = (np.array([0.0, 1.0]), np.array([0.0, 6.0]))  # N over s
pytestmark = pytest.mark.filterwarnings("ignore:(inputs are tables|tau or inputs are Python)")


@pytest.fixture(scope="module")
def sled():
    return bc.load(SLED)


def ramped(sled, push, **others):
    """2 x'' = 6 t + pull, hence x = t^3/2 + pull t^2/4."""
    return bc.simulate(sled, 1.0, step=0.25, inputs={"push": push, **others})


def test_a_ramp_of_the_force_gives_a_cubic(sled):
    run = ramped(sled, RAMP, pull=-1.0)
    t = run.values("time")
    np.testing.assert_allclose(run.values("q")[:, 0], t**3 / 2 - t**2 / 4, atol=1e-12)
    np.testing.assert_allclose(run.values("inputs"), np.stack([6 * t, np.full_like(t, -1.0)], axis=1), atol=1e-15)


@pytest.mark.parametrize(
    "text",
    [
        "0,0\n1,6\n",
        "time (s),force (N)\n0,0\n\n1,6\n",
        "t,pull,push (N)\n0,5,0\n1,5,6\n",
        "\ufefft,input push,x\n0,0,7\n1,6,7\n",
    ],
    ids=["two columns", "with headings", "by heading", "as to_csv heads it"],
)
def test_the_table_may_be_a_file(sled, tmp_path, text):
    (tmp_path / "push.csv").write_text(text, encoding="utf-8")
    run = ramped(sled, tmp_path / "push.csv")
    assert run.values("q")[-1, 0] == pytest.approx(0.5, abs=1e-12)


def test_the_inputs_of_a_run_drive_another_by_its_table(sled, tmp_path):
    run = ramped(sled, RAMP)
    again = ramped(sled, run.to_csv(tmp_path / "run.csv"))
    np.testing.assert_allclose(again.values("q"), run.values("q"), atol=1e-12)


def test_a_run_goes_on_along_the_same_table(sled):
    table = ([0.0, 2.0], [0.0, 12.0])
    first = ramped(sled, table)
    second = bc.simulate(sled, 1.0, after=first, inputs={"push": table})
    assert second.values("q")[-1, 0] == pytest.approx(2.0**3 / 2, abs=1e-11)


@pytest.mark.parametrize(
    ("push", "message"),
    [
        (([0, 0.5], [0, 1]), r"table of input 'push' goes from 0 to 0.5 s, the run from 0 to 1 s.*duration"),
        (([0, 1, 0.5], [0, 1, 2]), r"input 'push': its times must increase; 0.5 s does not"),
        (([0, 1], [0, 1, 2]), r"as many of each"),
        (([0, 1], [0, float("nan")]), r"finite"),
        ({"t": 1}, r"input 'push': give a number, a pair \(times, values\), or a CSV file; it is \{'t': 1\}"),
        ("nowhere.csv", r"nowhere.csv cannot be read: No such file"),
    ],
)
def test_tables_that_cannot_be_used_are_told_before_the_run(sled, push, message):
    with pytest.raises(bc.StateError, match=message):
        ramped(sled, push)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,0\n1,much\n", r"push.csv, line 2: column 2 is \['much'\]\. Give a number"),
        ("0,0\n1\n", r"push.csv, line 2: column 2 is \[\]"),
        ("t,a,b\n0,1,2\n", r"push.csv has columns t, a, b: head the one of 'push' with its name"),
        ("0,1,2\n", r"push.csv has 3 columns without headings"),
        ("", r"push.csv has 0 columns"),
    ],
)
def test_files_that_cannot_be_used_say_where(sled, tmp_path, text, message):
    (tmp_path / "push.csv").write_text(text)
    with pytest.raises(bc.StateError, match=message):
        ramped(sled, tmp_path / "push.csv")


def test_bdf_refuses_tables_and_radau_takes_them(sled):
    with pytest.raises(bc.StateError, match="tables are supported by auto, rk4, dopri5, dop853, radau, not with bdf"):
        bc.simulate(sled, 1.0, method="bdf", inputs={"push": RAMP})
    with pytest.warns(bc.BellcrankWarning, match="tables over time"):
        runs = [bc.simulate(sled, 1.0, method=method, inputs={"push": RAMP}) for method in ("radau", "dopri5")]
    np.testing.assert_allclose(*(run.values("v") for run in runs), atol=1e-9)


@pytest.mark.parametrize(
    ("given", "returned"),
    [
        ({"rail": 1.0}, r"\{'rail': 1.0\}"),
        ("1.0", "'1.0'"),
        (None, "None"),
        ([1.0, 2.0], r"\[1.0, 2.0\]"),
        (np.zeros((1, 1)), r"an array of shape \(1, 1\)"),
    ],
)
def test_a_function_of_efforts_that_returns_nonsense_is_told_what_it_should_return(sled, given, returned):
    message = rf"function for tau returned {returned} at t = 0 s; it must return a list or an array of 1 number$"
    with pytest.raises(bc.StateError, match=message):
        bc.simulate(sled, 1.0, tau=lambda t, q, v: given)


def test_what_a_function_of_inputs_should_return_is_in_the_order_of_the_model(sled):
    with pytest.raises(bc.StateError, match="an array of 2 numbers, in the order push, pull"):
        bc.simulate(sled, 1.0, inputs=lambda t, q, v: {"push": 1.0})
