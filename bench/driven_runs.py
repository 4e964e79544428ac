"""Machines with driven loops in real time and faster.   python bench/driven_runs.py

Four seconds of the gallery's excavator and Strandbeest by rk4 with a projection after each step, in both formulations for
closed loops. Times are of the processor, of the time loop alone with its balance of energy, best of several runs. Errors are
the largest of q beside dopri5 at 1e-12, and of the balance of energy over the largest kinetic energy.
"""

from __future__ import annotations

import numpy as np
from cpu_timing import once
from part import show

import bellcrank as bc
from bellcrank.integrate import METHODS
from bellcrank.run import compiled as machine
from bellcrank.run.arguments import sample_times, starting_state

DURATION, STEPS, REPEATS = 4.0, (0.01, 0.005, 0.001), 20


def seconds(dynamics: bc.Dynamics, step: float) -> float:
    """Of one run's time loop."""
    start = starting_state(dynamics, None, dict.fromkeys(("q", "v", "tau", "u")))
    times = sample_times(DURATION, step)
    found = []
    for _ in range(REPEATS):
        trajectory = machine.prepare(dynamics, METHODS["rk4"], start, times, 1e-9, 1e-9, None)
        trajectory.set_count("project", 1)
        found.append(once(lambda: machine.advance_to_end(trajectory)))  # noqa: B023
    return min(found)


def rows(name: str) -> list[dict[str, object]]:
    model = bc.load(name)
    reference = bc.simulate(model, DURATION, step=0.1, rtol=1e-12, atol=1e-12)
    found = []
    for formulation in ("coordinate_reduction", "multipliers"):
        dynamics = bc.compile(model, formulation)
        for step in STEPS:
            run = bc.simulate(model, DURATION, step=0.1, method="rk4", max_step=step, formulation=formulation)
            took = seconds(dynamics, step)
            found.append(
                {
                    "formulation": formulation,
                    "step, ms": step * 1e3,
                    "us per step": took / DURATION * step * 1e6,
                    "times real time": DURATION / took,
                    "error of q": float(np.abs(run.values("q") - reference.values("q")).max()),
                    "of energy": run.energy_error,
                }
            )
    return found


if __name__ == "__main__":
    for machine_name in ("excavator", "strandbeest"):
        show(machine_name, rows(machine_name))
