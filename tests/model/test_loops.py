"""Loops: which joint is cut, what closes besides joints, and what acts on a joint that closes a loop."""

import math

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.io import dumps, load
from bellcrank.model import Closure, Mechanism, in_body, outward_order
from bellcrank.model.builder import rate, sine

BALL = {"inertia": (0.2, 0.2, 0.2)}


def mechanism(bodies="ab", **given):
    """Bodies a, b, ... one metre apart on the x axis."""
    m = Mechanism("test", **given)
    for k, name in enumerate(bodies):
        m.body(name, 1.0, (k + 1.0, 0, 0), **BALL)
    return m


def hinge(m, name, parent, child, x=0.0, **given):
    m.joint(name, given.pop("kind", "revolute"), parent, child, (x, 0, 0), **{"axis": "y"} | given)


def ball(m, name, parent, child, x=0.0, **given):
    m.joint(name, "spherical", parent, child, (x, 0, 0), **given)


def four_bar(**changes):
    """Crank a, coupler b and rocker c; ``changes`` are arguments of one joint or another: joint_cut=True."""
    m = mechanism("abc")
    ends = {"crank": ("ground", "a"), "pin": ("a", "b"), "pivot": ("b", "c"), "rocker": ("ground", "c")}
    for k, (name, (parent, child)) in enumerate(ends.items()):
        hinge(m, name, parent, child, float(k), **changes.get(name, {}))
    return m


def fails(message, m):
    with pytest.raises(ModelError, match=message):
        m.build()


def cut(model):
    return tuple(closure.name for closure in model.closures)


def origins(model):
    """Where the bodies are in the design position; the last row is ground."""
    found = np.zeros((model.n + 1, 3))
    for i in outward_order(model.parents):
        found[i] = found[model.parents[i]] + model.position[i]
    return found


def closes(model):
    """Gaps between the two points of every cut joint, in the design position."""
    o = origins(model)
    return [np.linalg.norm(o[c.body_b] + c.point_b - o[c.body_a] - c.point_a) for c in model.closures if c.kind == "joint"]


# --- which joint is cut


def test_a_loop_on_ground_is_cut_far_from_it_and_the_other_joints_keep_the_order_of_the_file():
    """Both cranks hang on ground, so that no body is placed by way of more than one other."""
    model = four_bar().build()
    assert model.joint_names == ("crank", "pin", "rocker") and model.body_names == ("a", "b", "c")
    assert model.parents == (-1, 0, -1) and model.nv == 3 and len(model.closure_index) == 2 and model.closure_index[1] == 5
    assert model.closures == (
        Closure("pivot", "joint", 1, 2, (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), joint=model.closures[0].joint),
    )
    assert model.closures[0].joint.axis == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("name", ["crank", "pin", "pivot", "rocker"])
def test_the_user_may_say_which_joint_is_cut(name):
    model = four_bar(**{name: {"cut": True}}).build()
    assert cut(model) == (name,) and max(closes(model)) < 1e-15


def test_the_user_may_say_which_joint_is_not_cut():
    assert cut(four_bar(rocker={"cut": False}).build()) != ("rocker",)
    assert cut(four_bar(rocker={"cut": False}, crank={"cut": False}, pin={"cut": False}).build()) == ("pivot",)


def test_a_driven_joint_a_started_one_and_a_coupled_one_stay_in_the_tree():
    assert "rocker" not in cut(four_bar(rocker={"motion": rate(1.0)}).build())
    m = four_bar()
    m.start("rocker", v=1.0)
    model = m.build()
    assert "rocker" not in cut(model) and model.initial_v[model.joint_names.index("rocker")] == 1.0
    m = four_bar()
    m.coupler("gear", ["crank", "rocker"], ratio=2)
    model = m.build()
    assert "rocker" not in cut(model) and model.closures[1].terms == ((0, 0, 1.0), (model.joint_names.index("rocker"), 0, -2.0))


def test_the_joint_of_a_motor_stays_in_the_tree():
    m = four_bar()
    m.motor("drive", "pivot", 1.0)
    assert cut(m.build()) == ("pin",)


def test_what_is_cut_does_not_depend_on_the_numbers_of_a_model():
    """Else changing a parameter would change what q means."""
    m = four_bar(pin={"axis": (0, "=tilt", "=rise")})
    m.parameter("tilt", 1.0)
    m.parameter("rise", 0.0)
    model = m.build()
    assert model.with_parameters({"parameters.rise": 0.3}).joint_names == model.joint_names


def test_what_is_cut_keeps_parent_and_child_as_written_and_what_is_not_is_turned_towards_ground():
    m = mechanism()
    hinge(m, "ja", "ground", "a", 0.5)
    hinge(m, "jb", "b", "a", 1.5)
    hinge(m, "back", "b", "ground", 2.5)
    model = m.build()
    assert cut(model) == ("back",) and (model.closures[0].body_a, model.closures[0].body_b) == (1, -1)
    assert model.joints[1].axis == (0.0, -1.0, 0.0) and model.closures[0].joint.axis == (0.0, 1.0, 0.0)
    np.testing.assert_allclose([model.closures[0].point_a, model.closures[0].point_b], [[1, 0, 0], [2.5, 0, 0]])


def test_two_joints_between_the_same_bodies_are_a_loop():
    m = mechanism()
    hinge(m, "ja", "ground", "a")
    hinge(m, "jb", "a", "b", 1.0)
    hinge(m, "twin", "b", "a", 2.0)
    model = m.build()
    assert cut(model) == ("twin",) and (model.closures[0].body_a, model.closures[0].body_b) == (1, 0)


def test_legs_written_towards_a_platform_are_cut_at_the_platform():
    """A ball has no reversed twin, so none is walked from its far side as long as there is another way."""
    m = mechanism(["platform", "leg1", "leg2", "leg3"])
    for k in (1, 2, 3):
        m.joint(f"foot{k}", "universal", "ground", f"leg{k}", (k, 0, 0), axis="x", axis2="y")
        ball(m, f"top{k}", f"leg{k}", "platform", k + 0.5)
    assert cut(m.build()) == ("top2", "top3")


def test_every_kind_of_joint_may_close_a_loop():
    rows = {
        "fixed": 6,
        "revolute": 5,
        "prismatic": 5,
        "screw": 5,
        "cylindrical": 4,
        "universal": 4,
        "planar": 3,
        "spherical": 3,
    }
    for kind, count in rows.items():
        m = mechanism()
        ball(m, "ja", "ground", "a", 0.5)
        ball(m, "jb", "a", "b", 1.5)
        axes = {
            "axis": None if kind in ("fixed", "spherical") else "z",
            "axis2": "x" if kind in ("universal", "planar") else None,
        }
        hinge(m, "close", "b", "ground", 2.5, kind=kind, **axes, pitch=0.1 if kind == "screw" else None, cut=True)
        model = m.build()
        assert model.closures[0].joint.kind == kind and model.closures[0].rows == count
        assert load(dumps(model)).closures == model.closures


def test_a_place_in_the_frame_of_a_body_follows_the_joint_that_carries_it():
    m = four_bar(rocker={"cut": False}, pivot={"cut": True})
    m.measure_position("tip", "c", in_body("c", (0.25, 0, 0)))
    model = m.build()
    assert model.measures[0].point_a == (0.25, 0.0, 0.0)
    assert origins(model)[model.body_names.index("c"), 0] == 3.0


def test_a_large_net_of_loops_is_cut_in_good_time():
    m = Mechanism("net")
    for k in range(3000):
        m.body(f"b{k}", 1.0, (k, 0, 0), **BALL)
        hinge(m, f"j{k}", f"b{k - 1}" if k else "ground", f"b{k}", k)
        hinge(m, f"c{k}", f"b{k - 2}" if k > 1 else "ground", f"b{k}", k)
    assert len(m.build().closures) == 3000


# --- cuts that cannot be


def test_a_joint_that_holds_a_body_on_ground_cannot_be_cut():
    m = mechanism()
    hinge(m, "ja", "ground", "a")
    hinge(m, "jb", "a", "b", cut=True)
    fails('joint "jb" has cut = true, but without it "b" is not connected to ground. Remove cut = true', m)


def test_some_joint_of_a_loop_must_be_cut():
    never = {name: {"cut": False} for name in ("crank", "pin", "pivot", "rocker")}
    fails(
        'joint "rocker" closes a loop with "crank", "pin", "pivot", and has cut = false, but one .* Remove it',
        four_bar(**never),
    )


def test_a_free_joint_closes_nothing():
    m = mechanism()
    hinge(m, "ja", "ground", "a")
    hinge(m, "jb", "a", "b")
    m.joint("float", "free", "ground", "b", (2, 0, 0))
    fails('"float" closes a loop with "ja", "jb", but is free and constrains nothing. Remove it, or .* in "ja" or "jb"', m)


def test_a_free_body_may_be_held_by_a_joint_that_is_cut():
    m = mechanism("a")
    m.joint("float", "free", "ground", "a", (1, 0, 0))
    ball(m, "hold", "ground", "a", 0.5)
    model = m.build()
    assert cut(model) == ("hold",) and model.nv == 6 and model.closures[0].rows == 3
    assert model.closures[0].point_b == (-0.5, 0.0, 0.0)


def test_a_free_joint_that_is_driven_cannot_be_cut():
    m = mechanism("a")
    hinge(m, "ja", "ground", "a", motion=rate(1.0))
    m.joint("carried", "free", "ground", "a", (0, 0, 0), motion={"x": rate(1.0)})
    fails('"carried" closes a loop with "ja", and a free joint cannot when it is driven. Write cut = true in one of these', m)


def test_a_driven_joint_that_must_be_cut_drives_the_loop():
    """Both drives of a two-crank mechanism may be prescribed: one of them at the cut."""
    m = mechanism("a")
    hinge(m, "one", "ground", "a", motion=rate(1.0))
    hinge(m, "two", "ground", "a", motion=sine(0.1, 2.0))
    model = m.build()
    assert model.nv == 0 and model.closures[0].motion.laws[0].kind == "sine" and model.closures[0].rows == 6


def test_a_start_of_a_joint_that_is_cut_names_the_loop():
    m = four_bar()
    for name in ("crank", "pin", "pivot", "rocker"):
        m.start(name, 0.1)
    fails(r'\[initial\] gives "rocker", which closes a loop with "crank", "pin", "pivot" .* cut = true in one of these', m)
    m = four_bar(rocker={"cut": True})
    m.start("rocker", 0.1)
    fails('Remove it there, or write cut = true in "crank" or "pin" or "pivot"', m)


def test_an_armature_needs_a_coordinate_and_the_message_says_what_else_to_cut():
    geared = {name: {"armature": 0.1} for name in ("crank", "pin", "rocker")}
    assert cut(four_bar(**geared).build()) == ("pivot",)
    fails('"rocker" closes a loop .* no coordinate of its own for an armature. Write cut = true in "pin" or "pivot"',
          four_bar(rocker={"armature": 0.1, "cut": True}, crank={"armature": 0.1}))  # fmt: skip
    fails("for an armature. Write cut = true in one of these", four_bar(**geared, pivot={"armature": 0.1}))


def test_many_wrong_cuts_are_told_without_naming_every_loop():
    m = mechanism("a")
    hinge(m, "ja", "ground", "a")
    for k in range(30):
        hinge(m, f"c{k}", "ground", "a", armature=1.0)
    fails('(?s)"c19" closes a loop with "ja".*"c20" closes a loop with other joints', m)


# --- constraints and couplers


def pair(**given):
    m = mechanism(**given)
    hinge(m, "ja", "ground", "a", 0.5)
    hinge(m, "jb", "a", "b", 1.5)
    m.joint("slide", "cylindrical", "ground", "c", (0, 1, 0), axis="x")
    m.body("c", 1.0, (0, 2, 0), **BALL)
    m.point("tip", (2.5, 0, 1))
    return m


def test_a_rod_keeps_the_distance_of_the_design_unless_told_otherwise():
    m = pair()
    m.distance("rod", ("ground", (2.5, 0, 0)), ("b", "tip"))
    m.distance("longer", ("c", (0, 1, 0)), ("b", in_body("b", (0, 0, 1))), "=2*rod_length")
    m.parameter("rod_length", 1.5)
    rod, longer = m.build().closures
    assert rod == Closure("rod", "distance", -1, 1, (2.5, 0.0, 0.0), (1.0, 0.0, 1.0), value=1.0)
    assert (longer.value, longer.point_a, longer.point_b) == (3.0, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def test_a_point_may_be_guided_on_a_line_or_a_plane_of_another_body():
    m = pair()
    m.point_on_line("slot", ("a", (1, 0, 0)), ("b", "tip"), (0, 0, 2))
    m.point_on_plane("table", ("ground", (0, 0, 0)), ("b", "tip"), (0, 3, 4))
    m.point_on_plane("lift", ("ground", (0, 0, 0)), ("b", "tip"), "z", motion=sine(0.1, 1.0, offset=1.0))
    slot, table, lift = m.build().closures
    assert slot.axis == (0.0, 0.0, 1.0) and slot.rows == 2 and slot.body_a == 0
    assert table.axis == (0.0, 0.6, 0.8) and table.value == pytest.approx(0.8) and table.rows == 1
    assert lift.motion.laws[0].values == (1.0, 0.1, 1.0, 0.0)


def test_axes_of_two_bodies_may_stay_perpendicular_and_points_together():
    m = pair()
    m.perpendicular("square", ("a", "tip"), ("b", "tip"), (0, 3, 4), "x")
    m.coincident("pin", ("a", "tip"), ("b", "tip"))
    square, pin = m.build().closures
    assert (square.kind, square.axis, square.axis2, square.rows) == ("perpendicular", (0.0, 0.6, 0.8), (1.0, 0.0, 0.0), 1)
    assert (pin.kind, pin.joint.kind, pin.rows) == ("joint", "spherical", 3)


def test_gears_tie_coordinates_by_factors_or_by_a_ratio():
    m = pair()
    m.coupler("gear", ["ja", "jb"], ratio=3)
    m.coupler("rack", ["ja", "slide.slide", "jb"], [1, -0.05, "=1/2"], offset=0.2)
    gear, rack = m.build().closures
    assert gear.terms == ((0, 0, 1.0), (1, 0, -3.0)) and gear.value == 0
    assert rack.terms == ((0, 0, 1.0), (2, 1, -0.05), (1, 0, 0.5)) and rack.value == 0.2


def test_a_coupler_of_one_coordinate_may_drive_it():
    m = pair()
    m.coupler("servo", ["ja"], [1.0], motion=rate(0.5))
    assert m.build().closures[0].motion.laws[0].values == (0.0, 0.5)


def test_closures_come_in_one_order_joints_constraints_couplers():
    m = four_bar()
    m.coupler("gear", ["crank", "pin"], ratio=1)
    m.point_on_plane("plane", ("ground", (0, 0, 0)), ("b", (0, 0, 0)), "y")
    assert cut(m.build()) == ("rocker", "plane", "gear")


def test_their_numbers_are_design_parameters():
    m = pair()
    m.distance("rod", ("ground", (2.5, 0, 0)), ("b", "tip"), 2.0)
    m.coupler("gear", ["ja", "jb"], [1, -3], offset=0.1)
    model = m.build()
    assert {"rod.length": 2.0, "gear.factors.1": -3.0, "gear.offset": 0.1}.items() <= model.parameters.items()
    changed = model.with_parameters({"rod.length": 2.5, "gear.factors.1": -4.0})
    assert changed.closures[0].value == 2.5 and changed.closures[1].terms[1][2] == -4.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda m: m.distance("x", ("a", "tip"), ("a", (0, 0, 0))), 'constraint "x": it begins and ends on "a"'),
        (lambda m: m.distance("x", ("a", "tip"), ("b", "tip")), "coincide, .* Give length, or use a spherical joint"),
        (lambda m: m.distance("x", ("a", "tip"), ("c", "tip"), 0.0), "length is 0 m. Give more than zero"),
        (lambda m: m.distance("x", ("a", "tip"), ("d", "tip")), 'names "d", which is not a body'),
        (lambda m: m.distance("x", ("a", "tip"), ("b", (0, 0, 0)), 1, motion=rate(1)), "has length and motion. Keep one"),
        (lambda m: m.distance("x", ("a", "tip"), ("b", (0, 0, 0)), motion=sine(1, math.inf)), "Give finite numbers"),
        (lambda m: m.point_on_line("x", ("a", "tip"), ("b", (0, 0, 0)), (0, 0, 0)), "its axis is .* not zero"),
        (lambda m: m.point_on_plane("x", ("a", "tip"), ("b", "tip"), "x", 1, motion=rate(1)), "has offset and motion"),
        (
            lambda m: m.perpendicular("x", ("a", "tip"), ("b", "tip"), "x", (1, 1, 0)),
            "at 45 degrees .* Let axis2 be perpendicular",
        ),
        (
            lambda m: m.coupler("x", ["ja", "jbb"], ratio=2),
            'coupler "x": it names "jbb", which is not a joint. Did you mean "jb"',
        ),
        (lambda m: m.coupler("x", ["ja", "jb"]), "neither factors nor a ratio"),
        (lambda m: m.coupler("x", ["ja", "jb"], [1, 2], ratio=2), "it has factors and ratio. Give one of the three"),
        (lambda m: m.coupler("x", ["ja", "jb", "slide.angle"], ratio=2), "a ratio and 3 joints"),
        (lambda m: m.coupler("x", ["ja", "jb"], [1]), "1 factor for 2 joints"),
        (lambda m: m.coupler("x", ["ja", "jb"], [1, 0]), "with the factor zero is not coupled"),
        (lambda m: m.coupler("x", [], []), "names no joint"),
        (lambda m: m.coupler("x", ["ja", "ja"], [1, 2]), 'names "ja" twice'),
        (lambda m: m.coupler("x", ["ja", "slide"], ratio=2), 'names "slide". Write "slide.angle" or "slide.slide"'),
        (lambda m: m.coupler("x", ["ja.angle", "jb"], ratio=2), 'names "ja.angle". Write "ja"'),
        (lambda m: m.coupler("x", ["ja", "jb"], ratio=2, offset=1, motion=rate(1)), "offset and motion"),
    ],
)
def test_a_constraint_that_cannot_be_is_refused(wrong, message):
    m = pair()
    wrong(m)
    fails(message, m)


def test_names_of_joints_are_texts():
    with pytest.raises(ModelError, match="is not a list of names of joints"):
        pair().coupler("x", "ja", [1])


def test_only_coordinates_can_be_coupled():
    m = pair()
    ball(m, "jd", "b", "d", 2.5)
    m.body("d", 1.0, (3, 0, 0), **BALL)
    m.coupler("x", ["ja", "jd"], ratio=2)
    fails('joint "jd" is spherical and has no coordinate', m)
    m = four_bar(rocker={"cut": True})
    m.coupler("x", ["crank", "rocker"], ratio=2)
    fails('joint "rocker" closes a loop and has no coordinate of its own. Write cut = true in another', m)
    m = four_bar(crank={"motion": rate(1.0)})
    m.sum_spring("x", ["crank", "pin"], [1, 2], 3.0)
    fails('joint "crank" is driven: nothing can act on it', m)


# --- what acts on a joint that closes a loop


def test_forces_and_measures_on_a_closing_joint_find_its_closure():
    m = four_bar(rocker={"cut": True})
    m.inputs = ("u",)
    m.spring("coil", "rocker", 2.0)
    m.damper("oil", "rocker", 0.1)
    m.friction("ring", "rocker", 0.1)
    m.stop("end", "rocker", 100, upper=1)
    m.motor("drive", "rocker", 1.0)
    m.motor("hand", "rocker", input="u")
    m.spring("other", "pin", 2.0)
    m.measure_coordinate("angle", "rocker")
    model = m.build()
    assert [(e.joint, e.closure) for e in model.elements if e.name != "other"] == [(-1, 0)] * 6
    assert [(e.joint, e.closure) for e in model.elements if e.name == "other"] == [(1, -1)]
    assert (model.measures[0].joint, model.measures[0].closure) == (-1, 0)


def test_a_coordinate_of_a_closing_joint_is_named_as_ever():
    m = mechanism("a")
    hinge(m, "ja", "ground", "a")
    hinge(m, "sleeve", "ground", "a", 1.0, kind="cylindrical")
    m.spring("k", "sleeve", 1.0, coordinate="slide")
    assert m.build().elements[0].dof == 1
    m.spring("k2", "sleeve", 1.0)
    fails("does not say which coordinate", m)


def test_nothing_acts_on_a_closing_joint_that_is_driven():
    m = mechanism("a")
    hinge(m, "one", "ground", "a", motion=rate(1.0))
    hinge(m, "two", "ground", "a", motion=rate(1.0))
    m.spring("k", "two", 1.0)
    fails('joint "two" is driven: its motion does not depend on forces', m)


# --- massless bodies in loops


def test_a_massless_rod_between_two_joints_may_be_moved_by_its_ends():
    m = four_bar()
    m._lists["bodies"] = [body for body in m._lists["bodies"] if body.name != "b"]
    m.body("b", 0.0)
    assert m.build().mass.tolist() == [1.0, 0.0, 1.0]


def test_a_massless_gear_that_is_coupled_may_turn():
    m = mechanism("a")
    m.body("gear", 0.0)
    hinge(m, "ja", "ground", "a")
    hinge(m, "jg", "ground", "gear", 1.0)
    fails('body "gear" has no mass', m)
    m.coupler("teeth", ["ja", "jg"], ratio=2)
    assert m.build().n == 2


def test_a_massless_tip_beyond_a_loop_is_still_named():
    m = four_bar()
    m.body("tip", 0.0)
    hinge(m, "loose", "b", "tip")
    fails('body "tip" has no mass, nor has anything beyond it', m)


# --- copies


def test_copies_of_an_assembly_have_their_own_loops():
    m = Mechanism("legs")
    m.body("hull", 1.0, (0, 0, 1), **BALL)
    m.joint("base", "planar", "ground", "hull", (0, 0, 1), axis="y", axis2="x")
    leg = m.assembly("leg")
    leg.parameter("k", 2.0)
    leg.body("thigh", 1.0, (0, 1, 0), **BALL)
    leg.body("shank", 1.0, (0, 2, 0), **BALL)
    leg.joint("hip", "revolute", "hull", "thigh", (0, 1, 1), axis="x")
    leg.joint("knee", "revolute", "thigh", "shank", (0, 2, 1), axis="x")
    leg.joint("tie", "cylindrical", "hull", "shank", (0, 3, 1), axis="x", cut=False)
    leg.point_on_plane("floor", ("hull", (0, 1, 0)), ("shank", (0, 2, 0)), "y")
    leg.coupler("gear", ["hip", "base.x"], [1, "=k"])
    m.copy("left", "leg")
    m.copy("right", "leg", offset=(1, 0, 0), parameters={"k": 5})
    model = m.build()
    assert cut(model) == ("left.knee", "right.knee", "left.floor", "right.floor", "left.gear", "right.gear")
    left, right = model.closures[-2:]
    row = model.joint_names.index
    assert left.terms == ((row("left.hip"), 0, 1.0), (row("base"), 0, 2.0))
    assert right.terms == ((row("right.hip"), 0, 1.0), (row("base"), 0, 5.0))
    assert max(closes(model)) < 1e-15


def test_a_mirrored_loop_is_the_mirror_image():
    m = Mechanism("mirror")
    part = m.assembly("part")
    part.body("a", 1.0, (1, 0, 0), **BALL)
    part.joint("ja", "revolute", "ground", "a", (0, 1, 0), axis=(1, 1, 0))
    part.point_on_plane("plane", ("ground", (0, 0.5, 0)), ("a", (1, 2, 0)), (0, 3, 4))
    part.joint("jb", "revolute", "ground", "a", (1, 2, 0), axis=(1, 1, 0))
    m.copy("left", "part")
    m.copy("right", "part", mirror="y")
    joint_l, joint_r, plane_l, plane_r = m.build().closures
    assert joint_r.joint.axis == pytest.approx([-joint_l.joint.axis[0], joint_l.joint.axis[1], 0])
    assert plane_r.axis == (0.0, -0.6, 0.8) and plane_r.value == pytest.approx(plane_l.value)
