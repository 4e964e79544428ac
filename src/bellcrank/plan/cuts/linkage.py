"""Bodies and their connections, without numbers: the input of the choice of the joints that are cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .prices import equations, may_be_planar, moves

Tree = tuple[int, ...]  # of each body, the joint that carries it


class Tie(NamedTuple):
    """A joint, or what else ties bodies: between two of them, or (a coupler) between the joints ``terms``; -1 is the base."""

    kind: str
    a: int
    b: int
    driven: bool = False
    terms: tuple[int, ...] = ()


@dataclass(frozen=True)
class Linkage:
    """Bodies 0, 1, ... and ground (of a block: its base), -1; joints in the order of the file, and what ties bodies besides.

    reluctance  of each joint: how reluctantly it is kept where it is walked from its first body, and from its second
    stays       of each joint: whether it cannot be cut
    carriers    bodies that carry other blocks; and whether this block is on ground, and is alone on its base
    """

    bodies: int
    joints: tuple[Tie, ...]
    ties: tuple[Tie, ...]
    reluctance: tuple[tuple[int, int], ...]
    stays: tuple[bool, ...]
    carriers: frozenset[int] = frozenset()
    on_ground: bool = True
    alone: bool = True
    flat: bool | None = None

    @property
    def planar(self) -> bool:
        """Whether it is known to be ``flat``; or all joints could move in a plane, and could not all move in space by counting
        freedoms."""
        if self.flat is not None:
            return self.flat
        freedoms = sum(len(moves(joint.kind)) for joint in self.joints)
        held = 6 * (len(self.joints) - self.bodies) + sum(len(equations(tie.kind, planar=False)) for tie in self.ties)
        return freedoms <= held and all(may_be_planar(tie.kind) for tie in (*self.joints, *self.ties))

    def inner(self, tree: Sequence[int], body: int) -> int:
        """The parent of a body."""
        joint = self.joints[tree[body]]
        return joint.b if joint.a == body else joint.a

    def level(self, joint: int, outer: int) -> int:
        """The level of a joint that carries a body: the higher, the less readily the joint is kept."""
        return self.reluctance[joint][self.joints[joint].a == outer]
