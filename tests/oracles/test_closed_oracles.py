"""Published problems with closed loops: the quarter car of Kang & Yoon, the five-bar of Critchley & Anderson, Huang's platform."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc

from .. import closed_reference as ref
from .. import reference
from ..closed_equations import coordinates
from .closed_models import five_bar, quarter_car, stewart
from .numbers import oracle

READINGS = ["psi0", "psi45", "psi135"]


def at_rest(model):
    return {"q": model.initial_q, "v": model.initial_v, "tau": np.zeros(model.nv), "t": 0.0, "inputs": np.zeros(0)}


def by_reference(model, given):
    found = ref.closed(model, given)
    return found.a.astype(float), found.closure_wrenches().astype(float)


def by_multipliers(model, given):
    dynamics = bc.compile(model)
    return dynamics.acceleration(**given), dynamics.closure_reactions(**given)


WAYS = {"reference": by_reference, "multipliers": by_multipliers}


def simulated(model, times):
    """q and v at the given times, which are whole multiples of the step."""
    run = bc.simulate(model, times[-1], step=0.05, rtol=1e-12, atol=1e-12)
    rows = [int(np.argmin(np.abs(run.values("time") - t))) for t in times]
    np.testing.assert_allclose(run.values("time")[rows], times, rtol=0, atol=1e-12)
    return run.values("q")[rows], run.values("v")[rows]


@pytest.mark.parametrize("way", WAYS)
def test_the_quarter_car_starts_as_published(way):
    expected = oracle("kang_quartercar")
    model = quarter_car()
    a, wrenches = WAYS[way](model, at_rest(model))
    np.testing.assert_allclose(a, expected["qdd_t0"], rtol=0, atol=1e-11 * 83)
    forces = np.array(expected["lambda_t0"]).reshape(3, 3)  # of each link on the knuckle
    np.testing.assert_allclose(wrenches[:, :3], forces, rtol=0, atol=1e-10 * 53)
    np.testing.assert_allclose(wrenches[:, 3:], 0.0, atol=1e-10)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("way", WAYS)
def test_the_five_bar_starts_as_published(way, reading):
    expected = oracle("critchley_fivebar")["variants"][reading]
    model = five_bar(np.radians(expected["psi_deg"]))
    a, _ = WAYS[way](model, at_rest(model))
    np.testing.assert_allclose(a, expected["qdd_t0"][:4], rtol=0, atol=1e-12 * 10)


@pytest.mark.parametrize("way", WAYS)
def test_the_platform_starts_as_published(way):
    expected = oracle("huang_stewart")["cases"]["table_disc"]
    model = stewart()
    given = at_rest(model)
    a, _ = WAYS[way](model, given)
    m = reference.motion(ref.tree_of(model), given["q"], given["v"], a)
    platform = np.concatenate([m.c_second[6, 0], m.alpha[6, 0]]).astype(float)
    np.testing.assert_allclose(platform, expected["platform_acc_t0"], rtol=0, atol=1e-12 * 10)


@pytest.mark.parametrize("reading", READINGS)
def test_the_five_bars_of_the_papers_keep_their_loop_closed(reading):
    """The published positions close the loop, and the coordinate of the closing slider is the published q5."""
    entry = oracle("critchley_fivebar")["variants"][reading]
    model = five_bar(np.radians(entry["psi_deg"]))
    for q, u in zip(entry["q"], entry["u"], strict=True):
        own = np.array(q[:4]) - entry["q"][0][:4]
        c = ref.constraints(model, own, np.array(u[:4]))
        assert np.abs(c.position).max() < 1e-12 and np.abs(c.velocity).max() < 1e-12
        found = ref.bodies(model, own, np.array([u[:4]]), np.zeros((1, 4)), 0.0)
        closing = model.closures[0]
        slide = coordinates(closing.joint, found[closing.body_a].at(closing.point_a), found[closing.body_b].at(closing.point_b))
        np.testing.assert_allclose(
            [slide.x[0, 0], slide.d[0, 0]], np.array([q[4], u[4]], dtype=np.longdouble), rtol=0, atol=1e-12
        )


def test_the_quarter_car_bounces_as_published():
    """Two seconds; the oracle knows its own error, 1.5e-11."""
    expected = oracle("kang_quartercar")
    model = quarter_car()
    q, v = simulated(model, expected["times"])
    np.testing.assert_allclose(q, expected["q"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(v, expected["u"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("reading", READINGS)
def test_the_five_bar_swings_as_published(reading):
    """Through the positions in which the paper's own dependent coordinates fail. The oracle's own error is 2.5e-10."""
    entry = oracle("critchley_fivebar")["variants"][reading]
    model = five_bar(np.radians(entry["psi_deg"]))
    q, v = simulated(model, entry["times"])
    np.testing.assert_allclose(q, np.array(entry["q"])[:, :4] - entry["q"][0][:4], rtol=0, atol=1e-9)
    np.testing.assert_allclose(v, np.array(entry["u"])[:, :4], rtol=0, atol=1e-9)


def test_the_platform_falls_and_turns_as_published():
    """Two seconds, twice through the plane of its base. The oracle's own error is 3e-10."""
    data = oracle("huang_stewart")
    model = stewart()
    q, v = simulated(model, data["times"])
    for row, known in zip(np.hstack([q, v]), data["cases"]["table_disc"]["values"], strict=True):
        m = reference.motion(ref.tree_of(model), row[: model.nq], row[model.nq :], np.zeros(model.nv))
        platform = np.concatenate([m.c[6, 0], m.c_rate[6, 0], m.w[6, 0]]).astype(float)
        motors = [*row[[0, 2, 4]], *row[model.nq + np.array([0, 2, 4])]]
        np.testing.assert_allclose([*platform, *motors], known, rtol=0, atol=1e-9)
