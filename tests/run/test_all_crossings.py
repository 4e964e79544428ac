"""Events: every crossing of a step is found, by every method."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import Event
from bellcrank.run.events.roots import crossings
from tests.results.mechanisms import SLIDE_X, make, pendulum

G = 9.81
ADAPTIVE = ["dopri5", "dop853"]
FIXED = ["rk4", "implicit_midpoint", "midpoint4", "gauss4"]
STIFF = ["radau", "bdf"]


def thrown(speed=10.0):
    return make(("prismatic", (0, 0, 1)), gravity=(0, 0, -G), given_v=[speed])


def passes(height, speed=10.0):
    """Times at which a thrown block is at a height: on its way up, and down."""
    root = np.sqrt(speed**2 - 2 * G * height)
    return np.array([speed - root, speed + root]) / G


@pytest.mark.parametrize("method", [*ADAPTIVE, *FIXED, *STIFF])
def test_both_crossings_of_a_parabola_are_found(method):
    """Adaptive methods fly over it in one step; fixed steps of 1 s have both in one of them at 5.09 m, 7 mm below the top."""
    for height in (1.0, 4.0, 5.09):
        run = bc.simulate(thrown(), 3.0, step=1.0, method=method, events=[Event("j0", height, then="mark")])
        np.testing.assert_allclose([c.time for c in run.crossings], passes(height), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("direction", "kept"), [("up", [0]), ("down", [1]), ("both", [0, 1])])
@pytest.mark.parametrize("method", ["dopri5", "rk4", "bdf"])
def test_each_crossing_has_its_own_direction(method, direction, kept):
    events = [Event("j0", 4.0, direction=direction, then="mark")]
    run = bc.simulate(thrown(), 3.0, step=1.0, method=method, events=events)
    np.testing.assert_allclose([c.time for c in run.crossings], passes(4.0)[kept], rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", [*ADAPTIVE, *FIXED, *STIFF])
def test_a_swing_that_barely_reaches_a_mark_passes_it_twice_every_time(method):
    """Let go at rest at 0.5 rad, watched at 0.5 rad less a ten-thousandth: there and back again, in every period."""
    angle, mark = 0.5, 0.4999
    reference = bc.simulate(pendulum(), 8.0, step=0.001, method="dop853", rtol=1e-13, atol=1e-13)
    sides = np.sign(reference.values("q")[:, 0] - mark)
    expected = int(np.count_nonzero(np.diff(sides)))
    assert expected == 7 and reference.values("q")[0, 0] == angle
    short = {"max_step": 0.01} if method in FIXED else {}
    run = bc.simulate(pendulum(), 8.0, step=0.1, method=method, events=[Event("j0", mark, then="mark")], **short)
    assert len(run.crossings) == expected


@pytest.mark.parametrize("method", [*ADAPTIVE, *FIXED, *STIFF])
def test_every_method_stops_where_the_event_is(method):
    run = bc.simulate(thrown(), 3.0, step=0.25, method=method, events=[Event("j0", 4.0, direction="down")])
    assert run.values("time")[-1] == run.crossings[0].time == pytest.approx(passes(4.0)[1], abs=1e-7)
    assert run.values("q")[-1, 0] == pytest.approx(4.0, abs=1e-7)
    np.testing.assert_allclose(run.values("time")[:-1], 0.25 * np.arange(len(run.values("time")) - 1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", [*ADAPTIVE, *FIXED, *STIFF])
@pytest.mark.parametrize("direction", ["up", "down", "both"])
def test_a_run_after_a_stop_goes_on(method, direction):
    """And stops at the next crossing, not at the one that it starts from."""
    event = Event("j0", 0.1, direction=direction)
    short = {"max_step": 0.01} if method in FIXED else {}
    first = bc.simulate(pendulum(), 4.0, step=0.1, method=method, events=[event], **short)
    second = bc.simulate(pendulum(), 4.0, step=0.1, method=method, events=[event], after=first, **short)
    gap = second.values("time")[-1] - first.values("time")[-1]
    assert len(second.crossings) == 1
    assert gap == pytest.approx(2.04, abs=0.02) if direction != "both" else 0.5 < gap < 1.5


@pytest.mark.parametrize("method", ["dopri5", "rk4", "radau"])
def test_quantities_that_are_no_polynomials_are_followed_to_all_of_their_crossings(method):
    """sin(40 t) has 127 zeros in ten seconds after the start; a slide at constant speed takes long steps."""
    model = make(SLIDE_X, given_v=[1.0])
    run = bc.simulate(model, 10.0, step=1.0, method=method, events=[Event(lambda t, q, v: np.sin(40 * q[0]), then="mark")])
    expected = np.pi / 40 * np.arange(1, 128)
    np.testing.assert_allclose([c.time for c in run.crossings], expected, rtol=0, atol=1e-9)


def test_roots_that_touch_are_no_crossings():
    """Whether an extremum is found where the quantity is zero to the last bit depends on the processor, but at 0.5."""
    for touched in (0.3, 0.5):
        assert crossings(lambda x, at=touched: (x - at) ** 2, up=True, down=True) == []
        assert crossings(lambda x, at=touched: -((x - at) ** 2), up=True, down=True) == []
    assert crossings(lambda x: (x - 0.5) ** 3, up=True, down=True) == pytest.approx([0.5], abs=1e-12)
    assert crossings(lambda x: (x - 0.3) ** 2 - 1e-12, up=True, down=True) == pytest.approx([0.3 - 1e-6, 0.3 + 1e-6], abs=1e-9)


@pytest.mark.parametrize("method", ["dopri5", "rk4", "radau", "bdf"])
def test_events_of_closed_loops_are_found_by_all_methods_alike(method):
    """The crank of the gallery's four-bar passes a mark."""
    model = bc.load("four_bar")
    name, short = model.q_names[0], {"max_step": 1e-3} if method == "rk4" else {}
    way = bc.simulate(model, 1.0, step=0.01, method="dop853").values("q")[:, 0]
    event = Event(name, float(np.median(way)))
    run = bc.simulate(model, 1.0, step=0.01, method=method, events=[event], **short)
    reference = bc.simulate(model, 1.0, step=0.01, method="dop853", events=[event], rtol=1e-12, atol=1e-12)
    assert run.values("time")[-1] == pytest.approx(reference.values("time")[-1], abs=1e-6)
    assert len(run.crossings) == 1
