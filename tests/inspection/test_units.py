"""Degrees and millimetres in a model are remarked on; large and winding machines are not."""

from __future__ import annotations

import pytest

import bellcrank as bc
from bellcrank.inspection.units import KINDS


def remarks(model):
    return [text for kind in KINDS for text in kind(model)]


def hinged(length=1.0, mass=1.0, q=0.0, kind="revolute", **options):
    m = bc.Mechanism("m", gravity=options.pop("gravity", (0, 0, -9.81)))
    m.body("bob", mass, (length, 0, 0), (1.0, 1.0, 1.0))
    m.joint("hinge", kind, "ground", "bob", (0, 0, 0), axis="y", **options)
    m.start("hinge", q)
    return m


def test_an_angle_in_degrees_is_noticed_by_check():
    found = bc.check(hinged(q=57.3).build())
    words = '"hinge" starts at 57.3 rad, 9.12 turns: angles are in rad. If degrees are meant, write "=deg(57.3)"'
    assert found.remarks == (words,)
    assert remarks(hinged(q=-6.0).build()) == []


def test_stops_and_springs_in_degrees_are_noticed():
    m = hinged()
    m.stop("buffer", "hinge", 100.0, lower=-45.0, upper=1.0)
    m.spring("coil", "hinge", 1.0, rest=90.0)
    found = sorted(text.partition(" rad")[0] for text in remarks(m.build()))
    assert found == ['lower of "buffer" is -45', 'rest of "coil" is 90']


def test_limits_in_degrees_are_noticed_and_endless_ones_are_not():
    robot = """<mujoco><compiler angle="radian" autolimits="true"/><option><flag contact="disable"/></option><worldbody>
    <body name="a"><joint name="j" axis="0 1 0" range="-180 1e6"/><geom size=".1" pos="1 0 0"/></body></worldbody></mujoco>"""
    pytest.importorskip("mujoco")
    with pytest.warns(bc.BellcrankWarning):
        model = bc.load(robot)
    assert [text.partition(" rad")[0] for text in remarks(model)] == ['the lower limit of "j" is -180']


def test_a_screw_may_turn_often_and_a_slide_has_no_turns():
    assert remarks(hinged(q=200.0, kind="screw", pitch=0.001).build()) == []
    assert remarks(hinged(q=57.3, kind="prismatic").build()) == []


@pytest.mark.parametrize(("length", "mass", "told"), [(1200, 1e6, True), (120, 1, True), (45, 35_000, False), (0.12, 1, False)])
def test_a_pendulum_in_millimetres_is_noticed(length, mass, told):
    found = remarks(hinged(length, mass).build())
    assert bool(found) == told
    assert not told or found[0].startswith(
        f"{length} m is usual between joints and centres of mass here, with {mass:.4g} kg in all"
    )


def test_gravity_in_millimetres_is_noticed():
    assert remarks(hinged(gravity=(0, 0, -9810)).build()) == [
        "gravity is 9810 m/s2: lengths are in m, and 9.81 m/s2 is usual on Earth"
    ]


@pytest.mark.parametrize("name", bc.gallery())
def test_the_gallery_is_in_radians_and_metres(name):
    assert remarks(bc.load(name)) == []
