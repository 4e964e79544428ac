"""Estimated operations of a block of loops: as one node or a clique tree, and along its own bodies.

Additions and multiplications, as plan.cuts estimates them; a division, a square root, a sine with its cosine count as SLOW of
them, which is what they take in machine code. Prices along the bodies are fitted to counts of papers.operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from ...joints.derived import slides_along_axis, turns_about_axis_only
from ..cuts.effort import effort
from ..cuts.linkage import Linkage, Tie
from ..nodes.blocks import BlockNode
from ..plan import Plan

SLOW = 30
_PLANAR, _SPATIAL = (140, 38, 0.75), (1010, 90, 1.4)  # of a link, of each equation that it carries; links saved on ground
_PAIR = 6  # of two equations that a link carries
_LEVEL = 1e-9  # of unit vectors that are parallel


def along_bodies(plan: Plan, bodies: Sequence[int], rows: int, on_ground: bool) -> float:
    own, each, saved = _PLANAR if _is_planar(plan, bodies) else _SPATIAL
    work = own + each * rows + _PAIR * rows * (rows - 1) // 2 + SLOW * (2 + 2 * rows)
    return work * (len(bodies) - (saved if on_ground else 0.0))


def as_nodes(plan: Plan, nodes: Sequence[BlockNode], bodies: Sequence[int], rows: int, carriers: Iterable[int]) -> float:
    free = sum(plan.model.joints[plan.tree.order[i]].nv for i in bodies) - rows
    return _estimated(_linkage(plan, nodes, bodies, carriers)) + SLOW * (len(bodies) + free + 2.5 * rows)


@lru_cache(maxsize=256)
def _estimated(block: Linkage) -> float:
    """Remembered: the cells of a long mechanism are equal."""
    return effort(block, tuple(range(block.bodies)))


def _linkage(plan: Plan, nodes: Sequence[BlockNode], bodies: Sequence[int], carriers: Iterable[int]) -> Linkage:
    number = {i: k for k, i in enumerate(bodies)} | {nodes[0].base: -1}
    model, tree = plan.model, plan.tree
    joints = [
        Tie(model.joints[tree.order[i]].kind, number[tree.parent[i]], k, bool(plan.loads.driven[i]))
        for k, i in enumerate(bodies)
    ]
    ties = []
    for closure in (model.closures[k] for node in nodes for k in node.closures):
        a, b = number[tree.place[closure.body_a]], number[tree.place[closure.body_b]]
        driven = closure.motion is not None
        if closure.joint is not None:
            joints.append(Tie(closure.joint.kind, a, b, driven))
        else:
            ties.append(Tie(closure.kind, a, b, driven))
    count = len(joints)
    own = frozenset(number[i] for i in carriers if i in number and number[i] >= 0)
    on_ground = nodes[0].base < 0
    flat = _is_planar(plan, bodies)
    return Linkage(
        len(bodies), tuple(joints), tuple(ties), ((0, 0),) * count, (False,) * count, own, on_ground, on_ground, flat
    )


def _is_planar(plan: Plan, bodies: Sequence[int]) -> bool:
    """Whether all joints of a block turn about parallel axes, and slide across them."""
    normal = None
    sliding = []
    for joint in (plan.model.joints[plan.tree.order[i]] for i in bodies):
        if joint.nv == 0:
            continue
        if joint.nv > 1 or not joint.has_axis:
            return False
        axis = np.asarray(joint.axis, dtype=float)
        if slides_along_axis(type(joint)):
            sliding.append(axis)
        elif not turns_about_axis_only(type(joint)):
            return False
        elif normal is None:
            normal = axis
        elif np.linalg.norm(np.cross(normal, axis)) > _LEVEL:
            return False
    return normal is not None and all(abs(normal @ axis) < _LEVEL for axis in sliding)
