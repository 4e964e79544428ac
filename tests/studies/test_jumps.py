"""Forces that may jump are named before their run is differentiated."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.studies.jumps import warn_of_jumps

BLOCK = """
format = 1
name = "block"
[bodies.block]
point_mass = { at = [0, 0, 0], mass = 1.0 }
[joints.slide]
type = "prismatic"
parent = "ground"
child = "block"
point = [0, 0, 0]
axis = "x"
"""


@pytest.mark.parametrize(
    ("force", "named"),
    [
        ('[stops.end]\njoint = "slide"\nupper = 1.0\nstiffness = 1e4\ndamping = 10.0', '"end" .its damping begins'),
        ('[motors.drive]\njoint = "slide"\neffort = "=if(slide.q > 1, 2, 0)"', "drive.*decides between values"),
    ],
)
def test_forces_that_may_jump_are_named(force, named):
    with pytest.warns(bc.BellcrankWarning, match=named):
        warn_of_jumps(bc.load(BLOCK + force))


@pytest.mark.parametrize(
    "force",
    [
        "",
        '[stops.end]\njoint = "slide"\nupper = 1.0\nstiffness = 1e4',
        '[motors.drive]\njoint = "slide"\neffort = "=smoothstep(0, 1, slide.q)"',
    ],
)
def test_continuous_forces_are_not(force):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_jumps(bc.load(BLOCK + force))


def test_the_height_and_the_place_of_a_pulse_are_parameters_like_others():
    """1 kg at 10 m/s passes a pulse of 0.2 H J at x0: v = sqrt(100 + 0.4 H), wherever the pulse is."""
    m = bc.Mechanism("flying", gravity=(0, 0, 0))
    m.parameter("H", 100.0)
    m.parameter("x0", 50.0)
    m.sphere("ball", (0, 0, 0), 0.1, mass=1.0)
    m.joint("slide", "prismatic", "ground", "ball", point=(0, 0, 0), axis="x")
    rows = [(0, 0), ("=x0", 0), ("=x0+0.1", "=H"), ("=x0+0.2", "=H"), ("=x0+0.3", 0), (1000, 0)]
    m.table("push", rows, interpolation="linear")
    m.motor("thrust", "slide", "=push(slide.q)")
    m.start("slide", v=10.0)
    names = ["parameters.H", "parameters.x0"]
    found = bc.sensitivity(m.build(), names, ["slide.v@end"], 10.0, step=10.0, control="all")
    v = np.sqrt(100 + 2 * 20)
    np.testing.assert_allclose(found.value("slide.v@end"), v, rtol=1e-8)
    np.testing.assert_allclose(found.d("slide.v@end"), [0.2 / v, 0.0], atol=1e-7)
