"""Naudet, Lefeber & Terze: Hamilton's equations by recursion.   python examples/papers/naudet.py [--short] [--out FOLDER]

The operation table with our rows, momenta in trees, loops and rheonomic mechanisms beside accelerations, the index-2 argument
(loops drift less in momenta), and the impulse multipliers sigma. docs/papers shows it.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.papers.paper_table import paper_table


def table_1() -> dict[tuple[str, str], str]:
    print("Table 1: operations on a chain of n hinges (published rows first)")
    found = {}
    for row in paper_table():
        count = row.count
        remark = f"  ({row.remark})" if row.remark else ""
        print(f"  {row.algorithm:26} {count.additions:>10} + {count.multiplications:>10} = {count.total:>10}{remark}")
        found[row.algorithm, row.remark] = count.total
    return found


def in_momenta(short: bool) -> dict[str, float]:
    """The same runs in q and p and in q and v, at tight tolerances."""
    duration = 0.2 if short else 2.0
    models = ("double_pendulum", "heavy_top", "rheonomic_pendulum", "four_bar", "excavator")
    options: dict[str, Any] = {"step": duration / 20, "method": "dop853", "rtol": 1e-11, "atol": 1e-11}
    print(f"\nRuns of {duration:g} s in momenta beside runs in velocities, dop853 at 1e-11: largest difference of q")
    found = {}
    for name in models[:4] if short else models:
        model = bc.load(name)
        one = bc.simulate(model, duration, **options).values("q")
        other = bc.simulate(model, duration, formulation="canonical_momenta", **options).values("q")
        found[name] = float(np.abs(one - other).max())
        print(f"  {name:20} {found[name]:.1e}")
    return found


def drift(short: bool) -> dict[str, Any]:
    """Index 2: velocities that follow from p keep the loops closed, so that only positions drift."""
    model, duration = bc.load("four_bar"), 0.3 if short else 20.0
    found: dict[str, Any] = {}
    print(f"\nIndex 2: the four-bar without projection for {duration:g} s, rk4, steps of 5 ms; errors of position and velocity")
    for name in ("coordinate_reduction", "multipliers", "canonical_momenta"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.BellcrankWarning)
            options = {"max_step": 0.005, "method": "rk4", "formulation": name, "projection": "none"}
            run = bc.simulate(model, duration, step=duration / 100, **options)
        position, rate = (np.abs(run.values(x)).max(axis=1) for x in ("closure", "closure_rate"))
        found[name] = (run.values("time"), position, rate)
        half = position[: len(position) // 2 + 1].max()
        print(f"  {name:22} {position.max():.1e} m ({half:.1e} m after half of the time), {rate.max():.1e} m/s")
    return found


def impulses(short: bool) -> dict[str, Any]:
    """sigma along a motion in q and p that is never reset: lambda = -d(sigma)/dt.

    G^T sigma and G^T lambda are compared: of redundant equations the multipliers are not unique.
    """
    model, h, steps = bc.load("four_bar"), 1e-3, 50 if short else 400
    dyn = bc.compile(model, optimisation=0)
    q, p = model.initial_q, dyn.momenta(model.initial_q, model.initial_v)
    rows = []
    for _ in range(steps + 1):
        v = dyn.velocities(q, p)
        rows.append((dyn.impulses(q, p), dyn.multipliers(q, v), dyn.closure_jacobian(q)))
        k = []
        for c in (0.0, 0.5, 0.5, 1.0):  # the classical method, on q and p
            at = (q, p) if not k else (q + c * h * k[-1][0], p + c * h * k[-1][1])
            k.append(dyn.canonical_rates(*at))
        q, p = ([q, p][i] + h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) for i in (0, 1))
    sigma, multipliers, G = (np.array(x) for x in zip(*rows, strict=True))
    rate = (sigma[2:] - sigma[:-2]) / (2 * h)
    off = np.einsum("tmi,tm->ti", G[1:-1], rate + multipliers[1:-1])
    size = np.abs(np.einsum("tmi,tm->ti", G, multipliers)).max()
    print(f"\nImpulse multipliers of the four-bar over {h * steps:g} s: sigma reaches {np.abs(sigma).max():.3g} N s")
    print(f"  lambda = -d(sigma)/dt to {np.abs(off).max() / size:.1e} (central differences over {1e3 * h:g} ms)")
    t = h * np.arange(steps + 1)
    return {"t": t, "sigma": sigma, "multipliers": multipliers, "off": float(np.abs(off).max() / size)}


def draw(loops: dict[str, Any], pushed: dict[str, Any], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for (name, (t, position, rate)), color in zip(loops.items(), ("#bbbbbb", "#4477aa", "#ee6677"), strict=True):
        style: dict[str, Any] = {"label": name, "color": color, "lw": 4 if color == "#bbbbbb" else 1.5}
        left.semilogy(t[1:], np.maximum(position[1:], 1e-18), **style)
        middle.semilogy(t[1:], np.maximum(rate[1:], 1e-18), **style)
    left.set(title="loops open without projection (m)", xlabel="t (s)")
    middle.set(title="and their rates (m/s)", xlabel="t (s)")
    left.legend(frameon=False, fontsize=7)
    kept = np.abs(pushed["sigma"]).max(axis=0) > 0
    right.plot(pushed["t"], pushed["sigma"][:, kept])
    right.set(title="impulse multipliers sigma (N s)", xlabel="t (s)")
    figure.savefig(file, dpi=120)


def main(short: bool, out: Path) -> dict[str, Any]:
    out.mkdir(parents=True, exist_ok=True)
    found = {"table": table_1(), "runs": in_momenta(short), "drift": drift(short), "impulses": impulses(short)}
    draw(found["drift"], found["impulses"], out / "naudet.png")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a few seconds, for tests")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the pictures")
    options = parser.parse_args()
    main(options.short, options.out)
