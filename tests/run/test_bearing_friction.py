"""Friction that grows with the load of its joint, coefficient * radius * |reaction|: against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.io.native.writer import dumps

MU, G = 0.2, 9.81
SLOW = pytest.mark.filterwarnings("ignore:the load of friction")


def block(**friction):
    """A block on a slide that slopes by 45 degrees, and so presses on it with m g cos 45."""
    m = bc.Mechanism("block", gravity=(0, 0, -G), duration=0.5, step=0.05)
    m.body("block", mass=3.0, center=(0, 0, 0), inertia=(1, 1, 1))
    m.joint("slide", "prismatic", "ground", "block", point=(0, 0, 0), axis=(1, 0, -1))
    m.friction("friction", "slide", velocity=1e-3, **friction)
    return m.build()


@SLOW
def test_a_block_slides_down_a_slope_against_friction():
    """a = g (sin - mu cos)."""
    run = bc.simulate(block(coefficient=MU), v={"slide": 1.0})
    wanted = G * math.sqrt(0.5) * (1 - MU)
    assert run.a.values[:, 0] == pytest.approx(wanted, rel=1e-5)  # smooth friction: e^2/2v^2 less
    assert run.inputs.sel(input="load of friction").values == pytest.approx(3.0 * G * math.sqrt(0.5))
    assert run.energy_error < 1e-6


@SLOW
def test_a_flywheel_runs_down_by_the_friction_of_its_bearing():
    """J w' = -mu r m g: a straight line."""
    m = bc.Mechanism("flywheel", gravity=(0, 0, -G), duration=1.0, step=0.1)
    m.cylinder("wheel", (0, -0.05, 0), (0, 0.05, 0), radius=0.3, mass=20.0)
    m.joint("bearing", "revolute", "ground", "wheel", point=(0, 0, 0), axis="y")
    m.friction("friction", "bearing", 0.1, coefficient=MU, radius=0.02, velocity=1e-4)
    model = m.build()
    run = bc.simulate(model, v={"bearing": 50.0}, method="rk4")
    slowing = (0.1 + MU * 0.02 * 20.0 * G) / (0.5 * 20.0 * 0.3**2)
    assert run.v.values[:, 0] == pytest.approx(50.0 - slowing * run.time.values, rel=1e-9)


@SLOW
def test_the_load_is_that_of_the_motion_with_its_friction():
    """A pendulum: the reaction that friction causes is in the load; the iterations end at R = |reaction(a(R))|."""
    m = bc.Mechanism("pendulum", gravity=(0, 0, -G), duration=0.4, step=0.05)
    m.rod("rod", (0, 0, 0), (1, 0, 0), mass=2.0)
    m.joint("hinge", "revolute", "ground", "rod", point=(0, 0, 0), axis="y")
    m.friction("friction", "hinge", coefficient=0.4, radius=0.1, velocity=0.01)
    run = bc.simulate(m.build(), v={"hinge": 0.5})
    force = np.linalg.norm(run.reactions.values[:, 0, :3], axis=1)
    assert run.inputs.values[:, 0] == pytest.approx(force, rel=1e-9)
    v = run.v.values[:, 0]
    assert run.forces.values[:, 0] == pytest.approx(-0.04 * force * v / np.sqrt(v**2 + 1e-4), rel=1e-9)


@SLOW
def test_bearings_of_a_closed_loop_have_friction_too():
    text = dumps(bc.load("four_bar"))
    for joint in ("crank_pin", "rocker_pivot"):
        text += f'[frictions.of_{joint}]\njoint = "{joint}"\ncoefficient = 0.1\nradius = 0.02\n'
    run = bc.simulate(bc.load(text), 0.05)
    assert (np.diff(run.work.sum("source").values) < 0).all() and run.energy_error < 1e-6


@SLOW
def test_a_bearing_that_jams_is_told():
    m = bc.Mechanism("jam", gravity=(0, 0, -G), duration=0.1)
    m.rod("rod", (0, 0, 0), (1, 0, 0), mass=2.0)
    m.joint("hinge", "revolute", "ground", "rod", point=(0, 0, 0), axis="y")
    m.friction("friction", "hinge", coefficient=2.0, radius=1.5)
    with pytest.raises((bc.DynamicsError, bc.SimulationError), match="friction has no solution for the load .* jams"):
        bc.simulate(m.build(), v={"hinge": 0.5})


def test_a_run_says_that_loads_are_found_by_iteration():
    with pytest.warns(UserWarning, match="the load of friction friction is found by iteration at every evaluation"):
        bc.simulate(block(coefficient=MU), 0.1, v={"slide": 1.0})


def test_what_finds_no_loads_says_so():
    model = block(coefficient=MU)
    for what in (
        lambda: bc.simulate_many(model, v=[[1.0], [2.0]]),
        lambda: bc.inverse_motion(model, {"slide": 0.0}, [0, 1, 2]),
        lambda: bc.sensitivity(model, ["block.mass"], ["slide@end"], 0.1),
    ):
        with pytest.raises(bc.StateError, match="does not find the load of friction 'friction': simulate does"):
            what()


HEAD = """format = 1
[bodies.wheel]
cylinder = { from = [0, 0, 0], to = [0, 0, 1], radius = 0.1, mass = 1.0 }
[joints.axle]
type = "TYPE"
parent = "ground"
child = "wheel"
point = [0, 0, 0]
axis = "z"
[frictions.f]
joint = "axle"
"""
WRONG = [
    ("revolute", "", "it has no effort. Give it, or a coefficient and the radius"),
    ("revolute", "coefficient = 0.1", 'joint "axle" turns: give the radius of its bearing'),
    ("prismatic", "coefficient = 0.1\nradius = 1.0", 'joint "axle" slides, and has no radius'),
    ("revolute", "effort = 1.0\nradius = 1.0", "a radius goes with a coefficient"),
    ("revolute", "coefficient = 0.1\nradius = 1.0\nstiffness = 3.0", "is smooth: remove stiffness"),
    ("revolute", "coefficient = -0.1\nradius = 1.0", "coefficient"),
]


@pytest.mark.parametrize(("kind", "keys", "text"), WRONG)
def test_wrong_friction_is_told_with_its_place(kind, keys, text):
    with pytest.raises(bc.ModelError, match=text) as caught:
        bc.load(HEAD.replace("TYPE", kind) + keys)
    assert "line" in str(caught.value)
