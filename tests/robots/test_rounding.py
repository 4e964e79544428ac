"""Redundant connects whose points are nanometres apart, as the digits of a file leave them: closed as well as they can be.

The smallest equivalent of a robot's parallel linkage: a planar four-bar whose last hinge is two connects, 20 mm apart.
"""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc

from .engines import loaded

pytest.importorskip("mujoco")

LINKAGE = """<mujoco model="linkage"><option><flag contact="disable"/></option><worldbody>
<body name="crank"><joint name="a" axis="0 1 0"/><geom type="capsule" size=".004" fromto="0 0 0 .03 0 .04"/>
<body name="coupler" pos=".03 0 .04"><joint name="b" axis="0 1 0"/><geom type="capsule" size=".004" fromto="0 0 0 .1 0 .02"/>
<site name="p1" pos=".1 {across} .02"/><site name="p2" pos=".1 -.01 .02"/></body></body>
<body name="rocker" pos=".15 0 0"><joint name="c" axis="0 1 0"/><geom type="capsule" size=".004" fromto="0 0 0 -.02 0 .06"/>
<site name="q1" pos="-.02 .01 .06"/><site name="q2" pos="{along} -.01 .06"/></body></worldbody>
<equality><connect name="one" site1="p1" site2="q1"/><connect name="two" site1="p2" site2="q2"/></equality>
<keyframe><key name="home" qpos="0.1 0 0" qvel="6 0 0"/></keyframe></mujoco>"""
APART = {"exact": (".01", "-.02"), "across the plane": (".0100000134", "-.02"), "in the plane": (".01", "-.0199999866")}


def linkage(case: str) -> bc.Model:
    across, along = APART[case]
    return loaded(LINKAGE.format(across=across, along=along))


@pytest.mark.parametrize(("case", "remains"), [("across the plane", 13.4e-9), ("in the plane", 6.7e-9)])
def test_redundant_connects_that_are_nanometres_apart_are_closed_in_the_least_squares_sense(case, remains):
    """Across the plane nothing can mend 13.4 nm; in it each of the two points takes half of them."""
    model = linkage(case)
    with pytest.warns(bc.BellcrankWarning, match=r"closes only nearly \(its points are apart by .* mm\).*least-squares sense"):
        found = bc.assemble(model)
    assert found.q[0] == model.spec.initial[0].q[0] == 0.1 and found.v[0] == 6.0  # as the keyframe has them
    assert found.error == pytest.approx(remains, rel=2e-2)
    exact = bc.assemble(linkage("exact"))
    assert np.abs(found.q - exact.q).max() < 1e-6 and np.abs(found.v - exact.v).max() < 1e-5


@pytest.mark.filterwarnings("ignore::bellcrank.BellcrankWarning")
@pytest.mark.parametrize("formulation", ["coordinate_reduction", "multipliers"])
def test_they_run_to_the_end_as_the_exact_linkage_does(formulation):
    """Across the plane they change nothing of the motion; in it, some 1e-7 rad of the start, which grow with the turns."""
    runs = {case: bc.simulate(linkage(case), 1.0, formulation=formulation).values("q") for case in APART}
    assert np.abs(runs["across the plane"] - runs["exact"]).max() < 1e-12
    assert 0 < np.abs(runs["in the plane"] - runs["exact"]).max() < 1e-4


@pytest.mark.filterwarnings("ignore::bellcrank.BellcrankWarning")
def test_coordinates_that_contradict_the_loops_are_still_refused():
    with pytest.raises(bc.AssemblyError, match="over-determined: 2 coordinates are held and it has 1 degree of freedom"):
        bc.assemble(linkage("across the plane"), q={"a": 0.3, "b": -0.2})


@pytest.mark.filterwarnings("ignore::bellcrank.BellcrankWarning")
def test_a_refusal_names_the_tolerance():
    """A millimetre is no rounding; who takes it as such passes a tolerance."""
    model = loaded(LINKAGE.format(across=".011", along="-.02"))
    with pytest.raises(bc.AssemblyError, match=r"apart by 1 mm\..* closed within 0\.0\d+ mm \(tolerance of bc\.assemble\)"):
        bc.assemble(model)
    assert bc.assemble(model, tolerance=2e-3).error == pytest.approx(1e-3, rel=1e-3)
