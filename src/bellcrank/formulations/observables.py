"""Poses, velocities, energy and momentum of the bodies, and the rates of the coordinates.

code   meaning                                                         unit
R, r   axes (columns) and origin of the body, in the ground's frame    -, m
V      velocity of the body in its own frame: angular, linear          rad/s, m/s
"""

from __future__ import annotations

from ..spatial import Matrix, Motion, Vector
from ..spatial.vector import ZERO
from .base import Body, Walk
from .program import Program

Pose = tuple[Matrix, Vector]


def poses(walk: Walk) -> None:
    walk.outward(pose, base=(Matrix.identity(), ZERO))


def pose(body: Body, parent: Pose) -> Pose:
    R, r = body.transform.pose(*parent)
    body.output("pose", [*r, *R.x, *R.y, *R.z])
    return R, r


def energy(walk: Walk) -> None:
    walk.outward(energies, base=(Matrix.identity(), ZERO, Motion.zero(), walk.gravity))


def energies(body: Body, parent: tuple[Matrix, Vector, Motion, Vector]) -> tuple[Matrix, Vector, Motion, Vector]:
    """T = V.(I V)/2 + armature v^2/2, U = -g.(m r + R mc), and the momentum I V at ground's origin."""
    R, r, V, gravity = parent
    X, inertia = body.transform, body.inertia
    R, r = X.pose(R, r)
    V = X.down(V) + body.velocity
    momentum = inertia @ V
    doubled = V.dot(momentum)
    for armature, v in zip(body.rotor, body.input("v"), strict=False):  # a prescribed motion has none
        doubled = doubled + armature * (v * v)
    linear = R @ momentum.f
    angular = (R @ momentum.n) + r.cross(linear)
    potential = -gravity.dot(r * inertia.m + (R @ inertia.mc))
    body.output("energy", [0.5 * doubled, potential, *linear, *angular])
    return R, r, V, gravity


def rates(walk: Walk) -> None:
    walk.outward(rate, base=0.0)


def rate(body: Body, nothing: float) -> float:
    """dq/dt, which is v but for joints with quaternions."""
    body.output("qdot", body.rates)
    return nothing


def elements(walk: Walk) -> None:
    """Nothing to walk for: the force elements are evaluated before, and leave energy, power and force."""


def acting(walk: Walk) -> None:
    walk.outward(act, base=0.0)


def act(body: Body, nothing: float) -> float:
    """The action of the force elements: moment and force at the body's origin, in ground's axes; the efforts of its joint."""
    n, f = body.applied_world
    efforts = body.effort
    body.output("acting", [*n, *f, *efforts, *(0.0,) * (6 - len(efforts))])
    return nothing


POSES = Program("poses", poses, inputs=("q",), outputs={"pose": "body*12"})
ENERGY = Program("energy", energy, inputs=("q", "v"), outputs={"energy": "body*8"})
RATES = Program("rates", rates, inputs=("q", "v"), outputs={"qdot": "q"})
OPENINGS = Program("openings", lambda walk: walk.openings(), ("q", "v"), {"opening": "opening"}, forces=True, late=True)
ELEMENTS = Program("elements", elements, inputs=("q", "v"), outputs={"element": "element*3"}, forces=True)
ACTING = Program("acting", acting, inputs=("q", "v", "tau"), outputs={"acting": "body*12"}, forces=True)
