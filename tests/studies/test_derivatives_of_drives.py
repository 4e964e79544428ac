"""Derivatives of kinematic analyses by a design: closed forms, and differences of analyses that begin anew."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import BellcrankWarning, DynamicsError, StateError

LENGTHS = ["parameters.crank_length", "parameters.coupler_length", "parameters.rocker_length"]
ANGLES = np.linspace(-0.5, 1.0, 4)


def drive(model, parameters, outputs, **options):
    return bc.sensitivity(model, parameters, outputs, analysis="drive", **options)


def differences(model, parameters, outputs, h=1e-6, **options):
    """Of q, v and the outputs, from analyses of other models, each assembled and driven anew."""
    design, columns = bc.Design(model, parameters), []
    for k in range(len(parameters)):
        pair = [
            drive(design.model(design.start + s * h * np.eye(len(parameters))[k]), parameters[:1], outputs, **options)
            for s in (1, -1)
        ]
        found = [{"q": x.q_values, "v": x.v_values} | {name: np.asarray(x.value(name)) for name in outputs} for x in pair]
        columns.append({name: (found[0][name] - found[1][name]) / (2 * h) for name in found[0]})
    return {name: np.stack([column[name] for column in columns], axis=-1) for name in columns[0]}


def compare(found, expected, outputs, tolerance=1e-6):
    for name in outputs:
        exact = np.asarray(found.d(name))
        np.testing.assert_allclose(exact, expected[name], rtol=0, atol=tolerance * max(1.0, np.abs(exact).max()))
    for name, exact in (("q", found.dq_values), ("v", found.dv_values)):
        np.testing.assert_allclose(exact, expected[name], rtol=0, atol=tolerance * max(1.0, np.abs(exact).max()))


def test_the_crank_pin_goes_out_with_the_crank_and_the_rocker_as_the_law_of_cosines_says():
    """With a, b, c of crank, coupler, rocker and f from the crank pin to the rocker's pivot: b^2 = c^2 + f^2 - 2 c f cos(between)."""
    model = bc.load("four_bar")
    found = drive(model, LENGTHS, ["coupler.x", "coupler.y", "rocker_pin"], coordinate="crank_pivot", values=ANGLES)
    turned = ANGLES + 0.7  # the crank is drawn at 0.7 rad
    np.testing.assert_allclose(found.d("coupler.x").values, np.outer(np.cos(turned), [1, 0, 0]), rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.d("coupler.y").values, np.outer(np.sin(turned), [1, 0, 0]), rtol=0, atol=1e-13)
    a, b, c = 0.5, 1.8, 1.2
    square = a**2 + 4.0 - 4.0 * a * np.cos(turned)
    knee = np.arccos((b**2 + c**2 - square) / (2 * b * c))  # between coupler and rocker
    by_a, by_b = -(2 * a - 4.0 * np.cos(turned)), 2 * b - (b**2 + c**2 - square) / b
    by_c = 2 * c - (b**2 + c**2 - square) / c
    expected = -np.column_stack([by_a, by_b, by_c]) / (2 * b * c * np.sin(knee))[:, None]
    at_rest = found.d("rocker_pin").values - expected
    np.testing.assert_allclose(np.abs(at_rest - at_rest[:1]).max(), 0.0, atol=1e-12)  # the drawing has its own angle of zero


def test_velocities_accelerations_and_what_is_taken_of_them():
    model = bc.load("four_bar")
    outputs = [
        "rocker.ax",
        "energy.kinetic",
        "max(coupler.vy)",
        "mean(rocker.x)",
        "rms(coupler.vx*coupler.vy)",
        "rocker.wz@end",
    ]
    outputs += ["integral(rocker.vx)", "min(rocker.x)", "rocker.x@crank_pivot=0"]
    given = {"coordinate": "crank_pivot", "values": ANGLES, "speed": 3.0, "acceleration": 2.0}
    found = drive(model, LENGTHS[:2], outputs, **given)
    compare(found, differences(model, LENGTHS[:2], outputs, **given), outputs)
    assert found.d("rocker.ax").dims == ("input", "parameter") and found.axis == "crank_pivot"
    assert found.when("rocker.x@crank_pivot=0") == 0.0


def test_reactions_of_a_suspension_by_its_hard_points():
    """Efforts that move the input are found with them, and quaternions turn."""
    model, outputs = bc.load("quarter_car"), ["wheel.z", "arm_hinge.fy"]
    given = {"coordinate": "arm_hinge", "values": [-0.2, 0.1], "speed": 2.0}
    hard = ["lower_ball.z", "upper_front_outer.y"]
    compare(drive(model, hard, outputs, **given), differences(model, hard, outputs, **given), outputs, 1e-5)


def test_what_is_held_stays_where_the_design_starts():
    """The five-bar, two degrees of freedom: the telescope is held."""
    model, outputs = bc.load("five_bar"), ["bar2.ax"]
    given = {"coordinate": "pin1", "values": [0.0, 0.2], "hold": "telescope"}
    names = ["parameters.L", "parameters.q1"]
    compare(drive(model, names, outputs, **given), differences(model, names, outputs, **given), outputs)


def test_of_a_tree_all_but_the_input_stay_where_they_start():
    model, given = bc.load("double_pendulum"), {"coordinate": "shoulder", "values": [0.3]}
    found = drive(model, ["initial.elbow.q.0", "knee.y"], ["lower.x"], **given)
    np.testing.assert_array_equal(found.dq_values, [[[0, 0], [1, 0]]])


def test_a_joint_that_closes_a_loop_is_driven_too():
    model, outputs = bc.load("four_bar"), ["coupler.x", "rocker.vx"]
    given = {"coordinate": "rocker_pivot", "values": [0.1, 0.3]}
    found = drive(model, LENGTHS[:1], outputs, **given)
    compare(found, differences(model, LENGTHS[:1], outputs, **given), outputs)
    with pytest.raises(StateError, match="accelerations, of which 'coupler.ax' depend"):
        drive(model, LENGTHS[:1], ["coupler.ax"], **given)


CRANE = """
format = 1
[parameters]
stroke = 0.2
[points]
foot = [0.2, 0, 0.5]
lug = [0.2, 0, 0.1]
eye = [0.8, 0, 0.6]
[bodies.column]
mass = 5.0
center = [0, 0, 0.3]
inertia = [0.1, 0.1, 0.1]
[bodies.jib]
mass = 1.0
center = [0.6, 0, 0.6]
inertia = [0.01, 0.1, 0.1]
[joints.slewing]
type = "revolute"
parent = "ground"
child = "column"
point = [0, 0, 0]
axis = "z"
[joints.hinge]
type = "revolute"
parent = "column"
child = "jib"
point = "foot"
axis = "y"
[constraints.ram]
type = "distance"
from = { body = "column", point = "lug" }
to = { body = "jib", point = "eye" }
[constraints.ram.motion]
amplitude = "=stroke/2"
frequency = 0.125
phase = "=-pi/2"
offset = "=sqrt((eye.x - lug.x)**2 + (eye.z - lug.z)**2) + stroke/2"
"""


def test_drivers_of_the_model_stand_still_and_the_design_still_moves_them():
    """The stroke of a crane's ram at 1.3 s, while it slews."""
    model, given = bc.load(CRANE), {"coordinate": "slewing", "values": [0.4], "t": 1.3}
    names, outputs = ["parameters.stroke", "eye.x"], ["jib.wz", "hinge", "energy.kinetic"]
    compare(drive(model, names, outputs, **given), differences(model, names, outputs, **given), outputs)


def test_values_out_of_reach_are_told():
    model = bc.load("four_bar")
    with pytest.warns(BellcrankWarning, match="out of reach"):
        found = drive(model, LENGTHS, ["coupler.x"], coordinate="rocker_pin", values=[0.5, 2.0])
    assert found.d("coupler.x").shape == (1, 3)


def test_a_dead_centre_and_loops_that_come_apart_are_named():
    flat = bc.load("parallelogram")
    with pytest.raises(DynamicsError, match="no derivatives at 'left_pivot' = 2.26893 rad: its loops are singular there"):
        drive(
            flat,
            ["gravity.y"],
            ["bar.x"] if "bar" in flat.body_names else [],
            coordinate="left_pivot",
            values=[np.radians(130)],
        )
    model = bc.load("four_bar")
    tilted = [name for name in model.parameters if name.endswith("crank_pin.axis.x")]
    with pytest.raises(DynamicsError, match=f"no derivative by '{tilted[0]}'.*contradict each other"):
        drive(model, tilted, [], coordinate="crank_pivot", values=[0.3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"analysis": "drvie"}, "there is no analysis 'drvie' .did you mean 'drive'"),
        ({"duration": 1.0}, "a duration is for runs"),
        ({"rtol": 1e-9}, "the analysis 'drive' takes no 'rtol'"),
        ({"outputs": "coupler.x"}, "outputs must be a list"),
        ({"outputs": ["coupler.x@noon"]}, "write @end, or @crank_pivot=0.5"),
        ({"outputs": ["coupler.x@crank_pivot=noon"]}, "write @end, or @crank_pivot=0.5"),
        ({"outputs": ["coupler.x@crank_pivot=7"]}, "is not among the values; the nearest is 0.1"),
        ({"outputs": ["mean(coupler.x)"]}, "give two values"),
        ({"coordinate": "rocker_pin", "values": [3.0]}, "none of the values of 'rocker_pin' is within reach"),
        ({"model": "double_pendulum"}, "the design is of another model"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    model = bc.load("four_bar")
    given = {"analysis": "drive", "coordinate": "crank_pivot", "values": [0.1], "outputs": []} | options
    other = bc.load(given.pop("model")) if "model" in given else model
    with pytest.raises((StateError, DynamicsError), match=message):
        bc.sensitivity(other, bc.Design(model, LENGTHS), **given)
