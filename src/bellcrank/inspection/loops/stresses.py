"""Self-stresses: forces that closures can hold against each other without anything moving, and so without being known.

A combination u of equations with u^T G = 0 is redundant; the same numbers, as multipliers, are forces that balance themselves.
Which joints and directions take part is seen in a few random ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import Loops
from ...joints.derived import held_places
from ...model import Closure, Model
from ...plan.closures import closing_axes
from ...plan.equation_blocks import EquationBlock
from ...plan.frames import axes_to_z
from .naming import direction_words
from .wrenches import PlacedModel, carried, held_along, holding, triad

Array = NDArray[np.float64]

SAMPLES = 3
TAKES_PART = 1e-6  # of the largest, moments over the typical length


class Stresses:
    """Random self-stresses of a model at a configuration."""

    def __init__(self, loops: Loops, found: list[EquationBlock], placed: PlacedModel) -> None:
        self.model, self.length, self.placed = loops.model, loops.length, placed
        rng = np.random.default_rng(5)
        self.multipliers = np.zeros((SAMPLES, len(loops.rows)))
        for block in found:
            mixed = block.stresses @ rng.normal(size=(block.stresses.shape[1], SAMPLES))
            self.multipliers[:, block.rows] = (loops.rows[block.rows, None] * mixed).T
        self.triads = [triad(c, placed) if c.kind != "coupler" else np.eye(3) for c in self.model.closures]
        self.own = self._own()

    def _own(self) -> Array:
        """(samples, closures, 6) wrenches on body b along the triads."""
        own = np.zeros((SAMPLES, len(self.model.closures), 6))
        for k, (closure, first) in enumerate(zip(self.model.closures, self.model.closure_index, strict=False)):
            if closure.kind != "coupler":
                part = self.multipliers[:, first : first + closure.rows]
                own[:, k] = part @ holding(closure, self.placed).T
        return own

    def closures(self) -> Iterator[tuple[str, str]]:
        """Closures that take part, and in which directions."""
        limit = TAKES_PART * self._sizes(self.own).max(initial=0.0)
        limit = max(limit, TAKES_PART * np.abs(self.multipliers).max(initial=0.0))
        for k, closure in enumerate(self.model.closures):
            if closure.kind == "coupler":
                if np.abs(self.multipliers[:, self.model.closure_index[k]]).max() > limit:
                    yield closure.name, "its effort"
                continue
            places = self._places(self.own[:, k], held_along(closure), limit)
            if closure.kind == "distance" and places:
                yield closure.name, "force along it"
            elif places:
                yield closure.name, direction_words(closing_axes(closure), _has_axis(closure), places)

    def tree_joints(self) -> Iterator[tuple[str, str]]:
        """Joints of the tree whose reactions they change, and in which directions."""
        limit = TAKES_PART * self._sizes(self.own).max(initial=0.0)
        world = np.zeros_like(self.own)
        for k, E in enumerate(self.triads):
            world[:, k, :3], world[:, k, 3:] = self.own[:, k, :3] @ E.T, self.own[:, k, 3:] @ E.T
        felt = np.array([carried(self.model, self.placed, sample) for sample in world])
        for row, (name, joint) in enumerate(zip(self.model.joint_names, self.model.joints, strict=True)):
            axes = joint_axes(self.model, row)
            E = self.placed.rotations[self.model.parents[row]] @ axes
            along = np.concatenate([felt[:, row, :3] @ E, felt[:, row, 3:] @ E], axis=1)
            places = self._places(along, tuple(range(6)) if self.model.driven[row] else held_places(type(joint)), limit)
            if places:
                yield name, direction_words(axes, joint.axis is not None, places)

    def _sizes(self, wrenches: Array) -> Array:
        return np.asarray(np.abs(wrenches) / np.array([1.0] * 3 + [self.length] * 3))

    def _places(self, wrenches: Array, held: tuple[int, ...], limit: float) -> list[int]:
        sizes = self._sizes(wrenches).max(axis=0)
        return [k for k in held if sizes[k] > limit]


def _has_axis(closure: Closure) -> bool:
    return closure.joint is None or (closure.joint.has_axis and closure.motion is None)


def joint_axes(model: Model, row: int) -> Array:
    """Columns e1, e2, axis of a joint of the tree, design position."""
    joint = model.joints[row]
    return np.eye(3) if joint.axis is None else np.asarray(axes_to_z(np.array([joint.axis]), [joint.axis2])[0])
