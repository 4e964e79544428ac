"""Drivers and workers that are killed at random times while they sweep: what is found must be as if nothing had happened.

    python -m tests.sweeps.deaths [TIMES] [drivers] [workers]

A driver is killed (kill -9) and started again until it ends; then each of so many sweeps on two Dask workers loses one of them.
Prints how far each came, and ends with an error where a number differs.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import bellcrank as bc
from tests.sweeps.test_sweeps import OUTPUTS, PARAMETERS, same

GIVEN: dict[str, Any] = {"step": 0.05, "runs": 100_000, "seed": 3, "chunk": 512}
CHUNKS = -(-GIVEN["runs"] // GIVEN["chunk"])
HUNG = 600  # seconds after which a series that says nothing shows where it stands, and ends
SCRIPT = f"""
import sys, bellcrank as bc
from tests.sweeps.test_sweeps import OUTPUTS, PARAMETERS
bc.sweep(bc.load("double_pendulum"), PARAMETERS, OUTPUTS, 0.2, store=sys.argv[1], **{GIVEN!r})
"""


def finished(store: Path) -> int:
    """Chunks that are there."""
    folder = store / "status" / "c"
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def drivers(times: int, folder: Path, whole: bc.SweepResult) -> None:
    store, rng = folder / "driver.zarr", random.Random(0)
    for k in range(times):
        before = finished(store)
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(store)])
        while finished(store) == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        print(f"driver {k + 1}: {bc.load_sweep(store)!r}", flush=True)
    subprocess.run([sys.executable, "-c", SCRIPT, str(store)], check=True)
    same(bc.load_sweep(store), whole)
    print(f"the same numbers after {times} drivers")


def workers(times: int, folder: Path, whole: bc.SweepResult) -> None:
    """One cluster for all: what a nanny starts anew takes part in the next sweep.

    A cluster of Dask gives up a worker that has not come back after 15 s, for good: too few where the machine is busy.
    """
    import dask
    from distributed import Client, LocalCluster

    rng = random.Random(1)
    dask.config.set({"distributed.deploy.lost-worker-timeout": f"{HUNG} s"})
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": 60}
    with LocalCluster(n_workers=2, processes=True, **options) as cluster, Client(cluster) as client:
        for k in range(times):
            faulthandler.dump_traceback_later(HUNG, exit=True)
            while len(client.nthreads()) < 2:  # wait_for_workers would ask the cluster, which loses count of workers that die
                time.sleep(0.1)
            pid, store = rng.choice(list(client.run(os.getpid).values())), folder / f"worker{k}.zarr"
            enough, died = rng.randrange(CHUNKS // 2), []

            def watch(progress: Any, pid: int = pid, store: Path = store, enough: int = enough, died: list[int] = died) -> None:
                if not died and progress.done >= enough * GIVEN["chunk"]:
                    time.sleep(rng.uniform(0.0, 0.05))
                    os.kill(pid, signal.SIGKILL)
                    died.append(finished(store))

            given = {**GIVEN, "store": store, "scheduler": client, "progress": watch}
            same(bc.sweep(bc.load("double_pendulum"), PARAMETERS, OUTPUTS, 0.2, **given), whole)
            assert died
            print(f"worker {k + 1}: died after {died[0]} of {CHUNKS} chunks, the same numbers", flush=True)
    faulthandler.cancel_dump_traceback_later()


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    series = [x for x in (drivers, workers) if x.__name__ in sys.argv[2:] or not sys.argv[2:]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = bc.sweep(bc.load("double_pendulum"), PARAMETERS, OUTPUTS, 0.2, store=folder / "whole.zarr", **GIVEN)
        for kill in series:
            kill(times, folder, whole)


if __name__ == "__main__":
    main()
