"""Runs a second of many short runs: Bellcrank's lanes with a design in each, and MuJoCo's rollout of one design.

    python bench/sweeps.py

An arm of seven joints by rk4 with steps of 2 ms for 0.2 s, states stored every step, on as many threads as the process may
use; the fastest of interleaved repetitions. Prints ratios first. MuJoCo cannot change the design without compiling its model
again.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import bellcrank as bc
from bellcrank.kernels.threads import thread_count
from bellcrank.model.generators import chain

RUNS, DURATION, STEP, REPETITIONS = 512, 0.2, 0.002, 5


def main() -> None:
    import mujoco
    from mujoco import rollout

    model = chain(7)
    rng = np.random.default_rng(0)
    q, v = 0.3 * rng.standard_normal((2, RUNS, 7))
    options = {"step": STEP, "method": "rk4", "q": q, "v": v}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.xml"
        bc.save(model, path)
        arm = mujoco.MjModel.from_xml_path(str(path))
    arm.opt.integrator, arm.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, STEP
    arm.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = [mujoco.MjData(arm) for _ in range(thread_count())]
    start = np.hstack([np.zeros((RUNS, 1)), q, v])
    steps = round(DURATION / STEP)
    best = {"bellcrank": np.inf, "mujoco": np.inf}
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        ours = bc.simulate_many(model, DURATION, **options)
        best["bellcrank"] = min(best["bellcrank"], time.perf_counter() - began)
        began = time.perf_counter()
        theirs, _ = rollout.rollout(arm, data, start, nstep=steps)
        best["mujoco"] = min(best["mujoco"], time.perf_counter() - began)
    apart = np.abs(ours.q_values[:, -1] - theirs[:, -1, 1:8]).max()
    print(f"ratio of runs a second, Bellcrank over MuJoCo's rollout: {best['mujoco'] / best['bellcrank']:.2f}")
    print(f"agreement of the last coordinates: {apart:.1e}")
    for name, seconds in best.items():
        print(f"{name:<10} {RUNS / seconds:10.0f} runs a second, {thread_count()} threads")


if __name__ == "__main__":
    main()
