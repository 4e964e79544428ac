"""Joints of a URDF whose accelerations no mass determines: nothing beyond them has mass, or too many of them move one link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...model.order import outward_order
from ...model.spec.problems import names, refusal
from ...wording import argument
from ..exchange.imported import ImportedBody
from ..options import Options

FREEDOM = {"fixed": 0, "revolute": 1, "prismatic": 1, "planar": 3, "free": 6}


def look_at_massless(
    bodies: Sequence[ImportedBody], ties: Sequence[tuple[int, int]], options: Options
) -> tuple[list[str], list[int]]:
    """Names of joints that were locked, and bodies whose joints are kept for kinematics; raises ModelError for the others."""
    idle = list(unmoved(bodies, ties))
    if options.massless == "kinematics":
        return [], sorted({*idle, *(i for path in crowded(bodies, ties) for i in path)})
    joints = [bodies[i].joints[0] for i in idle]
    if joints and options.massless == "refuse":
        lines = [
            f'{joint.where}: joint "{joint.name}" moves link "{bodies[i].name}", which has no mass, nor has anything '
            "beyond it: its acceleration is undetermined."
            for joint, i in zip(joints, idle, strict=True)
        ]
        raise refusal(lines, f"Give them masses, or pass {argument('massless', 'fix')} to lock these joints, or {_to_keep()}.")
    for joint in joints:
        joint.kind, joint.axis, joint.axis2, joint.limits = "fixed", None, None, None
    _refuse_crowded(bodies, list(crowded(bodies, ties)))
    return [joint.name for joint in joints], []


def _to_keep() -> str:
    return f"{argument('massless', 'kinematics')} to assemble and drive the robot, without runs"


def _refuse_crowded(bodies: Sequence[ImportedBody], paths: Sequence[list[int]]) -> None:
    lines = []
    for path in paths:
        joints, link = [bodies[i].joints[0] for i in path], bodies[path[-1]].name
        lines.append(
            f'{joints[-1].where}: the joints {names([joint.name for joint in joints])} move link "{link}" in more than six '
            "directions, with no mass between them: their accelerations are undetermined."
        )
    if lines:
        raise refusal(lines, f"Give the links between them masses, or fix one of the joints, or pass {_to_keep()}.")


def unmoved(bodies: Sequence[ImportedBody], ties: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Bodies without mass that move, beyond which nothing has any; mass is felt through ``ties`` (mimic joints) too."""
    heavy = [_heavy(body) for body in bodies]
    for i in reversed(outward_order([body.parent for body in bodies])):
        if bodies[i].parent >= 0:
            heavy[bodies[i].parent] |= heavy[i]
    for _ in ties:
        for a, b in ties:
            heavy[a] = heavy[b] = heavy[a] or heavy[b]
    return (i for i in range(len(heavy)) if not heavy[i] and bodies[i].moves)


def crowded(bodies: Sequence[ImportedBody], ties: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
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


def _heavy(body: ImportedBody) -> bool:
    return body.mass != 0 or bool(body.J.any())


def _carriers(bodies: Sequence[ImportedBody]) -> list[int]:
    """For each body the one that it is fixed to, through any number of others."""
    found = list(range(len(bodies)))
    for i in outward_order([body.parent for body in bodies]):
        if bodies[i].parent >= 0 and not bodies[i].moves:
            found[i] = found[bodies[i].parent]
    return found
