"""An axis that is a little off in a loop: check, assemble and simulate say the same of it, by one rank rule (spatial.rank)."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc

from ..closed_linkages import bennett, bricard, parallelogram

HINGES = ("crank_pivot", "crank_pin", "rocker_pin", "rocker_pivot")
WAYS = (
    {"formulation": "coordinate_reduction"},
    {"formulation": "multipliers"},
    {"formulation": "canonical_momenta"},
    {"method": "rattle", "max_step": 2e-3},
)


def tilted(model, name, angle, about=(1.0, 0.0, 0.0)):
    """The axis of one hinge turned by an angle, about the part of a direction that is across it."""

    def turned(joint):
        axis = np.array(joint.axis)
        across = np.cross(about, axis)
        axis = axis * np.cos(angle) + across / np.linalg.norm(across) * np.sin(angle)
        return replace(joint, axis=tuple(axis.tolist()))

    joints = tuple(turned(j) if n == name else j for n, j in zip(model.joint_names, model.joints, strict=True))
    closures = tuple(replace(c, joint=turned(c.joint)) if c.name == name else c for c in model.closures)
    return replace(model, joints=joints, closures=closures)


def last(model, duration=0.1, **options):
    """Where a run ends; nothing is worth a warning on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", bc.BellcrankWarning)
        return bc.simulate(model, duration, step=0.05, **options).values("q")[-1]


@pytest.fixture(scope="module")
def four_bar():
    return bc.load("four_bar")


@pytest.fixture(scope="module")
def straight(four_bar):
    return [last(four_bar, **way) for way in WAYS]


@pytest.mark.parametrize(("name", "about"), list(zip(HINGES, [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)] * 2, strict=True)))
def test_a_hinge_that_is_off_by_less_than_the_tolerance_changes_nothing(four_bar, straight, name, about):
    """1e-8 rad; positions follow the tilt in second order only, the rest is rounding."""
    model = tilted(four_bar, name, 1e-8, about)
    found = model.check()
    assert found.dof == 1 and found.loops.nearby == 1 and not found.remarks
    assert bc.assemble(model).error < 1e-12
    for way, expected in zip(WAYS, straight, strict=True):
        assert last(model, **way) == pytest.approx(expected, abs=1e-11), way


@pytest.mark.parametrize("angle", [1e-10, 1e-7])
def test_so_it_is_whatever_the_angle_below_it(four_bar, straight, angle):
    model = tilted(four_bar, "crank_pin", angle)
    assert model.check().dof == 1 and not model.check().remarks
    for way, expected in zip(WAYS, straight, strict=True):
        assert last(model, **way) == pytest.approx(expected, abs=1e-10), way


@pytest.mark.parametrize(("name", "angle"), [("crank_pivot", 1e-5), ("rocker_pin", 1e-3)])
def test_a_hinge_that_is_off_by_more_locks_and_all_name_it_with_its_angle(four_bar, name, angle):
    model = tilted(four_bar, name, angle)
    words = f"joint '{name}' locks its loop: it is out of line by {np.degrees(angle):.3g} degrees"
    found = model.check()
    assert found.dof == 0 and any("the mechanism is locked" in text and words in text for text in found.remarks)
    with pytest.raises(bc.AssemblyError, match=f"with 0 degrees of freedom there.*{words}"):
        bc.assemble(model)
    for way in WAYS[1:]:
        with pytest.raises(bc.AssemblyError, match=words):
            last(model, **way)
        with pytest.raises(bc.StateError, match=f"cannot move.*{words}"):
            last(model, v=np.zeros(3), **way)


def test_the_tolerance_that_is_asked_for_decides(four_bar, straight):
    """1e-5 rad are redundant by a tolerance of 1e-4; 1e-8 rad are not by one of 1e-10."""
    model = tilted(four_bar, "crank_pin", 1e-5)
    assert model.check(rank_tolerance=1e-4).dof == 1 and not model.check(rank_tolerance=1e-4).loops.problems
    assert bc.assemble(bc.compile(model, rank_tolerance=1e-4)).error < 1e-12
    for way, expected in zip(WAYS, straight, strict=True):
        assert last(model, rank_tolerance=1e-4, **way) == pytest.approx(expected, abs=1e-8), way
    model = tilted(four_bar, "crank_pin", 1e-8)
    assert model.check(rank_tolerance=1e-10).dof == 0
    with pytest.raises(bc.StateError, match="cannot move"):
        last(model, rank_tolerance=1e-10)


@pytest.mark.parametrize("make", [bennett, bricard, parallelogram])
def test_overconstrained_linkages_in_space_too(make):
    """Their coordinates follow the tilt in first order: 1e-8 rad."""
    model, about = make(), (0.3, 0.5, 0.81)
    speed = {model.v_names[0]: 1.0}
    ways = WAYS[::3]  # by the default, and by rattle
    expected = [last(model, v=speed, **way) for way in ways]
    name = model.joint_names[0]
    slightly, clearly = (tilted(model, name, angle, about) for angle in (1e-8, 1e-3))
    found = slightly.check()
    assert found.dof == 1 and not found.remarks
    for way, q in zip(ways, expected, strict=True):
        assert last(slightly, v=speed, **way) == pytest.approx(q, abs=1e-7), way
    assert clearly.check().dof == 0
    with pytest.raises(bc.AssemblyError, match=f"'{name}' locks its loop"):
        last(clearly, v=speed)
