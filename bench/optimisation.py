"""What exact gradients are worth to an optimiser, and how far fits can be trusted.

    python bench/optimisation.py closed      # 20 parameters of a closed loop: exact gradients beside finite differences
    python bench/optimisation.py path        # path synthesis from 100 random starts
    python bench/optimisation.py intervals   # how often intervals of 95 % hold, in 100 noisy repetitions

Times are wall time and, where it says so, processor time: on a machine that others share only the ratio counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

import bellcrank as bc
from bellcrank.studies.fitting import FitProblem
from bellcrank.studies.study.variations import Bounds

MOVED = ["upper_front", "upper_rear", "upper_ball", "rack", "steering_arm", "lower_ball"]


def closed() -> None:
    """Camber and toe of a double wishbone by 20 coordinates of its hard points."""
    study = bc.load_study("wishbone")
    names = [f"{point}.{axis}" for point in MOVED for axis in "xyz"] + ["wheel_center.y", "wheel_center.z"]
    own = study.model.parameters
    over = {name: Bounds(own[name] - 0.04, own[name] + 0.04) for name in names}
    problem = FitProblem(replace(study, parameters=over))
    design = bc.Design(study.model, names)
    problem.evaluate(problem.start)  # compiles
    plain_cost(problem, design, problem.start)
    for exact in (True, False):
        said, wall, cpu = search(problem, design, exact)
        print(f"{'exact gradients' if exact else 'finite differences':20} {said}; {wall:.2f} s wall, {cpu:.2f} s processor")


def search(problem: FitProblem, design: bc.Design, exact: bool) -> tuple[str, float, float]:
    """SLSQP from the model's own start, in scaled variables; differences are central, of runs without derivatives."""
    size = problem.evaluate(problem.start).cost
    low, high = ((x - problem.start) / problem.scale for x in (problem.lower, problem.upper))
    counts = [0, 0]

    def cost(y: np.ndarray) -> float:
        counts[0] += 1
        return plain_cost(problem, design, problem.start + y * problem.scale) / size

    def both(y: np.ndarray) -> tuple[float, np.ndarray]:
        counts[1] += 1
        f, g = problem.cost_and_gradient(problem.start + y * problem.scale)
        return f / size, g * problem.scale / size

    def differences(y: np.ndarray) -> np.ndarray:
        counts[1] += 1
        h = 1e-5
        return np.array([(cost(y + h * e) - cost(y - h * e)) / (2 * h) for e in np.eye(len(y))])

    y0, options = np.zeros(len(low)), {"ftol": 1e-6, "maxiter": 100}
    began, cpu = time.perf_counter(), time.process_time()
    bounds = list(zip(low, high, strict=True))
    if exact:
        found = minimize(both, y0, jac=True, bounds=bounds, method="SLSQP", options=options)
    else:
        found = minimize(cost, y0, jac=differences, bounds=bounds, method="SLSQP", options=options)
    said = f"cost {size:.4g} -> {found.fun * size:.6g} in {counts[1]} gradients, {counts[0]} runs without"
    return said, time.perf_counter() - began, time.process_time() - cpu


def plain_cost(problem: FitProblem, design: bc.Design, x: np.ndarray) -> float:
    """By a run without derivatives, of a model whose build was recorded: what finite differences can have at best."""
    curves, fit, options = problem.curves[0], problem.study.fit, problem.study.run.given()
    run = bc.simulate(design.model(x), float(curves.times[-1]), step=float(curves.times[1]), method="dopri5", **options)
    measured, deviation = problem.measured(curves)
    r = (np.asarray(run.measure(*fit.columns)).T.ravel() - measured) / deviation
    return 0.5 * float(r @ r)


def path() -> None:
    """A curve of a known linkage, from 100 random ones; the first fit compiles."""
    study = bc.load_study("path_synthesis")
    bc.fit(study)
    began = time.perf_counter()
    found = bc.fit(replace(study, search=replace(study.search, starts=100.0, seed=1.0)))
    print(f"100 starts, {found.gradients} gradients in {time.perf_counter() - began:.1f} s; best cost {found.cost:.3g}")
    print(f"  {found.reached} of 100 reached it; {len(found.infeasible)} designs could not be assembled, or locked")


def intervals() -> None:
    study = bc.load_study("identification")
    true = {"mass": 1.2, "inertia": 0.015, "center": 0.23, "shoulder_friction": 0.08, "elbow_friction": 0.03}
    values = np.array(list(true.values()))
    model = study.model.with_parameters({f"parameters.{name}": x for name, x in true.items()})
    run = bc.simulate(model, 3.0, step=0.03, rtol=1e-9, atol=1e-9)
    held = np.zeros(len(values), dtype=int)
    for seed in range(100):
        noisy = run.values("q") + 0.01 * np.random.default_rng(1000 + seed).standard_normal(run.values("q").shape)
        data = {"time": run.values("time"), "shoulder": noisy[:, 0], "elbow": noisy[:, 1]}
        low, high = bc.fit(study, data).interval.T
        held += (low <= values) & (values <= high)
    for name, count in zip(true, held, strict=True):
        print(f"{name:20} within its interval of 95 % in {count} of 100")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["closed", "path", "intervals"])
    for name in parser.parse_args().what:
        print(f"--- {name}")
        {"closed": closed, "path": path, "intervals": intervals}[name]()
