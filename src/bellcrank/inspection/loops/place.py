"""A configuration with the loop equations there, and a regular configuration nearby."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import Loops
from ...plan.equation_blocks import EquationBlock
from ...spatial.rank import rank
from . import singular
from .branches import Branches, branches
from .wrenches import PlacedModel

Array = NDArray[np.float64]

TRIES = 4  # branches that are followed to find a regular position
STEPS = 8  # of each


class Place:
    """A configuration, and what the equations say there."""

    def __init__(self, loops: Loops, q: Array) -> None:
        model = loops.model
        self.q = q
        self.blocks, untouched = loops.blocks(q, 0.0)
        self.untouched = [k for k in untouched if k not in model.state_places]
        self.rank = sum(block.rank for block in self.blocks)
        self.mobility = model.nv - len(model.state_places) - self.rank
        self.redundant = len(loops.rows) - self.rank
        position, rotation = loops.dynamics.poses(q)
        self.placed = PlacedModel(np.vstack([position, np.zeros(3)]), np.concatenate([rotation, np.eye(3)[None]]))
        self.nv = model.nv
        self.pivot = min((block.pivot for block in self.blocks), default=0.0)

    @property
    def motions(self) -> Array:
        """(nv, mobility) of small models."""
        parts = [np.eye(self.nv)[:, self.untouched]]
        for block in self.blocks:
            part = np.zeros((self.nv, block.motions.shape[1]))
            part[block.columns] = block.motions
            parts.append(part)
        return np.hstack(parts)


def nearby_of(loops: Loops, here: Place, parts: list[Branches | None]) -> Place | None:
    """A configuration a little further on that is as regular as any; None where the mechanism cannot go."""
    nearby = _step_on(loops, here, parts)
    for _ in range(STEPS):  # branches on which some loops stay singular lead to others
        if nearby is None or not any(parts) or all(part.regular for part in parts if part is not None):
            break
        parts = [branches(loops, nearby.q, 0.0, block) for block in nearby.blocks]
        beyond = _step_on(loops, nearby, parts)
        if beyond is None or beyond.rank <= nearby.rank:
            break
        nearby = beyond
    return nearby


def _step_on(loops: Loops, here: Place, parts: list[Branches | None]) -> Place | None:
    """The configuration of largest rank among several that are a step further."""
    found = []
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or all(part.regular for part in known):
        ways = [singular.any_way(loops, here.q, 0.0)]
    else:
        ways = [_way(here, known, k) for k in range(TRIES)]
    for way in ways:
        q = singular.further(loops, here.q, 0.0, way)
        found += [] if q is None else [Place(loops, q)]
    return max(found, key=lambda place: place.rank, default=None)


def _way(here: Place, parts: list[Branches], k: int) -> Array:
    """A velocity that a motion follows: of every block the k-th that is known, or of what is in no loop."""
    way = np.zeros(here.nv)
    for part in parts:
        if part.followed.shape[1]:
            way[part.block.columns] = part.followed[:, k % part.followed.shape[1]]
    if not way.any():
        way[here.untouched] = 1.0
    return way


def lost_equations(loops: Loops, nearby: Place | None, block: EquationBlock) -> int:
    """How many equations of a block are redundant here that are not nearby."""
    if nearby is None:
        return 0
    return rank(loops.J(nearby.q, 0.0)[block.rows], loops.tolerance) - block.rank
