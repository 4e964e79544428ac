"""Frequencies, damping and shapes of small motions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rich.console import Console

import bellcrank as bc
from bellcrank.analyses.stiffness import first_of_largest, pivots
from tests.formulations.mechanisms import build

from .mechanisms import (
    GRAVITY,
    ZIEGLER,
    damper,
    double_pendulum,
    element,
    follower_column,
    governor,
    hanging_chain,
    oscillator,
    pendulum,
    spring,
)


def rates(found):
    return np.array([2 * np.pi * mode.frequency for mode in found])


def test_a_pendulum_swings_by_its_length():
    found = bc.modes(pendulum(0.7))
    assert rates(found)[0] == pytest.approx(np.sqrt(GRAVITY / 0.7), rel=1e-14)
    assert found[0].kind == "oscillating" and found[0].damping == 0.0 and found[0].time_constant is None


def test_a_double_pendulum_has_two_modes():
    """Equal masses and lengths: w^2 = (2 -+ sqrt 2) g/l, and the lower angle is -+ sqrt 2 times the upper one, absolutely."""
    found = bc.modes(double_pendulum())
    np.testing.assert_allclose(rates(found), np.sqrt(GRAVITY * (2 + np.array([-1, 1]) * np.sqrt(2))), rtol=1e-13)
    for mode, ratio in zip(found, (np.sqrt(2), -np.sqrt(2)), strict=True):
        upper, relative = mode.shape["joint1"], mode.shape["joint2"]
        assert (upper + relative) / upper == pytest.approx(ratio, rel=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.3, 0.99])
def test_an_oscillator_is_damped_by_its_ratio(ratio):
    """w = w0 sqrt(1 - ratio^2), decay at ratio w0."""
    m, k = 2.0, 50.0
    w0 = np.sqrt(k / m)
    mode = bc.modes(oscillator(m, k, 2 * ratio * w0 * m))[0]
    assert mode.damping == pytest.approx(ratio, abs=1e-14)
    assert 2 * np.pi * mode.frequency == pytest.approx(w0 * np.sqrt(1 - ratio**2), rel=1e-13)
    assert 2 * np.pi * mode.natural_frequency == pytest.approx(w0, rel=1e-13)
    assert mode.time_constant == (pytest.approx(1 / (ratio * w0), rel=1e-12) if ratio else None)


def test_an_overdamped_oscillator_creeps_back_in_two_ways():
    m, k, ratio = 2.0, 50.0, 2.0
    found = bc.modes(oscillator(m, k, 2 * ratio * 5.0 * m))
    expected = 1 / (5.0 * (ratio + np.array([-1, 1]) * np.sqrt(ratio**2 - 1)))
    assert [mode.kind for mode in found] == ["decaying", "decaying"]
    np.testing.assert_allclose([mode.time_constant for mode in found], expected, rtol=1e-13)
    assert found.stable and found[0].frequency == 0.0


def test_an_inverted_pendulum_falls_away():
    found = bc.modes(pendulum(0.7), [np.pi])
    assert [mode.kind for mode in found] == ["decaying", "growing"] and not found.stable
    assert found[1].time_constant == pytest.approx(np.sqrt(0.7 / GRAVITY), rel=1e-12)


def test_a_spherical_pendulum_has_a_double_mode_and_spins_freely():
    length, J = 0.7, 0.1
    found = bc.modes(build(["spherical"], center=[[0, 0, -length]], inertia=[J * np.eye(3)]))
    assert [mode.kind for mode in found] == ["rigid", "oscillating", "oscillating"]
    np.testing.assert_allclose(rates(found.oscillating), np.sqrt(GRAVITY * length / (J + length**2)), rtol=1e-13)
    assert found.rigid[0].shape == {"joint1.wx": 0, "joint1.wy": 0, "joint1.wz": 1}
    assert found.rigid[0].damping is None


def test_a_free_body_has_six_rigid_body_modes():
    found = bc.modes(build(["free"], gravity=np.zeros(3)))
    assert len(found) == len(found.rigid) == 6 and found.stable


def two_bodies(damping):
    """Two free bodies joined by a bushing: six rigid-body modes and six of the bushing."""
    names = [f"{kind}{axis}" for kind in ("k", "kr", "c", "cr") for axis in "xyz"]
    values = dict(zip(names, [100.0, 200.0, 300.0, 10.0, 20.0, 30.0, *[damping] * 6], strict=True))
    bushing = element("bushing", "bushing", values, body_a=0, body_b=1, point_a=(2, 0, 0), point_b=(0, 0, 0))
    start = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0]
    return build(["free", "free"], (-1, -1), gravity=np.zeros(3), given_q=start, elements=(bushing,))


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_rigid_body_modes_are_told_apart_with_and_without_damping(damping):
    """Along x and about x the two unit bodies swing against each other: w^2 = 2 k, damped at c."""
    found = bc.modes(two_bodies(damping))
    assert len(found.rigid) == 6 and len(found.oscillating) == 6 and found.stable
    natural = np.array([2 * np.pi * mode.natural_frequency for mode in found.oscillating])
    for k in (100.0, 10.0):
        mode = found.oscillating[int(np.argmin(np.abs(natural - np.sqrt(2 * k))))]
        assert 2 * np.pi * mode.natural_frequency == pytest.approx(np.sqrt(2 * k), rel=1e-12)
        assert -mode.root.real == pytest.approx(damping, abs=1e-12)


def test_a_free_slide_with_a_damper_comes_to_rest():
    """No stiffness: v' = -(c/m) v, and the place where it stays is arbitrary."""
    model = build([("prismatic", (1, 0, 0))], mass=[3.0], elements=(damper(0, 2.0),))
    found = bc.modes(model)
    assert [mode.kind for mode in found] == ["decaying"]
    assert found[0].time_constant == pytest.approx(1.5, rel=1e-14)


def test_slow_modes_keep_their_digits_beside_fast_ones():
    """0.2 rad/s with damping beside 1e6 rad/s: the slow root to 1e-9 (the matrix's entries are frequencies, not squares)."""
    slow = (spring(0, 0.04), damper(0, 0.01))
    model = build([("prismatic", (1, 0, 0)), ("prismatic", (0, 1, 0))], (-1, -1), elements=(*slow, spring(1, 1e12)))
    root = bc.modes(model)[0].root
    assert root == pytest.approx(complex(-0.005, np.sqrt(0.04 - 0.005**2)), rel=1e-9)


def test_a_hanging_chain_swings_as_a_rope():
    """Without pull: w_k = j_k/2 sqrt(g/L), j_k zeros of the Bessel function J0; links approach the rope as 1/n^2."""
    from scipy.special import jn_zeros

    exact = jn_zeros(0, 2) / 2 * np.sqrt(GRAVITY)
    errors = []
    for n in (20, 40):
        start = np.concatenate([[np.pi / 2], np.zeros(n - 1)])
        found = bc.modes(hanging_chain(n, 0.0), bc.equilibrium(hanging_chain(n, 0.0), q0=start).q)
        errors.append(rates(found)[:2] / exact - 1)
    assert np.abs(errors[1]).max() < 1e-3
    np.testing.assert_allclose(errors[0] / errors[1], 4, rtol=0.1)


def test_a_governor_swings_about_its_lifted_position():
    """w = rate sin(angle)."""
    found = bc.modes(governor(6.0))
    assert rates(found)[0] == pytest.approx(6.0 * np.sqrt(1 - (GRAVITY / (0.7 * 36)) ** 2), rel=1e-12)


def test_a_column_under_a_follower_load_flutters():
    """Beyond Ziegler's load two oscillations have one frequency, and one of them grows."""
    before, beyond = bc.modes(follower_column(ZIEGLER - 1e-3)), bc.modes(follower_column(ZIEGLER + 1e-3))
    assert before.stable and not beyond.stable
    assert {mode.kind for mode in beyond} == {"oscillating"}
    assert beyond[0].frequency == pytest.approx(beyond[1].frequency, rel=1e-9)
    assert sorted(np.sign([mode.damping for mode in beyond])) == [-1, 1]


def test_a_spinning_body_wobbles_in_its_own_axes():
    """Euler: the spin axis of a symmetric body goes round at (C - A)/A w, the others at w; the spin itself is neutral."""
    model = build(["spherical"], inertia=[np.diag([1.0, 1.0, 1.5])], gravity=np.zeros(3))
    found = bc.modes(model, model.initial_q, v=[0, 0, 3.0])
    assert [mode.kind for mode in found] == ["rigid", "oscillating", "oscillating"] and found.stable
    np.testing.assert_allclose(rates(found.oscillating), [1.5, 3.0], rtol=1e-9)


def test_modes_about_an_equilibrium_that_was_found():
    model = pendulum(0.7)
    lifted = bc.equilibrium(model, tau=[3.0])
    found = bc.modes(model, lifted)
    assert rates(found)[0] == pytest.approx(np.sqrt(GRAVITY / 0.7 * np.cos(lifted.q[0])), rel=1e-12)
    np.testing.assert_allclose(rates(bc.modes(model, tau=[3.0])), rates(found), rtol=1e-12)


def test_a_state_that_accelerates_gives_a_warning():
    with pytest.warns(bc.BellcrankWarning, match="not an equilibrium: 'joint1' accelerates at -6.7"):
        found = bc.modes(pendulum(0.7), [0.5])
    assert rates(found)[0] == pytest.approx(np.sqrt(GRAVITY / 0.7 * np.cos(0.5)), rel=1e-12)
    assert bc.modes(pendulum(0.7), "start").about == "the start"


@pytest.mark.parametrize(
    ("about", "options", "message"),
    [
        ("rest", {}, "about must be 'equilibrium', 'start', an Equilibrium or a position q; it is 'rest'"),
        ("equilibrium", {"v": [1.0]}, "an equilibrium is at rest: give v only"),
        ([0.0, 1.0], {}, r"q has shape \(2,\)"),
        ([0.0], {"v": [np.nan]}, "v of 'joint1' is nan"),
    ],
)
def test_an_argument_that_cannot_be_is_refused(about, options, message):
    with pytest.raises(bc.StateError, match=message):
        bc.modes(pendulum(), about, **options)


def test_the_equilibrium_of_another_model_is_refused():
    with pytest.raises(bc.StateError, match="the equilibrium is that of 'by hand', not of this model"):
        bc.modes(pendulum(), bc.equilibrium(pendulum()))


def test_an_unknown_kind_of_mode_is_refused():
    with pytest.raises(bc.StateError, match="no kind of mode 'wild': use one of rigid"):
        bc.modes(pendulum()).of("wild")


def test_modes_are_a_table_for_people_and_json_for_machines():
    found = bc.modes(follower_column(1.0, 0.2))
    console = Console(width=140)
    with console.capture() as shown:
        console.print(found)
    assert "oscillating" in shown.get() and "deg" in shown.get()
    assert "moves most" in str(found)
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["stable"] is True and len(plain["modes"]) == 2
    assert plain["modes"][0]["shape"].keys() == {"joint1", "joint2"}


def test_a_mechanism_without_freedom_has_no_modes():
    assert len(bc.modes(build(["fixed"]))) == 0


def test_what_names_a_space_of_motions_does_not_depend_on_its_basis():
    """Columns mixed and stretched at random span the same space."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        shapes = rng.normal(size=(7, 3))
        assert pivots(shapes @ rng.normal(size=(3, 3))) == pivots(shapes)


def test_of_equal_numbers_the_first_counts_whatever_rounding_says():
    for nudge in (1 - 1e-15, 1.0, 1 + 1e-15):
        assert first_of_largest(np.array([0.5, 2.0, 2.0 * nudge, 1.0])) == 1
