"""A look at a model before it runs: its parts, its fastest motion, and what is unusual about it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.inspection import check
from bellcrank.inspection.report import ElementRow, JointRow, MeasureRow
from bellcrank.model import Element, Law, Measure, PrescribedMotion, Table

from ..results.mechanisms import HINGE_Y, SLIDE_X, bushing, force, joint_element, make, pendulum, polynomial, spring


def remarks(model):
    return list(check(model).remarks)


def test_the_parts_of_a_model_are_listed_with_their_names():
    elements = (joint_element("coil", "spring", 1, stiffness=1.0, rest=0.0, preload=0.0), force("wind", fx=1.0, body_a=1),
                spring("rope", 2.0, length=1.0, body_a=-1, body_b=1, point_a=(0, 0, 2.0)))  # fmt: skip
    measures = (Measure("pull", "element", element="rope"), Measure("where", "position", body_a=0))
    model = make(
        SLIDE_X,
        HINGE_Y,
        motions=(PrescribedMotion((polynomial(0, 1.0),)), None),
        elements=elements,
        measures=measures,
        inputs=("u",),
    )
    report = check(model)
    assert (report.model, report.mass, report.dof, report.inputs) == ("by hand", 2.0, 1, ("u",))
    assert report.joints == (
        JointRow("j0", "prismatic", "ground", "b0", 0, True),
        JointRow("j1", "revolute", "b0", "b1", 1, False),
    )
    assert report.elements == (
        ElementRow("coil", "spring", "joint j1"),
        ElementRow("wind", "force", "on b1"),
        ElementRow("rope", "spring and damper", "ground to b1"),
    )
    assert report.measures == (MeasureRow("pull", "force of rope"), MeasureRow("where", "position"))
    assert json.loads(json.dumps(report.as_dict()))["bodies"][1] == {"name": "b1", "joint": "j1", "mass": 1.0}


def test_an_element_on_one_of_several_coordinates_names_it():
    model = make(("cylindrical", (0, 0, 1)), elements=(joint_element("oil", "damper", dof=1, damping=1.0),))
    assert check(model).elements[0].where == "joint j0.slide"


@pytest.mark.parametrize("name", ["double_pendulum", "heavy_top"])
def test_an_ordinary_model_has_nothing_unusual(name):
    assert remarks(bc.load(name)) == []


UNUSUAL = {
    'body "b0" has no mass': lambda: make(SLIDE_X, HINGE_Y, mass=[0.0, 1.0], inertia=[np.zeros((3, 3)), np.eye(3)]),
    'body "b0" is a point: it has mass and no inertia': pendulum,
    'body "b0" has no inertia about the direction (0, 1, 0)': lambda: make(SLIDE_X, inertia=[np.diag([1.0, 0.0, 1.0])]),
    'the masses are very different: body "b1" has 1e+05 kg, "b0" 1 kg': lambda: make(SLIDE_X, HINGE_Y, mass=[1.0, 1e5]),
    'the centre of body "b1" is 1e+03 m from its joint "j1"; 1 m is usual here': lambda: make(
        HINGE_Y, HINGE_Y, HINGE_Y, center=[[1, 0, 0], [1000, 0, 0], [0, 0, 1]], position=[[0, 0, 0], [1, 0, 0], [1, 0, 0]]
    ),
    'joint_damper "oil" does nothing: its damping is zero': lambda: make(SLIDE_X, elements=(joint_element("oil", "damper", damping=0.0),)),
    'spring_damper "rope" does nothing: its stiffness, damping and preload are zero': lambda: make(
        SLIDE_X, elements=(spring("rope", 0.0, body_b=0, point_a=(0, 0, 1)),)
    ),
    'bushing "mount" does nothing: its kx, ky and 10 more values are zero': lambda: make(SLIDE_X, elements=(bushing("mount", (0, 0, 0), body_b=0),)),
    'spring_damper "rope" does nothing: both of its ends are on "b0"': lambda: make(
        SLIDE_X, elements=(spring("rope", 1.0, body_a=0, body_b=0, point_a=(0, 0, 1)),)
    ),
    'spring_damper "rope" does nothing: both of its ends are on "ground"': lambda: make(SLIDE_X, elements=(spring("rope", 1.0, point_a=(0, 0, 1)),)),
    'nothing uses the input "volts"': lambda: make(SLIDE_X, inputs=("volts",)),
    'joint "j0" starts at 2, beyond its stop "limits" (-1 to 1)': lambda: make(
        SLIDE_X, given_q=[2.0], elements=(joint_element("limits", "stop", lower=-1.0, upper=1.0, stiffness=10.0, damping=0.0),)
    ),
    'the table of "motor" goes from 0 to 1 s, the run from 0 to 2 s: it will stop there, unless outside = "clamp"': lambda: make(
        SLIDE_X, duration=2.0, elements=(Element("motor", "joint_effort", {"value": 0.0}, joint=0, table=Table((0, 1), (1, 1))),)
    ),
    'the table of the motion of "j0" goes from 0 to 1 s, the run from 0 to 2 s: it will stop there, unless outside = "clamp"': lambda: make(
        SLIDE_X, HINGE_Y, duration=2.0, motions=(PrescribedMotion((Law("table", table=Table((0, 1), (0, 1))),)), None)
    ),
    'the names "my_arm" and "MyArm" are easily confused': lambda: make(SLIDE_X, body_names=("my_arm",), joint_names=("MyArm",)),
    "nothing is free to move: every joint is fixed or driven": lambda: make("fixed"),
}  # fmt: skip


@pytest.mark.parametrize("remark", UNUSUAL)
def test_what_is_unusual_is_said_once(remark):
    assert remarks(UNUSUAL[remark]()) == [remark]


def test_a_run_that_cannot_start_is_said():
    """The two ends of the spring are at one place, so that its direction is undefined."""
    found = remarks(make(SLIDE_X, elements=(spring("rope", 1.0, body_b=0),)))
    assert len(found) == 1 and found[0].startswith("the run cannot start: ")


class TestFastest:
    """x'' = -(k/m) x has k/m as square of its frequency, x'' = -(c/m) x' the rate c/m."""

    def test_vibration_of_a_mass_on_a_spring_is_known(self):
        model = make(SLIDE_X, mass=[4.0], elements=(joint_element("coil", "spring", stiffness=100.0, rest=0.0, preload=0.0),))
        assert check(model).fastest_frequency == pytest.approx(5 / (2 * np.pi), rel=1e-12)
        assert check(model).fastest_decay is None

    def test_decay_of_a_mass_in_oil_is_known(self):
        model = make(SLIDE_X, mass=[4.0], elements=(joint_element("oil", "damper", damping=10.0),))
        assert check(model).fastest_decay == pytest.approx(2.5, rel=1e-12)

    def test_two_masses_on_three_springs_have_their_textbook_modes(self):
        """k/m = 1: frequencies 1 and sqrt(3) rad/s; the second slide is relative to the first."""
        values = {"length": 1.0}
        elements = (spring("left", 1.0, body_a=-1, body_b=0, point_a=(-1, 0, 0), **values), spring("middle", 1.0, body_a=0, body_b=1, **values), spring("right", 1.0, body_a=1, body_b=-1, point_b=(2, 0, 0), **values))  # fmt: skip
        model = make(SLIDE_X, SLIDE_X, position=[[0, 0, 0], [1, 0, 0]], elements=elements)
        assert check(model).fastest_frequency == pytest.approx(3**0.5 / (2 * np.pi), rel=1e-12)

    @pytest.mark.parametrize("kind", ["stop", "bushing", "table"])
    def test_every_elastic_element_counts(self, kind):
        element = {
            "stop": joint_element("it", "stop", lower=-1.0, upper=1.0, stiffness=25.0, damping=0.0),
            "bushing": bushing("it", (25.0, 0, 0), body_b=0),
            "table": replace(
                spring("it", 0.0, length=1.0, body_b=0, point_a=(-1, 0, 0)), table=Table((-2, 0, 2), (-20.0, 0, 50.0))
            ),
        }[kind]
        assert check(make(SLIDE_X, elements=(element,))).fastest_frequency == pytest.approx(5 / (2 * np.pi), rel=1e-12)

    def test_the_frequency_of_a_ball_on_a_spring_against_its_turn_is_known(self):
        model = make("spherical", elements=(Element("it", "turning_spring", {"stiffness": 25.0}, body_b=0),))
        assert check(model).fastest_frequency == pytest.approx(5 / (2 * np.pi), rel=1e-12)

    @pytest.mark.parametrize("kind", ["stop", "bushing", "friction", "line"])
    def test_everything_that_damps_counts(self, kind):
        element = {
            "stop": joint_element("it", "stop", lower=-1.0, upper=1.0, stiffness=0.0, damping=3.0),
            "bushing": bushing("it", (0, 0, 0), (3.0, 0, 0), body_b=0),
            "friction": joint_element("it", "friction", effort=0.3, velocity=0.1),
            "line": spring("it", 0.0, damping=3.0, length=1.0, body_b=0, point_a=(-1, 0, 0)),
        }[kind]
        assert check(make(SLIDE_X, elements=(element,))).fastest_decay == pytest.approx(3.0, rel=1e-12)

    def test_the_stiff_element_is_named_when_a_run_has_too_many_of_its_periods(self):
        coils = [
            joint_element(name, "spring", k, stiffness=s, rest=0.0, preload=0.0)
            for name, k, s in (("soft", 0, 1.0), ("hard", 1, 1e10))
        ]
        found = remarks(make(SLIDE_X, HINGE_Y, duration=10.0, elements=tuple(coils)))
        assert found == [
            '"hard" is very stiff for the mass that it moves: it vibrates at about 1.6e+04 Hz, 2e+05 times in the 10 s of a run'
        ]

    def test_the_strong_damper_is_named(self):
        found = remarks(make(SLIDE_X, duration=10.0, elements=(joint_element("oil", "damper", damping=1e6),)))
        assert found == [
            '"oil" damps very strongly for the mass that it moves: motions die out in about 1e-06 s, a run takes 10 s'
        ]

    def test_prescribed_speed_does_not_count_as_damping(self):
        """A fast turning base bends the motion of what it carries (Coriolis), and takes no energy."""
        motions = (PrescribedMotion((polynomial(0, 1000.0),)), None)
        oil = joint_element("oil", "damper", 1, damping=2.0)
        assert check(make(("revolute", (0, 0, 1)), SLIDE_X, motions=motions, elements=(oil,))).fastest_decay == pytest.approx(
            2.0
        )

    def test_is_left_out_where_nothing_moves_or_far_too_much_does(self, monkeypatch):
        coil = joint_element("coil", "spring", stiffness=1.0, rest=0.0, preload=0.0)
        monkeypatch.setattr("bellcrank.inspection.stiffness.MOST", 0)
        assert check(make(SLIDE_X, elements=(coil,))).fastest_frequency is None
        assert check(make("fixed")).fastest_frequency is None
