"""The joints of a long loop as nodes of their own, each on the body that carries it: links.

A link reports to that body like a joint of a tree, and carries the equations of the loop's closures inward besides
(formulations.loops.long_loops, EQUATIONS 3.6). The equations of all closures of a block are numbered 0, 1, ...: slots. At the
first link, which is the last one on the way inward, the multipliers of all slots are solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MOST_SLOTS = 12  # equations of a block that is eliminated along its bodies


@dataclass(frozen=True)
class Link:
    """The part of a node that describes the link of a loop.

    base       body that the whole block hangs on: poses of the loop are relative to it
    first      body of the first link
    links      bodies of the block, in the order of the walk
    slots      of each closure of the block: its slots, one for each equation that is kept
    held       slots with an end on this link's body
    arriving   slots with an end further out
    adds       slots that another link has carried to the same body before, on the way inward
    closings   closures that are evaluated here, where both ends are known; of each its two bodies
    dof        number of the link's first coordinate among those of the block
    """

    base: int
    first: int
    links: tuple[int, ...]
    slots: Mapping[int, tuple[int, ...]]
    held: tuple[int, ...]
    arriving: tuple[int, ...]
    adds: tuple[int, ...]
    closings: tuple[tuple[int, int], ...]
    sends: bool
    dof: int

    @property
    def count(self) -> int:
        return sum(map(len, self.slots.values()))


class LinkShape(NamedTuple):
    """The structure of a link: what of it decides the code.

    equations  slots of the block
    held       slots with an end on the body
    arriving   slots that are carried to the body by others
    adds       slots that are added to what another link has carried to the same body
    is_first   the multipliers are solved here
    is_last    it is the first one on the way inward
    on_base    it hangs on the base of the block
    on_ground  the base of the block is ground
    sends      other nodes need the pose of its body
    closings   of each closure that is evaluated here: its slots
    """

    equations: int
    held: tuple[int, ...]
    arriving: tuple[int, ...]
    adds: tuple[int, ...]
    is_first: bool
    is_last: bool
    on_base: bool
    on_ground: bool
    sends: bool
    closings: tuple[tuple[int, ...], ...]

    @property
    def open(self) -> tuple[int, ...]:
        """Slots that are carried across the joint."""
        return tuple(sorted({*self.held, *self.arriving}))

    @property
    def integers(self) -> int:
        """The first link's body, and the base; of each slot the place of its directions; of each closure its bodies."""
        return 2 + self.equations + 2 * len(self.closings)


def make_links(
    parent: Sequence[int],
    base: int,
    bodies: Sequence[int],
    ends: Mapping[int, tuple[int, int]],
    slots: Mapping[int, tuple[int, ...]],
    freedoms: Sequence[int],
) -> list[tuple[int, Link, tuple[int, ...]]]:
    """Links of a block: each body, its link, and the closures evaluated there; ``ends``: the bodies of each closure."""
    held: dict[int, set[int]] = {i: set() for i in bodies}
    needed = {parent[i] for i in bodies}
    closing: dict[int, list[int]] = {i: [] for i in bodies}
    for k, pair in ends.items():
        for i in pair:
            if i != base:
                held[i] |= set(slots[k])
        closing[max(pair)].append(k)
        needed.add(min(pair))
    arrived: dict[int, set[int]] = {i: set() for i in (*bodies, base)}
    links: list[tuple[int, Link, tuple[int, ...]]] = []
    dof = sum(freedoms)
    for i, size in zip(reversed(bodies), reversed(freedoms), strict=True):
        p, dof, crossing = parent[i], dof - size, held[i] | arrived[i]
        here, further, adds = (tuple(sorted(x)) for x in (held[i], arrived[i], crossing & arrived[p]))
        arrived[p] |= crossing
        own = tuple(closing[i])
        pairs = tuple(ends[k] for k in own)
        links.append((i, Link(base, bodies[0], tuple(bodies), slots, here, further, adds, pairs, i in needed, dof), own))
    return links[::-1]


def shape(link: Link | None, body: int, base: int, closures: Sequence[int]) -> LinkShape | None:
    if link is None:
        return None
    return LinkShape(
        link.count,
        link.held,
        link.arriving,
        link.adds,
        body == link.first,
        body == link.links[-1],
        base == link.base,
        link.base < 0,
        link.sends,
        tuple(link.slots[k] for k in closures),
    )


def integers(link: Link | None, rows: Mapping[int, Sequence[int]], width: int) -> list[int]:
    """The integers of a node's list; ``rows``: for each closure the numbers of its equations that are kept."""
    if link is None:
        return []
    place = {slot: row for k, own in link.slots.items() for slot, row in zip(own, rows[k], strict=True)}
    return [
        link.first,
        link.base,
        *(place[slot] * width + link.dof for slot in range(link.count)),
        *(i for pair in link.closings for i in pair),
    ]
