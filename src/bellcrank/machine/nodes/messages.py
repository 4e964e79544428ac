"""What nodes send each other, body by body: in Python values, in machine code numbers in memory.

There numbers that are the same constant wherever they are sent (the out-of-plane parts of a planar mechanism) are found first,
by rehearsing the steps until nothing changes, and fold. What nobody needs is not sent (liveness).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...kernels.executor import Integer
from ...kernels.llvm.graph import Cell
from ...kernels.llvm.liveness import SENT, tangent_cell
from ...kernels.messages import UNSEEN, VARIES, added, leaves, rebuild
from ...numbers import Symbol
from ...plan.long_loops.links import MOST_SLOTS
from ...spatial import ArticulatedInertia, Force, Matrix, Motion
from ...spatial.vector import ZERO
from ..patterns import is_tangent, learn

if TYPE_CHECKING:
    from ..walk import Walk

_ROOM = {"spin": ZERO, "felt": (ArticulatedInertia.zero(), Force.zero()), "motion": Motion.zero()}
_ROOM |= {"frame": (Matrix.identity(), ZERO, Motion.zero(), Motion.zero())}
_ROOM |= {f"line{k}": Motion.zero() for k in range(6)}
_ROOM |= {"pose": (Matrix.identity(), ZERO, Motion.zero())}  # of long loops: links.py says what these are
for _k in range(MOST_SLOTS):
    _ROOM |= {f"{_name}{_k}": Force.zero() for _name in ("held", "row", "base", "on_base")}
    _ROOM |= {f"{_name}{_k}": (0.0,) for _name in ("right", "known", "multiplier")}
    _ROOM |= {f"factor{_k},{_j}": (0.0,) for _j in range(_k, MOST_SLOTS)}
_SUMS = ("felt", "row", "known", "on_base")  # channels to which several nodes add: a constant that is not zero varies


def make_node_messages(walk: Walk) -> NodeMessages | NodeMessagesInPython:
    return NodeMessages(walk) if walk.e.folds else NodeMessagesInPython()


class NodeMessagesInPython:
    """Values by channel and body; what nobody has said is zero."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, int], Any] = {}

    def learn(self, signatures: Sequence[Any], rehearse: Callable[[Any], None]) -> None:
        """Nothing folds."""

    def get(self, name: str, body: int) -> Any:
        return self.values.get((name, body), _ROOM[name])

    def put(self, name: str, body: int, value: Any, add: bool = False) -> None:
        self.values[name, body] = added(value, self.get(name, body)) if add else value


class NodeMessages:
    """In machine code; constants are found by rehearsal."""

    def __init__(self, walk: Walk):
        self.walk = walk
        self.patterns: dict[str, list[Any]] = {
            name: [UNSEEN] * len(leaves(like, walk.e.tangents)) for name, like in _ROOM.items()
        }
        self.passes: list[dict[str, list[Any]]] = []  # the patterns of each
        self.got: dict[str, list[Any]] = {}  # what the signature that is rehearsed has read: the patterns it found

    def learn(self, signatures: Sequence[Any], rehearse: Callable[[Any], None]) -> None:
        """What a pass brings: rehearsed until nothing is new, or known from the first writing."""
        if self.walk.memory.patterns:
            self.patterns = self.walk.memory.patterns[len(self.passes)]
        else:
            self.patterns = {name: list(pattern) for name, pattern in self.patterns.items()}
            self._rehearse(signatures, rehearse)
        self.passes.append(self.patterns)

    def _rehearse(self, signatures: Sequence[Any], rehearse: Callable[[Any], None]) -> None:
        """Each signature, and again where what it gets has changed since.

        A division by what nobody has said yet (zero, so far) counts at the end only.
        """
        got: dict[Any, dict[str, list[Any]]] = {}
        refused: dict[Any, ZeroDivisionError] = {}

        def changed(signature: Any) -> bool:
            return any(self.patterns[name] != was for name, was in got[signature].items())

        while waiting := [signature for signature in signatures if signature not in got or changed(signature)]:
            for signature in waiting:
                refused.pop(signature, None)
                self.got = got[signature] = {}
                try:
                    rehearse(signature)
                except ZeroDivisionError as error:
                    refused[signature] = error
        for problem in refused.values():
            raise problem

    def _place(self, cell: Cell, body: Integer) -> Integer:
        """Where a number of a channel is, in the body's row."""
        memory = self.walk.memory
        return body * memory.sent + (memory.slots[cell] if memory.slots else 0)

    def get(self, name: str, body: Integer) -> Any:
        if self.walk.e.rehearsing:
            self.got.setdefault(name, list(self.patterns[name]))
        numbers = [
            self._load(name, k, body) if x is VARIES else 0.0 if x is UNSEEN else x for k, x in enumerate(self.patterns[name])
        ]
        return rebuild(_ROOM[name], iter(numbers), self.walk.e.tangents)

    def put(self, name: str, body: Integer, value: Any, add: bool = False) -> None:
        e, numbers = self.walk.e, leaves(value, self.walk.e.tangents)
        if e.rehearsing:
            learn(self.patterns[name], numbers, only_zeros=name.startswith(_SUMS))
            return
        for k, x in enumerate(self.patterns[name]):
            cell, wide = self._cell(name, k)
            if x is VARIES and cell not in self.walk.memory.dead:
                sum_ = numbers[k] + self._load(name, k, body) if add else numbers[k]
                self.walk.array("node_messages").store(self._place(cell, body), wide, sum_)
                e.mark(cell)

    def _cell(self, name: str, k: int) -> tuple[Cell, bool]:
        """Of a number of a channel, and whether it is a vector of tangents."""
        cell, wide = (SENT, name, k), is_tangent(self.walk.e, k)
        return tangent_cell(cell) if wide else cell, wide

    def _load(self, name: str, k: int, body: Integer) -> Symbol:
        e, (cell, wide) = self.walk.e, self._cell(name, k)
        if cell in self.walk.memory.dead:
            return e.needless()
        found: Symbol = self.walk.array("node_messages").fetch(self._place(cell, body), wide)
        e.mark(cell)
        return found
