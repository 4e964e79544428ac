"""From a spec to a tree: every body gets one joint on its way to ground, or the error says why not."""

import dataclasses

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.model import BodySpec, InitialSpec, JointSpec, MassProperties, PointSpec, Rod, Spec, Where, build

ROUND = ((0.2, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.2))


def ball(name, x=0.0, **changes):
    return BodySpec(name, MassProperties(**({"mass": 1.0, "center": (x, 0.0, 0.0), "inertia": ROUND} | changes)))


def hinge(name, parent, child, x=0.0, **changes):
    given = {"kind": "revolute", "point": (x, 0.0, 0.0), "axis": (0.0, 1.0, 0.0)} | changes
    return JointSpec(name, parent=parent, child=child, **given)


def spec(bodies, joints, **changes):
    return Spec("test", tuple(bodies), tuple(joints), **changes)


def fails(message, *args, **changes):
    with pytest.raises(ModelError, match=message):
        build(spec(*args, **changes))


PAIR = [ball("a", 1.0), ball("b", 2.0)]
JOINTS = [hinge("ja", "ground", "a", 0.5), hinge("jb", "a", "b", 1.5)]


def test_rows_follow_the_order_of_the_joints_whatever_the_order_of_the_bodies():
    model = build(spec(PAIR, JOINTS[::-1]))
    assert model.joint_names == ("jb", "ja") and model.body_names == ("b", "a") and model.parents == (1, -1)
    np.testing.assert_array_equal(model.position[:, 0], [1.0, 0.5])
    np.testing.assert_array_equal(model.center[:, 0], [0.5, 0.5])


def test_rounding_leaves_nothing_of_equal_coordinates():
    """0.1 + 0.2 is not 0.3: equal parts of a long mechanism would each have dust of its own, and code of its own."""
    far = 0.1 + 0.2
    model = build(spec([ball("a", far), ball("b", 2.0)], [hinge("ja", "ground", "a", 0.3), hinge("jb", "a", "b", far)]))
    assert model.position[1, 0] == 0.0 and model.center[0, 0] == 0.0
    near = build(spec(PAIR, [JOINTS[0], hinge("jb", "a", "b", 0.5 + 1e-14)]))
    assert near.position[1, 0] > 0.0


def rotation(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def test_a_hinge_written_from_the_far_side_keeps_the_meaning_of_its_angle():
    """R_parent_child is what the user wrote; the tree has the inverse of it."""
    axis, q = (0.48, 0.6, 0.64), 0.7
    near = build(spec(PAIR, [JOINTS[0], hinge("jb", "a", "b", 1.5, axis=axis)]))
    far = build(spec(PAIR, [JOINTS[0], hinge("jb", "b", "a", 1.5, axis=axis)], initial=(InitialSpec("jb", (q,), (2.0,)),)))
    assert far.parents == near.parents and far.body_names == near.body_names
    np.testing.assert_allclose(rotation(far.joints[1].axis, q), rotation(axis, q).T, atol=1e-15)
    assert far.initial_q[1] == q and far.initial_v[1] == 2.0


def test_a_slide_and_a_weld_can_be_written_from_the_far_side():
    slide = hinge("jb", "b", "a", 1.5, kind="prismatic", axis=(0.0, 0.0, 2.0))
    assert build(spec(PAIR, [JOINTS[0], slide])).joints[1].axis == (0.0, 0.0, -1.0)
    weld = hinge("jb", "b", "a", 1.5, kind="fixed", axis=None)
    assert build(spec(PAIR, [JOINTS[0], weld])).body_names == ("a", "b")


def test_a_free_joint_written_from_the_far_side_asks_to_be_swapped():
    fails('"jb": its parent "b" is further .* a free joint .*Swap parent and child: .* pose of "b" relative to "a"', PAIR,
          [JOINTS[0], hinge("jb", "b", "a", kind="free", axis=None)])  # fmt: skip


def test_a_free_body_starts_at_its_point_relative_to_its_parent():
    flying = hinge("jb", "a", "b", 1.5, kind="free", axis=None)
    model = build(spec(PAIR, [JOINTS[0], flying]))
    np.testing.assert_array_equal(model.initial_q, [0, 1.0, 0, 0, 1, 0, 0, 0])
    assert not model.position[1].any()


def test_a_free_body_may_start_elsewhere():
    start = InitialSpec("jb", (1.0, 2.0, 3.0, 0.0, 1.0 + 1e-7, 0.0, 0.0))
    model = build(spec(PAIR, [JOINTS[0], hinge("jb", "a", "b", kind="free", axis=None)], initial=(start,)))
    np.testing.assert_array_equal(model.initial_q[1:], [1, 2, 3, 0, 1, 0, 0])


def test_one_armature_serves_all_directions():
    model = build(spec([ball("a")], [hinge("ja", "ground", "a", kind="spherical", axis=None, armature=0.5)]))
    np.testing.assert_array_equal(model.armature, [0.5] * 3)


# --- what cannot be a tree


def test_a_body_without_joint_gets_a_remedy():
    fails('body "b" has no joint\\. Add a joint with parent = "ground" and child = "b"; type = "free"', PAIR, JOINTS[:1])


def test_a_group_apart_from_ground_is_listed():
    bodies = [*PAIR, ball("c"), ball("d")]
    fails('bodies "c", "d" are not connected to ground', bodies, [*JOINTS, hinge("cd", "c", "d")])


def test_a_long_group_is_abbreviated():
    bodies = [ball("a"), *(ball(f"c{i}") for i in range(20))]
    joints = [JOINTS[0], *(hinge(f"j{i}", f"c{i}", f"c{i + 1}") for i in range(19))]
    fails('"c11" and 8 more are not connected', bodies, joints)


def test_an_unknown_body_suggests_a_known_one():
    fails(
        'joint "jb": its parent "ground_" is not a body\\. Did you mean "ground"',
        PAIR,
        [JOINTS[0], hinge("jb", "ground_", "b")],
    )


def test_an_unknown_body_unlike_any_other_lists_them():
    fails('its child "wheel" is not a body\\. Choose from: "a", "b", "ground"', PAIR, [*JOINTS, hinge("jw", "b", "wheel")])


def test_a_joint_from_a_body_to_itself_is_refused():
    fails('joint "jb" connects "b" to itself', PAIR, [JOINTS[0], hinge("jb", "b", "b")])


def test_an_empty_spec_is_refused():
    fails("the model is empty", [], [])


# --- names


def test_one_namespace_serves_bodies_joints_and_points():
    fails('the joint "a" has the same name as a body', PAIR, [hinge("a", "ground", "a"), JOINTS[1]])
    fails('the body "b" has the same name as a body', [*PAIR, ball("b")], JOINTS)
    fails('the body "a" has the same name as a point', PAIR, JOINTS, points=(PointSpec("a", (0.0, 0.0, 0.0)),))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("left.arm", 'has a dot\\. Use "left_arm"'),
        ("", "is empty"),
        (" a", "blanks at its ends"),
        ("a\nb", "unprintable"),
        ("ground", "means the fixed world"),
        (7, "not a string"),
    ],
)
def test_a_name_that_cannot_be_part_of_a_path_is_refused(name, message):
    fails(message, [ball(name)], [hinge("j", "ground", name)])


# --- bodies


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": -1.0}, "its mass is -1 kg"),
        ({"mass": float("nan")}, "its mass is nan. Give finite numbers"),
        ({"center": (float("inf"), 0.0, 0.0)}, r"its centre of mass is \(inf, 0.0, 0.0\). Give finite numbers"),
        ({"center": None}, "a mass but no centre"),
        ({"inertia": ((1.0, 0.1, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))}, "not symmetric"),
        ({"inertia": ((1.0, 2.0, 0.0), (2.0, 1.0, 0.0), (0.0, 0.0, 3.0))}, "none may be negative"),
        ({"inertia": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 2.1))}, "larger than the sum of the other two \\(2\\)"),
    ],
)
def test_a_body_that_cannot_exist_is_refused(changes, message):
    fails(f'body "a": .*{message}', [ball("a", **changes)], JOINTS[:1])


def test_a_rod_needs_length_and_no_negative_radius():
    here = (1.0, 0.0, 0.0)
    fails("begins and ends at \\(1.0, 0.0, 0.0\\)", [BodySpec("a", Rod(here, here, 1.0))], JOINTS[:1])
    fails("radius of its rod is -1 m", [BodySpec("a", Rod((0.0, 0.0, 0.0), here, 1.0, -1.0))], JOINTS[:1])
    fails('body "a": its mass is -2 kg', [BodySpec("a", Rod((0.0, 0.0, 0.0), here, -2.0))], JOINTS[:1])


def test_a_slanted_rod_has_inertia_across_it_only():
    """Against the integral of dm (r^2 1 - r r^T), by Gauss points that are exact for squares."""
    start, end, mass = np.array([0.2, -0.4, 1.0]), np.array([1.1, 0.3, -0.5]), 2.5
    found = Rod(tuple(start), tuple(end), mass).mass_properties()
    expected = np.zeros((3, 3))
    for x in (-1 / np.sqrt(3), 1 / np.sqrt(3)):
        r = (end - start) / 2 * x
        expected += mass / 2 * (r @ r * np.eye(3) - np.outer(r, r))
    np.testing.assert_allclose(found.inertia, expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(found.center, (start + end) / 2)


# --- what resists


def massless(name):
    return BodySpec(name, MassProperties(0.0, None))


def test_a_massless_tip_that_moves_is_named():
    fails('body "b" has no mass, nor .* joint "jb" lets it move', [PAIR[0], massless("b")], JOINTS)


def test_a_massless_branch_of_welded_bodies_is_named_where_it_moves():
    joints = [*JOINTS, hinge("jc", "b", "c", kind="fixed", axis=None)]
    fails('body "b" has no mass, nor has anything beyond it', [PAIR[0], massless("b"), massless("c")], joints)


def test_a_massless_tip_may_be_welded_or_have_an_armature():
    bodies = [PAIR[0], massless("b")]
    assert build(spec(bodies, [JOINTS[0], hinge("jb", "a", "b", kind="fixed", axis=None)])).n == 2
    assert build(spec(bodies, [JOINTS[0], hinge("jb", "a", "b", armature=0.1)])).n == 2


def test_an_armature_in_some_directions_only_does_not_save_a_massless_ball():
    joint = hinge("jb", "a", "b", kind="spherical", axis=None, armature=(0.1, 0.0, 0.1))
    fails('body "b" has no mass', [PAIR[0], massless("b")], [JOINTS[0], joint])


def test_a_massless_body_between_others_is_legal():
    assert build(spec([massless("a"), PAIR[1]], JOINTS)).mass[0] == 0


ROD = BodySpec("a", Rod((0.5, 0.0, 0.0), (1.3, 0.7, 0.4), 1.0))


@pytest.mark.parametrize(
    ("kind", "axis"), [("spherical", None), ("free", None), ("revolute", (0.8, 0.7, 0.4))], ids=["ball", "free", "along"]
)
def test_a_thin_rod_that_can_spin_about_itself_is_undetermined(kind, axis):
    fails(
        'body "a" has no inertia in a direction in which joint "ja"',
        [ROD],
        [hinge("ja", "ground", "a", 0.5, kind=kind, axis=axis)],
    )


def test_a_thin_rod_on_a_hinge_across_it_and_a_thick_one_on_a_ball_are_legal():
    assert build(spec([ROD], JOINTS[:1])).n == 1
    thick = dataclasses.replace(ROD, shape=dataclasses.replace(ROD.shape, radius=1e-3))
    assert build(spec([thick], [hinge("ja", "ground", "a", 0.5, kind="spherical", axis=None)])).n == 1


def test_a_point_mass_on_a_slide_is_legal_and_on_the_axis_of_a_hinge_is_not():
    point = [BodySpec("a", MassProperties(1.0, (0.5, 3.0, 0.0)))]
    assert build(spec(point, [hinge("ja", "ground", "a", 0.5, kind="prismatic")])).n == 1
    fails("no inertia in a direction", point, JOINTS[:1])


def test_a_weight_welded_to_a_rod_keeps_it_from_spinning_freely():
    """The rod alone is undetermined on a ball joint; two welded point masses off its line make it whole."""
    ball_joint = hinge("ja", "ground", "a", 0.5, kind="spherical", axis=None)
    weight = BodySpec("w", MassProperties(1.0, (0.5, 1.0, 0.0)))
    weld = hinge("jw", "a", "w", 2.0, kind="fixed", axis=None)
    assert build(spec([ROD, weight], [ball_joint, weld])).n == 2


# --- joints, start and time


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "revolut"}, 'no joint type "revolut"\\. Did you mean "revolute"'),
        ({"axis": None}, "needs an axis"),
        ({"axis": (0.0, 0.0, 0.0)}, "not zero"),
        ({"kind": "spherical"}, "has no axis"),
        ({"point": (float("nan"), 0.0, 0.0)}, "its point is"),
        ({"armature": -1.0}, "armature is -1.0\\. Give zero or more"),
        ({"armature": float("inf")}, "armature is inf"),
        ({"armature": (1.0, 2.0)}, "armature has 2 values\\. Give one number, or 1"),
        ({"kind": "fixed", "axis": None, "armature": 1.0}, "cannot move: remove its armature"),
    ],
)
def test_a_joint_that_cannot_be_is_refused(changes, message):
    fails(f'joint "ja".*{message}', [ball("a", 1.0)], [hinge("ja", "ground", "a", **changes)])


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (InitialSpec("jaa", (0.0,)), '\\[initial\\] names "jaa", which is not a joint\\. Did you mean "ja"'),
        (InitialSpec("ja", (1.0, 0.0)), 'q of "ja" has 2 values, but this joint has 4 \\(w, x, y, z\\)'),
        (InitialSpec("ja", None, (1.0,)), 'v of "ja" has 1 value, but this joint has 3'),
        (InitialSpec("ja", None, (1.0, float("nan"), 0.0)), "Give finite numbers"),
        (InitialSpec("ja", (1.0, 0.0, 0.0, 1e-2)), "has length 1.00005.*Divide it by that length"),
        (InitialSpec("ja", (0.0, 0.0, 0.0, 0.0)), "has length 0"),
    ],
)
def test_a_start_that_does_not_fit_is_refused(start, message):
    fails(message, [ball("a", 1.0)], [hinge("ja", "ground", "a", kind="spherical", axis=None)], initial=(start,))


def test_a_weld_has_no_start_and_no_joint_has_two():
    weld = hinge("ja", "ground", "a", kind="fixed", axis=None)
    fails("this joint cannot move: remove it", [ball("a")], [weld], initial=(InitialSpec("ja", (0.0,)),))
    twice = (InitialSpec("ja", (0.0,)), InitialSpec("ja", (1.0,)))
    fails('more than one entry for "ja"', [ball("a")], JOINTS[:1], initial=twice)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"duration": 0.0}, "duration is 0 s"),
        ({"step": -1.0}, "step is -1 s"),
        ({"duration": float("inf")}, "duration is inf s"),
        ({"duration": 1.0, "step": 2.0}, "longer than the duration"),
    ],
)
def test_times_must_be_possible(changes, message):
    fails(message, PAIR, JOINTS, **changes)


def test_problems_carry_their_place_and_come_in_its_order():
    where = Where("x.toml", 30, {"axis": 33})
    bodies = [dataclasses.replace(ball("a", mass=-1.0), where=Where("x.toml", 4))]
    joints = [hinge("ja", "ground", "a", axis=(0.0, 0.0, 0.0), where=where)]
    with pytest.raises(ModelError, match="(?s)2 problems.*x.toml, line 4: body.*x.toml, line 33: joint"):
        build(spec(bodies, joints))
    assert str(Where(None, 3)) == "line 3" and str(Where("x.toml")) == "x.toml"
