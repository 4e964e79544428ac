"""Joints of a URDF whose accelerations no mass determines: nothing beyond them has any, or too many of them move one thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..model.order import outward_order
from .imported import TheirBody

FREEDOM = {"fixed": 0, "revolute": 1, "prismatic": 1, "planar": 3, "free": 6}


def unmoved(bodies: Sequence[TheirBody], ties: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Bodies without mass, beyond which nothing has any; mass is felt through any number of ``ties`` (mimic joints)."""
    heavy = [_heavy(body) for body in bodies]
    for i in reversed(outward_order([body.parent for body in bodies])):
        if bodies[i].parent >= 0:
            heavy[bodies[i].parent] |= heavy[i]
    for _ in ties:
        for a, b in ties:
            heavy[a] = heavy[b] = heavy[a] or heavy[b]
    return (i for i in range(1, len(heavy)) if not heavy[i])


def crowded(bodies: Sequence[TheirBody], ties: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Bodies one after the other that have, but for the last, no mass and nothing else on them, and more than six freedoms.

    The last one moves in six directions at most, so the joints share them in a way that nothing determines.
    """
    carrier = _carriers(bodies)
    heavy = {carrier[i] for i, body in enumerate(bodies) if _heavy(body)} | {carrier[i] for tie in ties for i in tie}
    inboard = {i: carrier[bodies[i].parent] for i in set(carrier) if bodies[i].parent >= 0}
    outward: Mapping[int, list[int]] = {i: [k for k in inboard if inboard[k] == i] for i in set(carrier)}
    for last in sorted(set(carrier)):
        if last not in heavy and len(outward[last]) == 1:
            continue
        path = [last]
        while path[-1] in inboard and inboard[path[-1]] not in heavy and len(outward[inboard[path[-1]]]) == 1:
            path.append(inboard[path[-1]])
        if sum(FREEDOM[joint.kind] for i in path for joint in bodies[i].joints) > 6:
            yield [i for i in reversed(path) if bodies[i].moves]


def _heavy(body: TheirBody) -> bool:
    return body.mass != 0 or bool(body.J.any())


def _carriers(bodies: Sequence[TheirBody]) -> list[int]:
    """Of each body the one that it is fixed to, through any number of others."""
    found = list(range(len(bodies)))
    for i in outward_order([body.parent for body in bodies]):
        if bodies[i].parent >= 0 and not bodies[i].moves:
            found[i] = found[bodies[i].parent]
    return found
