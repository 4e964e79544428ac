"""What a billion runs would cost beside the runs themselves: Dask's scheduler, the driver and the store, with stub chunks.

    python bench/scaling.py [--chunks 2000] [--workers 2]

A stub computes nothing and returns columns as large as those of a chunk; it goes the way of a sweep's chunks, through the real
scheduler, to the driver, and into a Zarr store. So this measures the scheduler, the network on the loopback interface and the
store, and not how fast runs are: bench/sweeps.py measures that.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from part import show

import bellcrank as bc
from bellcrank.studies.study import Study
from bellcrank.studies.study.spec import RunOptions
from bellcrank.studies.study.variations import Bounds
from bellcrank.studies.sweeps.running import task_of
from bellcrank.studies.sweeps.sharing import cluster
from bellcrank.studies.sweeps.store import Chunk, Store, machine_here, packed

OUTPUTS = {"fastest": "max(abs(elbow.v))", "left": "energy.total@end"}


def stub(with_task: bytes, k: int, rows: int, first: int, last: int) -> Chunk:
    """A chunk without its runs."""
    count = last - first
    rng = np.random.default_rng(first)
    numbers = {name: rng.random(count) for name in ("fastest", "left", "reached")}
    others = {"status": np.zeros(count, dtype=np.int8), "reason": np.full(count, None)}
    return packed(k, rows, {**numbers, **others}, {name: rng.random(count) for name in ("upper.mass", "initial.elbow.q.0")})


def made_task(runs: int) -> Any:
    spread = {"upper.mass": Bounds(12.0, 17.0), "initial.elbow.q.0": Bounds(-1.5, 1.5)}
    study = Study(bc.load("double_pendulum"), spread, name="stub", duration=0.1, run=RunOptions(step=0.05), outputs=OUTPUTS)
    return task_of(study, "random", runs, 0, False)


def through_scheduler(client: Any, task: Any, chunk: int, count: int, folder: Path) -> dict[str, Any]:
    """Chunks a second, and the most tasks that the scheduler held."""
    kept = Store.make(folder / "through.zarr", task, chunk, machine_here())
    most, began, cpu = 0, time.perf_counter(), time.process_time()
    for done, _ in enumerate(cluster.chunks_on_cluster(task, kept, list(range(count)), client)):
        if done % 50 == 0:
            most = max(most, client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    size = sum(map(len, stub(b"", 0, chunk, 0, chunk).files.values()))
    row = {"runs of a chunk": chunk, "chunks": count, "MB of a chunk": size / 1e6, "chunks a second": count / wall}
    return row | {"ms of the driver's processor": 1e3 * cpu / count, "tasks with the scheduler": most}


def into_store(task: Any, chunk: int, count: int) -> dict[str, Any]:
    """Milliseconds of a chunk's writing, files and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Store.make(Path(folder) / "s.zarr", task, chunk, machine_here())
        packs = [stub(b"", k, chunk, *kept.bounds(k)) for k in range(count)]
        began, cpu = time.perf_counter(), time.process_time()
        for pack in packs:
            kept.put(pack)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        began = time.perf_counter()
        assert kept.finished()[:count].all()
        look = time.perf_counter() - began
        files = [path for path in Path(folder).rglob("*") if path.is_file() and "c" in path.parts[-3:-1]]
        size = sum(path.stat().st_size for path in files)
    row = {"runs of a chunk": chunk, "chunks": count, "ms a chunk": 1e3 * wall / count, "of the processor": 1e3 * cpu / count}
    row |= {"files a chunk": round(len(files) / count), "bytes a run": size / (chunk * count)}
    return row | {"ms to find what is missing": 1e3 * look}


def main() -> None:
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    task = made_task(10**9)
    cluster.run_chunk = stub  # travels by value
    options: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "host": "127.0.0.1", "dashboard_address": ":0"}
    with LocalCluster(n_workers=asked.workers, **options) as local, Client(local) as client:
        sizes = ((64, asked.chunks), (8192, asked.chunks), (65536, max(20, asked.chunks // 20)))
        rows = []
        for chunk, count in sizes:
            with tempfile.TemporaryDirectory() as folder:
                rows.append(through_scheduler(client, task, chunk, count, Path(folder)))
    show("Stub chunks through Dask's scheduler", rows)
    show("Chunks into the store", [into_store(task, chunk, count) for chunk, count in ((64, 300), (8192, 100), (65536, 20))])
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"largest memory of the driver, the scheduler within it: {largest:.0f} MB")


if __name__ == "__main__":
    main()
