"""A million steps: what becomes of energy and momenta.   python examples/long_time.py [--steps N] [--out FOLDER]

An undamped chain of seven rods under gravity: implicit midpoint and Gauss 4 on q and p, beside RK4 at the same step and DOP853
at about the cost of implicit midpoint. Then a mechanism with ball joints that floats in space, by a method that goes through
rotations as a group and by two that do not. Then two closed linkages, the four-bar in its plane and Bricard's in space. Prints
four tables and writes four pictures; and how the change of the chain's energy depends on the length of the run, which tells a
trend from none. docs/momenta.md shows all of it.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from pathlib import Path

import numpy as np

import bellcrank as bc
from bellcrank.comparison import MethodComparison
from bellcrank.comparison.trends import neighbours_alike, trend

STEP = 0.005  # s: long enough for RK4 to lose energy that can be seen
SLOW_STEP = 0.02  # s, for the floating mechanism, which moves more slowly
SAMPLES = 1000


def hanging_chain(links: int = 7) -> bc.Model:
    """Rods of 0.3 m and 1 kg, on hinges whose axes are y and x in turn, bent by 0.3 rad at each."""
    m = bc.Mechanism(f"chain of {links} rods")
    for k in range(links):
        top, tip = (0, 0, -0.3 * k), (0, 0, -0.3 * (k + 1))
        m.rod(f"rod{k + 1}", top, tip, mass=1.0, radius=0.03)
        m.joint(f"hinge{k + 1}", "revolute", f"rod{k}" if k else "ground", f"rod{k + 1}", top, axis="xy"[k % 2 == 0])
        m.start(f"hinge{k + 1}", q=0.3)
    return m.build()


def floating() -> bc.Model:
    """A body with an arm of two rods on either side, on ball joints, in free fall: nothing acts from outside."""
    m = bc.Mechanism("floating, ball joints", gravity=(0, 0, 0))
    m.body("hub", 4.0, (0, 0, 0), (0.06, 0.05, 0.04))
    m.joint("base", "free", "ground", "hub", (0, 0, 0))
    for side, name in ((1, "left"), (-1, "right")):
        m.rod(f"{name}_upper", (0, 0.2 * side, 0), (0, 0.6 * side, 0), mass=1.0, radius=0.03)
        m.rod(f"{name}_lower", (0, 0.6 * side, 0), (0.3, 0.6 * side, 0), mass=0.7, radius=0.03)
        m.joint(f"{name}_shoulder", "spherical", "hub", f"{name}_upper", (0, 0.2 * side, 0))
        m.joint(f"{name}_elbow", "spherical", f"{name}_upper", f"{name}_lower", (0, 0.6 * side, 0))
    return m.build()


def tumbling(model: bc.Model) -> np.ndarray:
    """Velocities of about 1 rad/s, the centre of mass at rest so that it stays near the origin."""
    v = np.random.default_rng(1).uniform(-1.0, 1.0, model.nv)
    linear, _ = bc.compile(model).momentum(model.initial_q, v)
    v[:3] -= linear / model.mass.sum()  # the base comes first, its axes are the world's
    return v


def tolerance_for(model: bc.Model, evaluations: int, duration: float) -> float:
    """The tolerance at which DOP853 takes about so many evaluations."""
    exponents = [-13.0, -5.0]
    for _ in range(6):
        middle = sum(exponents) / 2
        run = bc.simulate(model, duration, step=duration / 10, method="dop853", rtol=10**middle, atol=10**middle)
        exponents[0 if run.settings["evaluations"] > evaluations else 1] = middle
    return float(f"{10**middle:.0e}")


def compare_on_chain(steps: int) -> MethodComparison:
    model, duration = hanging_chain(), steps * STEP
    part = duration / 5
    implicit = bc.simulate(model, part, step=part, max_step=STEP, method="implicit_midpoint")
    tolerance = tolerance_for(model, implicit.settings["evaluations"], part)
    methods = {name: {"method": name} for name in ("rk4", "implicit_midpoint", "gauss4")}
    methods[f"dop853, {tolerance:.0e}"] = {"method": "dop853", "rtol": tolerance, "atol": tolerance}
    return bc.compare_methods(model, duration, step=duration / min(SAMPLES, steps), max_step=STEP, methods=methods)


def compare_floating(steps: int) -> MethodComparison:
    model, duration = floating(), steps * SLOW_STEP
    names = ("rk4", "dop853", "implicit_midpoint")
    interval = duration / min(SAMPLES, steps)
    return bc.compare_methods(model, duration, step=interval, max_step=SLOW_STEP, methods=names, v=tumbling(model))


def compare_loop(name: str, step: float, steps: int) -> MethodComparison:
    """A closed linkage of the gallery, undamped: midpoint rules between pushes of its closures, beside RK4."""
    model, duration = bc.load(name), steps * step
    methods = ("rk4", "implicit_midpoint", "midpoint4")
    return bc.compare_methods(model, duration, step=duration / min(SAMPLES, steps), max_step=step, methods=methods)


def changes_by_length(steps: int, starts: int = 8) -> dict[tuple[str, int], tuple[float, float, float]]:
    """Change of the chain's energy error over runs of different lengths from starts that are 1e-6 rad apart.

    The mean and its standard error from run to run, and the correlation of neighbouring stretches within a run.
    """
    model, found = hanging_chain(), {}
    nearby = model.initial_q + 1e-6 * np.random.default_rng(0).normal(size=(starts, model.nq))
    for method, length in ((method, steps // part) for method in ("rk4", "implicit_midpoint") for part in (100, 10, 1)):
        changes, alike = [], []
        for q in nearby:
            duration = length * STEP
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bc.BellcrankWarning)  # of errors of the energy, which are what is looked at
                run = bc.simulate(model, duration, step=duration / SAMPLES, max_step=STEP, method=method, q=q)
            t, error = run.values("time"), run.values("balance") / run.values("kinetic").max()
            slope = trend(t, error)
            assert slope is not None
            changes.append(slope[0] * duration)
            alike.append(neighbours_alike(error))
        mean, doubt = float(np.mean(changes)), float(np.std(changes, ddof=1) / starts**0.5)
        found[method, length] = mean, doubt, float(np.mean(alike))
        print(f"  {method:18} {length:9,d} steps: {mean:+.1e} +- {doubt:.0e}, neighbours {found[method, length][2]:.2f} alike")
    return found


COMPARED = {
    "long_time_chain": compare_on_chain,
    "long_time_floating": compare_floating,
    "long_time_four_bar": partial(compare_loop, "four_bar", 0.005),
    "long_time_bricard": partial(compare_loop, "bricard", 0.002),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help="steps of the methods of fixed step")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, compared in COMPARED.items():
        found = compared(options.steps)
        print(found)
        for row in found.rows:
            if row.trend is not None and row.trend_error is not None:
                change, doubt = (x * found.duration for x in (row.trend, row.trend_error))
                print(f"  {row.method}: energy error changes by {change:+.1e} +- {doubt:.0e} over the run")
        found.plot(options.out / f"{name}.png")
    print("The chain from eight starts 1e-6 rad apart: mean change of the energy error over runs of different lengths")
    changes_by_length(options.steps)


if __name__ == "__main__":
    main()
