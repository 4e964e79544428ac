"""What a gradient of one number of a run costs, in runs: by the adjoint and forward, for 1 to 1000 parameters; one thread.

    python bench/adjoint.py [--parameters 1 10 100 1000] [--only WORD ...] [--duration SECONDS] [--method radau]

run        one run by the method without derivatives, ms, and its accepted steps
adjoint    a run whose steps are written down, the way back, and the gradient by the parameters, over that
again      the same with next to no memory: all steps are taken once more, from states kept on the way
forward    the same run with all derivatives beside it, over that; only up to --forward parameters
memory     what the steps take that are written down, MB

Compiling is not counted, nor is the making of the design. Times are those of the processor, the shortest of several windows
in turn, since other work on the machine disturbs them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.dynamics.dynamics import Dynamics
from bellcrank.integrate import METHODS
from bellcrank.io.shipped import gallery
from bellcrank.run.arguments import starting_state
from bellcrank.run.compiled import in_machine_code
from bellcrank.run.loops.treatment import loops_of
from bellcrank.studies.adjoint.backward import Backward
from bellcrank.studies.adjoint.choice import MEMORY
from bellcrank.studies.history import ScaledDesign, integrate
from bellcrank.studies.output_names import parsed
from bellcrank.studies.starting import first_tangents
from bellcrank.studies.taking import moments

MODELS = {"double_pendulum": 60.0, "four_bar": 20.0, "quarter_car": 4.0, "humanoid": 4.0, "torque_table": 50.0}  # s of the run
LIMITS = (1e-8, 1e-8, None)
OUTPUT = "energy.kinetic@end"


def torque_table() -> bc.Model:
    """The four-bar with a motor whose torque has a thousand values over 50 s: an open-loop control."""
    rows = ", ".join(f"[{50.0 * k / 999:.12g}, {0.3 * np.sin(0.37 * k):.6g}]" for k in range(1000))
    table = f'[tables.control]\nrows = [{rows}]\ninterpolation = "linear"\n'
    motor = '[motors.drive]\njoint = "crank_pivot"\neffort = "=control(t)"\n'
    return bc.load(f"{gallery()['four_bar'].read_text()}\n{table}\n{motor}")


def usable(model: bc.Model, count: int) -> list[str]:
    """Parameters of bodies, joints and forces; those that a formula gives are left out."""
    found = [f"control.rows.{k}.1" for k in range(1000) if f"control.rows.{k}.1" in model.parameters][:count]
    for name in model.parameters if not found else ():
        if name in ("duration", "step") or (model.closures and (".axis." in name or ".normal." in name)):
            continue
        try:
            bc.Design(model, [name])
        except bc.errors.BellcrankError:
            continue
        found.append(name)
        if len(found) == count:
            break
    return found


class Case:
    """A model, some of its parameters, and the ways to a gradient."""

    def __init__(self, model: bc.Model, names: list[str], duration: float, method: str = "dopri5"):
        at_rest = not model.closures and not model.initial_v.any()
        self.given: dict[str, Any] = {"q": None, "v": np.full(model.nv, 0.5) if at_rest else None, "tau": None, "u": None}
        self.design, self.method = bc.Design(model, names), method
        self.dyn = Dynamics(model, "auto", optimisation=0, design=self.design)
        self.times = np.linspace(0.0, duration, 11)
        self.wanted = parsed([OUTPUT], [], duration)
        self.when = moments(self.wanted, self.times)
        self.start = starting_state(self.dyn, None, self.given)
        self.loops = loops_of("minimum_norm", "stop")
        self.memory, self.steps, self.room = 0.0, 0.0, MEMORY

    def checkpoints(self) -> None:
        """With next to no room for steps: all are taken again."""
        self.room = 1e-3
        self.adjoint()
        self.room = MEMORY

    def run(self) -> None:
        found = in_machine_code(self.dyn, METHODS[self.method], self.start, self.times, LIMITS, None, None, self.loops)
        self.steps = found.counts["steps"]

    def adjoint(self) -> None:
        backward = Backward(self.dyn, self.design, self.given, self.method, LIMITS, "minimum_norm", self.room)
        backward.run_and_back(self.wanted, [], self.when, None)
        self.memory = sum(stretch.log.nbytes for stretch in backward.stretches) / 1e6

    def forward(self) -> None:
        scaled = ScaledDesign.of(self.design)
        written = {name: x * scaled.size for name, x in self.design.tangents(self.design.start, self.dyn.plan).items()}
        dq, dv = first_tangents(self.dyn, self.start, self.given, scaled.changes(self.dyn.plan), written)
        begun = self.start | {"dq": dq, "dv": dv}
        integrate(self.dyn, scaled, begun, self.when.times, self.method, LIMITS, self.loops, False)


def shortest(ways: list[Any], rounds: int) -> list[float]:
    """Of each way, in turn, so that what disturbs one disturbs the others."""
    times = [[] for _ in ways]  # type: list[list[float]]
    for way in ways:
        way()
    for _ in range(rounds):
        for way, taken in zip(ways, times, strict=True):
            began = time.thread_time()
            way()
            taken.append(time.thread_time() - began)
    return [min(taken) for taken in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=int, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--forward", type=int, default=32, help="the most parameters that are taken forward too")
    parser.add_argument("--only", nargs="*", default=list(MODELS))
    parser.add_argument("--duration", type=float)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--method", default="dopri5", choices=list(METHODS))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'model':18} {'parameters':>10} {'run':>9} {'steps':>7} {'adjoint':>8} {'again':>8} {'forward':>8} {'memory':>8}")
    for name in asked.only:
        model = torque_table() if name == "torque_table" else bc.load(name)
        names = usable(model, max(asked.parameters))
        for count in sorted({min(count, len(names)) for count in asked.parameters}):
            case = Case(model, names[:count], asked.duration or MODELS[name], asked.method)
            ways = [case.checkpoints, case.run, case.adjoint, *([case.forward] if count <= asked.forward else [])]
            again, run, adjoint, *forward = shortest(ways, asked.rounds)
            shown = f"{forward[0] / run:8.2f}" if forward else f"{'-':>8}"
            sizes = f"{count:10d} {1e3 * run:6.1f} ms {case.steps:7.0f}"
            print(f"{name:18} {sizes} {adjoint / run:8.2f} {again / run:8.2f} {shown} {case.memory:5.1f} MB", flush=True)


if __name__ == "__main__":
    main()
