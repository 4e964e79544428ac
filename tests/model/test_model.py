"""A Model is read-only and possible; whatever is impossible is listed at once."""

import dataclasses

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.joints import make_joint
from bellcrank.model import Element, Law, Measure, Model, PrescribedMotion, Table, outward_order
from bellcrank.model.generators import random_tree


def parts(**changes):
    """A free body with a ball joint on it, the child listed first."""
    given = {
        "name": "pair",
        "joint_names": ["neck", "base"],
        "body_names": ["head", "trunk"],
        "parents": [1, -1],
        "joints": [make_joint("spherical"), make_joint("free")],
        "position": [[0, 0, 1], [0, 0, 0]],
        "mass": [1, 2],
        "center": np.zeros((2, 3)),
        "inertia": [np.eye(3), 2 * np.eye(3)],
        "armature": np.zeros(9),
        "gravity": [0, 0, -9.81],
        "given_q": [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0],
        "given_v": np.zeros(9),
    }
    return given | changes


def test_indices_and_names_follow_the_joints():
    model = Model(**parts())
    assert (model.n, model.nq, model.nv) == (2, 11, 9)
    assert model.q_index.tolist() == [0, 4] and model.v_index.tolist() == [0, 3]
    assert model.q_names[:5] == ("neck.w", "neck.x", "neck.y", "neck.z", "base.x")
    assert model.v_names[2:4] == ("neck.wz", "base.vx")
    assert model.neutral_q.tolist() == [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    assert repr(model) == 'Model("pair": 2 bodies, nq = 11, nv = 9)'


def test_a_joint_of_one_coordinate_gives_it_its_name():
    assert random_tree(3, 0, ["revolute"]).q_names == ("joint1", "joint2", "joint3")


def test_arrays_are_copies_and_read_only():
    mass = np.array([1.0, 2.0])
    model = Model(**parts(mass=mass))
    mass[0] = 7
    assert model.mass[0] == 1
    names = ["position", "mass", "center", "inertia", "armature", "gravity", "given_q", "given_v"]
    for array in (*(getattr(model, name) for name in names), model.q_index, model.v_index, model.neutral_q):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.name = "other"


def test_inertia_is_stored_exactly_symmetric():
    inertia = np.array([np.eye(3), np.eye(3)])
    inertia[0, 0, 1] = 1e-9
    model = Model(**parts(inertia=inertia))
    np.testing.assert_array_equal(model.inertia, model.inertia.transpose(0, 2, 1))


NAN = float("nan")
STILL = Law("polynomial", (0.0,))
SPIN = PrescribedMotion((Law("polynomial", (0.0, 1.0)),))
SHORT = {"given_q": [0, 0, 0, 0, 1, 0, 0], "given_v": np.zeros(6), "armature": np.zeros(6)}


def push(name="e", kind="spring_damper", values=None, **changes):
    values = values or {"stiffness": 1.0, "damping": 0.0, "length": 1.0, "preload": 0.0}
    return Element(name, kind, values, **({"body_b": 1} | changes))


IMPOSSIBLE = {
    "no joints": ({"joints": [], "joint_names": [], "body_names": [], "parents": []}, "the model has no joint"),
    "a name short": ({"joint_names": ["neck"]}, "joint_names has 1 entries for 2 joints"),
    "a body short": ({"body_names": ["head"]}, "body_names has 1 entries for 2 joints"),
    "a parent short": ({"parents": [-1]}, "parents has 1 entries for 2 joints"),
    "a dot": ({"joint_names": ["neck.", "base"]}, "has a dot"),
    "a name twice": ({"joint_names": ["head", "base"]}, 'the name "head" is used twice'),
    "a parent nowhere": ({"parents": [2, -1]}, r"parents\[0\] is 2\. Give -1 for ground, or a row from 0 to 1"),
    "a parent below ground": ({"parents": [1, -2]}, r"parents\[1\] is -2"),
    "parents in a ring": ({"parents": [1, 0]}, r"rows \[0, 1\] never reach ground"),
    "its own parent": ({"parents": [0, -1]}, r"rows \[0\] never reach ground"),
    "a shape": ({"center": np.zeros((3, 2))}, r"center has shape \(3, 2\), but this model needs \(2, 3\)"),
    "a start too short": ({"given_q": [1, 0, 0]}, r"given_q has shape \(3,\), but this model needs \(11,\)"),
    "words": ({"gravity": "down"}, "gravity is 'down': not an array of numbers"),
    "ragged": ({"position": [[1, 2, 3], [1]]}, "position is .*: not an array of numbers"),
    "nan": ({"inertia": [np.eye(3), NAN * np.eye(3)]}, r"inertia\[1, 0, 0\] is nan\. Give finite numbers"),
    "a negative mass": ({"mass": [1, -1]}, 'body "trunk": its mass is -1 kg'),
    "a flat ellipsoid": ({"inertia": [np.diag([1, 1, 3]), np.eye(3)]}, 'body "head": its principal moments'),
    "a negative armature": ({"armature": -np.ones(9)}, 'the armature of "neck.wx" is -1'),
    "a free joint placed": ({"position": np.ones((2, 3))}, 'joint "base" is free, and its position is'),
    "half a turn": ({"given_q": [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]}, 'joint "base": its quaternion .* has length 2'),
    "a time": ({"duration": -1.0}, "duration is -1 s"),
    "a name within a name": ({"joint_names": ["trunk.a", "base"]}, 'the name "trunk.a" begins with that of "trunk"'),
    "a motion short": ({"motions": [None]}, "motions has 1 entries for 2 joints"),
    "a motion without axis": ({"motions": [SPIN, None]} | SHORT, "has an axis"),
    "two laws for a ball": (
        {"motions": [PrescribedMotion((STILL, STILL), (0.0, 0.0, 1.0)), None]} | SHORT,
        "has 2 laws, and a spherical joint needs 1",
    ),
    "an unknown law": (
        {"motions": [PrescribedMotion((Law("jump"),), (0.0, 0.0, 1.0)), None]} | SHORT,
        'there is no law "jump"',
    ),
    "too many coefficients": (
        {"motions": [PrescribedMotion((Law("polynomial", (0.0,) * 9),), (0.0, 0.0, 1.0)), None]} | SHORT,
        "has 9 coefficients",
    ),
    "a sine of two": (
        {"motions": [PrescribedMotion((Law("sine", (0.0,) * 2),), (0.0, 0.0, 1.0)), None]} | SHORT,
        "its sine has 2 values",
    ),
    "no table": ({"motions": [PrescribedMotion((Law("table"),), (0.0, 0.0, 1.0)), None]} | SHORT, "its law has no table"),
    "an infinite law": (
        {"motions": [PrescribedMotion((Law("polynomial", (NAN,)),), (0.0, 0.0, 1.0)), None]} | SHORT,
        "Give finite numbers",
    ),
    "an uneven table": ({"elements": [push(table=Table((0.0, 1.0), (0.0,)))]}, "2 values of x and 1 of y"),
    "an infinite table": ({"elements": [push(table=Table((0.0, 1.0), (0.0, NAN)))]}, "not finite"),
    "outside": ({"elements": [push(table=Table((0.0, 1.0), (0.0, 1.0), "wrap"))]}, 'outside is "wrap"'),
    "an unknown element": ({"elements": [push(kind="magnet")]}, 'there is no kind "magnet"'),
    "other values": (
        {"elements": [push(values={"stiffness": 1.0})]},
        "A spring_damper has stiffness, damping, length, preload",
    ),
    "an infinite value": (
        {"elements": [push(values={"stiffness": NAN, "damping": 0.0, "length": 1.0, "preload": 0.0})]},
        "stiffness is nan",
    ),
    "a body nowhere": ({"elements": [push(body_b=2)]}, "a body is not in the model"),
    "a point nowhere": ({"elements": [push(point_a=(NAN, 0.0, 0.0))]}, "a point is not finite"),
    "a joint nowhere": ({"elements": [Element("e", "joint_damper", {"damping": 1.0})]}, "its joint is -1"),
    "a ball": (
        {"elements": [Element("e", "joint_spring", {"stiffness": 1.0, "rest": 0.0, "preload": 0.0}, 0)]},
        'joint "neck" has no coordinate 0',
    ),
    "no input": ({"elements": [Element("e", "joint_input", {"gain": 1.0}, 0)]}, "its input is -1, and the model has 0"),
    "an element's name": ({"elements": [push(name="neck")]}, 'the name "neck" is used twice'),
    "a measure": ({"measures": [Measure("m", "colour")]}, 'measure "m": there is no kind "colour"'),
    "a measure nowhere": ({"measures": [Measure("m", "position", body_a=5)]}, "a row is not in the model"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_an_impossible_model_is_refused(case):
    changes, message = IMPOSSIBLE[case]
    with pytest.raises(ModelError, match=message):
        Model(**parts(**changes))


def test_a_driven_ball_has_no_coordinates():
    model = Model(**parts(motions=[PrescribedMotion((STILL,), (0.0, 0.0, 1.0)), None], **SHORT))
    assert (model.nq, model.nv) == (7, 6) and model.q_names[0] == "base.x" and model.driven.tolist() == [True, False]


def test_all_problems_are_listed_at_once():
    with pytest.raises(ModelError, match=r"(?s)^3 problems.*mass is -1.*mass is -2.*armature"):
        Model(**parts(mass=[-1, -2], armature=[0] * 8 + [-1]))


@pytest.mark.parametrize(
    "moments", [(0, 0, 0), (0, 1, 1), (1, 1, 2), (1, 1, 2 * (1 + 1e-9)), (1e-300, 1e-300, 2e-300), (1e300,) * 3]
)
def test_points_rods_plates_and_rounding_are_possible(moments):
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    Model(**parts(inertia=[turn @ np.diag(moments) @ turn.T, np.eye(3)]))


def test_outward_order_has_parents_first_and_leaves_out_rings():
    assert outward_order([2, 0, -1, -1]) == [2, 3, 0, 1]
    assert outward_order([1, 0, -1]) == [2]
