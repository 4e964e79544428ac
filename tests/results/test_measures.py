"""Measures against closed forms: where a point is, how far, at what angle, how fast, with what force."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError, StateError
from bellcrank.model import Law, Measure, PrescribedMotion, Table
from bellcrank.model.generators import random_state, random_tree
from bellcrank.model.parameters.expressions import FUNCTIONS, Formula, derived
from bellcrank.results import Run
from bellcrank.results.driven import law_values

from .mechanisms import HINGE_Y, SLIDE_X, bushing, force, joint_element, make, pendulum, polynomial, spring

BOB = {"body_a": 0, "point_a": (0.0, 0.0, -1.0)}


def measured(model, duration=2.0, **options):
    """A run, and its measures by name."""
    run = bc.simulate(model, duration, rtol=1e-12, atol=1e-12, **options)
    return run, {name: run.measures.sel(measure=name).values for name in run.labels.measures}


def test_the_bob_of_a_pendulum_is_on_its_circle():
    measures = (
        Measure("bob", "position", **BOB),
        Measure("height", "position", **BOB, component=2),
        Measure("reach", "distance", **BOB, point_b=(0.0, 0.0, 1.0)),
        Measure("swing", "coordinate", joint=0),
        Measure("lean", "angle", body_a=0, body_b=-1, direction_a=(0, 0, 2.0), direction_b=(0, 0, 1.0)),
        Measure("speed", "velocity", **BOB),
        Measure("rise", "velocity", **BOB, component=2),
    )
    run, found = measured(pendulum(measures=measures))
    q, v = run.q.values[:, 0], run.v.values[:, 0]
    expected = {
        "bob.x": -np.sin(q), "bob.y": 0 * q, "bob.z": -np.cos(q), "height": -np.cos(q),
        "reach": 2 * np.cos(q / 2), "swing": q, "lean": np.abs(q),
        "speed.x": -np.cos(q) * v, "speed.y": 0 * q, "speed.z": np.sin(q) * v, "rise": np.sin(q) * v,
    }  # fmt: skip
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-14, err_msg=name)
    assert run.measures.measures_unit.values.tolist() == ["m"] * 5 + ["rad"] * 2 + ["m/s"] * 4


def test_relative_velocity_is_the_difference_of_two_points():
    """A cart at 2 m/s and a bob on it: relative to the cart's own point only the swing is left."""
    measures = (
        Measure("of_bob", "velocity", body_a=1, point_a=(0, 0, -1.0), body_b=0),
        Measure("of_cart", "velocity", body_a=0, component=0),
    )
    model = make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((polynomial(0, 2.0),)), None), given_v=[3.0], measures=measures)
    run, found = measured(model, 1.0)
    np.testing.assert_allclose(found["of_cart"], 2.0, rtol=1e-14)
    np.testing.assert_allclose(found["of_bob.x"], -3 * np.cos(3 * run.time), atol=1e-10)
    np.testing.assert_allclose(found["of_bob.z"], 3 * np.sin(3 * run.time), atol=1e-10)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_velocities_are_the_rates_of_positions_for_any_tree(seed):
    """Central differences along the motion, at steps of 1e-6 s, are good to about 1e-9."""
    tree = random_tree(6, seed, shuffle=True)
    point = (0.3, -0.2, 0.5)
    measures = tuple(Measure(f"p{b}", "position", body_a=b, point_a=point) for b in range(6))
    measures += tuple(Measure(f"v{b}", "velocity", body_a=b, point_a=point) for b in range(6))
    model = bc.Model(**{name: getattr(tree, name) for name in FIELDS} | {"measures": measures})
    q, v = random_state(model, seed)
    rates = bc.compile(model).rates(q, v)
    h = 1e-6
    states = np.array([q - h * rates, q, q + h * rates])
    run = Run(model, np.arange(3.0), states, np.tile(v, (3, 1)), np.zeros((3, model.nv)), {})
    values = run.measures.values
    difference = (values[2, :18] - values[0, :18]) / (2 * h)
    np.testing.assert_allclose(values[1, 18:], difference, atol=1e-7 * (1 + np.abs(difference).max()))


FIELDS = (
    "name", "joint_names", "body_names", "parents", "joints", "position", "mass", "center", "inertia", "armature", "gravity",
    "given_q", "given_v",
)  # fmt: skip


def test_the_force_of_an_element_is_measured_with_its_unit():
    elements = (joint_element("coil", "spring", stiffness=4.0, rest=0.0, preload=0.0), spring("rope", 10.0, length=0.5, body_b=0, point_a=(0, 0, 1.0), point_b=(0, 0, -1.0)))  # fmt: skip
    measures = (Measure("torque", "element", element="coil"), Measure("tension", "element", element="rope"), Measure("l", "distance", body_a=0, point_a=(0, 0, -1.0), point_b=(0, 0, 1.0)))  # fmt: skip
    run, found = measured(pendulum(elements=elements, measures=measures))
    np.testing.assert_allclose(found["torque"], -4.0 * run.q.values[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found["tension"], 10.0 * (found["l"] - 0.5), rtol=1e-12)
    assert run.measures.measures_unit.values.tolist() == ["N m", "N", "m"]


def test_a_force_is_measured_in_world_axes_whatever_its_own():
    elements = (force("wind", fx=2.0, fy=1.0, body_a=0), force("jet", fx=3.0, world=0.0, body_a=0))
    measures = (Measure("wind_force", "element", element="wind"), Measure("jet_up", "element", element="jet", component=2))
    run, found = measured(pendulum(elements=elements, measures=measures))
    assert np.unique(found["wind_force.x"]).tolist() == [2.0] and np.unique(found["wind_force.y"]).tolist() == [1.0]
    np.testing.assert_allclose(found["jet_up"], -3.0 * np.sin(run.q.values[:, 0]), atol=1e-14)


def test_the_force_of_a_bushing_on_its_second_body_pulls_it_back():
    """On a slide: -k x - c v."""
    element = bushing("mount", (5.0, 1, 1), (0.5, 0, 0), body_a=-1, body_b=0)
    run, found = measured(
        make(SLIDE_X, given_q=[0.2], elements=(element,), measures=(Measure("f", "element", element="mount"),))
    )
    np.testing.assert_allclose(found["f.x"], -5.0 * run.q.values[:, 0] - 0.5 * run.v.values[:, 0], atol=1e-14)
    assert run.energy_error < 1e-9


def test_the_force_of_a_bushing_between_moving_bodies_has_the_magnitude_of_its_element():
    """With axes of its own, on two turning bodies: the vector here, its length from the machine code."""
    axes = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    element = bushing(
        "mount", (5.0, 7.0, 1.0), (0.5, 0.1, 0.2), body_a=0, body_b=1, point_a=(0.1, 0, 0.2), point_b=(0, 0.1, 0), axes=axes
    )
    model = make(
        HINGE_Y,
        ("revolute", (1, 0, 0)),
        given_v=[1.0, 2.0],
        elements=(element,),
        measures=(Measure("f", "element", element="mount"),),
    )
    run, _ = measured(model)
    np.testing.assert_allclose(np.linalg.norm(run.measures, axis=1), run.forces.values[:, 0], rtol=1e-12)


def test_the_coordinate_of_a_driven_joint_follows_its_law():
    laws = {"sine": Law("sine", (0.1, 0.5, 2.0, 0.3)), "cubic": polynomial(1.0, 2.0, 0, 0.5)}
    for law in laws.values():
        model = make(
            SLIDE_X,
            HINGE_Y,
            motions=(PrescribedMotion((law,)), None),
            measures=(Measure("x", "coordinate", joint=0), Measure("p", "position", body_a=0, component=0)),
        )
        _, found = measured(model, 1.0)
        np.testing.assert_allclose(found["x"], found["p"], atol=1e-14)


def test_the_coordinates_of_a_driven_ball_are_its_quaternion():
    motion = PrescribedMotion((polynomial(0, 2.0),), axis=(0.0, 0.0, 2.0))
    measures = tuple(Measure(name, "coordinate", joint=0, dof=k) for k, name in enumerate(("qw", "qx", "qy", "qz")))
    run, found = measured(make("spherical", HINGE_Y, motions=(motion, None), measures=measures), 1.0)
    np.testing.assert_allclose(found["qw"], np.cos(run.time), atol=1e-14)
    np.testing.assert_allclose(found["qz"], np.sin(run.time), atol=1e-14)
    assert not found["qx"].any() and not found["qy"].any()


def test_a_table_is_a_natural_spline_and_ends_as_it_says():
    """A straight line is its own natural spline."""
    t = np.array([-1.0, 0.0, 0.25, 1.0, 3.0])
    held = law_values(Law("table", table=Table((0.0, 0.5, 1.0), (0.0, 1.0, 2.0), "clamp")), t)
    np.testing.assert_allclose(held, [0, 0, 0.5, 2, 2], atol=1e-15)
    ended = law_values(Law("table", table=Table((0.0, 0.5, 1.0), (0.0, 1.0, 2.0))), t)
    np.testing.assert_allclose(ended, [np.nan, 0, 0.5, 2, np.nan], atol=1e-15)


def test_a_motion_by_table_is_measured_as_it_is_driven():
    law = Law("table", table=Table((0.0, 0.4, 0.7, 1.0), (0.0, 1.0, -0.5, 0.3)))
    measures = (Measure("x", "coordinate", joint=0), Measure("p", "position", body_a=0, component=0))
    _, found = measured(make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((law,)), None), measures=measures), 1.0, step=0.05)
    np.testing.assert_allclose(found["x"], found["p"], atol=1e-13)


class TestExpressions:
    def test_are_over_other_measures_in_any_order(self):
        measures = (
            Measure("doubled", "expression", expression="2*radius"),
            Measure("radius", "expression", expression="sqrt(bob.x**2 + bob.y**2 + bob.z**2)"),
            Measure("bob", "position", **BOB),
        )
        run, found = measured(pendulum(measures=measures))
        np.testing.assert_allclose(found["doubled"], 2.0, rtol=1e-14)
        assert run.measures.measures_unit.values.tolist() == ["", "", "m", "m", "m"]

    def test_that_are_constant_are_still_a_column(self):
        _, found = measured(pendulum(measures=(Measure("two", "expression", expression="1 + 1"),)))
        assert found["two"].tolist() == [2.0] * 101

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_give_what_formulas_of_model_files_give(self, name):
        arguments = {"if": "x < y, x, y", "smoothstep": "x, 0.1, y", **dict.fromkeys(("atan2", "min", "max", "mod"), "x, y")}
        text = f"{name}({arguments.get(name, 'x')})"
        values = {"x": 0.3, "y": 0.7}
        arrays = {key: np.full(3, value) for key, value in values.items()}
        np.testing.assert_allclose(Formula(text).run(arrays), Formula(text).evaluate(values), rtol=1e-15)

    def test_know_the_operators(self):
        x = np.array([1.0, 4.0])
        found = derived("-x**2 / 2 + 3*x - max(x, 2, 1.5)").run({"x": x})
        np.testing.assert_allclose(found, -(x**2) / 2 + 3 * x - np.maximum(x, 2))

    def test_without_a_value_are_not_a_number_there(self):
        texts = {"root": "sqrt(j0)", "inverse": "1/j0.q"}
        measures = tuple(Measure(name, "expression", expression=text) for name, text in texts.items())
        found = bc.compile(pendulum(measures=measures)).measures([[-1.0], [0.0], [4.0]], np.zeros((3, 1)))
        np.testing.assert_array_equal(found, [[np.nan, -1.0], [0.0, np.nan], [2.0, 0.25]])

    @pytest.mark.parametrize(
        ("expressions", "message"),
        [
            ({"a": "2*nowhere"}, r'"a" uses "nowhere", which is not a measure; there are bob.x, bob.y, bob.z, a'),
            ({"a": "2*bob"}, r'"a" uses "bob", which is a vector: write bob.x, bob.y or bob.z'),
            ({"a": "2*b", "b": "a + 1"}, r"measures a, b depend on each other in a ring"),
        ],
    )
    def test_that_cannot_be_evaluated_say_why(self, expressions, message):
        measures = (
            Measure("bob", "position", **BOB),
            *(Measure(n, "expression", expression=e) for n, e in expressions.items()),
        )
        run = bc.simulate(pendulum(measures=measures), 0.1)
        with pytest.raises(StateError, match=message):
            run.measures
        assert run.summary().measures == ()


def test_a_measure_of_an_element_that_is_not_there_names_it():
    model = pendulum(measures=(Measure("pull", "element", element="rope"),))
    with pytest.raises(StateError, match=r'measure "pull" is of "rope", but the model has no such force element'):
        Run(model, np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)), {})


def test_an_angle_without_directions_is_refused():
    with pytest.raises(
        ModelError, match=r'measure "lean": it is an angle without directions. Give direction_a and direction_b'
    ):
        pendulum(measures=(Measure("lean", "angle", body_a=0),))


def test_measures_survive_the_file_and_show_in_the_summary(tmp_path):
    measures = (Measure("bob", "position", **BOB), Measure("root", "expression", expression="sqrt(bob.z)"))
    run, found = measured(pendulum(measures=measures))
    back = bc.load_run(run.save(tmp_path / "run.nc"))
    assert back.measures.identical(run.measures)
    rows = dict(back.summary().rows())
    assert rows["bob.z"] == f"{found['bob.z'].min():.4g} to -0.8776 m"
    assert rows["root"] == "never a number"
    assert back.summary() == run.summary()
    assert run.summary().measures[2].highest == pytest.approx(-math.cos(0.5))


def test_a_measure_that_is_asked_for_leaves_those_of_the_model_alone(tmp_path):
    run = bc.simulate(pendulum(measures=(Measure("root", "expression", expression="sqrt(2)"),)), 1.0)
    angle = run.measure(f"{run.labels.joints[0]}.q").values
    assert np.ptp(angle) > 0.1
    assert dict(run.summary().rows())["root"].startswith("1.414")
    np.testing.assert_allclose(bc.load_run(run.save(tmp_path / "run.nc")).measures, math.sqrt(2))
    np.testing.assert_allclose(run.measures, math.sqrt(2))
