"""Critchley & Anderson: recursive coordinate reduction.   python examples/papers/critchley_anderson.py [--short] [--out FOLDER]

The five-bar with RCR, ACS and GCL (figures 7 and 8), what becomes of the closure without projection, and how the cost grows
with the number of loops and with the length of one. docs/papers shows it.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.formulations import CLOSED
from bellcrank.model import Model, generators
from bellcrank.papers.operations import count_program

ACS = {"variant": "acs", "dependents": ["pin2", "pin3", "guide"]}
FIGURE_7: dict[str, dict[str, Any]] = {
    "RCR": {"variant": "rcr"},
    "ACS, dependent q2, q3, q5": ACS,
    "GCL, figure 8.a": {"variant": "gcl", "fictitious": ("bar1", "bar4")},
    "GCL, figure 8.b": {"variant": "gcl", "fictitious": ("ground", "bar4")},
    "GCL, loop turned round": {"variant": "gcl"},
    "ACS, chosen anew": {"variant": "acs"},
    "body by body": {"variant": "body"},
}


def figure_7(short: bool) -> dict[str, Any]:
    """Runs from the paper's start; where a choice of dependent coordinates fails, the run ends."""
    model, duration, step = bc.load("five_bar"), 0.1 if short else 2.0, 0.02
    tolerance = 1e-4 if short else 1e-7
    exact = bc.simulate(model, duration, step=step, method="dop853", rtol=1e-11, atol=1e-11)
    found: dict[str, Any] = {"compiled": {"run": exact, "until": duration, "off": 0.0}}
    print(f"Figure 7: the five-bar over {duration:g} s; largest difference of q from compiled code at rtol 1e-11")
    for name, options in FIGURE_7.items():
        try:
            run = bc.simulate(
                model, duration, step=step, formulation="coordinate_reduction", rtol=tolerance, atol=tolerance, **options
            )
        except bc.SimulationError as error:
            run = error.run
        except bc.DynamicsError as error:
            print(f"  {name:28} fails at the start: {str(error).partition('.')[0]}")
            found[name] = {"until": 0.0}
            continue
        until, count = float(run.values("time")[-1]), int(np.isin(run.values("time"), exact.values("time")).sum())
        off = float(np.abs(run.values("q")[:count] - exact.values("q")[:count]).max())
        print(f"  {name:28} until {until:7.4f} s, {run.settings['steps']:4d} steps, off by {off:.1e}")
        found[name] = {"run": run, "until": until, "off": off}
    return found


def stability(short: bool) -> dict[float, dict[str, Any]]:
    """The claim on constraint stability: closure errors without projection, same method and steps."""
    model, duration = bc.load("four_bar"), 0.2 if short else 10.0
    ways = ("coordinate_reduction", "multipliers", "canonical_momenta")
    found: dict[float, dict[str, Any]] = {}
    for h in (0.005, 0.001):
        found[h] = {}
        print(f"\nClosure error without projection, four-bar, rk4 with steps of {1e3 * h:g} ms, {duration:g} s")
        for name in ways:
            options = {"step": duration / 50, "max_step": h, "method": "rk4", "formulation": name, "projection": "none"}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bc.BellcrankWarning)
                run = bc.simulate(model, duration, **options)
            found[h][name] = (run.values("time"), np.abs(run.values("closure")).max(axis=1))
            print(f"  {name:22} {found[h][name][1].max():.2e} m")
    return found


def operations(model: Model, formulation: str) -> int:
    return count_program(model, CLOSED[formulation], "plane", True, np.array(model.given_q)).total


def growth(short: bool) -> dict[str, dict[int, tuple[int, int]]]:
    """Additions and multiplications of one evaluation, by coordinate reduction and by multipliers."""
    loops, bars = ((1, 2, 4), (8, 16)) if short else ((1, 2, 4, 8, 16), (8, 16, 32, 64))
    ways = ("coordinate_reduction", "multipliers:joint")
    families = {"loops": {n: generators.ladder(n) for n in loops}, "bars": {n: generators.polygon(n) for n in bars}}
    found = {}
    for what, models in families.items():
        found[what] = {n: tuple(operations(model, way) for way in ways) for n, model in models.items()}
        print(f"\nOperations by the number of {what} ({'ladder' if what == 'loops' else 'one loop'}): reduction, multipliers")
        for n, (ours, theirs) in found[what].items():
            print(f"  {n:4d} {ours:9d} ({ours / n:8.1f} each) {theirs:9d} ({theirs / n:8.1f} each)")
        few, many = list(found[what])[-2:]
        each = [(b - a) / (many - few) for a, b in zip(found[what][few], found[what][many], strict=True)]
        print(f"  for every further one from {few} to {many}: {each[0]:.1f}, {each[1]:.1f}")
    return found


def draw(runs: dict[str, Any], drift: dict[str, Any], counts: dict[str, Any], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for k, name in enumerate(("compiled", "GCL, figure 8.b", "ACS, dependent q2, q3, q5", "GCL, figure 8.a")):
        run = runs[name]["run"]
        start = np.pi / 4 + run.values("q")[:, 0]
        style = {"color": ("#bbbbbb", "#ccbb44", "#4477aa", "#ee6677")[k], "lw": (6, 4, 2, 1)[k]}
        left.plot(run.values("time"), start, label=name, **style)
        left.plot(run.values("time"), run.values("q")[:, 3], ls="--", **style)
    left.set(title="figure 7: q1 (rad) and q4 (m, dashed)", xlabel="t (s)")
    left.set_ylim(bottom=-2.3)  # room for the legend below the curves
    left.legend(frameon=False, fontsize=7, loc="lower left")
    for h, style in ((0.005, "-"), (0.001, "--")):
        for (name, (t, error)), color in zip(drift[h].items(), ("#bbbbbb", "#4477aa", "#ee6677"), strict=True):
            wide = 4 if color == "#bbbbbb" else 1.5
            label = f"{name}, {1e3 * h:g} ms"
            middle.semilogy(t[1:], np.maximum(error[1:], 1e-18), style, color=color, lw=wide, label=label)
    middle.set(title="closure error without projection (m)", xlabel="t (s)")
    middle.legend(frameon=False, fontsize=6, loc="lower right")
    for what, color in (("loops", "#4477aa"), ("bars", "#ee6677")):
        sizes = list(counts[what])
        for place, style in ((0, "-o"), (1, ":s")):
            label = f"{what}, {('reduction', 'multipliers')[place]}"
            right.loglog(sizes, [counts[what][n][place] for n in sizes], style, color=color, label=label, ms=4)
    right.set(title="operations of one evaluation", xlabel="number of loops, or of bars in one loop")
    right.legend(frameon=False, fontsize=7)
    figure.savefig(file, dpi=120)


def main(short: bool, out: Path) -> dict[str, Any]:
    out.mkdir(parents=True, exist_ok=True)
    runs, drift, counts = figure_7(short), stability(short), growth(short)
    draw(runs, drift, counts, out / "critchley_anderson.png")
    return {"runs": runs, "drift": drift, "growth": counts}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a few seconds, for tests")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the pictures")
    options = parser.parse_args()
    main(options.short, options.out)
