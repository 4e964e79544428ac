"""From joints between named bodies to a tree that grows from ground, and the joints that close loops.

Every body gets exactly one inboard joint, the one on its way to ground. A joint between bodies that both hang on ground
already closes a loop: it is cut, and gets equations instead of coordinates. Which joints of the loops that are is the choice of
plan.cuts.cutting, among trees that keep the joints whose coordinates the user speaks of. What prevents a tree is a problem by
name: a body without a joint, a group of bodies apart from ground.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...joints import JOINTS, JOINTS_BY_KEY
from ..geometry.gear_specs import RackSpec
from ..spec.elements import MotorSpec, StopSpec
from ..spec.items import GROUND
from ..spec.problems import Problems, names
from ..spec.spec import JointSpec, Spec
from .checks import armature_of

if TYPE_CHECKING:
    from ...plan.cuts.linkage import Linkage

# how reluctantly a joint is kept in the tree
NEVER_CUT, WITH_COORDINATES, ORDINARY, FROM_FAR_SIDE, CUT = range(5)


@dataclass(frozen=True)
class SpanningTree:
    """Rows are in the order of the file. A joint is its index in the spec.

    joints    of each row
    carried   the body that the row's joint carries
    inboard   the row of its parent body, -1 = ground
    reversed  whether the user wrote the joint from the far side
    closing   joints that close loops, in the order of the file
    """

    joints: tuple[int, ...]
    carried: tuple[str, ...]
    inboard: tuple[int, ...]
    reversed: tuple[bool, ...]
    closing: tuple[int, ...]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Rows by body; ground is not among them."""
        return {body: i for i, body in enumerate(self.carried)}

    def loop(self, joint: JointSpec) -> list[int]:
        """The joints of the tree between the two bodies of a joint that closes a loop."""
        from_a, from_b = self._inward(joint.parent), self._inward(joint.child)
        while from_a and from_b and from_a[-1] == from_b[-1]:
            from_a.pop()
            from_b.pop()
        return [self.joints[i] for i in from_a + from_b[::-1]]

    def _inward(self, body: str) -> list[int]:
        rows, i = [], self.row_of.get(body, -1)
        while i >= 0:
            rows.append(i)
            i = self.inboard[i]
        return rows


def spanning_tree(spec: Spec, problems: Problems) -> SpanningTree | None:
    """The tree, or None after adding to ``problems`` why there is none."""
    bodies = [body.name for body in spec.bodies]
    if not _ends_exist(spec.joints, bodies, problems):
        return None
    search = _Search(spec, [GROUND, *bodies])
    _complain_of_groups(spec, search, problems)
    if any(search.root[body] != GROUND for body in bodies):
        return None
    if len(spec.joints) > len(bodies):
        search.inboard_joint = _least_effort(spec, search, _Search(spec, [GROUND, *bodies], flat=True))
    return search.tree()


def _ends_exist(joints: Sequence[JointSpec], bodies: Sequence[str], problems: Problems) -> bool:
    known = {GROUND, *bodies}
    good = True
    for joint in joints:
        for role, body in (("parent", joint.parent), ("child", joint.child)):
            if body not in known:
                good = False
                text = f'joint "{joint.name}": its {role} "{body}" is not a body.{problems.suggest(body, known)}'
                problems.add(text, joint.where.at(role), joint.name)
        if joint.parent == joint.child and joint.parent in known:
            good = False
            text = f'joint "{joint.name}" connects "{joint.child}" to itself. Let parent and child be two bodies.'
            problems.add(text, joint.where.at("child"), joint.name)
    return good


class _Search:
    """Grows a tree from ground, then through the groups that do not hang on it.

    Always by the joint that is cut most reluctantly (Prim: so no joint of a loop is cut where a less precious one of the same
    loop could be); of equals by the one found last, and of a body's own by the first in the file. That is depth first. A flat
    tree takes the one nearest to ground instead.
    """

    def __init__(self, spec: Spec, bodies: Sequence[str], *, flat: bool = False) -> None:
        self.joints, self.flat = spec.joints, flat
        self.depth: dict[str, int] = {}
        self.precious = _with_coordinates(spec)
        self.root: dict[str, str] = {}
        self.inboard_joint: dict[str, int] = {}
        self.touching: dict[str, list[int]] = {body: [] for body in bodies}
        for j, joint in enumerate(spec.joints):
            self.touching[joint.parent].append(j)
            self.touching[joint.child].append(j)
        for body in bodies:
            if body not in self.root:
                self._spread(body)

    def _spread(self, root: str) -> None:
        self.root[root], self.depth[root] = root, 0
        waiting: list[tuple[int, int, int, str]] = []
        self._look_around(root, waiting)
        while waiting:
            _, _, j, near = heapq.heappop(waiting)
            far = self._beyond(j, near)
            if far not in self.root:
                self.root[far], self.inboard_joint[far], self.depth[far] = root, j, self.depth[near] + 1
                self._look_around(far, waiting)

    def _look_around(self, near: str, waiting: list[tuple[int, int, int, str]]) -> None:
        found = (self.depth[near] if self.flat else -len(self.root)) * (len(self.joints) + 1)  # else later bodies first
        for j in self.touching[near]:
            if self._beyond(j, near) not in self.root:
                heapq.heappush(waiting, (self.reluctance(j, near), found + j, j, near))

    def _beyond(self, j: int, near: str) -> str:
        joint = self.joints[j]
        return joint.child if joint.parent == near else joint.parent

    def reluctance(self, j: int, near: str) -> int:
        joint = self.joints[j]
        if joint.cut:
            return CUT
        from_far_side = joint.parent != near
        if from_far_side and joint.kind == "free":  # which cannot be turned round
            return FROM_FAR_SIDE
        if joint.cut is False:
            return NEVER_CUT
        if joint.name in self.precious:
            return WITH_COORDINATES
        return FROM_FAR_SIDE if from_far_side and not _turns_for_nothing(joint.kind) else ORDINARY

    def tree(self) -> SpanningTree:
        carried = {j: body for body, j in self.inboard_joint.items()}
        kept = sorted(carried)
        row = {j: i for i, j in enumerate(kept)}
        row_of = {GROUND: -1, **{carried[j]: row[j] for j in kept}}
        return SpanningTree(
            tuple(kept),
            tuple(carried[j] for j in kept),
            tuple(row_of[self._beyond(j, carried[j])] for j in kept),
            tuple(self.joints[j].parent == carried[j] for j in kept),
            tuple(j for j in range(len(self.joints)) if j not in row),
        )


def _least_effort(spec: Spec, deep: _Search, flat: _Search) -> dict[str, int]:
    """For each body the joint that carries it, so that loops take few operations; the deep tree where that gains little."""
    from ...plan.cuts.cutting import best_tree

    if not all(joint.kind in JOINTS for joint in spec.joints):
        return deep.inboard_joint  # the joint's own problem is reported elsewhere
    trees = [tuple(search.inboard_joint[body.name] for body in spec.bodies) for search in (deep, flat)]
    found = best_tree(_linkage(spec, deep, set(trees[0]) & set(trees[1])), trees)
    return {body.name: joint for body, joint in zip(spec.bodies, found, strict=True)}


def _linkage(spec: Spec, search: _Search, kept: set[int]) -> Linkage:
    """The input of the choice: kinds of joints and their connections, but no number, which a parameter might change."""
    from ...plan.cuts.linkage import Linkage, Tie

    number = {body.name: i for i, body in enumerate(spec.bodies)} | {GROUND: -1}
    joints = [Tie(joint.kind, number[joint.parent], number[joint.child], joint.motion is not None) for joint in spec.joints]
    kinds = {"coincident": "spherical"}
    ends = [(kinds.get(item.type, item.type), item.start.body, item.end.body) for item in spec.constraints]
    ties = [Tie(kind, number[a], number[b]) for kind, a, b in ends if a in number and b in number and a != b]
    acted = {element.joint for element in spec.elements if isinstance(element, MotorSpec | StopSpec)}
    rank = {joint.name: j for j, joint in enumerate(spec.joints)}
    for coupler in spec.couplers:
        named = [rank.get(name, rank.get(name.rpartition(".")[0])) for name in coupler.joints]
        terms = tuple(dict.fromkeys(j for j in named if j is not None and j in kept))
        ties += [Tie("coupler", -1, -1, terms=terms)] if terms else []
    for gear in spec.gears:
        terms = tuple(j for j, joint in enumerate(spec.joints) if j in kept and _turns_for(joint, gear))
        ties += [Tie("coupler", -1, -1, terms=terms)] if terms else []
    return Linkage(
        len(spec.bodies),
        tuple(joints),
        tuple(ties),
        tuple((search.reluctance(j, joint.parent), search.reluctance(j, joint.child)) for j, joint in enumerate(spec.joints)),
        tuple(_must_stay(joint, search.precious | acted) for joint in spec.joints),
    )


def _must_stay(joint: JointSpec, wanted: set[str]) -> bool:
    """Whether its own coordinates are needed: it is not cut for the sake of operations."""
    return joint.cut is False or joint.name in wanted or joint.kind == "free" or any(armature_of(joint, 1))


def _with_coordinates(spec: Spec) -> set[str]:
    """Joints whose own coordinates the user speaks of: driven ones, those that [initial] starts and couplers tie."""
    driven = {joint.name for joint in spec.joints if joint.motion is not None}
    started = {start.joint for start in spec.initial}
    coupled = {name for coupler in spec.couplers for named in coupler.joints for name in (named, named.rpartition(".")[0])}
    geared = {joint.name for gear in spec.gears for joint in spec.joints if _turns_for(joint, gear)}
    return driven | started | coupled | geared


def _turns_for(joint: JointSpec, gear: Any) -> bool:
    """Whether a joint holds one of the bodies of a gear, so that its coordinate is wanted."""
    bodies = (gear.pinion, gear.rack) if isinstance(gear, RackSpec) else gear.bodies
    near = joint.parent in bodies or joint.child in bodies
    return near and joint.kind in ("revolute", "cylindrical", "prismatic") and bool({joint.parent, joint.child} - {GROUND})


def _turns_for_nothing(kind: str) -> bool:
    """A reversed axis says the same from the other side; a ball or a plane turned round takes more operations."""
    return f"turned {kind}" not in JOINTS_BY_KEY


def _complain_of_groups(spec: Spec, search: _Search, problems: Problems) -> None:
    groups: dict[str, list[str]] = {}
    for body in spec.bodies:
        groups.setdefault(search.root[body.name], []).append(body.name)
    where = {body.name: body.where for body in spec.bodies}
    for root, group in groups.items():
        if root == GROUND:
            continue
        what = f'body "{root}" has no joint' if len(group) == 1 else f"bodies {names(group)} are not connected to ground"
        remedy = f'Add a joint with parent = "{GROUND}" and child = "{root}"; type = "free" lets it float.'
        problems.add(f"{what}. {remedy}", where[root], root)
