"""Kang & Yoon: the reference point of a recursive formulation.   python examples/papers/kang_yoon.py [--short] [--out FOLDER]

Prints the paper's count of what the instant global origin saves, the operations of the three reference points as they are
compiled, the quarter car's table 5, and a model in which each of the four basic constraints is used by name.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.model import generators
from bellcrank.papers.operations import count_chain, count_operations
from bellcrank.papers.reference_points import dense_savings

POINTS = ("centroid", "joint", "origin")
BASIC = {"square": "d1, perpendicular", "floor": "d2, point_on_plane", "pin": "s, coincident", "rod": "ss, distance"}


def four_constraints() -> bc.Model:
    """Bodies that fall, each tied by one basic constraint: a plate that stays upright, a puck, a pendulum, a swing."""
    m = bc.Mechanism("basic constraints", gravity=(0, 0, -9.81))
    starts = {"plate": (0.2, 0.5, 0, 1, 0, 0.3), "puck": (0.2, 0.5, 0, 1, 0.5, 0.3), "bob": (-0.25, 0.5, 0, 1, 0.5, 0.3)}
    starts["swing"] = (0.2, 0.5, 0, 1, 0.5, 0.3)
    for k, (name, v) in enumerate(starts.items()):
        m.body(name, 1.0, (k, 0, 0), (0.02, 0.03, 0.04))
        m.joint(f"{name}_free", "free", "ground", name, (k, 0, 0))
        m.start(f"{name}_free", v=v)
    m.perpendicular("square", ("ground", (0, 0, 0)), ("plate", (0, 0, 0)), "z", "x")
    m.point_on_plane("floor", ("ground", (1, 0, 0)), ("puck", (1, 0, 0)), "z")
    m.coincident("pin", ("ground", (2, 0, 0.5)), ("bob", (2, 0, 0.5)))
    m.distance("rod", ("ground", (3, 0, 1)), ("swing", (3, 0, 0.1)))
    return m.build()


def dense_table() -> dict[tuple[int, int], int]:
    """Section 5: multiplications saved for each body."""
    print("Multiplications that the origin saves for each body, counted densely as in the paper (n = 3, m = 9)")
    for saving in dense_savings(3, 9):
        print(f"  {saving.item:36} {saving.multiplications:5d}")
    found = {(n, m): sum(s.multiplications for s in dense_savings(n, m)) for n, m in ((1, 0), (1, 5), (3, 9))}
    for (n, m), total in found.items():
        print(f"  n = {n}, m = {m}: {total}   (36 + 6n + 6m = {36 + 6 * n + 6 * m})")
    return found


def folded_table() -> dict[str, Any]:
    """The same three points as they are compiled: eliminated before they are shifted, structural zeros left out."""
    chain = {point: count_chain(generators.pin_joint_chain, f"reference_point:{point}") for point in POINTS}
    car = count_operations(bc.load("quarter_car"))
    print("\nOperations as compiled: multiplications and total of one evaluation")
    print(f"  {'':10} {'chain of n hinges':>34}   {'quarter car':>20}")
    for point in POINTS:
        own, whole = chain[point], car[f"multipliers:{point}"]
        print(f"  {point:10} {own.multiplications:>16} {own.total:>16}   {whole.multiplications:>9} {whole.total:>9}")
    return {"chain": chain, "car": {point: car[f"multipliers:{point}"] for point in POINTS}}


def table_5(short: bool) -> dict[str, float]:
    """Seconds of an evaluation by the three points, relative to the centroid: the least of many short interleaved windows."""
    model = bc.load("quarter_car")
    states = 64 if short else 512
    rng = np.random.default_rng(0)
    q, v = np.tile(model.initial_q, (states, 1)), 0.1 * rng.normal(size=(states, model.nv))
    ways = {point: bc.compile(model, "multipliers", reference=point, optimisation=0 if short else 3) for point in POINTS}
    least = dict.fromkeys(POINTS, np.inf)
    for _ in range(3 if short else 200):
        for point, dyn in ways.items():
            began = time.perf_counter()
            dyn.acceleration(q, v)
            least[point] = min(least[point], time.perf_counter() - began)
    ratios = {point: least[point] / least["centroid"] for point in POINTS}
    print("\nTable 5, CPU time of the quarter car relative to the centroid (paper: 100 %, 86 % about the origin)")
    print("  " + ", ".join(f"{point} {100 * ratio:.0f} %" for point, ratio in ratios.items()))
    a = [dyn.acceleration(q, v) for dyn in ways.values()]
    print(
        f"  largest difference of the accelerations: {max(np.abs(x - a[0]).max() for x in a) / np.abs(a[0]).max():.1e} of them"
    )
    return ratios


def constraints_in_use(short: bool) -> dict[str, float]:
    model = four_constraints()
    run = bc.simulate(model, 0.3 if short else 2.0, step=0.02)
    closure = np.abs(run.values("closure"))
    index = model.closure_index
    found = {c.name: float(closure[:, index[k] : index[k + 1]].max()) for k, c in enumerate(model.closures)}
    print("\nEach basic constraint by name, the largest error of its equations in a run")
    for name, error in found.items():
        print(f"  {BASIC[name]:22} {error:.1e}")
    print(f"  balance of energy: {run.energy_error:.1e} of the largest kinetic energy")
    return found


def draw(dense: dict[tuple[int, int], int], folded: dict[str, Any], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    savings = dense_savings(3, 9)
    left.barh([s.item for s in savings], [s.multiplications for s in savings], color="#4477aa")
    left.invert_yaxis()
    left.set_title(f"saved by the origin, dense: {dense[3, 9]} for n = 3, m = 9", fontsize=9)
    left.set_xlabel("multiplications")
    for k, (what, color) in enumerate((("multiplications", "#4477aa"), ("additions", "#ccbb44"))):
        values = [getattr(folded["car"][point], what) for point in POINTS]
        right.bar([x + 0.4 * k for x in range(3)], values, width=0.38, color=color, label=what)
    right.set_xticks([0.2, 1.2, 2.2], POINTS)
    right.set_title("quarter car, one evaluation as compiled", fontsize=9)
    right.set_ylim(0, 4600)
    right.legend(frameon=False, loc="upper center", ncols=2, fontsize=8)
    figure.savefig(file, dpi=120)


def main(short: bool, out: Path) -> dict[str, Any]:
    out.mkdir(parents=True, exist_ok=True)
    dense, folded = dense_table(), folded_table()
    found = {"dense": dense, "folded": folded, "times": table_5(short), "closures": constraints_in_use(short)}
    draw(dense, folded, out / "kang_yoon.png")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a few seconds, for tests")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the pictures")
    options = parser.parse_args()
    main(options.short, options.out)
