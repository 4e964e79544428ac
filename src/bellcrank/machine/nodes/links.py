"""What the links of a long loop send each other: poses outward, rows of the closures inward, multipliers outward again.

by body            pose          of the body, seen from the base of the loop
                   held k        equation k at its end on the body, a wrench in the body's own frame
                   row k         what links further out carry of it to the body
by the first link  right k       right-hand side of equation k
                   known k       what is taken from it
                   base k        equation k at an end on the base of the loop
                   on_base k     what links carry of it to the base
                   factor i,j    R, upper triangle: R^T R is what the multipliers are solved with
                   multiplier k
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...formulations.nodes import Placed
from ...kernels.executor import Integer
from ...numbers import Number, select
from ...spatial import Force, Motion, Vector
from ...spatial.rank import is_redundant
from ...spatial.vector import ZERO

if TYPE_CHECKING:
    from ...plan.nodes.signatures import NodeSignature
    from ..walk import Walk


class LinkMessages:
    """A node that is a link of a long loop."""

    walk: Walk
    signature: NodeSignature
    base: Integer
    body_numbers: list[Integer]
    closing: Any  # list of NodeClosure
    link: Any

    if TYPE_CHECKING:

        def _numbers(self, name: str, size: int, skipped: int = 0) -> list[Integer]: ...

    @property
    def _first(self) -> Integer:
        return self._numbers("link", 1)[0]

    def _end(self, closing: int, side: int) -> Integer:
        return self._numbers("link", 1, 2 + self.link.equations + 2 * closing + side)[0]

    @property
    def spin_of_loop(self) -> Vector:
        if self.link.on_ground:
            return ZERO
        found: Vector = self.walk.node_messages.get("spin", self._numbers("link", 1, 1)[0])
        return found

    # poses

    @property
    def pose_of_parent(self) -> Placed:
        return self._pose(self.base)

    def pose_of_end(self, closing: int, side: int) -> Placed:
        return self._pose(self._end(closing, side))

    def _pose(self, body: Integer) -> Placed:
        R, p, V = self.walk.node_messages.get("pose", body)
        return Placed(R, p, V, Motion.zero(), ())

    def send_pose(self, at: Placed) -> None:
        if self.link.sends:
            self.walk.node_messages.put("pose", self.body_numbers[0], (at.R, at.p, at.V))

    # equations

    def start_equation(self, slot: int, right: Number, on_base: Force) -> None:
        self.walk.node_messages.put(f"right{slot}", self._first, (right,))
        if not self.link.on_ground:
            self.walk.node_messages.put(f"base{slot}", self._first, on_base)

    def hold(self, closing: int, side: int, slot: int, wrench: Force) -> None:
        """An equation takes hold of the body at one of its ends."""
        self.walk.node_messages.put(f"held{slot}", self._end(closing, side), wrench)

    def row(self, slot: int) -> Force:
        read, body, found = self.walk.node_messages.get, self.body_numbers[0], Force.zero()
        if slot in self.link.held:
            found = read(f"held{slot}", body)
        return found + read(f"row{slot}", body) if slot in self.link.arriving else found

    def carry_row(self, slot: int, wrench: Force) -> None:
        """Across the joint, to the body that carries it."""
        name, to = ("on_base", self._first) if self.link.on_base else ("row", self.base)
        if not (self.link.on_base and self.link.on_ground):
            self.walk.node_messages.put(f"{name}{slot}", to, wrench, add=slot in self.link.adds)

    def take_known(self, known: Sequence[Number]) -> None:
        """From the right-hand sides, of all slots."""
        for slot, x in enumerate(known):
            self.walk.node_messages.put(f"known{slot}", self._first, (x,), add=not self.link.is_last)

    def right_hand_side(self, slot: int) -> Number:
        right, known = (self.walk.node_messages.get(f"{name}{slot}", self._first)[0] for name in ("right", "known"))
        return right - known

    def row_on_base(self, slot: int) -> Force:
        end, carried = (self.walk.node_messages.get(f"{name}{slot}", self._first) for name in ("base", "on_base"))
        found: Force = end + carried
        return found

    # multipliers

    def factor(self) -> list[list[Number]]:
        """R, upper triangle; nothing has been added to it where the way inward begins."""
        count = self.link.equations
        return [[0.0] * i + [self._factor(i, j) for j in range(i, count)] for i in range(count)]

    def _factor(self, i: int, j: int) -> Number:
        found: tuple[Number] = self.walk.node_messages.get(f"factor{i},{j}", self._first)
        return found[0]

    def send_factor(self, R: Sequence[Sequence[Number]]) -> None:
        for i, row in enumerate(R):
            for j in range(i, len(row)):
                self.walk.node_messages.put(f"factor{i},{j}", self._first, (row[j],))

    def send_multiplier(self, slot: int, x: Number) -> None:
        self.walk.node_messages.put(f"multiplier{slot}", self._first, (x,))

    def multiplier(self, slot: int) -> Number:
        found: tuple[Number] = self.walk.node_messages.get(f"multiplier{slot}", self._first)
        return found[0]

    # for the watch of a time loop

    def note_direction(self, slot: int, values: Sequence[Number]) -> None:
        start, left = self._numbers("link", 1, 2 + slot)[0], self.walk.array("left")
        for k, x in enumerate(values):
            left[start + k] = x

    def note_pivots(self, pivots: Sequence[Number]) -> None:
        """Of every slot: the pivots of the equations of closures that are evaluated here."""
        rows, tolerance = self.walk.array("rows"), self.walk.setting("tolerance")
        for closure, slots in zip(self.closing, self.link.closings, strict=True):
            first, own = self.walk.array("closure_table")[closure.index, "row"], iter(slots)
            for k in range(closure.rows):
                pivot = pivots[next(own)] if k in closure.kept else 0.0
                rows[first + k, "pivot"] = select(is_redundant(tolerance, pivot), 0.0, pivot)
