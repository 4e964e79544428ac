"""Laws of prescribed motion can be added: in a file, in Python, in machine code."""

import json

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.io.native.reader import read_spec
from bellcrank.io.native.writer import dumps
from bellcrank.model import Law, Mechanism, Problems
from bellcrank.model.builder import polynomial, rate, sine, table
from bellcrank.model.spec.laws import SumLaw
from bellcrank.results.driven import law_values

FLYWHEEL = """
format = 1
name = "a flywheel that turns unevenly"

[parameters]
w = 2.0

[bodies.disc]
mass = 2.0
center = [0, 0, 0]
inertia = [0.2, 0.2, 0.4]

[joints.shaft]
type = "revolute"
parent = "ground"
child = "disc"
point = [0, 0, 0]
axis = "z"
motion = MOTION
"""
SUM = '{ sum = [{ rate = 3.0 }, { amplitude = 0.3, frequency = "=w/(2*pi)" }] }'


def flywheel(motion):
    return bc.load(FLYWHEEL.replace("MOTION", motion))


def test_a_flywheel_at_3_t_plus_03_sin_2_t_takes_its_inertia_times_the_second_derivative():
    """0.4 kg m2 times -1.2 sin 2 t, by hand."""
    run = bc.simulate(flywheel(SUM), duration=2.0, step=0.25)
    t = run.time.values
    assert np.abs(run.drives.values[:, 0] + 0.4 * 1.2 * np.sin(2 * t)).max() < 1e-14
    energy = 0.2 * (3 + 0.6 * np.cos(2 * t)) ** 2
    assert np.abs(run.energy.kinetic.values - energy).max() < 1e-13


def test_a_sum_of_polynomials_is_the_polynomial_of_sums_also_in_a_table_and_along_other_coordinates():
    """A spline through three points in line is a line, so that all of it is one polynomial; the slide has its own law."""
    parts = "{ polynomial = [0.1, 0.2, 0.3] }, { polynomial = [0.4] }, { table = [[0, 0], [1, 2], [2, 4]] }"
    kinds = [f"{{ angle = {{ sum = [{parts}] }}, slide = {{ rate = 0.5 }} }}"]
    kinds += ["{ angle = { polynomial = [0.5, 2.2, 0.3] }, slide = { sum = [{ rate = 0.25 }, { rate = 0.25 }] } }"]
    text = FLYWHEEL.replace("revolute", "cylindrical")
    one, other = (bc.compile(bc.load(text.replace("MOTION", kind))) for kind in kinds)
    for t in (0.0, 0.7, 1.9):
        efforts = [np.asarray(dyn.drive_efforts([], [], [], t=t)) for dyn in (one, other)]
        assert np.abs(efforts[0] - efforts[1]).max() < 1e-13
        assert abs(efforts[0][0] - 0.4 * 0.6) < 1e-13


def test_the_length_of_a_rod_may_be_a_sum_of_laws():
    m = Mechanism("lift")
    m.body("cage", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("guide", "prismatic", "ground", "cage", (0, 0, 0), axis="z")
    m.distance("cylinder", ("ground", (0, 0, -2)), ("cage", (0, 0, 0)), motion=polynomial(2.0) + rate(0.5) + sine(0.1, 1.0))
    run = bc.simulate(m.build(), duration=1.0, step=0.1)
    t = run.time.values
    assert np.abs(run.q.values[:, 0] - 0.5 * t - 0.1 * np.sin(2 * np.pi * t)).max() < 1e-9


def test_laws_add_up_in_python_as_their_values_do():
    t = np.linspace(0, 2, 9)
    law = Law("sum", parts=(Law("polynomial", (1.0, 3.0)), Law("sine", (0.0, 0.3, 2.0, 0.1))))
    assert np.allclose(law_values(law, t), 1 + 3 * t + 0.3 * np.sin(4 * np.pi * t + 0.1), rtol=1e-15, atol=1e-15)
    assert (rate(1) + sine(1, 2)) + (rate(3) + table([(0, 0), (1, 1)])) == SumLaw(
        (rate(1), sine(1, 2), rate(3), table([(0, 0), (1, 1)]))
    )
    with pytest.raises(TypeError):
        rate(1) + 3.0


def test_a_sum_is_written_as_it_was_read_and_its_numbers_are_parameters():
    model = flywheel(SUM)
    text = dumps(model)
    assert read_spec(text, "again.toml", Problems()).joints == model.spec.joints
    assert model.parameters["shaft.motion.sum.0.rate"] == 3.0
    faster = model.with_parameters({"shaft.motion.sum.0.rate": 4.0, "parameters.w": 1.0})
    assert faster.motions[0].laws[0].parts == (Law("polynomial", (0.0, 4.0)), Law("sine", (0.0, 0.3, 1 / (2 * np.pi), 0.0)))


def test_arrays_of_tables_are_a_sum_too():
    text = FLYWHEEL.replace("motion = MOTION\n", "")
    text += "[[joints.shaft.motion.sum]]\nrate = 3.0\n[[joints.shaft.motion.sum]]\namplitude = 0.3\nfrequency = 1.0\n"
    assert [part.kind for part in bc.load(text).motions[0].laws[0].parts] == ["polynomial", "sine"]


def test_the_schema_knows_sums():
    assert '"sum"' in json.dumps(bc.schema())


WRONG = [
    ("{ sum = [] }", "line 19: joints.shaft.motion.sum is []. Give laws, [{ rate"),
    ("{ sum = 3 }", "joints.shaft.motion.sum is 3. Give laws"),
    ("{ sum = [{ start = 1.0 }] }", "[joints.shaft.motion.sum.0] says nothing of its motion. Give one of rate, polynomial"),
    ("{ sum = [{ rate = 1.0 }, { sum = [{ rate = 1.0 }] }] }", "[joints.shaft.motion.sum.1] says nothing of its motion"),
    ("{ sum = [{ rate = 1.0, speed = 2.0 }] }", '[joints.shaft.motion.sum.0] has an unknown key "speed"'),
    ("{ rate = 1.0, polynomial = [1.0] }", "To add laws up, list them: sum = [{ ... }, { ... }]"),
    ('{ sum = [{ rate = "=q" }] }', 'joints.shaft.motion.sum.0.rate is "=q": "q" is not known'),
]


@pytest.mark.parametrize(("motion", "text"), WRONG)
def test_what_is_wrong_with_a_sum_is_said_in_its_place(motion, text):
    with pytest.raises(bc.ModelError) as error:
        flywheel(motion)
    assert text in str(error.value)


PARTS = [
    (Law("sum"), "its sum has no laws"),
    (Law("sum", parts=(Law("sum", parts=(Law("polynomial", (1.0,)),)),)), "a sum in it"),
    (Law("sum", parts=(Law("sine", (1.0,)),)), "its sine has 1 value"),
    (Law("sine", (0.0, 1.0, 1.0, 0.0), parts=(Law("polynomial", (1.0,)),)), 'Give parts to a "sum" only'),
]


@pytest.mark.parametrize(("law", "text"), PARTS)
def test_sums_that_cannot_be(law, text):
    assert text in " ".join(law.problems())


def test_a_table_in_a_sum_that_ends_is_named():
    model = flywheel("{ sum = [{ rate = 1.0 }, { table = [[0, 0], [1, 0.5]] }] }")
    with pytest.raises(bc.SimulationError, match="of the motion of joint 'shaft' goes from 0 to 1 s only"):
        bc.simulate(model, duration=2.0)
