"""Prints the tables of docs/singularities.md: python -m tests.singular.table"""

from __future__ import annotations

import time

import numpy as np

import bellcrank as bc
from bellcrank.papers.huang.taylor import integrate_reaction_taylor
from bellcrank.singular import integrate_rattle

from .cases import double_pendulum, exact_state, exact_turn, lopsided, start, turning, two_four_bars

METHODS = {"rattle": integrate_rattle, "reaction_taylor": integrate_reaction_taylor}


def passages() -> None:
    """Ten passages and more, 6 s at 6 rad/s."""
    print("| linkage | start | step | error of the angle | passages | closure | time per step |\n|---|---|---|---|---|---|---|")
    for name, make in (("parallelogram", lopsided), ("two four-bars", two_four_bars)):
        for angle, where in ((-0.6, "-0.6 rad"), (0.0, "flat")):
            model = make(angle)
            dynamics, exact = bc.compile(model, optimisation=0), exact_turn(model, angle, 6.0, 6.0)[0]
            first = start(model, v=turning(model, 6.0))
            integrate_rattle(dynamics, first, np.array([0, 0.1]), 1e-2)
            for step in (4e-3, 2e-3, 1e-3):
                began = time.perf_counter()
                out = integrate_rattle(dynamics, first, np.linspace(0, 6, 13), step)
                spent = (time.perf_counter() - began) / out.counts["steps"]
                off = abs(angle + out.q[-1, 0] - exact)
                row = [name, where, f"{step * 1e3:g} ms", f"{off:.2e}", len(out.report.passages)]
                print(f"| {' | '.join(map(str, row))} | {out.report.closure_position:.0e} m | {spent * 1e3:.2f} ms |")


def pendulum() -> None:
    print("\n| double pendulum, 1 s | 4 ms | 2 ms | 1 ms | 0.5 ms |\n|---|---|---|---|---|")
    model = double_pendulum()
    dynamics = bc.compile(model, optimisation=0)
    exact = np.cumsum(exact_state(dynamics, start(model) | {"inputs": np.zeros(0), "t": 0.0}, 1.0)[:2])
    for name, integrate in METHODS.items():
        runs = [integrate(dynamics, start(model), np.linspace(0, 1, 11), step) for step in (4e-3, 2e-3, 1e-3, 0.5e-3)]
        print(f"| {name} | {' | '.join(f'{np.abs(np.cumsum(out.q[-1]) - exact).max():.1e}' for out in runs)} |")


def projection() -> None:
    print("\n| parallelogram, one passage | step | error of the angle | error of the energy |\n|---|---|---|---|")
    model = lopsided(-0.6)
    dynamics, exact = bc.compile(model, optimisation=0), exact_turn(model, -0.6, 2.0, 1.0)[0]
    for project in (True, False):
        for step in (2e-3, 0.5e-3):
            first = start(model, v=turning(model, 2.0))
            out = integrate_reaction_taylor(dynamics, first, np.linspace(0, 1, 5), step, project=project)
            off, how = abs(-0.6 + out.q[-1, 0] - exact), "with" if project else "without"
            print(f"| {how} projection | {step * 1e3:g} ms | {off:.1e} | {out.report.energy_error:.1e} |")


if __name__ == "__main__":
    passages()
    pendulum()
    projection()
