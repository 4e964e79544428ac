"""What a variant cannot do is said, in the names of the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.papers.reduction import accelerate

from ..closed_linkages import four_bar, n_four_bar
from ..closed_table import case
from ..oracles.closed_models import five_bar


def refused(model, match, error=bc.BellcrankError, **given):
    q, v = given.pop("q", model.initial_q), given.pop("v", model.initial_v)
    with pytest.raises(error, match=match):
        accelerate(model, q, v, **given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"variant": "block"}, 'no variant "block". Choose from rcr, acs, gcl, body'),
        ({"variant": "rcr", "dependents": ["q5"]}, 'variant "rcr", which finds its own. Use variant="acs"'),
        ({"variant": "body", "fictitious": ("bar1", "bar2")}, 'asked for with variant "body". Use variant="gcl"'),
        ({"threshold": 0.0}, "the threshold is 0.0. Give a number between 0 and 1"),
        ({"q": [0.0]}, r"q has the shape \(1,\). Give one state, of shape \(4,\)"),
        ({"v": [0.0, np.nan, 0.0, 0.0]}, "v has entries that are not finite"),
        ({"inputs": [1.0]}, r"inputs have the shape \(1,\). The model has 0"),
        (
            {"variant": "acs", "dependents": ["elbow"]},
            "elbow cannot be dependent: no loop has such a coordinate. Choose from bar1_joint",
        ),
        (
            {"variant": "acs", "dependents": ["bar2_joint"]},
            "has 3 independent equations, and 2 dependent coordinates: bar2_joint, q5",
        ),
        (
            {"variant": "gcl", "fictitious": ("bar1", "elbow")},
            r"between two different bodies, not \('bar1', 'elbow'\). Choose from ground",
        ),
        ({"variant": "gcl", "fictitious": ("bar1", "bar1")}, "between two different bodies"),
    ],
)
def test_arguments_that_cannot_be(given, told):
    refused(five_bar(0.3), told, bc.StateError, **given)


def test_loops_that_share_bodies_are_not_taken_one_by_one():
    for variant in ("rcr", "acs"):
        refused(n_four_bar(2), 'the loops "crank1_joint" and "crank2_joint" share crank0. Use variant="gcl"', variant=variant)


def test_couplers_are_no_loops_of_bodies():
    model, state, _ = case("coupler")
    for variant in ("rcr", "acs", "gcl"):
        refused(model, 'coupler_1 couples coordinates. Use variant="body"', q=state["q"], v=state["v"], variant=variant)


def test_a_fictitious_joint_stays_within_a_loop():
    model, _, _ = case("ladder of hinges")
    refused(model, "no loop has both left1 and left3", bc.StateError, variant="gcl", fictitious=("left1", "left3"))


def test_a_mechanism_that_is_singular_itself_has_no_representation():
    """A four-bar of equal cranks, all but flat: no three of its hinges are in general position."""
    flat = replace(n_four_bar(1, angle=1e-5), given_v=np.zeros(3))
    refused(flat, 'Neither the opposite direction nor one fictitious joint avoids that.*use variant="body"', variant="gcl")


@pytest.mark.parametrize("variant", ["rcr", "acs", "gcl", "body"])
def test_a_leaf_without_mass(variant):
    """On a joint that no closure holds."""
    model = four_bar()
    mass, inertia = model.mass.copy(), model.inertia.copy()
    mass[1], inertia[1] = 0.0, 0.0
    open_chain = replace(model, closures=(), mass=mass, inertia=inertia, given_v=np.zeros(3))
    refused(open_chain, '"coupler_joint" can move in a direction in which nothing has mass', bc.DynamicsError, variant=variant)


@pytest.mark.parametrize("variant", ["acs", "gcl", "body"])
def test_a_slider_without_mass_inside_a_loop(variant):
    """Bar 4 of the five-bar moves nothing but itself."""
    model = five_bar(0.3)
    mass, inertia = model.mass.copy(), model.inertia.copy()
    mass[3], inertia[3] = 0.0, 0.0
    refused(
        replace(model, mass=mass, inertia=inertia),
        "can move in a direction in which nothing has mass.*Give the bodies beyond it a mass",
        bc.DynamicsError,
        variant=variant,
    )
