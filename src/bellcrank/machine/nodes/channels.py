"""What nodes tell each other, body by body, in machine code.

Numbers that are the same constant wherever they are told (the out-of-plane parts of a planar mechanism) are found first, by
rehearsing the steps until nothing changes, and fold. What nobody needs is not told (liveness).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...kernels.emitter import Int
from ...kernels.liveness import TOLD, Cell
from ...kernels.messages import UNSEEN, VARIES, leaves, rebuild
from ...numbers import Number, Symbol
from ...spatial import ArticulatedInertia, Force, Matrix, Motion
from ...spatial.vector import ZERO

if TYPE_CHECKING:
    from ..walk import TracedWalk

_ROOM = {"spin": ZERO, "felt": (ArticulatedInertia.zero(), Force.zero()), "motion": Motion.zero()}
_ROOM |= {"frame": (Matrix.identity(), ZERO, Motion.zero(), Motion.zero())}
_ROOM |= {f"line{k}": Motion.zero() for k in range(6)}
CHANNELS = len(leaves(tuple(_ROOM.values())))  # numbers for every body, at most


class Channels:
    """What nodes say to each other, body by body; constants are found by rehearsal."""

    def __init__(self, walk: TracedWalk):
        self.walk = walk
        self.patterns: dict[str, list[Any]] = {
            name: [UNSEEN] * len(leaves(like, walk.tangents)) for name, like in _ROOM.items()
        }
        self.passes: list[dict[str, list[Any]]] = []  # the patterns of each

    def learn(self, rehearse: Callable[[], ZeroDivisionError | None]) -> None:
        """What a pass brings: rehearsed until nothing is new, or known from the first writing."""
        if self.walk.memory.patterns:
            self.patterns = self.walk.memory.patterns[len(self.passes)]
        else:
            self._rehearse(rehearse)
        self.passes.append(self.patterns)

    def _rehearse(self, rehearse: Callable[[], ZeroDivisionError | None]) -> None:
        """A division by what nobody has said yet (zero, so far) waits for the next round."""
        before = failure = None
        while before != self.patterns:
            before = self.patterns
            self.patterns = {name: list(pattern) for name, pattern in before.items()}
            failure = rehearse()
        if failure is not None:
            raise failure

    def _place(self, cell: Cell, body: str) -> Int:
        """Where a number of a channel is, in the body's row."""
        e, memory = self.walk.e, self.walk.memory
        return e.integer("add", e.integer("mul", body, memory.told), memory.slots[cell] if memory.slots else 0)

    def get(self, name: str, body: str) -> Any:
        numbers = [
            self._load(name, k, body) if x is VARIES else 0.0 if x is UNSEEN else x for k, x in enumerate(self.patterns[name])
        ]
        return rebuild(_ROOM[name], iter(numbers), self.walk.tangents)

    def put(self, name: str, body: str, value: Any, add: bool = False) -> None:
        e, numbers = self.walk.e, leaves(value, self.walk.tangents)
        if e.rehearsing:
            self._learn(name, numbers, only_zeros=name == "felt")
            return
        for k, x in enumerate(self.patterns[name]):
            cell = (TOLD, name, k)
            if x is VARIES and cell not in self.walk.memory.dead:
                e.store(numbers[k] + self._load(name, k, body) if add else numbers[k], "%channels", self._place(cell, body))
                e.mark(cell)

    def _load(self, name: str, k: int, body: str) -> Symbol:
        e, cell = self.walk.e, (TOLD, name, k)
        if cell in self.walk.memory.dead:
            return e.needless()
        found = e.symbol(e.load("%channels", self._place(cell, body)))
        e.mark(cell)
        return found

    def _learn(self, name: str, numbers: list[Number], only_zeros: bool) -> None:
        pattern = self.patterns[name]
        for k, x in enumerate(numbers):
            varies = isinstance(x, Symbol) or (only_zeros and x != 0) or pattern[k] not in (UNSEEN, x)
            pattern[k] = VARIES if varies else float(x)
