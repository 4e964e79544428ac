"""Which closing joint, made freer, takes redundant equations away and leaves the motion as it is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import Loops
from ...joints import JOINTS
from ...joints.derived import held_places
from ...model import Closure
from ...plan.equation_blocks import EquationBlock
from ...spatial.rank import rank as rank_of
from .counting import closures_of
from .wrenches import PlacedModel, held_by, holding

Array = NDArray[np.float64]

MOST = 200  # equations of blocks that are tried
SHOWN = 3
# What may stand instead of a joint: in words, and what it still holds.
CYLINDRICAL, SPHERICAL = ((kind, held_places(JOINTS[kind])) for kind in ("cylindrical", "spherical"))
BALL = ("a point_on_line along its axis (a ball that may slide)", (0, 1))
SLOTS = tuple(("a pin in a slot (a point_on_plane)", (k,)) for k in (0, 1))
INSTEAD: dict[str, tuple[tuple[str, tuple[int, ...]], ...]] = {
    "revolute": (CYLINDRICAL, SPHERICAL, BALL, *SLOTS),
    "prismatic": (CYLINDRICAL, BALL, *SLOTS),
    "cylindrical": (BALL, *SLOTS),
    "point_on_line": SLOTS,
    "universal": (SPHERICAL,),
    "planar": (("a point_on_plane", (2,)),),
    "spherical": tuple((f"a point_on_line along {axis}", kept) for axis, kept in (("x", (1, 2)), ("y", (0, 2)), ("z", (0, 1)))),
}


def suggestions(loops: Loops, q: Array, t: float, block: EquationBlock, placed: PlacedModel) -> Iterator[str]:
    """The best remedies of one block, in sentences."""
    if not block.redundant or len(block.rows) > MOST:
        return
    G = loops.J(q, t)
    found = []
    for closure in closures_of(loops.model, block):
        first = int(loops.model.closure_index[loops.model.closures.index(closure)])
        own = np.arange(first, first + closure.rows)
        others = G[np.setdiff1d(block.rows, own)]
        best = _best(loops, closure, G[own] / loops.rows[own, None], others, block.rank, placed)
        if best is not None:
            found.append((best[0], f"{best[1]} {_of(best[0], block.redundant)}"))
    for _, text in sorted(found, key=lambda x: -x[0])[:SHOWN]:
        yield text


def _of(taken: int, redundant: int) -> str:
    if taken == redundant:
        return "takes away the redundant equation" if redundant == 1 else f"takes away all {redundant} redundant equations"
    return f"takes away {taken} of {redundant} redundant equations"


def _best(loops: Loops, closure: Closure, rows: Array, others: Array, rank: int, placed: PlacedModel) -> tuple[int, str] | None:
    """How many equations go, and what to do."""
    kind = held_by(closure)
    if rank_of(others, loops.tolerance) == rank:
        return closure.rows, f'leaving out "{closure.name}" changes nothing of the motion and'
    if kind not in INSTEAD or closure.motion is not None:
        return None
    along = np.linalg.pinv(holding(closure, placed)).T @ rows  # the rows for unit forces and moments along the triad
    along[3:] *= loops.length
    best = None
    for freer, held in INSTEAD[kind]:
        kept = along[list(held)]
        gone = closure.rows - len(kept)
        if rank_of(np.vstack([others, kept]), loops.tolerance) == rank and (best is None or gone > best[0]):
            best = gone, f'making "{closure.name}" {freer}'
    return best
