"""Redundant connects whose points are nanometres apart, as the digits of a file leave them: closed as well as they can be.

The smallest equivalent of a robot's parallel linkage: a planar four-bar whose last hinge is two connects, 20 mm apart.
"""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.io.exchange.imported import matrix_of, quaternion_of

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
    with pytest.raises(bc.AssemblyError, match=r"apart by 1 mm\..* closed within 0\.0\d+ mm \(tolerance\)"):
        bc.assemble(model)
    assert bc.assemble(model, tolerance=2e-3).error == pytest.approx(1e-3, rel=1e-3)


def tilted(digits: int) -> str:
    """The same linkage in a tilted plane, every body in axes of its own, its numbers rounded to so many digits."""
    rng = np.random.default_rng(3)
    W, C, K, R = (matrix_of(rng.normal(size=4)) for _ in range(4))  # the plane; axes of crank, coupler and rocker
    normal = W[:, 1]
    a, b, c, d = (W @ [x, 0, z] for x, z in ((0, 0), (0.03, 0.04), (0.13, 0.06), (0.15, 0)))

    def text(values: object) -> str:
        return " ".join(f"{x:.{digits}g}" for x in np.atleast_1d(values))

    def body(name: str, joint: str, at: object, outer: object, own: object, end: object) -> str:
        bar = f'<geom type="capsule" size=".004" fromto="0 0 0 {text(own.T @ end)}"/>'
        sites = "".join(
            f'<site name="{name}{k}" pos="{text(own.T @ (end + y * normal))}"/>' for k, y in ((1, 0.01), (2, -0.01))
        )
        place = f'pos="{text(outer.T @ at)}" quat="{text(quaternion_of(outer.T @ own))}"'
        return f'<body name="{name}" {place}><joint name="{joint}" axis="{text(own.T @ normal)}"/>{bar}{sites}'

    bodies = f"{body('crank', 'a', a, np.eye(3), C, b - a)}{body('coupler', 'b', b - a, C, K, c - b)}</body></body>"
    bodies += f"{body('rocker', 'c', d, np.eye(3), R, c - d)}</body>"
    closed = "".join(f'<connect site1="coupler{k}" site2="rocker{k}"/>' for k in (1, 2))
    head = '<mujoco model="tilted"><option><flag contact="disable"/></option>'
    return (
        f'{head}<worldbody>{bodies}</worldbody><equality>{closed}</equality><keyframe><key qpos="0.1 0 0"/></keyframe></mujoco>'
    )


@pytest.mark.filterwarnings("ignore::bellcrank.BellcrankWarning")
@pytest.mark.parametrize("digits", [5, 6])
def test_a_linkage_whose_axes_are_parallel_but_for_the_rounding_of_its_file_is_not_locked(digits, tmp_path):
    """Its motion is that of the exact one, but for some ten times what the digits leave open."""
    model, exact = loaded(tilted(digits)), loaded(tilted(16))
    assert model.source.rounding == float(f"5e-{digits}") and exact.source.rounding == 0
    bc.save(model, tmp_path / "tilted.toml")
    assert bc.load(tmp_path / "tilted.toml").source == model.source
    ours, theirs = (bc.simulate(m, 0.2).values("q") for m in (model, exact))
    assert np.abs(theirs - theirs[0]).max() > 0.5  # it falls
    assert np.abs(ours - theirs).max() < 200 * model.source.rounding


def test_numbers_that_were_typed_by_hand_are_exact():
    with pytest.warns(bc.BellcrankWarning) as caught:
        model = bc.load(LINKAGE.format(across=".01", along="-.02"))
    assert model.source.rounding == 0 and "look rounded" not in str(caught[0].message)
    with pytest.warns(bc.BellcrankWarning, match=r"its numbers look rounded: .* by less than 2e-05 \(rank_tolerance\)"):
        bc.load(tilted(6))
