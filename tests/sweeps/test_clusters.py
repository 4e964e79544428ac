"""Sweeps on a Dask cluster of local processes: the same numbers, whoever dies."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MissingExtraError, StudyError
from bellcrank.studies.cluster import on_cluster
from tests.studies.carts import cart
from tests.sweeps.test_sweeps import same, swept

pytest.importorskip("distributed")


@pytest.fixture
def cluster():
    """A worker in a process of its own, on the loopback interface, and one in a thread of this process."""
    from distributed import LocalCluster, Worker

    async def join(address):
        return await Worker(address, nthreads=1, dashboard_address=":0")

    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=1, processes=True, **options) as made:
        worker = made.sync(join, made.scheduler_address)
        yield made
        made.sync(worker.close)


def test_a_worker_that_dies_loses_nothing(cluster):
    """One is killed after the first chunk; all runs arrive, bit for bit those of one process."""
    from distributed import Client

    model, killed = bc.load("double_pendulum"), []

    def kill(at):
        if not killed:
            killed.append(True)
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    with Client(cluster) as client:
        found = swept(model, scheduler=client, runs=640, chunk=64, progress=kill)
    assert killed and found.complete
    same(found, swept(model, runs=640))
    assert np.isfinite(found.values("left")).all()


@pytest.fixture(scope="module")
def client():
    """Two workers that are threads of this process: the way of what travels is the same."""
    from distributed import Client

    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50) as made:
        yield made


def test_searches_from_several_starts_run_on_a_cluster(client):
    """The lower of two valleys, x = 1.5/m = 3, which the search from the model's own start does not find."""
    given = {"outputs": {"x": "rail.q@end"}, "starts": 5, "seed": 3}
    cost, over = "=((x - 1)**2 + 0.05)*((x - 3)**2)", {"parameters.m": (0.3, 2.0)}
    found = bc.optimize(cart(), cost, over, scheduler=client, **given)
    assert found.x[0] == pytest.approx(0.5, rel=1e-3)
    here = bc.optimize(cart(), cost, over, parallel=False, **given)
    assert sorted(one.start for one in found.searches) == [0, 1, 2, 3, 4]
    assert found.cost == here.cost and found.x[0] == here.x[0]


def test_differences_are_found_on_a_cluster(client):
    model, outputs = cart(), ["rail.q@end"]
    there = bc.finite_differences(model, ["parameters.m", "parameters.F"], outputs, 1.0, scheduler=client)
    here = bc.finite_differences(model, ["parameters.m", "parameters.F"], outputs, 1.0)
    np.testing.assert_array_equal(there.d("rail.q@end"), here.d("rail.q@end"))
    np.testing.assert_array_equal(there.dq_values, here.dq_values)


def test_a_call_whose_workers_die_again_and_again_is_named():
    """Every answer is that the worker died."""
    import distributed

    class Future:
        def __init__(self, key):
            self.key = key

        def result(self):
            raise distributed.client.FutureCancelledError(self.key, "lost")

        def add_done_callback(self, tell):
            tell(self)

    class Client:
        def nthreads(self):
            return {}

        def submit(self, call, *given, key, **options):
            return Future(key)

    died, alone = pytest.raises(StudyError, match="10 workers died at the answer 7"), pytest.warns(match="no worker has joined")
    with died, alone:
        list(on_cluster(int, {7: ()}, Client(), "the answer"))


def test_no_scheduler_is_an_error_that_names_the_address(monkeypatch):
    import distributed

    def nobody(address, timeout):
        raise OSError("nobody answers")

    monkeypatch.setattr(distributed, "Client", nobody)
    with pytest.raises(StudyError, match="no Dask scheduler answers at tcp://127.0.0.1:9"):
        swept(bc.load("double_pendulum"), scheduler="tcp://127.0.0.1:9", runs=8)


def test_dask_that_is_not_installed_is_named_with_its_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r'pip install "bellcrank\[cluster\]"'):
        swept(bc.load("double_pendulum"), scheduler="tcp://127.0.0.1:9", runs=8)
