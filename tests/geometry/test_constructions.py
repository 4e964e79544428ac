"""Points by construction: they have the properties that they were made by, follow parameters, and are written back."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.io import dumps
from bellcrank.model import Mechanism, between, by_distances, mirrored, on_line, turned
from bellcrank.model.building.resolve import without_formulas
from bellcrank.model.geometry import construct
from bellcrank.numbers import Dual
from bellcrank.spatial import Vector

TEXT = """
format = 1
[parameters]
long = 0.5
[points]
O = [0, 0, 0]
A = ["300 mm", 0.1, 0.05]
B = { from = { O = 0.4, A = "=long" }, side = "left" }
C = { from = { O = 0.4, A = "=long" }, side = "right" }
H = { from = { O = 0.9, A = 1.0, B = 1.1 }, side = "above" }
L = { from = { O = 0.9, A = 1.0, B = 1.1 }, side = "below" }
M = { from = "A", toward = "B", fraction = 0.5 }
N = { from = "A", along = { from = "A", to = "B" }, distance = "-10 cm" }
R = { mirror = "H", normal = [1, 1, 0], through = "A" }
T = { turn = "A", axis = { from = "O", to = "H" }, angle = "40 deg", about = "B" }
[bodies.body]
rod = { from = "O", to = { from = "O", toward = "T", distance = 2 }, mass = 1, radius = 0.01 }
[joints.hinge]
type = "revolute"
parent = "ground"
child = "body"
point = "O"
axis = { from = "B", to = "H" }
"""


def places(model):
    return {point.name: np.array(point.position, dtype=float) for point in without_formulas(model.spec).points}


def check(at, long):
    """Every point by what defines it, not by how it was found; to rounding of numbers about 1."""

    def apart(a, b):
        return np.linalg.norm(at[a] - at[b])

    np.testing.assert_allclose(
        [apart("B", "O"), apart("B", "A"), apart("C", "O"), apart("C", "A")], [0.4, long] * 2, atol=1e-14
    )
    np.testing.assert_allclose([apart(p, q) for p in "HL" for q in "OAB"], [0.9, 1.0, 1.1] * 2, atol=1e-14)
    assert at["H"][2] > at["L"][2]
    assert np.cross(at["A"], at["B"])[2] > 0 > np.cross(at["A"], at["C"])[2]
    np.testing.assert_allclose(at["M"], (at["A"] + at["B"]) / 2, atol=1e-15)
    np.testing.assert_allclose(at["N"] - at["A"], -0.1 * (at["B"] - at["A"]) / long, atol=1e-15)
    way = at["R"] - at["H"]
    np.testing.assert_allclose(np.cross(way, [1, 1, 0]), 0, atol=1e-15)
    assert ((at["R"] + at["H"]) / 2 - at["A"]) @ [1, 1, 0] == pytest.approx(0, abs=1e-15)
    axis = at["H"] / np.linalg.norm(at["H"])
    before, after = at["A"] - at["B"], at["T"] - at["B"]
    assert before @ axis == pytest.approx(after @ axis, abs=1e-15)
    flat = [x - axis * (x @ axis) for x in (before, after)]
    turn = math.atan2(np.cross(*flat) @ axis, flat[0] @ flat[1])
    assert turn == pytest.approx(math.radians(40), abs=1e-14)


def test_constructed_points_have_what_they_were_made_by_also_after_a_parameter_changed():
    model = bc.load(TEXT)
    check(places(model), 0.5)
    check(places(model.with_parameters({"parameters.long": 0.55})), 0.55)
    at = places(model)
    axis = (at["H"] - at["B"]) / np.linalg.norm(at["H"] - at["B"])
    np.testing.assert_allclose(model.joints[0].axis, axis, atol=1e-15)
    np.testing.assert_allclose(model.center[0], at["T"] / np.linalg.norm(at["T"]), atol=1e-15)


def test_constructions_are_saved_as_they_were_written():
    model = bc.load(TEXT)
    text = dumps(model)
    assert bc.load(text).spec == model.spec
    assert 'B = { from = { O = 0.4, A = "=long" }, side = "left" }' in text
    assert 'A = ["300 mm", 0.1, 0.05]' in text


def test_python_says_the_same_as_a_file():
    m = Mechanism("model")
    m.parameter("long", 0.5)
    m.point("O", (0, 0, 0))
    m.point("A", ("300 mm", 0.1, 0.05))
    m.point("B", by_distances({"O": 0.4, "A": "=long"}, side="left"))
    m.point("C", by_distances({"O": 0.4, "A": "=long"}, side="right"))
    m.point("H", by_distances({"O": 0.9, "A": 1.0, "B": 1.1}, side="above"))
    m.point("L", by_distances({"O": 0.9, "A": 1.0, "B": 1.1}, side="below"))
    m.point("M", on_line("A", "B", fraction=0.5))
    m.point("N", on_line("A", along=between("A", "B"), distance="-10 cm"))
    m.point("R", mirrored("H", (1, 1, 0), through="A"))
    m.point("T", turned("A", between("O", "H"), "40 deg", about="B"))
    m.rod("body", "O", on_line("O", "T", distance=2), mass=1, radius=0.01)
    m.joint("hinge", "revolute", "ground", "body", "O", axis=between("B", "H"))
    assert m.build().spec == bc.load(TEXT).spec


def test_constructions_are_differentiable():
    """Dual numbers against a complex step: both exact."""

    def of(long, angle):
        a, b, up = Vector(0.3, 0.1, 0.05), Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0)
        p = construct.by_two_distances(b, 0.4, a, long, up, 1.0)
        h = construct.by_three_distances((b, a, p), (0.9, 1.0, 1.1), up, 1.0)
        return construct.turned(construct.mirrored(h, a, p), a, h, angle)

    dual = of(*Dual.seeds([0.5, 0.7]))
    for k, step in enumerate(((1e-30j, 0), (0, 1e-30j))):
        plain = of(0.5 + step[0], 0.7 + step[1])
        np.testing.assert_allclose([x.tangents[k] for x in dual], [np.imag(x) / 1e-30 for x in plain], rtol=1e-12, atol=1e-13)


LEGS = """
format = 1
[parameters]
tilt = 0.7
[assemblies.leg.points]
hip = [0.4, 0.1, 0.9]
foot = ["=hip.x + 0.5", "=2*hip.y - 0.1", "=hip.z - 0.5"]
knee = { from = { hip = 0.5, foot = 0.6 }, side = "left", normal = "y" }
[assemblies.leg.bodies.thigh]
density = 900
parts = [{ box = { center = "knee", size = [0.1, 0.2, 0.3] } }]
holes = [{ sphere = { center = "knee", radius = 0.04 } }]
[assemblies.leg.bodies.shin]
mass = 1
center = "foot"
inertia = { xx = 0.1, yy = 0.2, zz = "=0.2*hip.x + 0.15", xy = 0.01, xz = 0.02, yz = 0.03 }
[assemblies.leg.joints.hip_joint]
type = "revolute"
parent = "ground"
child = "thigh"
point = "hip"
axis = ["=hip.y", 1, 0.3]
[assemblies.leg.joints.knee_joint]
type = "universal"
parent = "thigh"
child = "shin"
point = "knee"
axis = { from = "hip", to = "knee" }
axis2 = "y"
[assemblies.leg.forces.push]
body = "shin"
point = "foot"
force = [1, 2, 3]
moment = [0.1, 0.2, 0.3]
[assemblies.leg.initial]
hip_joint = { q = 0.2, v = 1.0 }
knee_joint = { q = [0.1, 0.3], v = [0.2, -0.5] }
[copies.a]
of = "leg"
[copies.b]
of = "leg"
turn = { axis = "z", angle = "=tilt", about = [0.1, 0.2, 0] }
offset = [0.5, 0, 0]
[copies.c]
of = "leg"
mirror = "y"
turn = { axis = "z", angle = "90 deg" }
"""


def test_turned_and_mirrored_copies_move_as_one_where_gravity_is_along_the_axis_of_the_turn():
    model = bc.load(LEGS)
    assert bc.load(dumps(model)).spec == model.spec
    dyn = bc.compile(model, optimisation=0)
    a = dyn.acceleration(model.initial_q, model.initial_v).reshape(3, 3)
    np.testing.assert_allclose(a, a[[0, 0, 0]], rtol=1e-12)
    positions, rotations = dyn.poses(model.initial_q)
    c, s, about = math.cos(0.7), math.sin(0.7), np.array([0.1, 0.2, 0.0])
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    Q = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1.0]])  # y reversed, then a quarter turn
    np.testing.assert_allclose((positions[:2] - about) @ R.T + about + [0.5, 0, 0], positions[2:4], atol=1e-15)
    np.testing.assert_allclose(positions[:2] @ Q.T, positions[4:], atol=1e-15)
    for turn, copy in ((R, slice(2, 4)), (Q, slice(4, 6))):
        np.testing.assert_allclose(turn @ rotations[:2] @ turn.T, rotations[copy], atol=1e-15)
        np.testing.assert_allclose(turn @ model.inertia[:2] @ turn.T, model.inertia[copy], atol=1e-15)


def test_the_four_bar_of_the_gallery_follows_the_lengths_of_its_bars():
    longer = bc.load("four_bar").with_parameters({"parameters.coupler_length": 1.9})
    A, B = (longer.position[:k].sum(axis=0) for k in (2, 3))
    assert np.linalg.norm(B - A) == pytest.approx(1.9, abs=1e-14)
    assert np.linalg.norm(B - [2, 0, 0]) == pytest.approx(1.2, abs=1e-14)
