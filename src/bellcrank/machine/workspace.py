"""Values that a step keeps on a body or a node for later passes: in Python the value itself, in memory only what is costly to
find again.

There a kept number becomes a recipe. Constants cost nothing; data and inputs are read again; a few cheap operations on what is
there anyway are done again; what nobody needs (liveness) is left out; only the rest takes a slot of the body's row in the
workspace.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from ..kernels.executor import Executor
from ..kernels.llvm.graph import Cell
from ..kernels.llvm.liveness import CellPlan, has_tangents, tangent_cell
from ..kernels.messages import whole
from ..numbers import Dual, Number, Symbol
from ..spatial.matrices import Unrolled
from .nodes.in_memory import KeptMatrix, MatrixInMemory

if TYPE_CHECKING:
    from .body import Body

_CHEAP = {"fadd", "fsub", "fmul", "fneg"}
_MOST_OPERATIONS = 3

Recipe = tuple[Any, ...]  # ("constant", x) | ("load", array, k) | ("slot", k, cell) | ("op", kind, *recipes) | ("needless",)


def make_workspace(e: Executor, owner: Any, memory: CellPlan) -> Workspace | ValuesInPython:
    return Workspace(owner, memory) if e.folds else ValuesInPython()


class ValuesInPython:
    """Values that steps in Python keep, by the index of the body or node."""

    def __init__(self) -> None:
        self.values: dict[tuple[int, str], Any] = {}

    def keep(self, body: Any, name: str, value: Any) -> None:
        self.values[body.index, name] = value

    def recall(self, body: Any, name: str) -> Any:
        return self.values[body.index, name]


class Workspace:
    """The values that are kept of the bodies or nodes of one signature, ``owner``."""

    def __init__(self, owner: Any, memory: CellPlan) -> None:
        self.owner, self.memory = owner, memory
        self.fields: dict[str, Any] = {}
        self.times: dict[
            str, int
        ] = {}  # how often each has been kept: what a later pass keeps by the same name is another cell
        self.slots = self.matrices = 0  # so many are in use; numbers of matrices

    def copy(self) -> Workspace:
        twin = Workspace(self.owner, self.memory)
        twin.fields, twin.slots, twin.matrices = dict(self.fields), self.slots, self.matrices
        twin.times = dict(self.times)
        return twin

    def keep(self, body: Body, name: str, value: Any) -> None:
        time = self.times[name] = self.times.get(name, 0) + 1
        label = name if time == 1 else f"{name} {time}"
        self.fields[name] = self._recipes(body, value, ((self.owner, label, k) for k in count()))

    def _recipes(self, body: Body, value: Any, cells: Iterator[Cell]) -> Any:
        if isinstance(value, tuple):
            parts = [self._recipes(body, part, cells) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, str):
            return value
        if isinstance(value, MatrixInMemory):
            return value.kept(self, body)
        if isinstance(value, Unrolled):
            return _MatrixLeaf(self._recipes(body, tuple(map(tuple, value.entries)), cells), value.columns)
        if isinstance(value, Dual):
            return _DualLeaf(self._recipes(body, (value.value, *value.tangents), cells))
        return _Leaf(self._recipe(body, value, next(cells)))

    def _recipe(self, body: Body, value: Number, cell: Cell) -> Recipe:
        e, wide = body.walk.e, isinstance(value, Symbol) and value.wide
        cell = tangent_cell(cell) if wide else cell
        if cell in self.memory.dead:
            return ("needless",)
        recipe = self._cheap(body, value, _MOST_OPERATIONS)[0]
        if recipe is None:
            planned = self.memory.slots if self.owner[0] == "node" else None
            if planned and cell not in planned:  # the first writing made it from a cell that turned out to be dead: so is this
                return ("needless",)
            slot = planned[cell] if planned else self.slots
            recipe = ("slot", slot, cell)
            if wide:
                e.store_wide(value, body.memory(), slot)
            else:
                e.store(value, body.memory(), body.slot(slot))
            e.mark(cell)
            body.there[value.ref] = recipe
            self.slots = max(self.slots, slot + (e.wide if wide else 1))
        return recipe

    def _cheap(self, body: Body, x: Number, budget: int) -> tuple[Recipe | None, int]:
        """A recipe that takes no new slot, and its operations; None if there is none within the budget."""
        if not isinstance(x, Symbol):
            return ("constant", float(x)), 0
        if x.ref in body.there:
            return body.there[x.ref], 0
        if x.kind == "load":
            return ("load", *x.args), 0
        if x.kind not in _CHEAP or budget == 0:
            return None, 0
        parts, used = [], 0 if x.kind == "fneg" else 1
        for argument in x.args:
            recipe, cost = self._cheap(body, argument, budget - used)
            if recipe is None:
                return None, 0
            parts.append(recipe)
            used += cost
        return (("op", x.kind, *parts), used) if used <= budget else (None, 0)

    def recall(self, body: Body, name: str) -> Any:
        return self._values(body, self.fields[name])

    def _values(self, body: Body, tree: Any) -> Any:
        if isinstance(tree, _Leaf):
            return _make(body, tree.recipe)
        if isinstance(tree, KeptMatrix):
            return tree.recall(body)
        if isinstance(tree, _MatrixLeaf):
            return Unrolled(self._values(body, tree.entries), tree.columns)
        if isinstance(tree, _DualLeaf):
            return whole(list(self._values(body, tree.parts)))
        if isinstance(tree, tuple):
            parts = [self._values(body, part) for part in tree]
            return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
        return tree


class _MatrixLeaf:
    __slots__ = ("columns", "entries")

    def __init__(self, entries: tuple[Any, ...], columns: int):
        self.entries, self.columns = entries, columns


class _DualLeaf:
    """A number with its tangents."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Any, ...]):
        self.parts = parts


class _Leaf:
    __slots__ = ("recipe",)

    def __init__(self, recipe: Recipe):
        self.recipe = recipe


def _make(body: Body, recipe: Recipe) -> Number:
    kind, *rest = recipe
    if kind == "constant":
        return rest[0]
    if kind == "load":
        return body.load(*rest)
    if kind == "needless":
        return body.walk.e.needless()
    if kind == "slot":
        symbol = _fetched(body, *rest)
        body.there[symbol.ref] = recipe
        return symbol
    operation, *parts = rest
    values = [_make(body, part) for part in parts]
    if operation == "fneg":
        return -values[0]
    a, b = values
    return a + b if operation == "fadd" else a - b if operation == "fsub" else a * b


def _fetched(body: Body, slot: int, cell: Cell) -> Symbol:
    """A number in the memory of a body or node, read once in a case."""
    e = body.walk.e
    key = ("slot", cell, str(body.index))
    found = e.known.get(key)
    if found is None:
        found = e.known[key] = Symbol(e, body.kept_number(slot, has_tangents(cell)), "slot", (slot,))
        e.mark(cell)
    return found
