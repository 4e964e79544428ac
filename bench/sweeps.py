"""Many runs a second: Bellcrank's lanes, MuJoCo's rollout with its own threads, and Pinocchio in its best loop.

    python bench/sweeps.py [--quick]      runs a second of processor time (per core), and on all processors at once
    python bench/sweeps.py --cores        what the second core brings, by the clock on the wall: for an idle machine; with
                                          --times 4 of sweeps that are four times as long
    python bench/sweeps.py --workers      what a second worker of a local Dask cluster brings: the same; both may be given

All by rk4 with the same step, coordinates and velocities stored at every step. The arm has seven joints and starts from other
states in each run; or has other masses in each run. MuJoCo takes one model for all runs, or a model for each: then it has to be
compiled for each design, or its numbers overwritten in copies, whichever is faster. Pinocchio computes accelerations of all
runs together in its own loop, on one thread, and numpy adds the stages up. MuJoCo's loops are soft.
Each engine first shows that it computes the same motion. Windows are short and take turns; the shortest counts.
"""

from __future__ import annotations

import argparse
import copy
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from part import Part, Row, found, missing, show, show_rows
from part import written as as_written

import bellcrank as bc
from bellcrank.kernels.threads import thread_count
from bellcrank.model.generators import chain

Array = NDArray[np.float64]

RUNS, DURATION, STEP = 512, 0.2, 0.002  # s
STEPS = round(DURATION / STEP)


def both_clocks(call: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """The shortest times of a call: of the processor, all threads added up, and by the clock on the wall."""
    best = [np.inf, np.inf]
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        taken = time.process_time() - cpu, time.perf_counter() - wall
        best = [min(a, b) for a, b in zip(best, taken, strict=True)]
    return best[0], best[1]


def interleaved(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    best = dict.fromkeys(calls, (np.inf, np.inf))
    for _ in range(rounds):
        for name, call in calls.items():
            a, b = both_clocks(call, 2)
            best[name] = min(best[name][0], a), min(best[name][1], b)
    return best


# The arm -------------------------------------------------------------------------------------------------------------


def arm_states() -> tuple[Array, Array]:
    q, v = 0.3 * np.random.default_rng(0).standard_normal((2, RUNS, 7))
    return q, v


class InMujoco:
    """A model in MuJoCo, by rk4 without contacts, with as many threads as we have."""

    def __init__(self, model: bc.Model):
        import mujoco

        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(folder) / "model.xml"
            bc.save(model, path)
            self.spec = mujoco.MjSpec.from_file(str(path))
        self.spec.option.integrator, self.spec.option.timestep = mujoco.mjtIntegrator.mjINT_RK4, STEP
        self.spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self.model, self.module = self.spec.compile(), mujoco
        self.data = [mujoco.MjData(self.model) for _ in range(thread_count())]

    def run(self, q: Array, v: Array, models: list[Any] | None = None) -> Array:
        from mujoco import rollout

        start = np.hstack([np.zeros((len(q), 1)), q, v])
        states, _ = rollout.rollout(models or self.model, self.data, start, nstep=STEPS)
        return np.asarray(states)[:, :, 1 : 1 + q.shape[1]]

    def compiled(self, masses: Array) -> list[Any]:
        """A model for each row of masses, by the compiler of MuJoCo."""
        bodies, found = self.spec.bodies[1:], []
        for row in masses:
            for body, mass in zip(bodies, row, strict=True):
                body.mass = mass
            found.append(self.spec.compile())
        return found

    def overwritten(self, masses: Array) -> list[Any]:
        """The same in copies of the compiled model."""
        found = []
        for row in masses:
            made = copy.copy(self.model)
            made.body_mass[1:] = row
            self.module.mj_setConst(made, self.data[0])
            found.append(made)
        return found


def in_pinocchio(model: bc.Model, q: Array, v: Array) -> Array:
    """rk4 of all runs together: accelerations by abaInParallel, the rest by numpy; coordinates at every step.

    With one thread: those of OpenMP wait by spinning, which would count as time of the processor.
    """
    import peers
    import pinocchio as pin

    theirs = peers.to_pinocchio(model)
    pool, tau = pin.ModelPool(theirs, 1), np.asfortranarray(np.zeros(q.T.shape))
    q, v = np.asfortranarray(q.T), np.asfortranarray(v.T)
    kept = np.empty((STEPS, *q.shape))
    rates = [np.asfortranarray(np.zeros(q.shape)) for _ in range(4)]
    h = STEP
    for k in range(STEPS):
        speeds = []
        for a, (before, part) in zip(rates, ((0, 0.0), (0, h / 2), (1, h / 2), (2, h)), strict=True):
            at_q, at_v = (q, v) if not part else (q + part * speeds[before], v + part * rates[before])
            speeds.append(at_v)
            pin.abaInParallel(1, pool, at_q, at_v, tau, a)
        q = q + h / 6 * (speeds[0] + 2 * speeds[1] + 2 * speeds[2] + speeds[3])
        v = v + h / 6 * (rates[0] + 2 * rates[1] + 2 * rates[2] + rates[3])
        kept[k] = q
    return np.moveaxis(kept, 2, 0)


def arm(rounds: int) -> list[Row]:
    """One design from other states, and other masses in every run."""
    model, (q, v) = chain(7), arm_states()
    ours = partial(bc.simulate_many, model, DURATION, step=STEP, method="rk4", q=q, v=v)
    written = as_written(model)
    paths = [f"{name}.mass" for name in written.body_names]
    masses = written.mass * np.random.default_rng(1).uniform(0.8, 1.2, (RUNS, 7))
    design = bc.Design(written, paths)
    many = partial(bc.simulate_many, written, DURATION, step=STEP, method="rk4", q=q, v=v, design=design, p=masses)
    calls: dict[str, Callable[[], Any]] = {"ours": ours, "ours, designs": many}
    agreement: dict[str, float] = {}
    if found("mujoco"):
        theirs = InMujoco(model)
        made = theirs.overwritten(masses)
        calls["MuJoCo"] = partial(theirs.run, q, v)
        calls["MuJoCo, compiled"] = lambda: theirs.run(q, v, theirs.compiled(masses))
        calls["MuJoCo, overwritten"] = lambda: theirs.run(q, v, theirs.overwritten(masses))
        agreement["MuJoCo"] = apart(ours().q_values[:, -1], theirs.run(q, v)[:, -1])
        agreement["MuJoCo, overwritten"] = apart(many().q_values[:, -1], theirs.run(q, v, made)[:, -1])
        agreement["MuJoCo, compiled"] = apart(many().q_values[:, -1], theirs.run(q, v, theirs.compiled(masses))[:, -1])
    if found("pinocchio"):
        calls["Pinocchio"] = partial(in_pinocchio, model, q, v)
        agreement["Pinocchio"] = apart(ours().q_values[:, -1], in_pinocchio(model, q, v)[:, -1])
    best = interleaved(calls, rounds)
    rows = [
        row("arm of 7 joints, one design", best, "ours", name, agreement, 8.0 if name == "MuJoCo" else None)
        for name in ("MuJoCo", "Pinocchio")
        if name in best
    ]
    return rows + [
        row("arm of 7 joints, a design in each run", best, "ours, designs", name, agreement, 8.0)
        for name in ("MuJoCo, compiled", "MuJoCo, overwritten")
        if name in best
    ]


def apart(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max())


def row(
    what: str,
    best: dict[str, tuple[float, float]],
    ours: str,
    peer: str,
    agreement: dict[str, float],
    asked: float | None,
    within: float = 1e-9,
) -> Row:
    """Runs a second of processor time; beside it by the clock on the wall, on all processors."""
    (cpu, wall), (their_cpu, their_wall) = best[ours], best[peer]
    return Row(
        what,
        their_cpu / cpu,
        RUNS / cpu,
        peer,
        RUNS / their_cpu,
        "runs per second and core",
        agreement.get(peer),
        asked,
        {"wall ratio": their_wall / wall, "runs a second, all cores": RUNS / wall},
        within,
    )


# Closed loops --------------------------------------------------------------------------------------------------------

GIVES_WAY = 0.01  # m or rad of the motion, where constraints are soft
LOOPS = {
    "four_bar": {"parameters.coupler_length": (1.7, 1.9), "parameters.rocker_length": (1.1, 1.3)},
    "quarter_car": {"arm.mass": (3.0, 6.0), "knuckle.mass": (8.0, 14.0)},
}


def loops(name: str, rounds: int) -> list[Row]:
    """A design in each run; MuJoCo runs one design, whose constraints are soft."""
    model, spread = bc.load(name), LOOPS[name]
    rng = np.random.default_rng(2)
    p = np.stack([rng.uniform(*ends, RUNS) for ends in spread.values()], axis=1)
    design = bc.Design(model, list(spread))
    ours = partial(bc.simulate_many, model, DURATION, step=STEP, method="rk4", design=design, p=p)
    calls: dict[str, Callable[[], Any]] = {"ours": ours}
    agreement: dict[str, float] = {}
    if found("mujoco"):
        theirs = InMujoco(model)
        q, v = model.to_mujoco(np.tile(model.initial_q, (RUNS, 1)), np.tile(model.initial_v, (RUNS, 1)))
        calls["MuJoCo, one design"] = partial(theirs.run, q, v)
        alone = bc.simulate_many(model, DURATION, step=STEP, method="rk4").q_values[0, -1]
        agreement["MuJoCo, one design"] = apart(model.to_mujoco(alone), theirs.run(q[:1], v[:1])[0, -1])
    best = interleaved(calls, rounds)
    if "MuJoCo, one design" not in best:
        return []
    return [row(f"{name}, a design in each run", best, "ours", "MuJoCo, one design", agreement, None, GIVES_WAY)]


# Cores and workers ---------------------------------------------------------------------------------------------------


class Swept(NamedTuple):
    """A sweep whose runs are timed: a model, what varies, its output, duration, runs and options."""

    model: bc.Model
    spread: dict[str, tuple[float, float]]
    output: str
    duration: float
    runs: int
    options: dict[str, Any]

    def run(self, runs: int, **options: Any) -> Array:
        """The output of each run, as the store has it."""
        given = {**self.options, **options, "runs": runs}
        with tempfile.TemporaryDirectory() as folder:
            found = bc.sweep(self.model, self.spread, [self.output], self.duration, store=Path(folder) / "s.zarr", **given)
            return found.values(self.output)


def swept(only: list[str] | None = None) -> dict[str, Swept]:
    """Adaptive but for the arm; of the shortest runs a thousand take a millisecond; those of gauss4 go one
    at a time, and are mostly Python. So many that one processor needs some
    seconds: what a sweep does before its first run and after the last one is not to count."""
    pendulum, arm = bc.load("double_pendulum"), as_written(chain(7))
    ends = {f"{name}.mass": (0.8, 1.2) for name in (arm.body_names[0], arm.body_names[-1])}
    angle, energy, often = {"upper.mass": (12.0, 17.0), "initial.elbow.q.0": (-1.5, 1.5)}, "energy.total@end", {"step": 0.01}
    short = {"step": 0.05, "rtol": 1e-6, "atol": 1e-6}
    found = {
        "double pendulum": Swept(pendulum, angle, "max(abs(elbow.v))", 2.0, 1 << 18, {"step": 0.05}),
        "arm": Swept(arm, ends, energy, DURATION, 1 << 17, {"step": STEP, "method": "rk4"}),
        "four-bar": Swept(bc.load("four_bar"), LOOPS["four_bar"], energy, DURATION, 1 << 18, often),
        "quarter car": Swept(bc.load("quarter_car"), LOOPS["quarter_car"], energy, DURATION, 1 << 15, often),
        "one by one": Swept(pendulum, angle, "max(abs(elbow.v))", 1.0, 1 << 12, {"step": 0.01, "method": "gauss4"}),
        "short runs": Swept(pendulum, angle, "max(abs(elbow.v))", 0.1, 1 << 21, short),
    }
    return {name: what for name, what in found.items() if not only or name in only}


class Gain:
    """A sweep by one and by two, in turns: the shortest times by the clock on the wall, and the same results."""

    def __init__(self, name: str, what: Swept, runs: int):
        self.name, self.what, self.runs = name, what, runs
        self.best, self.results = {1: np.inf, 2: np.inf}, dict[int, Array]()

    def take(self, count: int, **options: Any) -> float:
        """Processor time of this process, and of those that it started for the sweep."""
        wall, cpu = time.perf_counter(), cpu_time()
        found = self.what.run(self.runs, **options)
        taken, cpu = time.perf_counter() - wall, cpu_time() - cpu
        self.best[count] = min(self.best[count], taken)
        np.testing.assert_array_equal(found, self.results.setdefault(1, found), err_msg=self.name)
        return cpu

    def row(self, asked: float) -> dict[str, Any]:
        one, two = self.best[1], self.best[2]
        return {"sweep of": self.name, "runs": self.runs, "gain": one / two, "asked": asked, "runs a second": self.runs / two}


def cpu_time() -> float:
    """Of this process and of those that it started and that have ended, s."""
    return sum(os.times()[:4])


def stay_on(processors: list[int]) -> None:
    """All threads of this process, those of Zarr included."""
    for thread in list(Path("/proc/self/task").iterdir()):
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(int(thread.name), processors)


def cores(rounds: int, share: float, only: list[str] | None) -> None:
    """One sweep on one processor and on two, by the affinity of the process, in turns; the shortest by the clock on the wall.

    Two cannot bring more than twice the processor time of one over that of two, all threads added up.
    """
    allowed, rows = sorted(os.sched_getaffinity(0)), []
    for name, what in swept(only).items():
        gain, cpu = Gain(name, what, int(what.runs * share)), {1: np.inf, 2: np.inf}
        what.run(1024)  # compiles
        try:
            for _ in range(rounds):
                for count in cpu:
                    stay_on(allowed[:count])
                    cpu[count] = min(cpu[count], gain.take(count))
        finally:
            stay_on(allowed)
        rows.append(gain.row(1.9) | {"gain at most": 2 * cpu[1] / cpu[2], "s of one": cpu[1], "s of two": cpu[2]})
    show("Two processors beside one", rows)


def workers(rounds: int, share: float, only: list[str] | None) -> None:
    """The same with one worker of a local Dask cluster and with two, each of one thread, beside the process with the driver and
    the scheduler: on two processors the gain is at most twice the time of the workers over that of all."""
    from distributed import Client, LocalCluster

    rows, options = [], {"threads_per_worker": 1, "processes": True, "host": "127.0.0.1", "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        for name, what in swept(only).items():
            gain, driver, theirs = Gain(name, what, int(4 * what.runs * share)), np.inf, np.inf
            for _ in range(rounds):
                for count in (1, 2):
                    cluster.scale(count)
                    while len(client.nthreads()) != count:
                        time.sleep(0.05)
                    what.run(1024 * count, scheduler=client, chunk=64)  # compiles
                    before = _taken(client)
                    cpu = gain.take(count, scheduler=client)
                    if count == 2:
                        driver, theirs = min(driver, cpu), min(theirs, _taken(client) - before)
            bound = {"gain at most": 2 * theirs / (theirs + driver), "s of workers": theirs, "s of driver, scheduler": driver}
            rows.append(gain.row(1.8) | bound)
    show("Two workers beside one", rows)


def _taken(client: Any) -> float:
    """Processor time of all workers, s."""
    return float(sum(client.run(time.process_time).values()))


def part(quick: bool) -> Part:
    rounds = 2 if quick else 12
    rows = arm(rounds) + [x for name in LOOPS for x in loops(name, max(2, rounds // 3))]
    return Part("sweeps", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--cores", action="store_true")
    parser.add_argument("--workers", action="store_true")
    parser.add_argument("--times", type=float, default=1.0, help="how much longer sweeps are")
    parser.add_argument("--only", nargs="*", help="names of sweeps")
    asked = parser.parse_args()
    rounds, share = (2, 0.125) if asked.quick else (5, 1.0)
    if asked.cores:
        cores(rounds, share * asked.times, asked.only)
    if asked.workers:
        workers(min(rounds, 3), share * asked.times, asked.only)
    if asked.cores or asked.workers:
        return
    show_rows(part(asked.quick))
    for name in missing():
        print(f"{name} is not installed: left out")


if __name__ == "__main__":
    main()
