"""What is taken of runs that go one at a time, or by steps of a fixed length: between samples, at events, of runs that end early."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.studies.study.spec import Case, RunOptions, Study, Watched
from bellcrank.studies.study.variations import Listed
from bellcrank.studies.sweeps.values import samples_only
from tests.blocks import FLOATING, block

PUSHED = block('[motors.hand]\njoint = "slide"\neffort = "=push"', top=f'inputs = ["push"]\n{FLOATING}', mass=2.0)
FRICTION = """
[frictions.floor]
joint = "slide"
effort = 5.0
stiffness = 2e4
damping = 50.0
"""
MASSES = np.array([1.0, 2.0])


def pushed(text, outputs, run, **others):
    return Study(
        bc.load(text), {"block.mass": Listed(tuple(MASSES))}, duration=1.0, run=RunOptions(**run), outputs=outputs, **others
    )


@pytest.mark.parametrize("method", ["auto", "rk4", "gauss4"])
def test_a_time_between_two_samples_is_not_that_of_the_nearest_sample(method):
    """x = F/m t^2/2 at t = 0.33, between samples of 0.1 s, where x is off by a fifth; each method is exact for a constant force."""
    run = {"step": 0.1, "method": method, "max_step": 0.05, "inputs": {"push": 8.0}}
    found = bc.sweep(pushed(PUSHED, {"x": "slide@t=0.33", "sampled": "slide@t=0.3"}, run))
    np.testing.assert_allclose(found.values("x"), 8.0 / MASSES * 0.33**2 / 2, rtol=1e-9)
    np.testing.assert_allclose(found.values("sampled"), 8.0 / MASSES * 0.3**2 / 2, rtol=1e-9)


def test_accelerations_at_an_event_are_those_under_the_inputs_of_the_run():
    """x = F/m t^2/2 passes 0.2 m at t = sqrt(0.4 m/F), in each case under its own force; nothing else accelerates the block."""
    forces = np.array([8.0, 2.0])
    cases = tuple(Case(f"{force:g} N", inputs={"push": force}) for force in forces)
    outputs = {"when": "there.time", "a": "slide.a@there", "effort": "hand.force@there"}
    found = bc.sweep(pushed(PUSHED, outputs, {"step": 0.3}, cases=cases, events={"there": Watched("slide", 0.2)}))
    assert not found.reasons
    mass, force = np.repeat(MASSES, 2), np.tile(forces, 2)
    np.testing.assert_allclose(found.values("a"), force / mass, rtol=1e-9)
    np.testing.assert_allclose(found.values("effort"), force, rtol=1e-9)
    np.testing.assert_allclose(found.values("when"), np.sqrt(0.4 * mass / force), rtol=1e-8)


def test_friction_that_holds_acts_at_an_event_too():
    """The block slides under 8 N against 5 N: a = 3 N/m, but for what the bristles still give, exp(-20) and less."""
    study = pushed(
        PUSHED + FRICTION, {"a": "slide.a@there"}, {"inputs": {"push": 8.0}}, events={"there": Watched("slide", 0.2)}
    )
    np.testing.assert_allclose(bc.sweep(study).values("a"), 3.0 / MASSES, rtol=1e-6)


def test_a_run_that_an_event_ends_keeps_its_samples_at_their_times():
    """It ends at sqrt(0.4 m/F) = 0.2236 and 0.3162 s; what follows is not known, and its last state is no sample of 0.3 or 0.4 s.
    Integrals go to its end: of v^2 = (F/m t)^2, a parabola, exactly."""
    outputs = {"x": "slide", "end": "slide@end", "square": "integral(slide.v**2)", "most": "max(slide.v)"}
    events = {"there": Watched("slide", 0.2, then="stop")}
    found = bc.sweep(pushed(PUSHED, outputs, {"step": 0.05, "inputs": {"push": 8.0}}, events=events), trajectories=True)
    t, a = np.arange(21) * 0.05, 8.0 / MASSES[:, None]
    ends = np.sqrt(0.4 / a)
    known = np.where(t < ends, a * t**2 / 2, np.nan)
    np.testing.assert_allclose(found.values("x"), known, atol=1e-9)
    np.testing.assert_allclose(found.values("q")[:, :, 0], known, atol=1e-9)
    np.testing.assert_allclose(found.values("v")[:, :, 0], np.where(t < ends, a * t, np.nan), atol=1e-9)
    np.testing.assert_allclose(found.values("end"), 0.2, rtol=1e-9)
    np.testing.assert_allclose(found.values("reached"), ends[:, 0], rtol=1e-8)
    np.testing.assert_allclose(found.values("square"), (a**2 * ends**3 / 3)[:, 0], rtol=1e-7)
    np.testing.assert_allclose(found.values("most"), (a * ends)[:, 0], rtol=1e-8)


def test_a_time_after_the_end_of_a_run_is_a_reason_and_no_number():
    events = {"there": Watched("slide", 0.2, then="stop")}
    study = pushed(PUSHED, {"x": "slide@t=0.25"}, {"step": 0.05, "inputs": {"push": 8.0}}, events=events)
    found = bc.sweep(study)
    assert found.status.tolist() == [1, 0] and "an event ended this run before, at t = 0.223606798 s" in found.reasons[0]
    np.testing.assert_allclose(found.values("x"), [np.nan, 4.0 * 0.25**2 / 2], rtol=1e-9)


@pytest.mark.parametrize("intervals", [3, 4, 5, 8, 11])
@pytest.mark.parametrize("last", [1.0, 0.4, 1e-8])
def test_parabolas_are_integrated_exactly_whatever_the_number_of_samples(intervals, last):
    """Also where the last interval is shorter, or nothing. No weight is negative, so that mean squares are not."""
    t = 0.1 * np.arange(intervals + 1)
    t[-1] = t[-2] + 0.1 * last
    weights = samples_only(t).weights
    powers = range(4 if intervals % 2 == 0 and last == 1.0 else 2 if intervals == 1 else 3)
    for k in powers:
        assert weights @ t**k == pytest.approx(t[-1] ** (k + 1) / (k + 1), rel=1e-13)
    assert (weights > 0).all()


def test_the_mean_square_of_an_oscillation_is_right_for_an_odd_number_of_intervals():
    """A block on a spring, x = cos(10 t): eleven intervals in a quarter of a second give the root of the mean square within 0.03 %
    by Simpson's rule and a parabola; the trapezoidal rule is off by 0.2 %."""
    text = block('[springs.coil]\njoint = "slide"\nstiffness = 200.0', "[initial]\nslide = { q = 1.0 }", top=FLOATING, mass=2.0)
    run = RunOptions(step=0.25 / 11, method="gauss4", max_step=0.005)
    study = Study(bc.load(text), {"block.mass": Listed((2.0,))}, duration=0.25, run=run, outputs={"rms": "rms(slide)"})
    exact = np.sqrt(0.5 + np.sin(5.0) / (40 * 0.25))
    assert bc.sweep(study).values("rms")[0] == pytest.approx(exact, rel=3e-4)
