"""Every variant of the coordinate reduction moves closed mechanisms as their positions say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import bellcrank as bc
from bellcrank.papers.reduction import accelerate, forces
from bellcrank.papers.reduction.accelerate import by_loops
from bellcrank.papers.reduction.body import Elimination
from bellcrank.papers.reduction.opened import graph, open_loops
from bellcrank.papers.reduction.state import at_state

from .. import closed_reference as ref
from ..closed_linkages import ladder, spatial_ladder
from ..closed_random import moving_mechanisms
from ..closed_states import moving
from ..closed_table import ALL, COUPLED, MECHANISMS, case
from .runs import ring

# Of the largest acceleration, times the condition number of the problem. Measured: 4e-16. A dependent coordinate of pivot p
# loses p^-2 (EQUATIONS 3.6), which is the point of choosing it well.
AGREEMENT = 1e-14

COUPLERS = {"coupler", "driven coupler", "guided points and a gear", "loops on driven bases", "driven closures"}
# A ball or a plate at one end of a loop and a ball at the other: rods spin and plates slide without moving anything else.
SINGULAR_AT_THE_END = {"planar", "spherical"}
OVERLAPPING = {
    "loops that share bodies",
    "axes at right angles",
    "multi-dof joints close loops",
    "a slider, a screw and a weld close loops",
    "loops on a floating base",
    "driven sliders and screws",
    "driven platforms",
    "driven closures on driven bases",
    "four-bars in a row",
    "parallelogram with more cranks",
    "every closure twice",
}
ONE_BY_ONE = [name for name in ALL if name not in COUPLERS | OVERLAPPING]
TRIED = [
    *(("body", name) for name in ALL),
    *(("gcl", name) for name in ALL if name not in COUPLERS),
    *(("acs", name) for name in ONE_BY_ONE),
    *(("rcr", name) for name in ONE_BY_ONE if name not in SINGULAR_AT_THE_END),
]


def far(x, expected):
    expected = np.asarray(expected, dtype=float)
    return float(np.abs(np.asarray(x, dtype=float) - expected).max(initial=0.0) / np.abs(expected).max(initial=1e-300))


def mechanism_of(model, state):
    return at_state(model, state["q"], state["v"], state["tau"], state["t"], state["inputs"])


def allowed(expected, found):
    return AGREEMENT * expected.solution.amplification / min(1.0, found.pivot) ** 2


@pytest.mark.parametrize(("variant", "name"), TRIED)
def test_closed_mechanisms_accelerate_as_their_positions_say(variant, name):
    model, state, expected = case(name)
    found = accelerate(model, **state, variant=variant)
    assert (name in COUPLERS) == any(closure.kind == "coupler" for closure in model.closures)
    assert far(found.a, expected.a) < allowed(expected, found)
    assert found.rank == int(model.closure_index[-1]) - expected.solution.idle.shape[1]
    assert found.residual < 1e-10


@pytest.mark.parametrize(("variant", "name"), [x for x in TRIED if x[1] in MECHANISMS])
def test_multipliers_make_the_efforts_that_the_joints_lack(variant, name):
    """G^T lambda is unique, also where closures are redundant."""
    model, state, expected = case(name)
    found = accelerate(model, **state, variant=variant)
    effort = expected.constraints.G.T @ expected.solution.multipliers
    G = forces.jacobian(mechanism_of(model, state))
    error = np.abs(G.T @ found.multipliers - effort.astype(float)).max() / np.abs(effort).max()
    assert error < 1e-13 * expected.solution.amplification / found.pivot**2


@pytest.mark.parametrize("variant", ["body", "gcl"])
@pytest.mark.parametrize("name", ["loops that share bodies", "driven platforms", "spatial ladder"])
def test_multipliers_are_those_of_the_compiled_formulation(variant, name):
    model, state, expected = case(name)
    found = accelerate(model, **state, variant=variant).multipliers
    compiled = bc.compile(model, "multipliers", optimisation=0).multipliers(**state)
    assert far(found, compiled) < 1e-13 * expected.solution.multiplier_amplification


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.6])
@pytest.mark.parametrize("name", [*COUPLED, "Bennett", "four-bar of hinges", "every closure twice"])
def test_decisions_may_be_put_off(name, threshold):
    """A high threshold leaves many directions pending, which changes nothing."""
    model, state, expected = case(name)
    found = accelerate(model, **state, variant="body", threshold=threshold)
    assert far(found.a, expected.a) < AGREEMENT * expected.solution.amplification
    effort = expected.constraints.G.T @ expected.solution.multipliers
    G = forces.jacobian(mechanism_of(model, state))
    np.testing.assert_allclose(
        G.T @ found.multipliers,
        effort.astype(float),
        rtol=0,
        atol=1e-12 * expected.solution.amplification * np.abs(effort).max(),
    )


def test_a_high_threshold_leaves_directions_pending():
    model, state, _ = case("four-bar of hinges")
    low, high = (accelerate(model, **state, threshold=threshold) for threshold in (0.01, 0.3))
    assert not any(choice.pending for choice in low.dependents)
    assert any(choice.pending for choice in high.dependents)
    assert "pending" in str(high)


@given(mechanism=moving_mechanisms())
@settings(max_examples=15)
def test_any_closed_tree_accelerates_as_its_positions_say(mechanism):
    model, state = mechanism
    expected = ref.closed(model, state)
    found = accelerate(model, **state, variant="body")
    assert far(found.a, expected.a) < allowed(expected, found)


# The base of a loop -----------------------------------------------------------------------------------------------------------

SPATIAL = ["revolute", "revolute", "revolute", "prismatic", *["revolute"] * 6]


def by_base_rule(model, state, rule, variant="rcr"):
    mechanism = mechanism_of(model, state)
    return by_loops(open_loops(mechanism, graph(mechanism)), variant, None, 1e-7, rule)[0]


@pytest.mark.parametrize("variant", ["rcr", "acs"])
@pytest.mark.parametrize("base", [-1, 0, 2])
def test_a_loop_may_hang_on_a_base_that_moves(base, variant):
    model = ring(SPATIAL, 1, base)
    state = moving(model, 1)
    expected = ref.closed(model, state)
    found = accelerate(model, **state, variant=variant)
    assert far(found.a, expected.a) < allowed(expected, found)


@pytest.mark.parametrize("variant", ["rcr", "acs"])
def test_the_papers_rule_for_the_base_is_right_only_where_the_base_stands_still(variant):
    """After (64): the base follows (20)-(22). It does not see that the loop's bodies move with it (EQUATIONS 3.4)."""
    fixed, moved = ring(SPATIAL, 1, -1), ring(SPATIAL, 1, 1)
    for model, wrong in ((fixed, False), (moved, True)):
        state = moving(model, 1)
        expected = ref.closed(model, state).a
        assert (far(by_base_rule(model, state, "literal", variant), expected) > 0.05) == wrong
        assert far(by_base_rule(model, state, "symmetric", variant), expected) < 1e-11


def test_loops_may_hang_on_the_bodies_of_other_loops():
    """A ladder: every cell is a loop on the rung of the cell before."""
    for model in (ladder(5), spatial_ladder(4)):
        state = moving(model, 2, reach=0.2)
        expected = ref.closed(model, state)
        for variant in ("rcr", "acs", "gcl", "body"):
            found = accelerate(model, **state, variant=variant)
            assert far(found.a, expected.a) < allowed(expected, found)


# Choosing dependents ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("apart", [1e-1, 1e-3, 1e-5, 1e-9, 0.0])
def test_nearly_parallel_sliders_at_the_end_of_a_loop(apart):
    """What is dependent by position loses digits as 1/apart^2; found by pivoting, none (EQUATIONS 3.6)."""
    kinds = [*["revolute"] * 7, "prismatic"]
    along = np.array(ring(kinds, 3).joints[-1].axis)
    across = np.cross(along, [0.0, 0.0, 1.0])
    direction = along * np.cos(apart) + across / np.linalg.norm(across) * np.sin(apart)
    model = ring(kinds, 3, closing="prismatic", axis=tuple(direction))
    state = moving(model, 3, reach=0.2)
    expected = ref.closed(model, state)
    for variant in ("body", "acs", "gcl"):
        found = accelerate(model, **state, variant=variant)
        assert far(found.a, expected.a) < 1e-12 * expected.solution.amplification
    if apart > 1e-4:
        found = accelerate(model, **state, variant="rcr")
        assert found.pivot < apart
        assert far(found.a, expected.a) < allowed(expected, found)
    else:
        with pytest.raises(bc.BellcrankError, match="cannot be dependent together"):
            accelerate(model, **state, variant="rcr", threshold=1e-4)


def test_named_coordinates_of_a_ball_joint_may_be_dependent():
    """The paper has joints of one coordinate only; two of a ball's three are as good."""
    model, state, expected = case("spherical")
    chosen = [choice.name for choice in accelerate(model, **state, variant="acs").dependents]
    found = accelerate(model, **state, variant="acs", dependents=chosen)
    assert {choice.name for choice in found.dependents} == set(chosen)
    assert any(name.endswith((".wx", ".wy", ".wz")) for name in chosen)
    assert far(found.a, expected.a) < allowed(expected, found)


def test_the_shape_of_a_form_does_not_grow_with_the_number_of_loops():
    """That is why body by body is O(n + m)."""

    def largest(N):
        model = ladder(N)
        state = moving(model, 2, reach=0.1)
        sweep = Elimination(mechanism_of(model, state), 0.01)
        sweep.inward()
        sent = [form for received in sweep.messages.values() for _, form in received]
        return max(len(form.f) for form in sent), max(len(form.e) for form in sent)

    assert largest(12) == largest(4)


def test_an_open_chain_is_a_tree_for_all_of_them():
    model = replace(ring(SPATIAL, 5), closures=())
    state = {"q": np.full(model.nq, 0.3), "v": np.full(model.nv, -0.2), "tau": np.ones(model.nv)}
    expected = bc.compile(model, optimisation=0).acceleration(**state)
    for variant in ("rcr", "acs", "gcl", "body"):
        found = accelerate(model, **state, variant=variant)
        assert far(found.a, expected) < 1e-12
        assert found.rank == 0 and len(found.multipliers) == 0 and found.dependents == ()


GALLERY = ("bricard", "excavator", "five_bar", "four_bar", "quarter_car", "slider_crank", "squeezer", "stewart", "strandbeest")


@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_starts_as_compiled(name):
    """Of the largest acceleration. Measured: 2e-14."""
    model = bc.load(name)
    expected = bc.compile(model, "multipliers", optimisation=0).acceleration(model.initial_q, model.initial_v)
    for variant in ("gcl", "body"):
        assert far(accelerate(model, model.initial_q, model.initial_v, variant=variant).a, expected) < 1e-12
