"""Derivatives of equilibria, modes and inverse dynamics by a design: closed forms, and differences where loops are closed."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import BellcrankWarning, DynamicsError, ModelError, StateError
from bellcrank.studies.history import ScaledDesign
from bellcrank.studies.starting import first_tangents

from ..blocks import FLOATING, block

G = 9.80665
WEIGHT = """
format = 1
name = "weight on a spring"
gravity = [0, 0, -9.80665]
[bodies.weight]
mass = 2.0
center = [0, 0, 0]
inertia = [0.1, 0.1, 0.1]
[joints.slide]
type = "prismatic"
parent = "ground"
child = "weight"
point = [0, 0, 0]
axis = "z"
[springs.coil]
joint = "slide"
stiffness = 200.0
[dampers.oil]
joint = "slide"
damping = 4.0
"""
M, K, C = 2.0, 200.0, 4.0
NAMES = ["weight.mass", "coil.stiffness", "oil.damping"]


def differences(model, parameters, outputs, h=1e-6, **options):
    design, columns = bc.Design(model, parameters), []
    for k in range(len(parameters)):
        step = h * design.start[k] * np.eye(len(parameters))[k]
        pair = [bc.sensitivity(design.model(design.start + s * step), parameters[:1], outputs, **options) for s in (1, -1)]
        columns.append([(np.asarray(pair[0].value(x)) - np.asarray(pair[1].value(x))) / (2 * step[k]) for x in outputs])
    return {name: np.stack([column[i] for column in columns], axis=-1) for i, name in enumerate(outputs)}


def compare(found, expected, tolerance):
    for name, slopes in expected.items():
        exact = np.asarray(found.d(name))
        np.testing.assert_allclose(exact, slopes, rtol=0, atol=tolerance * np.abs(exact).max())


def test_a_weight_sinks_as_it_gets_heavier_and_its_spring_softer():
    """z = -m g/k; the potential energy of its weight -(m g)^2/k; the damper does not matter, exactly."""
    found = bc.sensitivity(bc.load(WEIGHT), NAMES, ["weight.z", "energy.potential", "coil.force"], analysis="equilibrium")
    assert found.value("weight.z") == pytest.approx(-M * G / K, rel=1e-12)
    np.testing.assert_allclose(found.d("weight.z"), [-G / K, M * G / K**2, 0.0], rtol=1e-12)
    np.testing.assert_allclose(found.d("energy.potential"), [-2 * M * G**2 / K, (M * G / K) ** 2, 0], rtol=1e-11, atol=1e-15)
    assert found.d("weight.z").values[2] == 0.0
    assert found.dq.dims == ("coordinate", "parameter") and found.analysis == "equilibrium"


def test_its_frequency_and_damping_have_the_derivatives_of_their_formulas():
    """s = -c/2m + i sqrt(k/m - (c/2m)^2), by complex step of the formula."""
    found = bc.sensitivity(bc.load(WEIGHT), NAMES, ["real", "imag", "mode1.damping", "natural_frequency"], analysis="modes")

    def root(m, k, c):
        return -c / (2 * m), np.sqrt(k / m - (c / (2 * m)) ** 2), c / (2 * np.sqrt(k * m)), np.sqrt(k / m) / (2 * np.pi)

    steps = [np.imag(root(*(np.array([M, K, C]) + 1e-30j * np.eye(3)[k]))) / 1e-30 for k in range(3)]
    for i, name in enumerate(("real", "imag", "mode1.damping", "natural_frequency")):
        np.testing.assert_allclose(np.ravel(found.d(name)), [step[i] for step in steps], rtol=1e-11, atol=1e-16)
    assert found.d("imag").dims == ("mode", "parameter")


def test_the_effort_of_a_given_motion_is_linear_in_what_it_moves():
    """f = m (a + g) + c v + k z; power = f v."""
    times = np.linspace(0.0, 1.0, 5)
    motion = {"slide": lambda t: (np.sin(t), np.cos(t), -np.sin(t))}
    options = {"analysis": "inverse_motion", "motion": motion, "times": times}
    found = bc.sensitivity(bc.load(WEIGHT), NAMES, ["slide.effort", "slide.power", "mean(slide.effort)"], **options)
    z, v, a = np.sin(times), np.cos(times), -np.sin(times)
    expected = np.column_stack([a + G, z, v])
    np.testing.assert_allclose(found.d("slide.effort"), expected, rtol=1e-12)
    np.testing.assert_allclose(found.d("slide.power"), expected * v[:, None], rtol=1e-12)
    assert found.d("slide.effort").dims == ("time", "parameter") and found.d("slide.power").attrs["units"].startswith("W")


def test_a_suspension_rests_and_swings_by_its_hard_points():
    """The equilibrium, reactions and the mode of three closed loops against differences, each found anew."""
    model, hard = bc.load("quarter_car"), ["lower_ball.z"]
    for analysis, outputs in (("equilibrium", ["wheel.z", "arm_hinge.fy"]), ("modes", ["frequency", "damping"])):
        found = bc.sensitivity(model, hard, outputs, analysis=analysis)
        compare(found, differences(model, hard, outputs, analysis=analysis), 1e-6)


@pytest.mark.parametrize("actuated", [None, ["crank_pivot", "crank_pin"]])
def test_efforts_of_a_four_bar_whether_one_motor_or_two_share_the_load(actuated):
    """Two motors have efforts of least norm, whose derivatives follow how the load is shared."""
    model, names, outputs = bc.load("four_bar"), ["parameters.crank_length", "parameters.density"], ["crank_pivot.effort"]
    motion = {"crank_pivot": lambda t: (np.sin(t), np.cos(t), -np.sin(t))}
    options = {"analysis": "inverse_motion", "motion": motion, "times": [0.0, 0.5], "actuated": actuated}
    found = bc.sensitivity(model, names, outputs, **options)
    compare(found, differences(model, names, outputs, **options), 1e-6)
    expected = bc.inverse_motion(model, motion, [0.0, 0.5], actuated=actuated).effort.sel(dof="crank_pivot")
    np.testing.assert_allclose(found.value("crank_pivot.effort"), expected, rtol=1e-9)


def test_what_nothing_holds_has_no_derivative_or_the_smallest():
    """A cart on a level rail: its mass does not move it; a slope of gravity would without limit."""
    level = WEIGHT.replace('axis = "z"', 'axis = "x"').replace("stiffness = 200.0", "stiffness = 0.0")
    model = bc.load(level)
    with pytest.warns(BellcrankWarning, match="neutral along 'slide'"):
        found = bc.sensitivity(model, ["weight.mass"], ["weight.x"], analysis="equilibrium")
    assert found.d("weight.x").values == 0.0
    with pytest.raises(DynamicsError, match="no derivative by 'gravity.x': nothing holds 'slide'"):
        bc.sensitivity(model, ["gravity.x"], ["weight.x"], analysis="equilibrium")


def test_roots_that_coincide_have_no_derivatives_of_their_own():
    twin = WEIGHT[WEIGHT.index("[bodies") :].replace("weight", "twin").replace("slide", "rail").replace("coil", "worm")
    model = bc.load(WEIGHT + twin.replace("oil]", "grease]"))
    with pytest.warns(BellcrankWarning, match="modes 1, 2 coincide"):
        found = bc.sensitivity(model, ["weight.mass"], ["frequency"], analysis="modes")
    assert np.isnan(found.d("frequency")).all()


@pytest.mark.parametrize("analysis", ["equilibrium", "run"])
def test_a_stop_that_is_touched_exactly_at_rest_is_named(analysis):
    """Its force has a kink there."""
    stop = "[stops.buffer]\njoint = 'slide'\nlower = 0.0\nstiffness = 1e4\n"
    model = bc.load(WEIGHT.replace("-9.80665", "0.0") + stop)
    more = {"duration": 0.01} if analysis == "run" else {}
    with pytest.warns(BellcrankWarning, match="exactly where the force of 'buffer' begins"):
        bc.sensitivity(model, ["weight.mass"], [], analysis=analysis, **more)


def test_a_start_at_a_dead_centre_is_named():
    """The rocker is held where it turns back: a longer crank would carry it further, and a shorter one could not reach it."""
    model = bc.load("four_bar")
    design = bc.Design(model, ["parameters.crank_length"])
    dynamics = bc.compile(model, "multipliers", design=design, optimisation=0)
    end = bc.drive(model, "rocker_pin", [0.5, 2.0]).limits[0]
    start = {"q": end.q, "v": np.zeros(3), "t": np.array(0.0)}
    changes = ScaledDesign.of(design).changes(dynamics.plan)
    with pytest.raises(
        DynamicsError, match="the start of 'four-bar' has no derivative by 'parameters.crank_length'.*dead centre"
    ):
        first_tangents(dynamics, start, {"q": {"rocker_pin": end.value}, "v": np.zeros(3)}, changes, {})


def test_a_formula_and_a_parameter_that_does_not_matter_are_named():
    model = bc.load("four_bar")
    with pytest.raises(ModelError, match='Change "parameters.crank_length", "parameters.density" instead'):
        bc.sensitivity(model, ["crank.mass"], [], analysis="drive", coordinate="crank_pivot", values=[0.1])
    with pytest.warns(BellcrankWarning, match='"duration" changes nothing that is simulated: every derivative by it is zero'):
        found = bc.sensitivity(model, ["duration"], ["coupler.x"], analysis="drive", coordinate="crank_pivot", values=[0.1])
    assert found.d("coupler.x").values == 0.0


@pytest.mark.parametrize(
    ("analysis", "options", "message"),
    [
        ("equilibrium", {"outputs": ["weight.z@end"]}, "one position only"),
        ("equilibrium", {"outputs": ["max(weight.z)"]}, "one position only"),
        ("modes", {"outputs": ["pitch"]}, "modes have frequency"),
        ("modes", {"outputs": ["mode3.frequency"]}, "there are 1 modes"),
        ("modes", {"outputs": "frequency"}, "outputs must be a list"),
        ("modes", {"about": "start"}, "the analysis 'modes' takes no 'about'"),
    ],
)
def test_what_cannot_be_asked_is_refused(analysis, options, message):
    with pytest.raises(StateError, match=message):
        bc.sensitivity(bc.load(WEIGHT), NAMES, **({"outputs": [], "analysis": analysis} | options))


@pytest.mark.parametrize(
    "options", [{"analysis": "equilibrium"}, {"analysis": "drive", "coordinate": "crank_pivot", "values": [0.4]}]
)
def test_reactions_that_are_shared_follow_the_design(options):
    """The four-bar in space has three equations too many. Differences are good for about 1e-8."""
    model, outputs = bc.load("four_bar"), ["crank_pin.fx", "rocker_pivot.fy"]
    names = ["parameters.density", "parameters.crank_length"]
    found, other = (f(model, names, outputs, **options) for f in (bc.sensitivity, bc.finite_differences))
    for output in outputs:
        np.testing.assert_allclose(found.d(output), other.d(output), rtol=1e-6)


CONTROLLED = block(
    """
[parameters]
target = 0.3
ki = 60.0
lag = 0.2
[states.sum]
rate = "=target - slide"
unit = "m s"
[states.felt]
rate = "=(slide.v + slide - felt)/lag"
initial = "=target/3"
[motors.controller]
joint = "slide"
effort = "=40*(target - slide) + ki*sum - 8*slide.v - 2*felt**3 - 5"
""",
    top=FLOATING,
    mass=2.0,
)
TARGET, KI, LAG = 0.3, 60.0, 0.2


def test_user_defined_states_rest_move_and_stay_with_the_design():
    """At rest the block is at its target, and so is what the filter feels: sum = (5 + 2 target^3)/ki. Along x(t) = t from
    felt = target/3 the filter's answer is felt = t + 1 - lag + (target/3 - 1 + lag) e^(-t/lag), and held it stays."""
    model, names = bc.load(CONTROLLED), ["parameters.target", "parameters.ki", "parameters.lag"]
    rest = bc.sensitivity(model, names, ["slide", "sum", "felt"], analysis="equilibrium")
    np.testing.assert_allclose(rest.d("slide"), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(rest.d("felt"), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(rest.d("sum"), [6 * TARGET**2 / KI, -(5 + 2 * TARGET**3) / KI**2, 0], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(rest.dv, [[0, 0, 0], rest.d("sum"), rest.d("felt")])
    held = bc.sensitivity(model, names, ["felt"], analysis="drive", coordinate="slide", values=[0.0, 0.1])
    np.testing.assert_allclose(held.d("felt"), [[1 / 3, 0, 0]] * 2, rtol=1e-12)
    still = bc.sensitivity(model, names, ["felt"], analysis="drive", coordinate="slide", values=[0.1], states={"felt": 0.2})
    assert not still.d("felt").any()
    times = np.linspace(0, 0.5, 6)
    moved = bc.sensitivity(
        model, names, ["felt"], analysis="inverse_motion", motion={"slide": lambda t: (t, 1, 0)}, times=times
    )
    e, start = np.exp(-times / LAG), TARGET / 3 - 1 + LAG
    along_lag = -1 + e + start * e * times / LAG**2
    np.testing.assert_allclose(moved.d("felt"), np.stack([e / 3, 0 * e, along_lag], axis=1), rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    "options",
    [
        {"analysis": "modes", "outputs": ["real", "imag"]},
        {
            "analysis": "inverse_motion",
            "outputs": ["slide.effort", "felt"],
            "motion": {"slide": lambda t: (np.sin(t), np.cos(t), -np.sin(t))},
            "times": [0, 0.1, 0.2],
        },
    ],
)
def test_user_defined_states_act_on_roots_and_efforts(options):
    options = dict(options)
    outputs, model = options.pop("outputs"), bc.load(CONTROLLED)
    names = ["parameters.target", "parameters.ki", "parameters.lag"]
    found = bc.sensitivity(model, names, outputs, **options)
    compare(found, differences(model, names, outputs, h=1e-5, **options), 1e-7)


@pytest.mark.parametrize(
    "options",
    [{"analysis": "equilibrium"}, {"analysis": "drive", "coordinate": "a", "values": [0.0, 0.1]}],
    ids=["rest", "drive"],
)
def test_a_user_defined_state_beside_a_closed_loop(options):
    m, places = bc.Mechanism("four-bar", gravity=(0, -G, 0)), [(0, 0, 0), (0.3, 0.4, 0), (1.2, 0.7, 0), (1.0, 0, 0)]
    bodies = ["ground", "crank", "coupler", "rocker", "ground"]
    m.parameter("lag", 0.2)
    m.parameter("level", 0.1)
    for name, start, end in zip(bodies[1:4], places, places[1:], strict=False):
        m.body(name, 1.0, tuple((x + y) / 2 for x, y in zip(start, end, strict=True)), (0.02, 0.02, 0.04))
    for name, parent, child, place in zip("abcd", bodies, bodies[1:], places, strict=False):
        m.joint(name, "revolute", parent, child, place, axis="z")
    m.state("felt", "=(a + 0.3*a.v + 0.1 - felt)/lag", "=2*level")
    m.motor("drive", joint="a", effort="=4 - 60*a - 20*felt**3 - 3*a.v - level")
    model, names, outputs = m.build(), ["parameters.lag", "parameters.level", "rocker.mass"], ["felt", "coupler.y"]
    found = bc.sensitivity(model, names, outputs, **options)
    compare(found, differences(model, names, outputs, h=1e-5, **options), 1e-7)


def test_efforts_along_a_run_of_loops_are_refused():
    model = bc.load("four_bar")
    run = bc.simulate(model, 0.02, step=0.01)
    with pytest.raises(StateError, match="closes the loops of one design only"):
        bc.sensitivity(model, ["parameters.density"], [], analysis="inverse_motion", motion=run)
