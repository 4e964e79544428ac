"""The five-bar of Critchley & Anderson, where RCR fails, ACS works for a while, and GCL always."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.papers.reduction import accelerate

from .. import closed_reference as ref
from ..closed_states import moving
from ..oracles.closed_models import five_bar
from ..oracles.numbers import oracle
from .runs import run

PAPER = ("bar2_joint", "bar3_joint", "q5")  # coordinates 2, 3, 5
SINGULAR_AT = 0.81027357  # s, with the guide along x
BODIES = ("ground", "bar1", "bar2", "bar3", "bar4")


def entry(reading="psi0"):
    return oracle("critchley_fivebar")["variants"][reading]


def made(reading="psi0"):
    return five_bar(np.radians(entry(reading)["psi_deg"]))


@pytest.mark.parametrize("reading", ["psi0", "psi135"])
def test_the_five_bar_starts_as_published(reading):
    model = made(reading)
    for choice in ({"variant": "acs", "dependents": PAPER}, {"variant": "acs"}, {"variant": "gcl"}, {"variant": "body"}):
        found = accelerate(model, model.initial_q, model.initial_v, **choice)
        np.testing.assert_allclose(found.a, entry(reading)["qdd_t0"][:4], rtol=0, atol=1e-12)


def test_the_last_three_coordinates_cannot_be_dependent():
    """Both sliders move the end of the loop in the same direction, always."""
    model = made()
    with pytest.raises(bc.BellcrankError) as told:
        accelerate(model, model.initial_q, model.initial_v, variant="rcr")
    for word in ("bar3_joint, bar4_joint, q5", "bar4_joint moves the end of the loop only as q5 does", "pivot", "1e-07", "acs"):
        assert word in str(told.value)


def test_the_papers_own_dependents_are_singular_from_the_start_in_the_literal_reading():
    """Bars 3 and 4 at 45 degrees: bar 2 is perpendicular to them."""
    model = made("psi45")
    with pytest.raises(bc.BellcrankError, match=r"bar2_joint, bar3_joint, q5 cannot be dependent together\. bar2_joint"):
        accelerate(model, model.initial_q, model.initial_v, variant="acs", dependents=PAPER)


def compare(times, q, v):
    known = entry()
    k = len(times)
    np.testing.assert_allclose(q, np.array(known["q"])[:k, :4] - known["q"][0][:4], rtol=0, atol=1e-8)
    np.testing.assert_allclose(v, np.array(known["u"])[:k, :4], rtol=0, atol=1e-8)


def test_the_papers_own_dependents_carry_the_five_bar_up_to_their_singularity():
    """Coordinates 2, 3, 5 fail where bar 2 is perpendicular to the guide."""
    model = made()
    times = [t for t in entry()["times"] if t < SINGULAR_AT]
    compare(times, *run(model, times, variant="acs", dependents=PAPER))
    q, v = run(model, [0.0, SINGULAR_AT], variant="body")
    with pytest.raises(bc.BellcrankError, match="bar2_joint moves the end"):
        accelerate(model, q[-1], v[-1], variant="acs", dependents=PAPER)
    before, after = (accelerate(model, *x, variant="acs", dependents=PAPER).pivot for x in states(model, (0.79, 0.83)))
    assert before == pytest.approx(after, rel=0.2) and before < 0.05


def states(model, times):
    q, v = run(model, [0.0, *times], variant="body")
    return list(zip(q[1:], v[1:], strict=True))


@pytest.mark.parametrize("variant", ["gcl", "body"])
def test_the_other_forms_go_through(variant):
    model = made()
    times = [t for t in entry()["times"] if t <= 1.0]
    assert times[-1] > SINGULAR_AT
    compare(times, *run(model, times, variant=variant))


def test_coupled_loops_work_the_five_bar_in_the_opposite_direction():
    model = made()
    found = accelerate(model, model.initial_q, model.initial_v, variant="gcl")
    assert found.remarks == ('loop "q5" is worked in the opposite direction',)
    assert {choice.name for choice in found.dependents} == {"bar1_joint", "bar2_joint", "bar3_joint"}


@pytest.mark.parametrize("pair", list(combinations(BODIES, 2)), ids="-".join)
def test_a_fictitious_joint_changes_nothing(pair):
    """It makes two coupled loops of the five-bar: with the same base (figure 8.b) or with different ones (8.a)."""
    model = five_bar(0.3)
    state = moving(model, 3)
    both_sliders_on_one_side = pair in (("ground", "bar1"), ("ground", "bar2"), ("ground", "bar3"))
    if both_sliders_on_one_side:
        with pytest.raises(bc.BellcrankError, match="bar4_joint moves the end of the loop only as q5 does"):
            accelerate(model, **state, variant="gcl", fictitious=pair)
        return
    found = accelerate(model, **state, variant="gcl", fictitious=pair)
    np.testing.assert_allclose(found.a, ref.closed(model, state).a.astype(float), rtol=0, atol=1e-12)
    assert any(choice.name == "fictitious" for choice in found.dependents)
    assert found.remarks == (f'loop "q5" has a fictitious joint between {pair[0]} and {pair[1]}',)


def test_the_bar_that_slides_freely_falls_freely():
    """Bar 4 slides on the guide: q5'' = g sin(psi), whatever the others do."""
    model = five_bar(0.6)
    for seed in range(3):
        state = moving(model, seed) | {"tau": None}
        guide = np.array([np.cos(0.6), np.sin(0.6), 0.0])
        a = accelerate(model, **state, variant="gcl").a
        q, v = state["q"], state["v"]
        angles, rates, gains = (np.cumsum(x[:2]) for x in (q, v, a))
        starts = np.array([np.pi / 4, 3 * np.pi / 4]) + angles
        turned = [(-np.sin(s), np.cos(s), 0.0) for s in starts]
        inward = [(-np.cos(s), -np.sin(s), 0.0) for s in starts]
        tip = sum(g * np.array(n) + w**2 * np.array(c) for g, w, n, c in zip(gains, rates, turned, inward, strict=True))
        assert -(tip @ guide + a[3]) == pytest.approx(9.81 * np.sin(0.6), abs=1e-12)
