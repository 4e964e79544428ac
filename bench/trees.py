"""Trees: Bellcrank beside Pinocchio and MuJoCo, in one process, with ratios.   python bench/trees.py [--quick] [--json FILE]

One state, C++ and C: loops over 256 states inside each engine (Pinocchio's abaInParallel with one thread; MuJoCo's mj_forward
called from a loop in machine code). Lanes: four states at a time, per core. Python: one call with arrays in hand.
Momenta: canonical_momenta, v and dp/dt from q and p, where the others find accelerations from q and v.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import contestants
import numpy as np
from rich.console import Console
from rich.table import Table
from timing import once, race

import bellcrank as bc
from bellcrank.formulations import CANONICAL
from bellcrank.kernels import jit
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
        "Pinocchio": contestants.pinocchio_batch(model, q, v, tau),
        "MuJoCo": contestants.mujoco_loop(model, q[0], v[0], tau[0], STATES),
    }
    reference = contestants.pinocchio_accelerations(model, q, v, tau)
    error = np.abs(lanes.batch(inputs) - reference).max() / np.abs(reference).max()
    return {"calls": calls, "error": error}


def evaluations(seconds: float) -> list[dict[str, Any]]:
    mechanisms = {f"chain {n}": generators.chain(n) for n in (2, 7, 24, 100)} | {"humanoid": generators.humanoid()}
    rows = []
    for name, model in mechanisms.items():
        entry = engines(model)
        best = {key: value / STATES * 1e6 for key, value in race(entry["calls"], seconds).items()}
        rival = min(best["Pinocchio"], best["MuJoCo"])
        rows.append(
            {
                "mechanism": name,
                **best,
                "one state / Pinocchio": best["Pinocchio"] / best["one state"],
                "one state / best": rival / best["one state"],
                "lanes / Pinocchio": best["Pinocchio"] / best["lanes"],
                "lanes / best": rival / best["lanes"],
                "momenta / Pinocchio": best["Pinocchio"] / best["momenta"],
                "momenta / one state": best["one state"] / best["momenta"],
                "momenta, lanes / lanes": best["lanes"] / best["momenta, lanes"],
                "difference": float(entry["error"]),
            }
        )
    return rows


def python_calls(seconds: float) -> dict[str, float]:
    """One call from Python at n = 7, in microseconds."""
    model = generators.chain(7)
    dyn = bc.compile(model)
    q, v, tau = (x[0] for x in states(model, 1))
    rivals = contestants.python_calls(model, q, v, tau)
    acceleration, many = dyn.acceleration, range(50)
    calls = {"Bellcrank": lambda: [acceleration(q, v, tau) for _ in many]}
    calls |= {name: (lambda call=call: [call() for _ in many]) for name, call in rivals.items()}
    return {name: value / 50 * 1e6 for name, value in race(calls, seconds).items()}


def start_up() -> dict[str, float]:
    """Seconds to compile from nothing and from the cache, and to import; each in a new process and a new cache."""
    script = (
        "import time, sys; t = time.perf_counter(); import bellcrank as bc; print(time.perf_counter() - t);"
        "from bellcrank.model import generators as g; import bellcrank.dynamics;"
        "m = eval('g.' + sys.argv[1], {'g': g}); from bellcrank.kernels import jit; jit.machine();"
        "t = time.perf_counter(); d = bc.compile(m); print(time.perf_counter() - t); print(len(d.plan.signatures))"
    )
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"BELLCRANK_CACHE": folder}
        for made in ("chain(7)", "chain(100)", "chain(10000)", "humanoid()"):
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


def _without(rows: list[dict[str, Any]], word: str) -> list[dict[str, Any]]:
    return [{key: x for key, x in row.items() if word not in key} for row in rows]


def _beside(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    times = ("mechanism", "one state", "lanes", "Pinocchio")
    return [{key: x for key, x in row.items() if key in times or "momenta" in key} for row in rows]


def show(title: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=title, title_justify="left")
    for heading in rows[0]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*[x if isinstance(x, str) else f"{x:.3g}" for x in row.values()])
    Console(width=160).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter windows")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    seconds = 0.5 if options.quick else 4.0
    figures: dict[str, Any] = {"machine": platform.processor() or platform.machine(), "cpu": jit.identity().split("\n")[0]}
    figures["evaluations"] = evaluations(seconds)
    show("Forward dynamics, microseconds per state", _without(figures["evaluations"], "momenta"))
    show("Canonical momenta beside them", _beside(figures["evaluations"]))
    figures["python"] = python_calls(seconds)
    show("One call from Python at n = 7, microseconds", [figures["python"]])
    figures["growth"] = growth()
    show("Long chains, microseconds", [figures["growth"]])
    figures["start"] = start_up()
    show("Start, seconds", [{"what": name, "seconds": value} for name, value in figures["start"].items()])
    figures["runs"] = runs()
    show("Adaptive runs of 2 s, 200 samples", figures["runs"])
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
