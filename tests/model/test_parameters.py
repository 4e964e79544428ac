"""Design parameters by path: all formulas follow, and what is no parameter says what to change instead."""

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.model import Mechanism
from bellcrank.model.building.resolve import sources


def crank(**changes):
    m = Mechanism("crank", gravity=(0, -9.81, 0))
    m.parameter("L", changes.get("L", 2.0))
    m.parameter("half", "=L/2")
    m.parameter("right", "=deg(90)")
    m.point("pivot", (0, 0, 0))
    m.point("tip", ("=L", changes.get("y", 0.0), 0))
    m.rod("arm", "pivot", "tip", mass="=3*half", radius=changes.get("radius", 0.1))
    m.sphere("ball", "tip", 0.1, mass=1.0)
    m.joint("hinge", "revolute", "ground", "arm", "pivot", axis="z")
    m.joint("weld", "fixed", "arm", "ball", "tip")
    m.spring("coil", "hinge", changes.get("stiffness", 10.0), rest="=right")
    part = m.assembly("part")
    part.parameter("m", changes.get("m", 1.0))
    part.sphere("weight", (0, 1, 0), 0.1, mass="=m")
    part.joint("slide", "prismatic", "ball", "weight", (0, 1, 0), axis="y")
    m.copy("one", "part")
    m.copy("two", "part", parameters={"m": 5.0})
    return m.build()


def test_a_model_with_other_numbers_is_the_one_written_with_them():
    changes = {"parameters.L": 3.0, "tip.y": 0.5, "arm.radius": 0.2, "coil.stiffness": 7.0, "part.parameters.m": 4.0}
    found = crank().with_parameters(changes)
    wanted = crank(L=3.0, y=0.5, radius=0.2, stiffness=7.0, m=4.0)
    assert found.spec == wanted.spec and found.elements == wanted.elements
    for field in ("position", "mass", "center", "inertia"):
        np.testing.assert_array_equal(getattr(found, field), getattr(wanted, field))


def test_parameters_are_the_numbers_that_were_written():
    found = crank().parameters
    assert found["parameters.L"] == 2.0 and found["tip.y"] == 0.0 and found["coil.stiffness"] == 10.0
    assert found["parameters.right"] == np.pi / 2 and found["two.parameters.m"] == 5.0 and found["gravity.y"] == -9.81
    assert not {"parameters.half", "tip.x", "arm.mass", "coil.rest", "arm.length"} & set(found)
    with pytest.raises(TypeError):
        found["tip.y"] = 1.0


def test_every_parameter_can_be_set_to_what_it_is():
    model = crank()
    again = model.with_parameters(model.parameters)
    np.testing.assert_array_equal(again.inertia, model.inertia)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("L", 'Did you mean "parameters.L"'),
        ("coil.stifness", 'Did you mean "coil.stiffness"'),
        ("arm.mass", 'is given by the formula "=3\\*half"\\. Change "parameters.L" instead'),
        ("coil.rest", 'Change "parameters.right" instead'),
        ("arm.length", 'follows from other numbers\\. Change .*"parameters.L"'),
        ("one.weight.mass", '"one.weight.mass" is a copy\\. Change "part.weight.mass"|formula'),
        ("", "is not a number"),
    ],
)
def test_what_is_no_parameter_says_what_to_change_instead(path, message):
    with pytest.raises(ModelError, match=message):
        crank().with_parameters({path: 1.0})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "3", None, True])
def test_a_parameter_is_a_finite_number(value):
    with pytest.raises(ModelError, match="Give a finite number"):
        crank().with_parameters({"tip.y": value})


def test_numbers_that_make_no_model_are_refused():
    with pytest.raises(ModelError, match='body "arm".*radius of its rod is -1'):
        crank().with_parameters({"arm.radius": -1.0})


def test_every_formula_knows_what_it_depends_on():
    from bellcrank.model.spec.assemblies import expand
    from bellcrank.model.spec.problems import Problems

    found = dict(sources(expand(crank().spec, Problems())))
    assert found["arm.mass"] == {"parameters.L"} and found["two.weight.mass"] == {"parameters.two.m"}
    assert found["coil.rest"] == {"parameters.right"}
