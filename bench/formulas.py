"""What a force by a formula, a table or a Python function costs beside a constant one.   python bench/formulas.py

The engine of the gallery by rk4 in steps of 0.1 ms with projection and balance of energy, and four kinds of gas force. Times
are of the processor, of the time loop alone, best of several runs that take turns.
"""

from __future__ import annotations

from dataclasses import replace

from cpu_timing import once
from part import show

import bellcrank as bc
from bellcrank.integrate import METHODS
from bellcrank.model.building.build import build
from bellcrank.model.parameters.expressions import Formula
from bellcrank.numbers import cos, exp
from bellcrank.run import compiled as machine
from bellcrank.run.arguments import sample_times, starting_state

DURATION, STEP, REPEATS = 0.2, 1e-4, 60


def gas(angle, area):
    """A burst around the top of every turn."""
    return -area * 3e6 * exp(4.0 * (cos(angle) - 1.0))


FORCES = {
    "constant": -500.0,
    "formula": Formula("-area*3e6*exp(4*(cos(crankshaft.q) - 1))"),
    "table": Formula("-area*pressure(crankshaft.q + start)"),
    "function": bc.Function(gas, angle="crankshaft.q").formula,
}


def with_gas(force: object) -> bc.Model:
    spec = bc.load("engine").spec
    assert spec is not None
    elements = tuple(replace(item, effort=force) if item.name == "gas" else item for item in spec.elements)
    return build(replace(spec, elements=elements))


def rows() -> list[dict[str, object]]:
    dynamics = {name: bc.compile(with_gas(force)) for name, force in FORCES.items()}
    times, best = sample_times(DURATION, STEP), dict.fromkeys(FORCES, float("inf"))
    for _ in range(REPEATS):
        for name, by in dynamics.items():
            start = starting_state(by, None, dict.fromkeys(("q", "v", "tau", "u")))
            trajectory = machine.prepare(by, METHODS["rk4"], start, times, 1e-9, 1e-9, None)
            trajectory.set_count("project", 1)
            best[name] = min(best[name], once(lambda: machine.advance_to_end(trajectory)))  # noqa: B023
    steps = len(times) - 1
    return [
        {"gas force": name, "us per step": 1e6 * took / steps, "of the constant one": took / best["constant"]}
        for name, took in best.items()
    ]


if __name__ == "__main__":
    show("engine", rows())
