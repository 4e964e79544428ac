"""The mass matrix by composite bodies, and accelerations by a dense solve: the O(n^3) baseline.

Walker & Orin's composite-body method: with all joints outboard of j locked, the subtree is one rigid body of inertia Ic,
and accelerating joint j takes F = Ic S_j there; carried to an ancestor i it gives M_ij = S_i . F.

    M a = tau - h,  h = inverse dynamics at a = 0
"""

from __future__ import annotations

from ..spatial import Force, Motion, RigidInertia
from ..spatial.vector import ZERO
from . import inverse_dynamics
from .base import Body, Walk
from .program import Program


def matrix(walk: Walk) -> None:
    walk.outward(placement, base=0.0)
    walk.inward(composite, leaf=RigidInertia.zero())
    walk.paths_to_ground(project, start="F", like=Force.zero())


def placement(body: Body, nothing: float) -> float:
    body.X = body.transform
    return nothing


def composite(body: Body, carried: RigidInertia) -> RigidInertia:
    """Composite inertia, the diagonal block, and the force that climbs."""
    Ic = body.inertia + carried
    directions = body.directions
    forces = [Ic @ S for S in directions]
    block = [[S.dot(F) for S in directions] for F in forces]
    for k, r in enumerate(body.armature):
        block[k][k] = block[k][k] + r
    body.output("M", [x for row in block for x in row])
    body.output("F", [x for F in forces for up in body.X.up(F) for x in up])
    return body.X.up_rigid(Ic)


def project(body: Body, column: object, F: Force) -> Force:
    """M_ij = S_i . F at each ancestor."""
    column.put(body, [S.dot(F) for S in body.directions])  # type: ignore[attr-defined]
    return body.X.up(F)


def acceleration(walk: Walk) -> None:
    matrix(walk)
    walk.outward(bias_motion, base=(ZERO, Motion(ZERO, -walk.gravity)))
    walk.inward(unbalanced, leaf=Force.zero())
    walk.solve("M", "h", into="a")


def bias_motion(body: Body, parent: inverse_dynamics.Moving) -> inverse_dynamics.Moving:
    """The motion without any acceleration of the joints."""
    return inverse_dynamics.moving(body, parent, (0.0,) * len(body.directions))


def unbalanced(body: Body, carried: Force) -> Force:
    """tau - h."""
    F = body.F + carried
    body.output("h", [tau - S.dot(F) for S, tau in zip(body.directions, body.effort, strict=True)])
    return body.X.up(F)


MATRIX = Program("mass_matrix", matrix, inputs=("q",), outputs={"M": "v*v", "F": "v*6"}, scratch=("F",))
ACCELERATION = Program(
    "mass_matrix_acceleration",
    acceleration,
    inputs=("q", "v", "tau"),
    outputs={"a": "v", "M": "v*v", "F": "v*6", "h": "v"},
    scratch=("M", "F", "h"),
    forces=True,
)
