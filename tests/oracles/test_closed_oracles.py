"""Published problems with closed loops: the quarter car of Kang & Yoon, the five-bar of Critchley & Anderson, Huang's platform."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc

from .. import closed_reference as ref
from .. import reference
from ..closed_equations import coordinates
from ..closed_states import flowing, settled
from .closed_models import five_bar, quarter_car, stewart
from .numbers import oracle

READINGS = ["psi0", "psi45", "psi135"]


def state(model, q, v, tau=None):
    effort = np.zeros(model.nv) if tau is None else tau
    return {"q": np.array(q), "v": np.array(v), "tau": effort, "t": 0.0, "inputs": np.zeros(0)}


def at_rest(model, tau=None):
    return state(model, model.initial_q, model.initial_v, tau)


def by_reference(model, given):
    found = ref.closed(model, given)
    return found.a.astype(float), found.closure_wrenches().astype(float)


def by_multipliers(model, given):
    dynamics = bc.compile(model)
    return dynamics.acceleration(**given), dynamics.closure_reactions(**given)


WAYS = {"reference": by_reference, "multipliers": by_multipliers}


def integrated(model, times, q, v, tau=None, rtol=1e-11):
    """q and v at the given times: scipy around one acceleration, projected on the closures at each of the times."""
    dynamics = bc.compile(model)
    nq = model.nq

    def rate(t, y):
        return np.concatenate([dynamics.rates(y[:nq], y[nq:]), dynamics.acceleration(y[:nq], y[nq:], tau, t=t)])

    rows = [np.concatenate([q, v])]
    for start, end in pairwise(times):
        y = solve_ivp(rate, (start, end), rows[-1], method="DOP853", rtol=rtol, atol=1e-12).y[:, -1]
        q = settled(model, y[:nq], 0.0)
        rows.append(np.concatenate([q, flowing(model, q, y[nq:], 0.0)]))
    return np.array(rows)[:, :nq], np.array(rows)[:, nq:]


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
    model, tau = stewart()
    given = at_rest(model, tau)
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
    expected = oracle("kang_quartercar")
    model = quarter_car()
    q, v = integrated(model, expected["times"], model.initial_q, model.initial_v)
    np.testing.assert_allclose(q, expected["q"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(v, expected["u"], rtol=0, atol=1e-8)


@pytest.mark.parametrize("reading", READINGS)
def test_the_five_bar_swings_as_published(reading):
    """Through the positions in which the paper's own dependent coordinates fail."""
    entry = oracle("critchley_fivebar")["variants"][reading]
    model = five_bar(np.radians(entry["psi_deg"]))
    q, v = integrated(model, entry["times"], model.initial_q, model.initial_v)
    np.testing.assert_allclose(q, np.array(entry["q"])[:, :4] - entry["q"][0][:4], rtol=0, atol=1e-8)
    np.testing.assert_allclose(v, np.array(entry["u"])[:, :4], rtol=0, atol=1e-7)


def test_the_platform_falls_and_turns_as_published():
    """Two seconds, twice through the plane of its base."""
    data = oracle("huang_stewart")
    model, tau = stewart()
    q, v = integrated(model, data["times"], model.initial_q, model.initial_v, tau)
    for row, known in zip(np.hstack([q, v]), data["cases"]["table_disc"]["values"], strict=True):
        m = reference.motion(ref.tree_of(model), row[: model.nq], row[model.nq :], np.zeros(model.nv))
        platform = np.concatenate([m.c[6, 0], m.c_rate[6, 0], m.w[6, 0]]).astype(float)
        motors = [*row[[0, 2, 4]], *row[model.nq + np.array([0, 2, 4])]]
        np.testing.assert_allclose([*platform, *motors], known, rtol=0, atol=1e-7)
