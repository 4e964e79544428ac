"""Kang & Yoon's comparison of reference points on the quarter car.   python bench/quarter_car.py [--quick] [--json FILE]

Operations of one evaluation (without the strut's force), as the model folds and with general data: bodies, axes and points
drawn at random, so that nothing is zero, one or parallel. The rows are what the recursion itself takes, down to what the nine
equations leave at the joints; solving for the multipliers is the same for all three. Times are per state, strut included.

The paper's table 5 has 100 % for the centroid and 86 % for the origin, and counts 36 + 6n + 6m multiplications saved per body
(n degrees of freedom, m equations) with dense rows; its 48 for the inertia takes the
structure of the shift into account (papers/reference_points.py).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cpu_timing import race
from part import show

import bellcrank as bc
from bellcrank.formulations import CLOSED, Program, reference_point
from bellcrank.formulations.loops import multipliers
from bellcrank.joints import make_joint
from bellcrank.kernels.processor import lane_count
from bellcrank.model import Model, generators
from bellcrank.papers.operations import count_program
from bellcrank.spatial import ArticulatedInertia, Force, Matrix
from bellcrank.spatial.vector import ZERO

LANES = lane_count()

MODEL = Path(__file__).parents[1] / "models" / "quarter_car.toml"
STATES = 256
POINTS: dict[str, Any] = {
    "centroid": (reference_point.centroid, multipliers.from_centroid),
    "joint": (reference_point.joint_point, multipliers.from_joint_point),
    "origin": (reference_point.origin, multipliers.from_origin),
}


def rows_only(point: str) -> Program:
    """The recursion without the multipliers' own system: what every equation leaves at the joints."""
    reference, seen = POINTS[point]

    def run(walk: Any) -> None:
        ground = reference_point.State(Matrix.identity(), ZERO, ZERO, ZERO, ZERO, ZERO)
        walk.outward(partial(reference_point.kinematics, walk.gravity, reference), base=ground)
        walk.inward(multipliers.elimination, leaf=(ArticulatedInertia.zero(), Force.zero()))
        walk.closures(partial(multipliers.closing, seen, walk.baumgarte))
        walk.carry_equations(partial(multipliers.inward, walk.length))
        walk.output_equations("told", "right")

    return Program(f"rows:{point}", run, ("q", "v", "tau"), {"told": "row*1", "G": "row*v"})


def general(model: Model, seed: int = 0) -> Model:
    """The same bodies, joints and loops, with nothing special about their numbers."""
    rng = np.random.default_rng(seed)
    other = generators.random_tree(model.n, seed)
    joints = []
    for joint in model.joints:
        a, b = rng.normal(size=(2, 3))
        axes = {"axis": a} if joint.has_axis else {}
        joints.append(make_joint(joint.kind, **axes, **({"axis2": np.cross(a, b)} if joint.axis2 is not None else {})))
    return replace(
        model, joints=tuple(joints), position=other.position, center=other.center, inertia=other.inertia, elements=()
    )


def counts(model: Model) -> list[dict[str, Any]]:
    """Multiplications and additions of the three points, folded and general, whole and without the multipliers' system."""
    rows = []
    for data, made, style in (("as modelled", model, "plane"), ("general", general(model), "full")):
        for part in ("evaluation", "rows"):
            found = {}
            for point in POINTS:
                program = CLOSED[f"multipliers:{point}"] if part == "evaluation" else rows_only(point)
                found[point] = count_program(made, program, style, gravity=True)
            entry: dict[str, Any] = {"data": data, "part": part}
            for point, count in found.items():
                entry |= {f"{point} *": count.multiplications, f"{point} +": count.additions}
            for point in ("joint", "origin"):
                entry[f"{point} * %"] = 100 * found[point].multiplications / found["centroid"].multiplications
            rows.append(entry)
    return rows


def states(dynamics: bc.Dynamics, count: int = STATES) -> dict[str, np.ndarray]:
    """Assembled states along a run of the model: the wheel sinks onto its spring and comes to rest."""
    run = bc.simulate(dynamics.model, 1.0, step=1.0 / (count - 1))
    return {"q": run.values("q")[:count], "v": run.values("v")[:count], "tau": np.zeros((count, dynamics.model.nv))}


def times(model: Model, seconds: float) -> list[dict[str, Any]]:
    """Microseconds per state of the three points, taking turns."""
    calls, inputs = {}, None
    for point in POINTS:
        dynamics = bc.compile(model, "multipliers", reference=point)
        inputs = inputs or states(dynamics)
        for lanes in (1, LANES):
            kernel = dynamics.kernel(dynamics.program, lanes)
            calls[point, lanes] = partial(kernel.batch, inputs, threads=1)
    best = race(calls, seconds)
    rows = []
    for lanes, name in ((1, "one state"), (LANES, "lanes")):
        found = {point: best[point, lanes] / STATES * 1e6 for point in POINTS}
        percent = {f"{point} %": 100 * x / found["centroid"] for point, x in found.items()}
        rows.append({"us": name, **found, **percent})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter windows")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    model = bc.load(MODEL)
    figures = {"counts": counts(model), "times": times(model, 0.5 if options.quick else 5.0)}
    whole = [{name: str(x) if isinstance(x, int) else x for name, x in row.items()} for row in figures["counts"]]
    show("Operations of one evaluation (paper: per body 36 + 6n + 6m multiplications saved at the origin)", whole)
    show("Time per state (paper: centroid 100 %, origin 86 %, joint point between)", figures["times"])
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
