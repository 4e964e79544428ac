"""Closed loops: Bellcrank beside Pinocchio and MuJoCo, in one process, with ratios.

    python bench/loops.py [--quick] [--all] [--family NAME] [--patience SECONDS] [--json FILE] [--plot FILE.png]

Five mechanisms of N loops, bars of 1 m and 1 kg: N four-bars side by side (one degree of freedom), a ladder and a ladder in
space (N each), a ladder of ropes with 12 links from rung to rung (23 N), N rings of 50 links that hang on each other by bars
(49 N - 1); and a lattice of N by N cells (N).

Contestants take turns over up to 256 closed states, and the best of many short windows counts, in microseconds of processor
time per state. Ours: one state, and four or eight at a time in lanes, on one core.
Pinocchio: its call from Python less what a call costs (a tree from Python, less the same tree in Pinocchio's own loop). MuJoCo:
mj_forward at one state in a loop of machine code. A contestant that would take too long for the next N, to compile or to run,
or too much memory, stops. Errors are against the dense equations of motion in long double, at one state, of the largest
acceleration.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import loop_peers
import loop_reference
import numpy as np
from cpu_timing import once, race
from loop_report import ACCURATE, ONCE, PINOCCHIO, plot, report, table
from loop_states import FAMILIES, SIDES, States
from numpy.typing import NDArray
from part import Part, Row

import bellcrank as bc
from bellcrank.errors import BellcrankError
from bellcrank.formulations import CLOSED
from bellcrank.kernels import jit
from bellcrank.kernels.processor import lane_count
from bellcrank.model import Model

LANES = lane_count()

Array = NDArray[np.float64]
Evaluate = Callable[[int], Any]  # of the first so many states

STATES = 256
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
WINDOW = 2e-3  # s of a contestant's turn, roughly
LONGEST = 0.25  # s per state: who would take longer at the next N stops
MOST_BODIES = 450  # of Pinocchio, whose workspace grows with their cube
DIFFICULT = 100  # loops, up to which errors are measured


# Contestants -----------------------------------------------------------------------------------------------------------------


def formulations(every: bool) -> dict[str, dict[str, Any]]:
    """Arguments of compile: each kind of formulation with its defaults, or with every option."""
    option = {"multipliers": "reference", "coordinate_reduction": "variant"}
    found: dict[str, dict[str, Any]] = {}
    for name in CLOSED:
        family, _, value = name.partition(":")
        if every and value:
            found[name] = {"formulation": family, option[family]: value}
        else:
            found[family] = {"formulation": family}
    return found


def ours(model: Model, states: States, arguments: dict[str, Any]) -> dict[str, Evaluate]:
    """One state, and lanes."""
    dynamics = bc.compile(model, **arguments)

    def evaluate(kernel: Any, count: int) -> Array:
        return kernel.batch({name: x[:count] for name, x in zip(("q", "v", "tau"), states, strict=True)}, threads=1)

    kernels = {"": dynamics.kernel(dynamics.program, 1), ", lanes": dynamics.kernel(dynamics.program, LANES)}
    return {suffix: partial(evaluate, kernel) for suffix, kernel in kernels.items()}


def pinocchio(model: Model, states: States, names: set[str]) -> dict[str, Evaluate]:
    theirs = loop_peers.Pinocchio(model)
    converted = theirs.states(*states)
    makers: dict[str, Callable[[], Any]] = {"constraintDynamics": theirs.dense}
    makers |= {name: partial(theirs.linear, name) for name in loop_peers.LINEAR}

    def evaluate(call: Callable[..., Array], count: int) -> list[Array]:
        return [call(*state)[theirs.order] if count == 1 else call(*state) for state in converted[:count]]

    return {name: partial(evaluate, make()) for name, make in makers.items() if name in names}


def call_cost(family: str) -> float:
    """s of a call of Pinocchio from Python, beyond what is computed."""
    make, draw = FAMILIES[family]
    model = make(2)
    states = draw(model, 2, STATES)
    theirs = loop_peers.Pinocchio(model)
    converted, tree = theirs.states(*states), theirs.tree()
    packed = [np.asfortranarray(np.array(x).T) for x in zip(*converted, strict=True)]
    out = np.asfortranarray(np.zeros_like(packed[1]))
    calls = {"call": lambda: [tree["call"](*state) for state in converted], "inside": lambda: tree["inside"](*packed, out)}
    best = race(calls, 0.5)
    return max(0.0, best["call"] - best["inside"]) / STATES


def mujoco(model: Model, states: States) -> Evaluate:
    theirs = loop_peers.MuJoCo(model, *(x[0] for x in states))
    forward = theirs.forward()
    return lambda count: [theirs.acceleration()] if count == 1 else forward(count)


def contestants(
    model: Model, states: States, names: set[str], arguments: dict[str, dict[str, Any]], compiled: dict[str, float]
) -> dict[str, Evaluate]:
    """Those of the names that take the model; ``compiled`` gets the seconds that ours took to be made."""
    found: dict[str, Evaluate] = {}
    for name, given in arguments.items():
        if {name, f"{name}, lanes"} & names:
            made: dict[str, Evaluate] = {}
            try:
                compiled[name] = once(lambda: made.update(ours(model, states, given)))  # noqa: B023
            except BellcrankError as problem:
                print(f"{model.name}: {name} does not take it: {problem}")
            found |= {name + suffix: call for suffix, call in made.items() if name + suffix in names}
    theirs = set(PINOCCHIO) & names
    if theirs and model.n <= MOST_BODIES:
        found |= pinocchio(model, states, theirs)
    if "MuJoCo" in names:
        found["MuJoCo"] = mujoco(model, states)
    return found


# Measuring -------------------------------------------------------------------------------------------------------------------


def measure(calls: dict[str, Evaluate], seconds: float) -> dict[str, float]:
    """s per state of each, over as many states as fit in a window."""
    counts = {}
    for name, call in calls.items():
        shortest = min(once(partial(call, LANES)) for _ in range(6)) / LANES
        counts[name] = int(np.clip(WINDOW / shortest, LANES, STATES)) // LANES * LANES
    best = race({name: partial(call, counts[name]) for name, call in calls.items()}, seconds)
    return {name: time / counts[name] for name, time in best.items()}


def errors(model: Model, states: States, calls: dict[str, Evaluate]) -> dict[str, float]:
    expected = loop_reference.acceleration(model, *(x[0] for x in states))
    found = {name: np.asarray(call(1)[0], dtype=np.longdouble) for name, call in calls.items()}
    return {name: float(np.abs(a - expected).max() / np.abs(expected).max()) for name, a in found.items()}


def compete(
    family: str, sizes: tuple[int, ...], seconds: float, *, every: bool = False, patience: float = 100.0, only: str = ""
) -> dict[str, Any]:
    """Times (us), errors and times to compile (s) by N and contestant; ``patience`` (s) is for the compiler."""
    make, draw = FAMILIES[family]
    arguments, cost = formulations(every), call_cost(family)
    arguments = {name: given for name, given in arguments.items() if name.startswith(only)}
    names = {name + suffix for name in arguments for suffix in ("", ", lanes")}
    names |= {*PINOCCHIO, "MuJoCo"}
    times: dict[int, dict[str, float]] = {}
    wrong: dict[int, dict[str, float]] = {}
    made: dict[int, dict[str, float]] = {}
    for N, following in zip(sizes, (*sizes[1:], sizes[-1]), strict=True):
        model = make(N)
        states = draw(model, N, STATES)
        made[N] = {}
        calls = contestants(model, states, names, arguments, made[N])
        if N <= DIFFICULT:
            wrong[N] = errors(model, states, calls)
        measured = measure(calls, seconds)
        times[N] = {name: (t - cost * (name in PINOCCHIO)) * 1e6 for name, t in measured.items()}
        slow = {name for name in times[N] if expected(times, name, N, following) > LONGEST * 1e6}
        late = {name for name, t in made[N].items() if t * (following / N) ** 3 > patience}
        names = set(times[N]) - slow - late - {f"{name}, lanes" for name in late}
        if late:
            print(f"{family}, N = {N}: stops before N = {following}, compiling could take too long: {', '.join(sorted(late))}")
        print(f"{family}, N = {N}: " + ", ".join(f"{name} {t:.3g}" for name, t in times[N].items()), flush=True)
    return {"us": times, "errors": wrong, "compile": made, "call": cost * 1e6}


def expected(times: dict[int, dict[str, float]], name: str, N: int, following: int) -> float:
    """Time at the next N, as the last two let fear, but growing at least in proportion."""
    before = [n for n in times if n < N and name in times[n]]
    power = 1.0
    if before:
        power = max(1.0, math.log(times[N][name] / times[before[-1]][name]) / math.log(N / before[-1]))
    return times[N][name] * (following / N) ** power


SOME = (20, 100)
LADDERS = ("N-four-bar", "ladder", "spatial ladder")
SOFT = {"MuJoCo": 1.0, ONCE: np.inf}  # of the largest acceleration: constraints that give way; rounding divided by mu
SAME = 1e-3  # within which LCABA with mu = 1e-4 shows that the problem is the same
ASKED = {("spatial ladder", "one state"): 6.0, ("spatial ladder", "lanes"): 20.0}  # times LCABA at 100 loops


def part(quick: bool) -> Part:
    """A hundred loops: coordinate_reduction beside LCABA, constraintDynamics and MuJoCo."""
    rows, tables = [], {}
    for family in LADDERS[quick:]:
        found = compete(family, SOME[quick:], 0.5 if quick else 3.0, patience=np.inf, only="coordinate_reduction")
        tables[f"{family}, microseconds per state"] = table(found["us"])
        times, errors = found["us"][100], found["errors"][100]
        for ours, name in (("one state", "coordinate_reduction"), ("lanes", "coordinate_reduction, lanes")):
            for peer in (ONCE, "constraintDynamics", "MuJoCo"):
                if peer in times:
                    asked = ASKED.get((family, ours)) if peer == ONCE else None
                    what, ratio = f"100 loops, {family}, {ours}", times[peer] / times[name]
                    error, within = max(errors[name], errors[peer]), SOFT.get(peer, 1e-6)
                    if not errors[name] <= 1e-6:
                        raise ValueError(f"{what}: ours is off by {errors[name]}")
                    if peer == ONCE and not errors[ACCURATE] <= SAME:
                        raise ValueError(f"{what}: {ACCURATE} is off by {errors[ACCURATE]}")
                    rows.append(Row(what, ratio, times[name], peer, times[peer], "us per state", error, asked, within=within))
    return Part("loops", rows, tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter windows, N up to 20, lattices up to 4 by 4")
    parser.add_argument("--all", action="store_true", help="every option of our formulations")
    parser.add_argument("--family", choices=list(FAMILIES), action="append", help="only this mechanism; may be repeated")
    parser.add_argument("--patience", type=float, default=100.0, help="seconds that compiling at the next N may take")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--plot", type=Path, help="write the plot of time over N here (PNG)")
    options = parser.parse_args()
    seconds = 0.5 if options.quick else 3.0
    figures = {}
    for family in options.family or FAMILIES:
        sizes = SIDES if family == "lattice" else SIZES
        if options.quick:
            sizes = sizes[: sizes.index(4 if family == "lattice" else 20) + 1]
        figures[family] = compete(family, sizes, seconds, every=options.all, patience=options.patience)
        report(family, figures[family])
    if options.plot:
        plot(figures, options.plot)
    if options.json:
        options.json.write_text(json.dumps({"cpu": jit.identity().split("\n")[0], **figures}, indent=1))


if __name__ == "__main__":
    main()
