"""A program state by state, each with data of its own if asked for, and on dual numbers: the value once, tangents in vectors.

    sweep(bound, first, last)     states first .. last-1, for each all chunks of its tangents

``bound`` has, of every array that the kernel takes, its address, and how many doubles further on that of the next state and of
the next chunk of tangents is: zero for what all share. Nothing is copied on the way: one state at a time stands in memory as
the caller has it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...kernels.llvm.emitter import Emitter
from ...kernels.llvm.flow import each
from ...kernels.threads import in_pieces, thread_count
from ...plan import Plan
from ..arrays import ARRAYS, is_tangent, width
from ..calls.bound import Text
from ..calls.memory import bound_arrays, varied_numbers
from ..kernel import obtain, structure
from ..module import Module, assemble, structure_name, write_kernel

Numbers = NDArray[np.float64]

_STATES_PER_TASK = 64
_PIECE_BODIES = 1 << 14  # times states and chunks between two looks for an interrupt


class TangentKernel:
    """A program on one model, for states one after the other."""

    def __init__(self, plan: Plan, program: Program):
        self.plan, self.program = plan, program
        self.structure = plan = structure(plan, program)
        key = ("sweep", program.name, structure_name(plan))
        self.code = obtain(key, lambda: _write(plan, program), program.optimisation)
        self.arrays = [*self.code.arguments, *program.inputs, *program.outputs]
        self.widths = {name: width(plan, program, name) for name in [*program.inputs, *program.outputs]}
        self.chunked = frozenset(name for name in self.arrays if _has_tangents(program, name))
        self.place = {name: 3 + 3 * k for k, name in enumerate(self.arrays)}
        self._free: list[Buffers] = []
        self._sweep = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self.code.library.address("sweep")
        )

    def run(
        self, inputs: Mapping[str, Numbers], data: Mapping[str, Numbers] | None = None, chunks: int = 1
    ) -> dict[str, Numbers]:
        """Outputs (states, chunks, width, 1 + tangents).

        ``inputs``: (states, width) each, and those of tangents (states, chunks, width, tangents). ``data``: arrays of a design
        in the place of the plan's, (states or 1, size), and their tangents (states or 1, chunks, size, tangents).
        """
        states, unit = len(inputs["q"]), 1 + self.program.tangents
        out = {name: np.empty((states, chunks, self.widths[name], unit)) for name in self.program.outputs}
        given = {name: x for name, x in (data or {}).items() if name in self.code.arguments} | dict(inputs)
        parts = states * chunks // _STATES_PER_TASK
        tasks = 1 if parts < 2 else max(1, min(thread_count(), parts))
        piece = max(1, _PIECE_BODIES // (max(1, self.plan.n) * chunks))

        def sweep(pieces: Iterable[tuple[int, int]]) -> None:
            words = Words(self, given, out, chunks)
            for first, last in pieces:
                self.sweep(words, first, last)
            self._free.append(words.buffers)

        in_pieces(sweep, states, tasks, piece)
        return out

    def sweep(self, words: Words, first: int, last: int) -> None:
        """Evaluates some states, in this thread."""
        self._sweep(words.words.ctypes.data, first, last)

    def take(self) -> Buffers:
        """Arrays of the plan and buffers for one thread: those of a call that is over, or new ones."""
        try:
            buffers = self._free.pop()
        except IndexError:
            return Buffers(self)
        buffers.bind(self)
        return buffers


class Buffers:
    """Arrays of a plan and buffers for one thread, and the words that say where they are."""

    def __init__(self, kernel: TangentKernel):
        plan = kernel.structure
        self.arrays: dict[str, NDArray[Any]] = bound_arrays(plan, kernel.code, 1)
        self.words = np.zeros(3 + 3 * len(kernel.arrays), dtype=np.int64)
        self.words[:2] = plan.n, plan.model.nv
        self._set(kernel, self.arrays | varied_numbers(kernel.plan, kernel.code))

    def bind(self, kernel: TangentKernel) -> None:
        """Binds the frame to a kernel of the same code, on other numbers."""
        if kernel is not self.kernel:
            self._set(kernel, varied_numbers(kernel.plan, kernel.code))

    def _set(self, kernel: TangentKernel, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.kernel = kernel
        self.arrays |= arrays
        for name, array in arrays.items():
            self.words[kernel.place[name]] = array.__array_interface__["data"][0]


class Words:
    """The binding of a sweep to arrays, with buffers of its own."""

    def __init__(self, kernel: TangentKernel, given: Mapping[str, Numbers], out: Mapping[str, Numbers], chunks: int):
        self.buffers, self.arrays = kernel.take(), {**given, **out}
        self.words = self.buffers.words.copy()
        self.words[2] = chunks
        for name, array in self.arrays.items():
            further = [0 if len(array) == 1 else array[0].size, 0]
            if name in out or name in kernel.chunked:
                further[1] = array[0, 0].size
            at = kernel.place[name]
            self.words[at : at + 3] = array.__array_interface__["data"][0], *further


def _has_tangents(program: Program, name: str) -> bool:
    return is_tangent(program, name) or (name in ARRAYS and ARRAYS[name].kind == "tangent")


def _write(plan: Plan, program: Program) -> Module:
    kernel = write_kernel(plan, program, 1)
    return assemble([kernel], [_write_sweep([*kernel.arguments, *program.inputs, *program.outputs])])


def _write_sweep(arrays: Sequence[str]) -> Text:
    e = Emitter(1)
    n, nv, chunks = (e.load_int("%bound", k) for k in range(3))
    places = range(3, 3 + 3 * len(arrays), 3)
    starts = [e.emit(f"load ptr, ptr {e.pointer('%bound', k)}, align 8") for k in places]
    per_state, per_chunk = ([e.load_int("%bound", k + j) for k in places] for j in (1, 2))

    def state(s: str) -> None:
        own = [e.pointer(start, e.integer("mul", s, step)) for start, step in zip(starts, per_state, strict=True)]

        def chunk(c: str) -> None:
            taken = [e.pointer(start, e.integer("mul", c, step)) for start, step in zip(own, per_chunk, strict=True)]
            e.do(f"call void @kernel(i64 {n}, i64 {nv}, {', '.join(f'ptr {x}' for x in taken)})")

        each(e, 0, chunks, chunk)

    each(e, "%first", "%last", state)
    e.do("ret void")
    return f"define void @sweep(ptr %bound, i64 %first, i64 %last) {{\nentry:\n{e.text()}\n}}\n", e.declarations
