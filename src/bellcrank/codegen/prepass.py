"""Before a recursion: states of driven joints from their laws, and forces of the elements from the states of the bodies.

These are steps like those of the formulations, over any number; the executors loop over them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..forces import FORCES, BodyForce, BodyState, Effort, JointForce, JointState, Wrenches
from ..forces.base import Settings
from ..joints import JOINTS
from ..joints.base import Driven
from ..joints.laws import LAWS
from ..numbers import Number
from ..numbers.spline import Curve, spline
from ..spatial import Matrix, Motion, Vector
from ..topology.loads import (
    ELEMENT_SLOTS,
    MOST_LAW_VALUES,
    MOTION_SLOTS,
    ElementSignature,
    MotionSignature,
    TableSignature,
)

Data = Callable[[int], Number]  # a number of the row, by its place
World = tuple[Matrix, Vector, Motion]


def driven_state(signature: MotionSignature, data: Data, t: Number, pool: Any) -> Driven:
    """q, v and dv/dt of a driven joint."""
    laws = []
    for k, (kind, size, table) in enumerate(signature.laws):
        values = [data(MOST_LAW_VALUES * k + j) for j in range(size)]
        laws.append(LAWS[kind](values, t, _lookup(table, data, MOTION_SLOTS["tables"] + 2 * k, pool)))
    axis = Vector(*[data(MOTION_SLOTS["axis"] + j) for j in range(3)])
    return JOINTS[signature.joint].driven(laws, axis)


def _lookup(table: TableSignature | None, data: Data, slot: int, pool: Any) -> Callable[[Number], Curve]:
    def curve(x: Number) -> Curve:
        assert table is not None
        return spline(pool, data(slot), data(slot + 1), table.steps, x, clamp=table.clamp)

    return curve


def world_state(body: Any, parent: World) -> World:
    """Pose and velocity of every body; those that elements act on leave them in the ground's axes."""
    R, r, V = parent
    X = body.transform
    R, r = X.pose(R, r)
    V = X.down(V) + body.velocity
    if body.touched:
        body.world_axes = R
        body.leave_state([*R.x, *R.y, *R.z, *r, *(R @ V.w), *(R @ V.v)])
    return R, r, V


def body_state(numbers: list[Number]) -> BodyState:
    R = Matrix(Vector(*numbers[:3]), Vector(*numbers[3:6]), Vector(*numbers[6:9]))
    return BodyState(R, Vector(*numbers[9:12]), Vector(*numbers[12:15]), Vector(*numbers[15:18]))


def _settings(signature: ElementSignature, data: Data, t: Number, u: Number, pool: Any) -> Settings:
    names = FORCES[signature.kind].values

    def vector(slot: str) -> Vector:
        return Vector(*[data(ELEMENT_SLOTS[slot] + j) for j in range(3)])

    def matrix(slot: str) -> Matrix:
        start = ELEMENT_SLOTS[slot]
        return Matrix(*[Vector(*[data(start + 3 * i + j) for j in range(3)]) for i in range(3)])

    return Settings(
        value=lambda name: data(names.index(name)),
        t=t,
        u=u,
        table=None if signature.table is None else _lookup(signature.table, data, ELEMENT_SLOTS["table"], pool),
        point_a=vector("point_a"),
        point_b=vector("point_b"),
        axes_a=matrix("axes_a"),
        axes_b=matrix("axes_b"),
    )


def joint_effort(signature: ElementSignature, data: Data, state: JointState, t: Number, u: Number, pool: Any) -> Effort:
    force = FORCES[signature.kind]
    assert issubclass(force, JointForce)
    return force.effort(state, _settings(signature, data, t, u, pool))


def body_wrenches(
    signature: ElementSignature, data: Data, a: BodyState, b: BodyState, t: Number, u: Number, pool: Any
) -> Wrenches:
    force = FORCES[signature.kind]
    assert issubclass(force, BodyForce)
    return force.wrenches(a, b, _settings(signature, data, t, u, pool))
