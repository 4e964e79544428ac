"""A wrong axis in a loop: which joint locks it, by how much it is off, and which axis would do."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.assembly.locking import locking_axis
from bellcrank.assembly.loops import Loops
from bellcrank.dynamics.dynamics import Dynamics
from bellcrank.model import Mechanism

BASE, A, B, C = (0, 0, 0), (0, 0.3, 0), (0.9, 0.6, 0), (0.9, 0, 0)
PINS = {
    "shaft": ("ground", "crank", BASE),
    "pin": ("crank", "bar", A),
    "knee": ("arm", "bar", B),
    "pivot": ("ground", "arm", C),
}


def four_bar(**axes):
    m = Mechanism("four-bar")
    for name, ends in {"crank": (BASE, A), "bar": (A, B), "arm": (B, C)}.items():
        m.rod(name, *ends, mass=1.0, radius=0.01)
    for name, (parent, child, point) in PINS.items():
        m.joint(name, "revolute", parent, child, point, axis=axes.get(name, "z"))
    m.start("shaft", v=2.0)
    return m.build()


def locking(model):
    return locking_axis(Loops(Dynamics(model, "multipliers", optimisation=0)), model.given_q, 0.0)


@pytest.mark.parametrize("name", PINS)
def test_a_tilted_hinge_of_a_plane_linkage_is_named_with_the_axis_of_the_others(name):
    """Whether it is of the tree or closes the loop (the pivot), and written from either side (the knee)."""
    found = locking(four_bar(**{name: (0.03, -0.04, 1.0)}))
    assert found.joint == name and np.degrees(found.angle) == pytest.approx(np.degrees(np.arctan(0.05)), rel=1e-6)
    assert found.wanted == pytest.approx([0, 0, 1], abs=1e-9)
    assert set(found.parallel) == PINS.keys() - {name}


def slider_crank(axis):
    m = Mechanism("slider-crank")
    m.rod("crank", BASE, A, mass=1.0, radius=0.01)
    m.rod("rod", A, (1.0, 0, 0), mass=1.0, radius=0.01)
    m.body("piston", 1.0, (1.0, 0, 0), (0.01, 0.01, 0.01))
    m.joint("shaft", "revolute", "ground", "crank", BASE, axis="z")
    m.joint("pin", "revolute", "crank", "rod", A, axis="z")
    m.joint("wrist", "revolute", "rod", "piston", (1.0, 0, 0), axis="z")
    m.joint("bore", "prismatic", "ground", "piston", (1.0, 0, 0), axis=axis)
    return m.build()


def test_a_slide_that_leaves_the_plane_of_the_crank_is_named():
    found = locking(slider_crank((1.0, 0.0, 0.1)))
    assert found.joint == "bore" and np.degrees(found.angle) == pytest.approx(np.degrees(np.arctan(0.1)), rel=1e-6)
    assert found.wanted == pytest.approx([1, 0, 0], abs=1e-9)


def test_the_messages_name_the_joint_and_by_how_many_degrees_it_is_off():
    model = four_bar(knee=(0, 0.05, 1.0))
    words = r"joint 'knee' locks its loop: it is 2\.86 degrees off\. With the axis \(0, 0, 1\), parallel to that of"
    with pytest.raises(bc.AssemblyError, match=f"has no velocities that its loops agree with.*{words}"):
        bc.assemble(model)
    with pytest.raises(bc.StateError, match=f"cannot move.*{words}"):
        bc.simulate(model, duration=0.1, v=np.zeros(3))
    assert any("the mechanism is locked" in text and "'knee' locks its loop" in text for text in model.check().remarks)


def test_where_no_single_axis_would_do_none_is_blamed():
    """Two hinges tilted, each its own way."""
    model = four_bar(knee=(0, 0.05, 1.0), shaft=(0.05, 0.02, 1.0))
    assert locking(model) is None
    with pytest.raises(bc.AssemblyError, match="Hold fewer velocities, or change them"):
        bc.assemble(model)


def test_a_structure_is_not_taken_for_a_mechanism_with_a_wrong_axis():
    """A bar on a hinge and a strut: about its own line it could turn, but nobody meant that."""
    m = Mechanism("bracket")
    m.rod("bar", (0, 0, 0), (1, 0, 0), mass=2.0, radius=0.01)
    m.joint("hinge", "revolute", "ground", "bar", (0, 0, 0), axis="y")
    m.distance("strut", ("ground", (1, 0, 0.5)), ("bar", (1, 0, 0)))
    assert locking(m.build()) is None


def test_a_loop_that_moves_is_not_blamed():
    assert locking(four_bar()) is None
