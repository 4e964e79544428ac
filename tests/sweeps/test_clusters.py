"""Sweeps on a Dask cluster of local processes: the same numbers, whoever dies."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MissingExtraError, StudyError
from tests.sweeps.test_sweeps import same, swept

pytest.importorskip("distributed")


@pytest.fixture
def cluster():
    """Two workers in processes of their own, on the loopback interface."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as made:
        yield made


def test_a_worker_that_dies_loses_nothing(cluster):
    """The first worker is killed after the first chunk; all runs arrive, bit for bit those of one process."""
    model = bc.load("double_pendulum")
    killed = []

    def kill(at):
        if not killed:
            killed.append(True)
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    from distributed import Client

    with Client(cluster) as client:
        found = swept(model, scheduler=client, runs=640, chunk=64, progress=kill)
    assert killed and found.complete
    same(found, swept(model, runs=640))
    assert np.isfinite(found.values("left")).all()


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
