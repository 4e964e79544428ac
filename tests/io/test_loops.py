"""Loops in model files: constraints, couplers, cut joints; mistakes carry their line."""

import dataclasses
import math

import pytest

from bellcrank.errors import ModelError
from bellcrank.io import dumps, load
from bellcrank.model import Measure

TEXT = """format = 1
[parameters]
L = 2.0
[points]
far = ["=L", 0, 0]
[bodies.left]
box = { center = [0, 0, 0], size = [0.1, 0.1, 0.1], mass = 1 }
[bodies.right]
box = { center = "far", size = [0.1, 0.1, 0.1], mass = 1 }
[joints.a]
type = "revolute"
parent = "ground"
child = "left"
point = [0, 0, 0]
axis = "y"
[joints.b]
type = "cylindrical"
parent = "ground"
child = "right"
point = "far"
axis = "y"
[joints.close]
type = "spherical"
parent = "left"
child = "right"
point = [1, 0, 0]
cut = true
[constraints.rod]
type = "distance"
from = { body = "left", at = [0, 0, 1] }
to = { body = "right", at = [0, 0, 1] }
[constraints.slot]
type = "point_on_line"
from = { body = "left", point = "far" }
to = { body = "right", point = "far" }
axis = "x"
[constraints.floor]
type = "point_on_plane"
from = { body = "ground", point = [0, 0, 0] }
to = { body = "left", point = "far" }
axis = [0, 1, 1]
motion = { rate = 0.5 }
[constraints.square]
type = "perpendicular"
from = { body = "left", point = "far" }
to = { body = "right", point = "far" }
axis = "z"
axis2 = "x"
[constraints.pin]
type = "coincident"
from = { body = "left", point = "far" }
to = { body = "right", point = "far" }
[couplers.gear]
joints = ["a", "b.angle"]
ratio = "=L/4"
[couplers.rack]
joints = ["a", "b.slide"]
factors = [0.1, -1]
offset = 0.25
"""


def test_a_file_says_what_closes_its_loops():
    model = load(TEXT)
    assert [(c.name, c.kind, c.rows) for c in model.closures] == [
        ("close", "joint", 3),
        ("rod", "distance", 1),
        ("slot", "point_on_line", 2),
        ("floor", "point_on_plane", 1),
        ("square", "perpendicular", 1),
        ("pin", "joint", 3),
        ("gear", "coupler", 1),
        ("rack", "coupler", 1),
    ]
    assert model.closures[1].value == 2.0 and model.closures[3].axis == pytest.approx((0, math.sqrt(0.5), math.sqrt(0.5)))
    assert model.closures[6].terms == ((0, 0, 1.0), (1, 0, -0.5)) and model.closures[7].value == 0.25
    assert load(dumps(model)).spec == model.spec


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("cut = true", 'cut = "yes"', 27, "joints.close.cut is 'yes'. Give true or false"),
        ("cut = true", "cut = 1", 27, "Give true or false"),
        ("cut = true", "cut = false\nmotion = { angle = { rate = 1 }, axis = [0, 0, 0] }", 28, "axis of its motion is .* not zero"),
        ('type = "distance"\n', "", 28, r"\[constraints.rod\] has no type. Give one of distance, point_on_line, point_on_plane"),
        ('"distance"', '"distanc"', 29, 'no constraint of type "distanc". Did you mean "distance"'),
        ('axis = "x"', "", 32, r"\[constraints.slot\] has no axis. Give it: axis = \"x\""),
        ('axis = "x"', 'axis = "x"\noffset = 1', 37, 'unknown key "offset"'),
        ('axis = "x"', "axis = [0, 0, 0]", 36, "its axis is .* not zero"),
        ("rate = 0.5", "rat = 0.5", 42, "says nothing of its motion"),
        ("rate = 0.5", "polynomial = []", 42, "polynomial has 0 coefficients"),
        ('joints = ["a", "b.angle"]', 'joints = "a"', 54, r'joints is \'a\'. Give names, \["motor", "wheel"\]'),
        ('joints = ["a", "b.angle"]', "", 53, r'has no joints. Name them: joints = \["motor", "wheel"\]'),
        ('joints = ["a", "b.angle"]', 'joints = ["a", "b"]', 54, 'names "b". Write "b.angle" or "b.slide"'),
        ('ratio = "=L/4"', "ratio = 0", 55, "factor zero"),
        ("factors = [0.1, -1]", "factors = [0.1]", 58, "1 factor for 2 joints"),
        ("offset = 0.25", "offset = 0.25\nmotion = { rate = 1 }", 60, "offset and motion. Keep one"),
        ("offset = 0.25", "offset = 0.25\n[initial]\nclose = [1, 0, 0, 0]", 61, 'gives "close", which closes a loop with "a", "b"'),
    ],
)  # fmt: skip
def test_a_mistake_in_a_loop_is_named_with_its_line(old, new, line, message):
    assert TEXT.count(old) == 1
    with pytest.raises(ModelError, match=f"(?s)line {line}: .*{message}"):
        load(TEXT.replace(old, new))


def test_a_name_belongs_to_one_thing_only():
    with pytest.raises(ModelError, match='the coupler "rod" has the same name as a constraint'):
        load(TEXT.replace("[couplers.gear]", "[couplers.rod]"))


def test_a_model_with_loops_made_from_arrays_has_no_text():
    with pytest.raises(ModelError, match="made from arrays, with forces, motions or loops"):
        dumps(dataclasses.replace(load(TEXT), name="other"))


def test_a_measure_of_a_closure_that_is_no_joint_is_refused():
    with pytest.raises(ModelError, match='measure "m": its closure is 1, which is not a joint'):
        dataclasses.replace(load(TEXT), measures=(Measure("m", "coordinate", closure=1),))
