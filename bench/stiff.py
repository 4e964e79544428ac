"""Stiff mechanisms by radau in machine code, and by scipy's Radau around the same functions.   python bench/stiff.py [--quick]

scipy's solver is given the compiled accelerations and the exact Jacobian by dual numbers, from Python, and takes no works
along; ours integrates the works too. Both take their own steps at the same tolerances, without samples but the last. Times are
of the processor, of the time loop alone: of ours the best of several runs. Errors are the largest of q at the end, beside radau
at 1e-11.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from cpu_timing import once
from part import show
from scipy.integrate import solve_ivp
from stiff_models import stiff_models

import bellcrank as bc
from bellcrank.integrate import METHODS
from bellcrank.run import compiled as machine
from bellcrank.run.arguments import starting_state
from bellcrank.run.system import FirstOrder

TOLERANCES, REPEATS = (1e-6, 1e-9), 5


def ours(dynamics: bc.Dynamics, duration: float, tolerance: float) -> tuple[float, np.ndarray, int]:
    """Seconds of the time loop, the last q, and steps."""
    start = starting_state(dynamics, None, dict.fromkeys(("q", "v", "tau", "u")))
    times, found = np.array([0.0, duration]), []
    for _ in range(REPEATS):
        trajectory = machine.prepare(dynamics, METHODS["radau"], start, times, tolerance, tolerance, None)
        found.append(once(lambda: machine.advance_to_end(trajectory)))  # noqa: B023
    return min(found), trajectory.state()[0], int(trajectory.real("steps"))


def scipys(dynamics: bc.Dynamics, duration: float, tolerance: float) -> tuple[float, np.ndarray, int]:
    """The same by scipy's Radau."""
    start = starting_state(dynamics, None, dict.fromkeys(("q", "v", "tau", "u")))
    system, nq, size = FirstOrder(dynamics, start), dynamics.model.nq, dynamics.model.nq + dynamics.model.nv

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:nq], y[nq:]
        return np.concatenate([dynamics.rates(q, v), dynamics.acceleration(q, v, t=t)])

    def jacobian(t: float, y: np.ndarray) -> np.ndarray:
        return system.jacobian(t, np.append(y, np.zeros(system.works)))[:size, :size]

    y, result = np.concatenate([start["q"], start["v"]]), []
    options = {"method": "Radau", "jac": jacobian, "rtol": tolerance, "atol": tolerance, "t_eval": [duration]}
    took = once(lambda: result.append(solve_ivp(slope, (0.0, duration), y, **options)))
    (found,) = result
    return took, found.y[:nq, -1], found.nlu


def rows(name: str, model: bc.Model, *, quick: bool) -> list[dict[str, object]]:
    dynamics, duration = bc.compile(model), model.duration / (20 if quick else 1)
    _, reference, _ = ours(dynamics, duration, 1e-11)
    table = []
    for tolerance in TOLERANCES:
        took, q, steps = ours(dynamics, duration, tolerance)
        theirs, other, _ = scipys(dynamics, duration, tolerance)
        table.append(
            {
                "tolerance": tolerance,
                "radau, ms": took * 1e3,
                "scipy's, ms": theirs * 1e3,
                "times": theirs / took,
                "steps": steps,
                "error": float(np.abs(q - reference).max()),
                "scipy's error": float(np.abs(other - reference).max()),
            }
        )
    return table


if __name__ == "__main__":
    warnings.simplefilter("ignore", bc.BellcrankWarning)
    for title, model in stiff_models().items():
        show(f"{title}, {model.nv} degrees of freedom", rows(title, model, quick="--quick" in sys.argv))
