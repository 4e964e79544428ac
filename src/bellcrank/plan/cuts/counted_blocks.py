"""Operations of a block of loops with a given spanning tree, counted: for the choice of the joints that are cut.

The block is built with general numbers, so that the count rests on the kinds of its joints and what they tie, and does not
change with a model's parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import CLOSED
from ...joints import JOINTS, Joint, make_joint, turned_round
from ...joints.derived import slides_along_axis
from ...kernels import cache
from ...model import Closure, Model
from ...papers.operations import count_program
from .cutting import Linkage, Tree

Array = NDArray[np.float64]


def countable(block: Linkage) -> bool:
    """Blocks of joints that nothing drives, and none of which is free: that one would need its body's origin at ground's."""
    return not block.ties and not any(joint.driven or joint.kind == "free" for joint in block.joints)


def counted(block: Linkage, trees: Sequence[Tree]) -> list[int]:
    """Additions and multiplications of one evaluation of coordinate_reduction, with each of the trees.

    This takes as long as compiling does, and is kept where compiled code is.
    """
    name = cache.key("counted", block, trees, [JOINTS[joint.kind].identity for joint in block.joints])
    kept = cache.fetch(name)
    if kept is None:
        kept = {"operations": [_count(_general(block, tree)) for tree in trees]}, b""
        cache.store(name, *kept)
    return list(kept[0]["operations"])


def _count(model: Model) -> int:
    return count_program(model, CLOSED["coordinate_reduction"], "plane", True, np.array(model.neutral_q)).total


def _general(block: Linkage, tree: Tree) -> Model:
    """The block by itself: on ground, or on a body that is free; with a pendulum on each body that carries other blocks."""
    rng = np.random.default_rng(0)
    planar = block.network.planar
    flat = np.array([1.0, 1.0, 0.0 if planar else 1.0])
    points = rng.uniform(-1.0, 1.0, (len(block.joints), 3)) * flat
    joints = [_joint(joint.kind, planar, rng) for joint in block.joints]
    afloat = [] if block.on_ground else [-1]
    order = sorted(range(block.bodies), key=tree.__getitem__)  # in the order of the joints, as models have it
    row = {body: len(afloat) + k for k, body in enumerate(order)} | {-1: len(afloat) - 1}
    origin = np.vstack([np.zeros((len(afloat), 3)), *(points[tree[body]] for body in order), np.zeros(3)])  # ground comes last
    parents = afloat + [row[block.inner(tree, body)] for body in order]
    own: list[Joint] = [make_joint("free") for _ in afloat]
    for body in order:
        joint = joints[tree[body]]
        own.append(turned_round(joint) if block.joints[tree[body]].a == body else joint)
    for body in sorted(block.carriers):
        parents.append(row[body])
        own.append(_joint("revolute", planar, rng))
        origin = np.insert(origin, -1, origin[row[body]] + rng.uniform(-1.0, 1.0, 3) * flat, axis=0)
    closures = []
    for k, tie in enumerate(block.joints):
        if k not in tree:
            a, b = row[tie.a], row[tie.b]
            at_a, at_b = (tuple((points[k] - origin[i]).tolist()) for i in (a, b))
            closures.append(Closure(f"tie{k}", "joint", a, b, at_a, at_b, joint=joints[k]))
    return _model(parents, own, origin, closures, flat, rng)


def _joint(kind: str, planar: bool, rng: np.random.Generator) -> Joint:
    joint, axis, other = JOINTS[kind], rng.normal(size=3), rng.normal(size=3)
    if planar:
        normal = np.array([0.0, 0.0, 1.0])
        axis, other = (axis * [1.0, 1.0, 0.0], normal) if slides_along_axis(joint) else (normal, other)
    given: dict[str, Any] = {"axis": axis} if joint.has_axis else {}
    given |= {"axis2": np.cross(axis, other)} if joint.needs_axis2 else {}
    return make_joint(kind, **given, **({"pitch": 0.1} if joint.needs_pitch else {}))


def _model(
    parents: list[int], joints: list[Joint], origin: Array, closures: list[Closure], flat: Array, rng: np.random.Generator
) -> Model:
    n, nv = len(parents), sum(joint.nv for joint in joints)
    turn = np.eye(3) if flat[2] == 0 else np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return Model(
        name="block",
        joint_names=tuple(f"joint{i}" for i in range(n)),
        body_names=tuple(f"body{i}" for i in range(n)),
        parents=tuple(parents),
        joints=tuple(joints),
        position=np.array([origin[i] - origin[parents[i]] for i in range(n)]),
        mass=np.ones(n),
        center=rng.uniform(-1.0, 1.0, (n, 3)) * flat,
        inertia=np.array([turn @ np.diag([1.0, 1.1, 1.2]) @ turn.T] * n),
        armature=np.zeros(nv),
        gravity=np.array([1.0, 2.0, 0.0]) if flat[2] == 0 else np.array([1.0, 2.0, 3.0]),
        given_q=np.array([x for joint in joints for x in joint.neutral]),
        given_v=np.zeros(nv),
        closures=tuple(closures),
    )
