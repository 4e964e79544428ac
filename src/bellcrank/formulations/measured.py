"""Measures in three passes: outward the accelerations of the bodies, inward the wrenches of joints, then the measures.

Each pass is there only where one of the measures needs it (plan.measuring). The program reads

q, v        the state
a           accelerations, and
lambda      multipliers of the closures, where measures depend on them
"""

from __future__ import annotations

from collections.abc import Set
from functools import partial

from ..spatial import Force, Matrix, Motion, Vector
from ..spatial.vector import ZERO
from .base import Body, Walk
from .inverse_dynamics import motion, output_drive, output_wrench, pose
from .loops.closure import holding, known_motion
from .observables import energy
from .program import Program

SCRATCH = {"wrench": "body*12", "drive": "drive*2", "energy": "body*8", "closing": "closure*7", "element": "element*3"}
SCRATCH |= {"closure": "row*2"}
FORCED = ("wrench", "drive", "element", "closing")  # what depends on forces


def measures(walk: Walk) -> None:
    asked = walk.asked
    walk.leave_states()
    if "a" in asked:
        walk.outward(accelerated, base=(Matrix.identity(), ZERO, ZERO, Motion.zero()))
    if "wrench" in asked or "drive" in asked:
        walk.outward(pose, base=(Matrix.identity(), ZERO))
        walk.outward(motion, base=(ZERO, Motion(ZERO, -walk.gravity)))
        walk.inward(partial(wrenches, asked), leaf=Force.zero())
    if "energy" in asked:
        energy(walk)
    if "closure" in asked:
        walk.closures(partial(holding, lambda equation: 0.0))
        walk.output_equations("closure", "error", "rate")
    walk.measure()


def accelerated(body: Body, parent: tuple[Matrix, Vector, Vector, Motion]) -> tuple[Matrix, Vector, Vector, Motion]:
    """Acceleration of the body in the ground's axes, of its origin too."""
    return known_motion(body, parent, body.input("a"))


def wrenches(asked: Set[str], body: Body, carried: Force) -> Force:
    F = body.F + carried
    if "wrench" in asked:
        output_wrench(body, body.R, F)
    if "drive" in asked:
        output_drive(body, F)
    return body.X.up(F)


def program(asked: Set[str], closed: bool) -> Program:
    """The program for measures with these needs; ``closed``: of a model with closures."""
    forced = any(name in asked for name in FORCED)
    moving = ("a",) if "a" in asked else ()
    pushed = ("lambda",) if closed and {"wrench", "drive", "closing"} & asked else ()
    scratch = {name: kind for name, kind in SCRATCH.items() if name in asked}
    name = "_".join(["measures", *sorted(scratch), *moving, *pushed])
    inputs = ("q", "v", *moving, *pushed)
    return Program(name, measures, inputs, {"measure": "measure", **scratch}, tuple(scratch), forces=forced, optimisation=0)
