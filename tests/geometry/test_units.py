"""Numbers with units, and what is said of mistakes in units and constructions: one line, with its place and a remedy."""

from __future__ import annotations

import math
import pickle

import pytest

import bellcrank as bc
from bellcrank.model import Mechanism
from bellcrank.model.geometry.units import Quantity, UnitError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("120 mm", 0.12),
        ("0.5m", 0.5),
        ("-3 cm", -0.03),
        ("2 in", 0.0508),
        ("30 deg", math.pi / 6),
        ("30°", math.pi / 6),
        ("3000 rpm", 100 * math.pi),
        ("36 km/h", 10.0),
        ("2.5 N/mm", 2500.0),
        ("10 Nm/deg", 1800 / math.pi),
        ("5 kg m^2", 5.0),
        ("5e3 kg mm²", 5e-3),
        ("7.8 g/cm3", 7800.0),
        ("2 mm/rev", 1e-3 / math.pi),
        ("3 bar", 3e5),
        ("40 N s/m", 40.0),
    ],
)
def test_a_number_with_a_unit_is_in_si(text, value):
    made = Quantity(text)
    assert made == pytest.approx(value, rel=1e-14)
    assert made.text == text and pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize("text", ["3 mmm", "3 m/", "3 %", "m", "3", "1e999 m", "3 m" * 30])
def test_what_is_no_unit_is_an_error(text):
    with pytest.raises(UnitError):
        Quantity(text)


MODEL = """
format = 1
[points]
O = [0, 0, 0]
A = ["300 mm", 0, 0]
B = { from = { O = "400 mm", A = 0.5 }, side = "left" }
H = { from = { O = 1, A = 1, B = 1 }, side = "above" }
M = { from = "A", toward = "B", fraction = 0.5 }
R = { mirror = "B", normal = "y" }
P = { turn = "A", axis = "z", angle = "90 deg", about = "B" }
[bodies.a]
density = "7.8 g/cm3"
parts = [{ box = { center = "O", size = ["10 cm", 0.1, 0.1] } }, { cylinder = { from = "O", to = "B", radius = 0.02, mass = "200 g" } }]
holes = [{ cylinder = { from = [0, 0, -0.05], to = [0, 0, 0.05], radius = 0.01 } }]
[bodies.b]
mass = "2 kg"
center = "B"
inertia = ["1 kg m2", 1, 1]
[joints.h]
type = "revolute"
parent = "ground"
child = "a"
point = "H"
axis = { from = "O", to = "B" }
[joints.s]
type = "prismatic"
parent = "a"
child = "b"
point = "O"
axis = "x"
[springs.coil]
joint = "h"
stiffness = "10 N m/rad"
[springs.strut]
from = { body = "ground", point = [1, 1, 1] }
to = { body = "b", point = "B" }
stiffness = "2 N/mm"
[initial]
h = "30 deg"
s = { q = "10 mm", v = "1 m/s" }
[assemblies.extra.points]
q = [1, 0, 0]
"""

MISTAKES = [
    ('"300 mm"', '"300 mmm"', 5, '"mm" is one'),
    ('"300 mm"', '"300 kg"', 5, "'300 kg' is a mass. Give it in m"),
    ('"300 mm"', '"300 mm/"', 5, "is not a unit"),
    ('O = "400 mm"', 'O = "50 mm"', 6, "do not meet: they are 0.3 m apart, less than the difference"),
    ("A = 0.5 }", "A = 9 }", 6, "do not meet"),
    ("A = 0.5 }", "A = -0.5 }", 6, "Give more than zero"),
    ("A = 0.5 }", "Z = 0.5 }", 6, 'names the point "Z", which is not in [points]'),
    ("A = 0.5 }", 'A = "5 N" }', 6, "is a force"),
    ("A = 0.5 }", 'A = "=lost" }', 6, '"lost" is not known'),
    ('side = "left"', 'side = "above"', 6, 'Give "left" or "right"'),
    (', side = "left"', "", 6, "has no side"),
    ('side = "left"', 'side = "left", normal = "x"', 6, "Give another normal"),
    ('side = "left"', 'sade = "left", side = "left"', 6, 'unknown key "sade"'),
    ("A = 1, B = 1 }", "A = 1, B = 1, M = 2 }", 7, "4 distances. Give distances from two or three points"),
    ("A = 1, B = 1 }", "A = 1, B = 10 }", 7, "do not meet in one point"),
    ("A = 1, B = 1 }", "A = 1, E = 1 }", None, 'names the point "E"'),
    ("[bodies.a]", 'E = [3, 0, 0]\nF = { from = { O = 1, A = 1, E = 1 }, side = "above" }\n[bodies.a]', 12, "on one line"),
    ('side = "above"', 'side = "above", normal = "x"', 7, "above and below are undefined"),
    ('toward = "B"', 'toward = "Q"', 8, 'names the point "Q"'),
    ("fraction = 0.5", "fraction = 0.5, distance = 1", 8, "both distance and fraction"),
    ("fraction = 0.5", 'fraction = 0.5, along = "x"', 8, "both toward and along"),
    (", fraction = 0.5", "", 8, "neither distance nor fraction"),
    ('{ from = "A", toward', '{ fro = "A", toward', 8, "does not say where it is"),
    ('normal = "y"', "normal = [0, 0, 0]", 9, "its normal is zero"),
    (', normal = "y"', "", 9, "has no normal"),
    ('"90 deg"', '"90 mm"', 10, "is a length. Give it in rad"),
    ('axis = "z", angle', "axis = [0, 0, 0], angle", 10, "its axis is zero"),
    ('about = "B"', 'about = { body = "x", at = [0, 0, 0] }', 10, 'the frame of "x", which is not a body'),
    ('"7.8 g/cm3"', '"7.8 kg"', 12, "is a mass. Give it in kg/m3"),
    ('size = ["10 cm", 0.1, 0.1]', 'size = ["10 cm", 0.1]', 13, "three finite numbers"),
    ('mass = "200 g"', 'mass = "200 g", density = 2', 11, "both mass and density"),
    ('mass = "200 g"', 'mass = "200 N"', 13, "is a force"),
    ("parts = [", "parts = [3, ", 13, "Give shapes"),
    ("{ box = {", "{ box = 3 }, { box = {", 13, "Give a table"),
    ("radius = 0.01 }", "radius = 3 }", 11, "its holes leave"),
    ('"2 kg"', '"2 m"', 16, "is a length. Give it in kg"),
    ('"1 kg m2"', '"1 kg m"', 18, "does not fit"),
    ('to = "B" }\n[joints.s', 'to = "O" }\n[joints.s', 24, "Give two different points"),
    ('to = "B" }\n[joints.s', 'too = "B" }\n[joints.s', 24, "unknown key"),
    ('"10 N m/rad"', '"10 N/m"', 33, 'joint "h" is revolute'),
    ('"10 N m/rad"', '"10 s"', 33, "is a time"),
    ('"2 N/mm"', '"2 N m"', 37, "Give it in N/m"),
    ('"30 deg"', '"30 mm"', 39, "is a length. Give it in rad"),
    ('"10 mm"', '"10 deg"', 40, "is an angle. Give it in m"),
    ('"1 m/s"', '"1 rad/s"', 40, "is an angular velocity"),
    (
        'axis = "x"\n[springs',
        'axis = "x"\nmotion = { rate = "3 rpm" }\n[springs',
        None,
        "is an angular velocity. Give it in m/s",
    ),
    ('axis = "x"\n[springs', 'axis = "x"\nmotion = { amplitude = 1, frequency = "60 rpm" }\n[springs', 31, "Give it in Hz"),
    ("[assemblies", '[copies.c]\nof = "extra"\nturn = { axis = "z", angle = "1 m" }\n[assemblies', 43, "is a length"),
    ("[assemblies", '[copies.c]\nof = "extra"\nturn = { axis = "w", angle = 1 }\n[assemblies', 43, 'Give "x" or "y" or "z"'),
    ("O = [0, 0, 0]", 'O = { from = "B", toward = "A", distance = 1 }', 4, "it depends on itself"),
]


@pytest.mark.parametrize(("old", "new", "line", "said"), MISTAKES, ids=[f"{k}" for k in range(len(MISTAKES))])
def test_a_mistake_is_told_in_one_line_with_its_place_and_a_remedy(old, new, line, said):
    assert old in MODEL
    with pytest.raises(bc.ModelError) as caught:
        bc.load(MODEL.replace(old, new, 1))
    message = str(caught.value)
    assert said in message, message
    assert line is None or f"line {line}:" in message, message
    told = message.split("\n  ")
    assert all(", line " in each and "\n" not in each for each in (told[1:] if "problems in this model" in told[0] else told))


def test_the_model_without_mistakes_is_good_and_python_says_the_same_of_some():
    model = bc.load(MODEL)
    assert model.parameters["coil.stiffness"] == 10.0
    m = Mechanism("model")
    for wrong in ("3 kg", "3 mmm", "three"):
        with pytest.raises(bc.ModelError):
            m.point("A", (wrong, 0, 0))
    with pytest.raises(bc.ModelError, match=r"mass: '3 m' is a length\. Give it in kg"):
        m.sphere("ball", (0, 0, 0), "20 mm", mass="3 m")
