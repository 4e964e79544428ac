"""Memories of several groups of runs, one behind the other, so that one call of machine code takes steps of all of them.

Each has a copy of all arrays of a Memory. Only the times of samples and the grid of fixed steps are shared, and samples go to
an array of their own, a row for each sample of each lane, with one more after the last.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...calls.memory import aligned
from ..cuts.corners import NEVER, just_after, just_before
from ..declared import COUNTS, REALS
from ..memory import Memory

Array = NDArray[np.float64]
Rows = dict[str, NDArray[Any]]  # a row for each run

_SHARED = ("times", "grid", "out")
_LINE = 8  # doubles of a line of the processor's cache


class Groups:
    """Room for so many groups, of which the first ``used`` run."""

    def __init__(self, one: Memory, room: int):
        """``one``: the memory of a group before anything has run in it."""
        layout = one.layout
        self.layout, self.times, self.room, self.used, self._one = layout, one.times, room, room, one
        arrays = {name: x for name, x in one.arrays.items() if name not in _SHARED and name in one.places}
        sizes = [-(-x.size // _LINE) * _LINE for x in arrays.values()]
        self._at = dict(zip(arrays, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        self._fresh = np.zeros(sum(sizes))
        for name, x in arrays.items():
            self._fresh[self._at[name] :][: x.size] = x.ravel().view(np.float64)
        self._memory = aligned(room * self._fresh.size).reshape(room, -1)
        self._out = np.empty((room, layout.lanes, len(one.times) + 1, layout.state // layout.lanes))
        self._words = np.tile(one.words, (room, 1))
        start, out = (x.ctypes.data + x.strides[0] * np.arange(room) for x in (self._memory, self._out))
        for name, at in self._at.items():
            self._words[:, one.places[name]] = start + 8 * at
        self._words[:, one.places["out"]] = out
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self._advance: Any = kind(one.code.library.address("advance_each"))

    def has(self, name: str) -> bool:
        return name in self._at

    def array(self, name: str) -> NDArray[Any]:
        """Of each group, (groups, size)."""
        x = self._one.arrays[name]
        found = self._memory[: self.used, self._at[name] :][:, : x.size]
        return found if x.dtype == np.float64 else found.view(np.int64)

    def lane(self, name: str) -> Array:
        """A number that changes, of each lane of each group."""
        lanes = self.layout.lanes
        found: Array = self.array("reals")[:, REALS[name] * lanes :][:, :lanes]
        return found

    def set_count(self, name: str, value: int) -> None:
        self.array("counts")[:, COUNTS[name]] = value

    def put(self, array: str, rows: Array, at: int = 0) -> None:
        """Numbers of each lane of each group (groups, lanes, count) into an array, from a place on."""
        size = rows.shape[1] * rows.shape[2]
        self.array(array)[:, at : at + size] = rows.transpose(0, 2, 1).reshape(len(rows), size)

    def clear(self, used: int) -> None:
        """Make the first ``used`` groups as new: nothing has run in them."""
        self.used = used
        self._memory[:used] = self._fresh

    def start(self, start: Rows) -> None:
        """Rows (groups, lanes, ...) of q, v, their slopes qdot and a, tau and u; and samples and corners that are behind."""
        layout = self.layout
        for name, at in (("q", 0), ("v", layout.v_start)):
            self.put("y", start[name], at)
        for name, at in (("qdot", 0), ("a", layout.v_start)):
            self._put_slopes(start[name], at)
        for name in ("tau", "u"):
            self.put(name, start[name])
        self.put("y", start["u"][:, :, layout.anchors.inputs], layout.anchor_start)
        self.array("sampled")[:] = start["sampled"]
        self._pass_corners(start["corner"])

    def _put_slopes(self, rows: Array, at: int) -> None:
        """All stages are set: a method reuses its last one, or starts its iterations from the last stages."""
        method, state, size = self.layout.method, self.layout.state, rows.shape[1] * rows.shape[2]
        count = method.stages + len(method.extra)
        stages = self.array("k")[:, : count * state].reshape(len(rows), count, state)
        stages[:, : method.stages, at : at + size] = rows.transpose(0, 2, 1).reshape(len(rows), 1, size)

    def _pass_corners(self, passed: NDArray[np.int64]) -> None:
        corners, place = self.array("corners"), passed + self.first_corners
        self.array("corner")[:] = place
        following, last = (np.take_along_axis(corners, place - k, axis=1) for k in (0, 1))
        earliest = np.where(passed > 0, just_after(last), -NEVER)
        for name, value in (("corner", following), ("latest", just_before(following)), ("earliest", earliest)):
            self.lane(name)[:] = value

    @property
    def passed(self) -> NDArray[np.int64]:
        """Corners that each lane has behind it."""
        return self.array("corner") - self.first_corners

    @cached_property
    def first_corners(self) -> NDArray[np.int64]:
        return self._one.first_corners

    def take_steps(self, budget: int, first: int, last: int) -> None:
        """Let the machine code take at most so many steps of groups first .. last-1."""
        self.array("counts")[first:last, COUNTS["budget"]] = budget
        words = self._words
        self._advance(words.ctypes.data + first * words.strides[0], words.shape[1], last - first)

    @property
    def samples(self) -> Array:
        """(groups, lanes, samples, numbers of a state)."""
        return self._out[: self.used, :, :-1]

    @property
    def last(self) -> Array:
        """States that runs have come to, (groups, lanes, numbers of a state)."""
        lanes = self.layout.lanes
        y = self.array("y")[:, : self.layout.state]
        return y.reshape(len(y), -1, lanes).transpose(0, 2, 1)
