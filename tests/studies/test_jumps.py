"""Forces that may jump are named before their run is differentiated."""

from __future__ import annotations

import warnings

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
