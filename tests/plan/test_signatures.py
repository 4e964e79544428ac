"""Few signatures, so that the code stays small: bounded for any mechanism, and the same for chains of any length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bellcrank.model.generators import chain, humanoid, pin_joint_chain, random_tree
from bellcrank.plan import SLOTS, make_plan
from bellcrank.plan.plan import _MOST_SIGNATURES

KINDS = ("revolute", "prismatic", "spherical", "fixed")


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_of_any_length_has_a_handful(kind):
    """The root, the middle and the tip, and where the guard of the frames acts."""
    few = len(make_plan(chain(12, 1, kind)).signatures)
    assert few <= 5
    for n in (100, 1000):
        assert len(make_plan(chain(n, 1, kind)).signatures) <= 5


def test_the_chain_of_the_papers_has_three():
    """It is made so that every offset is (a, 0, d)."""
    for n in (4, 50, 500):
        assert len(make_plan(pin_joint_chain(n)).signatures) == 3


def test_a_humanoid_has_fewer_than_bodies():
    plan = make_plan(humanoid())
    assert plan.n == 31 and len(plan.signatures) <= 20 and _MOST_SIGNATURES >= 20


@pytest.mark.parametrize("seed", range(5))
def test_the_number_is_bounded_for_any_tree(seed):
    """Beyond the bound, structure folds by role only: 4 kinds, on ground or not, tip or not, and three places in a branch."""
    for n in (50, 400):
        assert len(make_plan(random_tree(n, seed, armature=bool(seed % 2))).signatures) <= 60


def test_bodies_share_a_signature_only_if_their_constants_agree():
    """What folds must be true of every body that uses the code."""
    for model in (humanoid(), random_tree(60, 1), chain(30), pin_joint_chain(9, perpendicular=True)):
        plan = make_plan(model)
        for i in range(plan.n):
            for slot, value in plan.signature(i).constants:
                assert plan.data[i, slot] == value


def test_values_are_data_and_zeros_are_structure():
    model = chain(6)
    heavier = replace(model, mass=model.mass * 2)
    assert make_plan(model).signatures == make_plan(heavier).signatures
    armature = np.zeros(model.nv)
    armature[2] = 0.1
    assert make_plan(model).signatures != make_plan(replace(model, armature=armature)).signatures


def test_only_zeros_and_the_ones_of_rotations_fold():
    turns = {k for name in ("gamma", "alpha", "rest", "turn") for k in SLOTS[name]}
    for model in (humanoid(), random_tree(40, 2)):
        for signature in make_plan(model).signatures:
            for slot, value in signature.constants:
                assert value == 0 or (slot in turns and abs(value) == 1)
