"""Trees: Bellcrank beside Pinocchio and MuJoCo, in one process, with ratios.   python bench/trees.py [--quick]

One state, C++ and C: loops over 256 states inside each engine (Pinocchio's abaInParallel with one thread; MuJoCo's mj_forward
called from a loop in machine code). Lanes: four or eight states at a time, per core. Python: one call with arrays in hand.
Momenta: canonical_momenta, v and dp/dt from q and p, where the others find accelerations from q and v.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import partial
from typing import Any

import contestants
import numpy as np
import peers
from part import Part, Row, alone, found
from timing import once, race

import bellcrank as bc
from bellcrank.formulations import CANONICAL
from bellcrank.kernels.processor import lane_count
from bellcrank.model import Model, generators

LANES = lane_count()

STATES = 256


def states(model: Model, count: int = STATES) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    drawn = [generators.random_state(model, seed) for seed in range(count)]
    tau = np.random.default_rng(1).uniform(-1, 1, (count, model.nv))
    return np.array([q for q, _ in drawn]), np.array([v for _, v in drawn]), tau


def engines(model: Model) -> dict[str, Any]:
    """A call of each engine that evaluates all states, and its accelerations for comparison."""
    dyn = bc.compile(model)
    q, v, tau = states(model)
    inputs = {"q": q, "v": v, "tau": tau}
    one, lanes = (dyn.kernel(dyn.program, lanes) for lanes in (1, LANES))
    hamilton = replace(CANONICAL["canonical_momenta:joint"], scratch=("v",))  # v is computed too, dp/dt returned
    momenta, momenta_lanes = (dyn.kernel(hamilton, lanes) for lanes in (1, LANES))
    canonical = {"q": q, "p": dyn.momenta(q, v), "tau": tau}
    calls = {
        "one state": lambda: one.batch(inputs, threads=1),
        "lanes": lambda: lanes.batch(inputs, threads=1),
        "momenta": lambda: momenta.batch(canonical, threads=1),
        "momenta, lanes": lambda: momenta_lanes.batch(canonical, threads=1),
    }
    errors, accelerations = {}, lanes.batch(inputs)
    if found("pinocchio"):
        calls["Pinocchio"] = contestants.pinocchio_batch(model, q, v, tau)
        errors["Pinocchio"] = apart(accelerations, contestants.pinocchio_accelerations(model, q, v, tau))
    if found("mujoco"):
        calls["MuJoCo"] = contestants.mujoco_loop(model, q[0], v[0], tau[0], STATES)
        mj_model = peers.to_mujoco(model)
        errors["MuJoCo"] = apart(accelerations[0], peers.mujoco_acceleration(model, mj_model, q[0], v[0], tau[0]))
    return {"calls": calls, "errors": errors}


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, of the largest acceleration."""
    return float(np.abs(a - b).max() / np.abs(b).max())


MECHANISMS = {f"chain {n}": partial(generators.chain, n) for n in (2, 7, 24, 100)} | {"humanoid": generators.humanoid}


def evaluations(seconds: float, names: tuple[str, ...] = tuple(MECHANISMS)) -> list[dict[str, Any]]:
    """Microseconds per state, how many times faster than the better peer, and by how much accelerations differ."""
    rows = []
    for name in names:
        entry = engines(MECHANISMS[name]())
        best = {key: value / STATES * 1e6 for key, value in race(entry["calls"], seconds).items()}
        row: dict[str, Any] = {"mechanism": name, **best}
        rivals = [best[peer] for peer in ("Pinocchio", "MuJoCo") if peer in best]
        if rivals:
            row |= {f"{ours} / best": min(rivals) / best[ours] for ours in ("one state", "lanes")}
        row |= {"momenta / one state": best["one state"] / best["momenta"]}
        row |= {"momenta, lanes / lanes": best["lanes"] / best["momenta, lanes"]}
        rows.append(row | {"difference": max(entry["errors"].values(), default=0.0), "errors": entry["errors"]})
    return rows


def python_calls(seconds: float) -> tuple[dict[str, float], dict[str, float]]:
    """One call from Python at n = 7, in microseconds; and by how much the accelerations of the others differ."""
    model = generators.chain(7)
    dyn = bc.compile(model)
    q, v, tau = (x[0] for x in states(model, 1))
    rivals = contestants.python_calls(model, q, v, tau)
    errors = {name: apart(dyn.acceleration(q, v, tau), np.array(call())) for name, call in rivals.items()}
    acceleration, many = dyn.acceleration, range(50)
    calls = {"Bellcrank": lambda: [acceleration(q, v, tau) for _ in many]}
    calls |= {name: (lambda call=call: [call() for _ in many]) for name, call in rivals.items()}
    return {name: value / 50 * 1e6 for name, value in race(calls, seconds).items()}, errors


def start_up(models: tuple[str, ...] = ("chain(7)", "chain(100)", "chain(10000)", "humanoid()")) -> dict[str, float]:
    """Seconds of the processor to compile from nothing and from the cache, and to import; each in a new process."""
    script = (
        "import time, sys; t = time.process_time(); import bellcrank as bc; print(time.process_time() - t);"
        "from bellcrank.model import generators as g; import bellcrank.dynamics;"
        "m = eval('g.' + sys.argv[1], {'g': g}); from bellcrank.kernels import jit; jit.machine();"
        "t = time.process_time(); d = bc.compile(m); print(time.process_time() - t); print(len(d.plan.signatures))"
    )
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"BELLCRANK_CACHE": folder}
        for made in models:
            for kind in ("compiled", "cached"):
                out = subprocess.run(
                    [sys.executable, "-c", script, made], env=environment, capture_output=True, text=True, check=True
                )
                imported, compiled, signatures = out.stdout.split()
                result[f"{made} {kind}, {signatures} signatures"] = float(compiled)
                result["import bellcrank"] = min(float(imported), result.get("import bellcrank", 9.0))
    return result


def growth() -> dict[str, float]:
    """Microseconds per evaluation of long chains: linear in n."""
    result = {}
    for n in (1000, 10_000):
        model = generators.chain(n)
        dyn = bc.compile(model)
        q, v, tau = (x[0] for x in states(model, 1))
        result[f"chain {n}"] = min(once(lambda: dyn.acceleration(q, v, tau)) for _ in range(20)) * 1e6  # noqa: B023
    return result


def runs(sizes: tuple[int, ...] = (2, 7, 24)) -> list[dict[str, Any]]:
    """Adaptive runs of 2 s: the compiled Dormand-Prince against scipy's RK45 around the same compiled right-hand side."""
    from scipy.integrate import solve_ivp

    from bellcrank.integrate import METHODS
    from bellcrank.run import compiled as machine
    from bellcrank.run.arguments import sample_times, starting_state

    rows = []
    for n in sizes:
        model = generators.chain(n)
        dyn = bc.compile(model)
        q, v, _ = (0.5 * x[0] for x in states(model, 1))
        times = sample_times(2.0, 0.01)
        start = starting_state(dyn, None, {"q": q, "v": v, "tau": None, "u": None})

        def slope(t: float, y: np.ndarray, n: int = n, dyn: Any = dyn) -> np.ndarray:
            return np.concatenate([y[n:], dyn.acceleration(y[:n], y[n:])])

        for tolerance in (1e-6, 1e-9):
            ours, theirs = [], []
            for _ in range(5):
                trajectory = machine.prepare(dyn, METHODS["dopri5"], start, times, tolerance, tolerance, None)
                ours.append(once(lambda: machine.advance_to_end(trajectory)))  # noqa: B023
                y = np.concatenate([q, v])
                theirs.append(
                    once(lambda: solve_ivp(slope, (0, 2), y, t_eval=times, rtol=tolerance, atol=tolerance))  # noqa: B023
                )
            rows.append({"n": n, "rtol": tolerance, "ms": min(ours) * 1e3, "scipy ms": min(theirs) * 1e3})
            rows[-1]["ratio"] = rows[-1]["scipy ms"] / rows[-1]["ms"]
    return rows


def part(quick: bool) -> Part:
    """Evaluations beside the peers, calls from Python, long chains, compiling and starting, and adaptive runs."""
    seconds = 0.3 if quick else 3.0
    names = ("chain 7", "chain 100", "humanoid") if quick else tuple(MECHANISMS)
    rows, table = [], evaluations(seconds, names)
    for row in table:
        errors = row.pop("errors")
        for ours in ("one state", "lanes"):
            for peer in errors:
                what, asked = f"forward dynamics, {row['mechanism']}, {ours}", None
                rows.append(Row(what, row[peer] / row[ours], row[ours], peer, row[peer], "us per state", errors[peer], asked))
    calls, errors = python_calls(seconds)
    own = calls["Bellcrank"]
    for peer, other in calls.items():
        if peer != "Bellcrank":
            rows.append(Row("one call from Python, chain 7", other / own, own, peer, other, "us", errors[peer]))
    started = start_up(("chain(7)", "humanoid()") if quick else ("chain(7)", "chain(100)", "chain(10000)", "humanoid()"))
    adaptive = runs((2, 7) if quick else (2, 7, 24))
    tables = {"Forward dynamics, microseconds per state": table, "One call from Python, chain 7, microseconds": [calls]}
    tables |= {"Long chains, microseconds": [growth()]} if not quick else {}
    tables["Start, seconds of the processor"] = [{"what": name, "seconds": value} for name, value in started.items()]
    tables["Adaptive runs of 2 s, 200 samples"] = adaptive
    return Part("trees", rows, tables)


if __name__ == "__main__":
    alone(part, __doc__)
