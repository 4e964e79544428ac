"""The works of drives and forces have a say in the step: a smooth motion may hide a lively power."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import bellcrank as bc

DRIVEN = """
format = 1
name = "shaker"
[bodies.table]
mass = 2.0
center = [0, 0, 0]
inertia = [0.1, 0.1, 0.1]
[joints.slide]
type = "prismatic"
parent = "ground"
child = "table"
point = [0, 0, 0]
axis = "x"
motion = { amplitude = 0.1, frequency = 5 }
"""


@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau", "bdf"])
def test_a_drive_alone_does_the_work_that_the_motion_takes(method):
    """Without a degree of freedom only the work is integrated: m v(t)^2/2 - m v(0)^2/2 with v = 2 pi f A cos(2 pi f t)."""
    run = bc.simulate(bc.load(DRIVEN), 1.0, step=0.013, method=method, rtol=1e-9, atol=1e-9)
    speed = 2 * np.pi * 5 * 0.1
    t = run.values("time")
    exact = 0.5 * 2.0 * speed**2 * (np.cos(2 * np.pi * 5 * t) ** 2 - 1)
    # of 10 J; the implicit methods allow works a tolerance that is looser by 1e3, and bdf collects it over its steps
    assert np.abs(run.values("work").sum(axis=1) - exact).max() < (1e-2 if method == "bdf" else 1e-6)


def test_a_speed_beyond_all_bounds_ends_at_once_with_a_message():
    with pytest.raises(bc.SimulationError, match=r"stopped at t = 0 s: . of (shoulder|elbow)") as stop:
        bc.simulate(bc.load("double_pendulum"), 1.0, v=[1e150, 0.0])
    assert len(stop.value.run.values("time")) == 1


def test_a_short_pulse_of_a_controller_is_not_stepped_over():
    """A mass at rest under 10 N from 4.02 to 4.11 s: steps are no longer than the samples unless asked otherwise."""
    free = bc.load(DRIVEN.replace("motion = { amplitude = 0.1, frequency = 5 }", ""))

    def pulse(t, q, v):
        return [10.0 if 4.02 < t < 4.11 else 0.0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.BellcrankWarning)
        run = bc.simulate(free, 5.0, step=0.05, tau=pulse, rtol=1e-5, atol=1e-5)
    assert run.values("v")[-1, 0] == pytest.approx(10.0 * 0.09 / 2.0, rel=5e-3)  # edges inside steps


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": "1"}, "duration must be a positive number; it is '1'"),
        ({"method": None}, "there is no method None"),
        ({"after": 3}, "after must be a Run to go on from; it is 3"),
        ({"events": bc.Event("hinge")}, "events must be a list of Event"),
        ({"events": [3]}, "events must be a list of Event"),
        ({"events": [bc.Event("hinge", "a")]}, "its value must be a finite number; it is 'a'"),
        ({"events": [bc.Event("hinge", float("nan"))]}, "its value must be a finite number; it is nan"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_named(options, message):
    with pytest.raises(bc.StateError, match=message):
        bc.simulate(bc.load("pendulum"), **({"duration": 1.0} | options))


def test_the_package_itself_is_the_command_line():
    done = subprocess.run([sys.executable, "-m", "bellcrank", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("bellcrank ")


def test_inputs_may_be_given_by_name():
    text = DRIVEN.replace("motion = { amplitude = 0.1, frequency = 5 }", "")
    text = text.replace("format = 1", 'format = 1\ninputs = ["left", "right"]')
    text += '[motors.pull]\njoint = "slide"\ninput = "right"\n[motors.push]\njoint = "slide"\ninput = "left"\n'
    model = bc.load(text)
    run = bc.simulate(model, 1.0, inputs={"right": 4.0})
    assert run.values("v")[-1, 0] == pytest.approx(4.0 / 2.0)
    with pytest.raises(bc.StateError, match="there is no input 'middle'; model 'shaker' has left, right"):
        bc.simulate(model, 1.0, inputs={"middle": 4.0})


def test_many_runs_need_rows_and_unit_quaternions():
    top = bc.load("heavy_top")
    with pytest.raises(bc.StateError, match="quaternion of joint 'tip' in row 1 has length 2: it must be 1"):
        bc.simulate_many(top, 0.1, q=[[1, 0, 0, 0], [2, 0, 0, 0]])
    with pytest.raises(bc.StateError, match="nothing to run"):
        bc.simulate_many(top, 0.1, q=np.zeros((0, 4)))
