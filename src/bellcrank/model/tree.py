"""From joints between named bodies to a tree that grows from ground.

Every body gets exactly one inboard joint, the one on its way to ground. What prevents that is a problem by name: a body
without a joint, a group of bodies apart from ground, a closed loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from .problems import Problems, names
from .spec import GROUND, JointSpec, Spec

LOOPS_NAMED = 20  # finding the joints of a loop may take a walk through the whole model


@dataclass(frozen=True)
class Tree:
    """For each joint, in the order of the file: the body it carries, the joint of its parent body (-1 = ground), and
    whether the user wrote it from the far side."""

    carried: tuple[str, ...]
    inboard: tuple[int, ...]
    reversed: tuple[bool, ...]


def spanning_tree(spec: Spec, problems: Problems) -> Tree | None:
    """The tree, or None after adding to ``problems`` why there is none."""
    bodies = [body.name for body in spec.bodies]
    if not _ends_exist(spec.joints, bodies, problems):
        return None
    branches, closing = _without_loops(spec.joints, bodies)
    walk = _Walk(spec.joints, branches, [GROUND, *bodies])
    _complain_of_loops(spec.joints, closing, walk, problems)
    _complain_of_groups(spec, walk, problems)
    if closing or any(walk.root[body] != GROUND for body in bodies):
        return None
    return walk.tree(len(spec.joints))


def _ends_exist(joints: Sequence[JointSpec], bodies: Sequence[str], problems: Problems) -> bool:
    known = {GROUND, *bodies}
    good = True
    for joint in joints:
        for role, body in (("parent", joint.parent), ("child", joint.child)):
            if body not in known:
                good = False
                text = f'joint "{joint.name}": its {role} "{body}" is no body.{problems.suggest(body, known)}'
                problems.add(text, joint.where.at(role), joint.name)
        if joint.parent == joint.child and joint.parent in known:
            good = False
            text = f'joint "{joint.name}" connects "{joint.child}" to itself. Let parent and child be two bodies.'
            problems.add(text, joint.where.at("child"), joint.name)
    return good


def _without_loops(joints: Sequence[JointSpec], bodies: Sequence[str]) -> tuple[list[int], list[int]]:
    """Joints that join what was apart, and those that close a loop with joints written before them (Kruskal)."""
    leader = {body: body for body in (GROUND, *bodies)}

    def find(body: str) -> str:
        while leader[body] != body:
            leader[body] = leader[leader[body]]
            body = leader[body]
        return body

    branches: list[int] = []
    closing: list[int] = []
    for j, joint in enumerate(joints):
        a, b = find(joint.parent), find(joint.child)
        leader[a] = b
        (closing if a == b else branches).append(j)
    return branches, closing


class _Walk:
    """A walk over the branches, outward from ground, then through the groups that do not hang on it."""

    def __init__(self, joints: Sequence[JointSpec], branches: Sequence[int], bodies: Sequence[str]) -> None:
        self.joints = joints
        self.inboard_joint: dict[str, int] = {}
        self.inner_body: dict[str, str] = {}
        self.root: dict[str, str] = {}
        touching: dict[str, list[int]] = {body: [] for body in bodies}
        for j in branches:
            touching[joints[j].parent].append(j)
            touching[joints[j].child].append(j)
        for body in bodies:
            if body not in self.root:
                self._spread(body, touching)

    def _spread(self, root: str, touching: dict[str, list[int]]) -> None:
        self.root[root] = root
        waiting = deque([root])
        while waiting:
            near = waiting.popleft()
            for j in touching[near]:
                joint = self.joints[j]
                far = joint.child if joint.parent == near else joint.parent
                if far not in self.root:
                    self.root[far], self.inboard_joint[far], self.inner_body[far] = root, j, near
                    waiting.append(far)

    def path(self, a: str, b: str) -> list[int]:
        """The joints between two bodies of the same group."""
        from_a, from_b = self._inward(a), self._inward(b)
        while from_a and from_b and from_a[-1] == from_b[-1]:
            from_a.pop()
            from_b.pop()
        return from_a + from_b[::-1]

    def _inward(self, body: str) -> list[int]:
        joints = []
        while body in self.inboard_joint:
            joints.append(self.inboard_joint[body])
            body = self.inner_body[body]
        return joints

    def tree(self, n: int) -> Tree:
        carried = {j: body for body, j in self.inboard_joint.items()}
        return Tree(
            tuple(carried[j] for j in range(n)),
            tuple(self.inboard_joint.get(self.inner_body[carried[j]], -1) for j in range(n)),
            tuple(self.joints[j].parent == carried[j] for j in range(n)),
        )


def _complain_of_loops(joints: Sequence[JointSpec], closing: Sequence[int], walk: _Walk, problems: Problems) -> None:
    for j in closing[:LOOPS_NAMED]:
        others = names([joints[k].name for k in walk.path(joints[j].parent, joints[j].child)])
        text = f'joint "{joints[j].name}" closes a loop with {others}.'
        remedy = "Closed loops are not supported yet: remove one of these joints."
        problems.add(f"{text} {remedy}", joints[j].where, joints[j].name)
    if len(closing) > LOOPS_NAMED:
        problems.add(f"{len(closing) - LOOPS_NAMED} more joints close loops.")


def _complain_of_groups(spec: Spec, walk: _Walk, problems: Problems) -> None:
    groups: dict[str, list[str]] = {}
    for body in spec.bodies:
        groups.setdefault(walk.root[body.name], []).append(body.name)
    where = {body.name: body.where for body in spec.bodies}
    for root, group in groups.items():
        if root == GROUND:
            continue
        what = f'body "{root}" has no joint' if len(group) == 1 else f"bodies {names(group)} are not connected to ground"
        remedy = f'Add a joint with parent = "{GROUND}" and child = "{root}"; type = "free" lets it float.'
        problems.add(f"{what}. {remedy}", where[root], root)
