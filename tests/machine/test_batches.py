"""Many states: the same answers whatever the number of threads, the company of other states, or the remainder."""

from __future__ import annotations

import os
import signal
from threading import Event, get_ident

import numpy as np
import pytest

from bellcrank.dynamics import Dynamics
from bellcrank.errors import StateError
from bellcrank.kernels import jit
from bellcrank.kernels.processor import lane_count
from bellcrank.kernels.threads import one_thread, stopping, thread_count, workers
from bellcrank.machine import kernel
from bellcrank.model.generators import chain, random_state, random_tree

LANES = lane_count()


@pytest.fixture(scope="module")
def dynamics():
    return Dynamics(random_tree(7, 2, ["revolute", "spherical", "prismatic", "fixed"], free_root=True))


@pytest.fixture(scope="module")
def hinges():
    return Dynamics(chain(4))


def states(model, count, seed=0):
    pairs = [random_state(model, seed + k) for k in range(count)]
    return np.array([q for q, _ in pairs]).reshape(count, model.nq), np.array([v for _, v in pairs]).reshape(count, model.nv)


def inputs(model, count):
    q, v = states(model, count)
    return {"q": q, "v": v, "tau": np.random.default_rng(1).normal(size=(count, model.nv))}


def test_any_number_of_threads_gives_the_same_bits(dynamics):
    for count in (65, 1030):
        given = inputs(dynamics.model, count)
        for lanes in (1, LANES):
            code = dynamics.kernel(dynamics.program, lanes)
            alone = code.batch(given, threads=1)
            assert np.isfinite(alone).all()
            for threads in (2, 3, 7, 16, 5000, None):
                np.testing.assert_array_equal(code.batch(given, threads=threads), alone)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 63, 64, 65, 257])
def test_every_remainder_gives_what_single_states_give(count, dynamics):
    """Lanes may fuse operations differently than one state does: 1e-12 of the largest acceleration."""
    q, v = states(dynamics.model, count)
    tau = np.random.default_rng(count).normal(size=(count, dynamics.model.nv))
    single = np.array([dynamics.acceleration(*state) for state in zip(q, v, tau, strict=True)])
    found = dynamics.acceleration(q, v, tau)
    assert found.shape == (count, dynamics.model.nv)
    np.testing.assert_allclose(found, single, rtol=0, atol=1e-12 * np.abs(single).max())


def test_an_empty_batch_gives_an_empty_answer(dynamics):
    model = dynamics.model
    status = np.empty(0, dtype=int)
    assert dynamics.acceleration(np.zeros((0, model.nq)), np.zeros((0, model.nv)), status=status).shape == (0, model.nv)
    assert dynamics.mass_matrix(np.zeros((0, model.nq))).shape == (0, model.nv, model.nv)


def test_the_company_of_other_states_does_not_matter(dynamics):
    """Bit for bit, so that a sweep may be cut and sorted as one likes."""
    q, v = states(dynamics.model, 50)
    found = dynamics.acceleration(q, v)
    order = np.random.default_rng(2).permutation(50)
    np.testing.assert_array_equal(dynamics.acceleration(q[order], v[order]), found[order])
    np.testing.assert_array_equal(dynamics.acceleration(q[:9], v[:9]), found[:9])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_a_bad_state_does_not_disturb_the_others(bad, hinges):
    q, v = states(hinges.model, 70)
    good = hinges.acceleration(q, v)
    broken = [0, 5, 6, 7, 33, 69]
    q[broken, 2] = bad
    status = np.full(70, -1)
    found = hinges.acceleration(q, v, status=status)
    others = np.setdiff1d(np.arange(70), broken)
    np.testing.assert_array_equal(found[others], good[others])
    assert (status[others] == 0).all()
    if np.isfinite(bad):
        assert (status == 0).all()  # a huge angle is an angle
    else:
        assert (status[broken] == 1).all() and np.isnan(found[broken]).any(axis=1).all()


def test_status_tells_a_bad_state_from_one_without_an_answer(hinges):
    q, v = states(hinges.model, 6)
    v[1] = 1e200
    v[3, 0] = np.nan
    tau = np.zeros_like(v)
    tau[5, 2] = np.inf
    for kind in (int, np.int8, float):
        status = np.full(6, 9, dtype=kind)
        hinges.acceleration(q, v, tau, status=status)
        np.testing.assert_array_equal(status, [0, 2, 0, 1, 0, 1])
    with pytest.raises(StateError, match=r"status must have shape \(6,\), one entry for each state; it has \(5,\)"):
        hinges.acceleration(q, v, tau, status=np.zeros(5, dtype=int))


def test_a_batch_of_one_never_raises_either(hinges):
    status = np.zeros(1, dtype=int)
    found = hinges.acceleration(np.full((1, 4), np.nan), np.zeros((1, 4)), status=status)
    assert status[0] == 1 and np.isnan(found).any()


def test_one_state_may_meet_many(hinges):
    q, v = states(hinges.model, 9)
    np.testing.assert_array_equal(hinges.acceleration(q[0], v), hinges.acceleration(np.tile(q[0], (9, 1)), v))
    np.testing.assert_array_equal(
        hinges.acceleration(q, v[0], v[0]), hinges.acceleration(q, np.tile(v[0], (9, 1)), np.tile(v[0], (9, 1)))
    )


def test_batches_may_lie_in_memory_in_any_way_and_are_not_changed(hinges):
    q, v = states(hinges.model, 12)
    expected = hinges.acceleration(q, v)
    ways = [
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: x.tolist(),
        lambda x: x.astype(">f8"),
        lambda x: x[::-1].copy()[::-1],
    ]
    for way in ways:
        np.testing.assert_array_equal(hinges.acceleration(way(q), way(v)), expected)
    before = q.tobytes()
    np.testing.assert_array_equal(hinges.acceleration(q, q, q), hinges.acceleration(q, q.copy(), q.copy()))
    assert q.tobytes() == before


QUANTITIES = {
    "inverse_dynamics": lambda d, q, v: d.inverse_dynamics(q, v, 2 * v),
    "mass_matrix": lambda d, q, v: d.mass_matrix(q),
    "rates": lambda d, q, v: d.rates(q, v),
    "kinetic energy": lambda d, q, v: d.energy(q, v)[0],
    "potential energy": lambda d, q, v: d.energy(q, v)[1],
    "linear momentum": lambda d, q, v: d.momentum(q, v)[0],
    "angular momentum": lambda d, q, v: d.momentum(q, v)[1],
    "positions": lambda d, q, v: d.poses(q)[0],
    "rotations": lambda d, q, v: d.poses(q)[1],
    "reactions": lambda d, q, v: d.reactions(q, v, 2 * v),
    "reactions with efforts": lambda d, q, v: d.reactions(q, v, 2 * v, effort=True),
}


@pytest.mark.parametrize("quantity", QUANTITIES.values(), ids=QUANTITIES)
def test_every_quantity_of_a_batch_is_that_of_its_states(quantity, dynamics):
    q, v = states(dynamics.model, 6)
    single = np.array([quantity(dynamics, *state) for state in zip(q, v, strict=True)])
    found = quantity(dynamics, q, v)
    assert found.shape == single.shape
    np.testing.assert_allclose(found, single, rtol=0, atol=1e-12 * np.abs(single).max())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_batches_run_in_a_forked_process(hinges):
    """Threads do not survive a fork: the child must start its own, and not wait for those of its parent."""
    given = inputs(hinges.model, 400)
    code = hinges.kernel(hinges.program, LANES)
    expected = code.batch(given, threads=4)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if (code.batch(given, threads=4) == expected).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_workspaces_are_used_again(hinges):
    """A second batch allocates no new frames for its threads."""
    code = kernel.Kernel(hinges.plan, hinges.program, LANES)
    given = inputs(hinges.model, 100)
    code.batch(given, threads=1)
    code.batch(given, threads=1)
    assert len(code._free) == 1


def test_threads_follow_what_the_process_may_use(monkeypatch):
    """The affinity of the process, not the processors of the machine; or BELLCRANK_THREADS."""
    monkeypatch.delenv("BELLCRANK_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 3, 5}, raising=False)
    assert thread_count() == 3
    monkeypatch.setenv("BELLCRANK_THREADS", "7")
    assert thread_count() == 7


@pytest.mark.parametrize("wanted", ["none", "0", "-1"])
def test_a_number_of_threads_that_is_none_is_refused(monkeypatch, wanted):
    monkeypatch.setenv("BELLCRANK_THREADS", wanted)
    with pytest.raises(StateError, match="BELLCRANK_THREADS"):
        thread_count()


def test_a_limit_of_optimisation_holds_for_all_code_and_is_part_of_its_name(monkeypatch, hinges):
    levels, make = [], jit.compile_text
    monkeypatch.setenv("BELLCRANK_CACHE", "off")
    monkeypatch.setattr(kernel, "_loaded", {})
    monkeypatch.setattr(jit, "compile_text", lambda text, level: levels.append(level) or make(text, level))
    for limit in ("", "0", "1", "0"):
        monkeypatch.setenv("BELLCRANK_OPTIMISATION", limit)
        kernel.Kernel(hinges.plan, hinges.program, 1)
    assert levels == [3, 0, 1]


@pytest.mark.parametrize("wanted", ["fast", "-1", "4"])
def test_a_level_of_optimisation_that_is_none_is_refused(monkeypatch, wanted):
    monkeypatch.setenv("BELLCRANK_OPTIMISATION", wanted)
    with pytest.raises(StateError, match="BELLCRANK_OPTIMISATION"):
        jit.at_most(3)


def test_a_number_of_lanes_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("BELLCRANK_LANES", "5")
    with pytest.raises(StateError, match="BELLCRANK_LANES is '5'"):
        lane_count()


@pytest.mark.parametrize("lanes", ["4", "8"])
def test_either_number_of_lanes_gives_the_states_alone(monkeypatch, lanes):
    """Lanes may fuse operations differently: rounding."""
    monkeypatch.setenv("BELLCRANK_LANES", lanes)
    dyn = Dynamics(chain(3))
    rng = np.random.default_rng(5)
    q, v = rng.normal(size=(2, 11, 3))
    alone = np.array([dyn.acceleration(*state) for state in zip(q, v, strict=True)])
    found = dyn.acceleration(q, v)
    np.testing.assert_allclose(found, alone, rtol=1e-12)
    np.testing.assert_array_equal(dyn.acceleration(q[:2], v[:2]), found[:2])  # however many there are


def test_what_a_thread_does_alone_it_does_at_once_and_in_that_thread():
    with one_thread():
        assert thread_count() == 1
        assert workers().submit(get_ident).result() == get_ident()
        failed = workers().submit(lambda: 1 // 0)
    assert isinstance(failed.exception(), ZeroDivisionError)
    assert workers().submit(get_ident).result() != get_ident()


def test_a_thread_is_told_to_stop_by_whoever_started_it():
    stop = Event()
    with one_thread(stop):
        assert stopping() is stop
    assert not stopping().is_set()
