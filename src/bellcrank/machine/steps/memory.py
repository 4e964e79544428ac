"""The memory of a run in machine code: what is declared for it (declared.py), made and bound."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import own_data, width
from ..calls.memory import aligned, bound_arrays, carved
from ..kernel import Code
from .cuts.corners import NEVER, just_after, just_before
from .declared import COUNTS, FIRST, NUMBERS, REALS, RUN_ARRAYS, own_buffers, words
from .layout import Layout

Array = NDArray[np.float64]


class Memory:
    """The memory of one run, or of one for each lane, bound to machine code."""

    def __init__(self, layout: Layout, code: Code, times: Array, corners: Array, data: Mapping[str, Array] | None = None):
        """``data``: tangents of data, (1, chunks, size, tangents of a chunk), by the names of machine.arrays."""
        self.layout, self.code, sizes = layout, code, Sizes.of(layout)
        of_samples = {name: max(layout.vector, RUN_ARRAYS[name].size(layout)) for name in OF_SAMPLES}
        own, addresses = carved(sizes.doubles | of_samples)
        self.arrays = self._arrays_of_kernels() | own
        self.arrays |= {name: np.zeros(size, dtype=np.int64) for name, size in sizes.integers.items()}
        self.arrays |= {name: x for name, x in (data or {}).items() if name in code.arguments}
        for name, fill in FILLED.items():
            first = fill(layout)
            self.arrays[name][: len(first)] = first
        if layout.number is not np.float64:
            self.arrays = {name: x if x.dtype == np.int64 else x.astype(layout.number) for name, x in self.arrays.items()}
        self.times, self.counts = self.arrays["times"][: len(times)], self.arrays["counts"]
        self.times[:], self.arrays["times"][len(times) :] = times, np.inf
        self.set_count("samples", len(times))
        self.put("corners", np.tile(np.append(corners, NEVER), layout.lanes))
        self.resume(0, 0)
        for name, value in FIRST.items():
            self.lane(name)[:] = value
        for name, array in self.arrays.items():
            if array is not own.get(name):
                addresses[name] = array.__array_interface__["data"][0]  # as array.ctypes.data
        known, self.places = sizes.numbers | addresses, sizes.places
        self.words = np.array([known.get(word, 0) for word in self.places], dtype=np.int64)
        self._advance: Any = self._bound()

    def _arrays_of_kernels(self) -> dict[str, NDArray[Any]]:
        """Arrays that kernels take besides their inputs and outputs."""
        layout, plan, code = self.layout, self.layout.plan, self.code
        arrays = bound_arrays(plan, code, layout.lanes) | {
            "other_work": aligned(plan.n * code.facts.work_row * layout.lanes),
            "other_messages": aligned(max(1, plan.messages) * code.facts.message_row * layout.lanes),
        }
        if "tangent" in layout.called:
            bound = bound_arrays(plan, code, 1)
            arrays |= {f"tangent:{name}": bound[name] for name in (*own_buffers(), *own_data(plan)) if name in bound}
        return arrays

    def _bound(self) -> Any:
        """advance(), of the address of the words."""
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.library.address("advance"))

    def resume(self, sampled: int | NDArray[np.int64], passed: int | NDArray[np.int64]) -> None:
        """Go on behind so many samples and corners, the same in all lanes or for each."""
        self.arrays["sampled"][:] = sampled
        self.arrays["corner"][:] = place = passed + self.first_corners
        following, last = self.arrays["corners"][place], self.arrays["corners"][place - 1]
        values = {"corner": following, "latest": just_before(following)}
        for name, value in (values | {"earliest": np.where(place > self.first_corners, just_after(last), -NEVER)}).items():
            self.lane(name)[:] = value

    @property
    def first_corners(self) -> NDArray[np.int64]:
        """The places at which the corners of each lane begin."""
        return np.arange(self.layout.lanes) * (self.layout.corners + 1)

    def set_number(self, name: str, value: int) -> None:
        self.words[self.places[name]] = value

    def put(self, array: str, rows: Array, at: int = 0) -> None:
        """Numbers (count,), or those of each lane (lanes, count), into an array, from a place on."""
        self.arrays[array][at : at + rows.size] = rows.T.ravel()

    def start(self, state: tuple[Array, ...], slopes: tuple[Array, ...], given: dict[str, Array]) -> None:
        """q and v (or p), their slopes and perhaps powers, and tau and u; with lanes a row of each.

        All stages are set: a method reuses its last one, or starts its iterations from the last stages.
        """
        starts = (0, self.layout.v_start, self.layout.w_start)
        for rows, at in zip(state, starts, strict=False):
            self.put("y", rows, at)
        for rows, at in zip(slopes, starts, strict=False):
            self.stages[: self.layout.method.stages, at : at + rows.size] = rows.T.ravel()
        for name in ("tau", "u"):
            self.put(name, given[name])
        self.put("y", given["u"][:, self.layout.anchors.inputs], self.layout.anchor_start)

    @property
    def stages(self) -> Array:
        """Slopes at the stages of the last step, a row of each; those that only dense output needs come last."""
        count, size = self.layout.method.stages + len(self.layout.method.extra), self.layout.state
        return self.arrays["k"][: count * size].reshape(count, size)

    def lane(self, name: str) -> Array:
        """A number that changes, of each lane."""
        lanes = self.layout.lanes
        found: Array = self.arrays["reals"][REALS[name] * lanes :][:lanes]
        return found

    def count(self, name: str) -> int:
        return int(self.counts[COUNTS[name]])

    def set_count(self, name: str, value: int) -> None:
        self.counts[COUNTS[name]] = value

    def take_steps(self, budget: int) -> None:
        """Let the machine code take at most so many steps."""
        self.set_count("budget", budget)
        self._advance(self.words.ctypes.data)


class Sizes(NamedTuple):
    """Parts of a memory that depend neither on the numbers of a plan nor on the samples: made once."""

    doubles: dict[str, int]
    integers: dict[str, int]
    numbers: dict[str, int]
    places: dict[str, int]  # where the words of ``bound`` are

    @classmethod
    def of(cls, layout: Layout) -> Sizes:
        plan, surfaces = layout.plan, (len(layout.surfaces.limits), layout.gates.shape, len(layout.anchors.places))
        counts = layout.lanes, layout.parameters, layout.log, layout.neighbours, *surfaces
        name = ("memory", layout.method.name, *(program.name for program in layout.called.values()), *counts)
        if name not in plan.made:
            plan.made[name] = cls._of(layout)
        found: Sizes = plan.made[name]
        return found

    @classmethod
    def _of(cls, layout: Layout) -> Sizes:
        sizes = {name: array.size(layout) for name, array in RUN_ARRAYS.items() if name not in OF_SAMPLES}
        integers = {name: max(1, size) for name, size in sizes.items() if RUN_ARRAYS[name].integers}
        doubles = {name: max(layout.vector, size) for name, size in sizes.items() if name not in integers}
        for program in layout.called.values():
            for name in program.outputs:
                size = layout.vector * max(1, width(layout.plan, program, name)) * (1 + program.tangents)
                doubles[f"buffer:{name}"] = max(size, doubles.get(f"buffer:{name}", 0))
        numbers = {name: size(layout) for name, size in NUMBERS.items()}
        return cls(doubles, integers, numbers, {word: k for k, word in enumerate(words(layout.called))})


OF_SAMPLES = ("times", "grid", "corners", "out")  # their sizes depend on how many there are
FILLED = {name: array.fill for name, array in RUN_ARRAYS.items() if array.fill is not None}
