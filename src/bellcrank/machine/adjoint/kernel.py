"""The adjoint of a program at states: from the adjoints of its outputs to those of its inputs, and of the data of a design.

    sweep(bound, first, last) -> how many states were done     states first .. last-1

It stops early where the tape was too short. Adjoints of data are summed over all states.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...kernels.adjoint.transpose import MARGIN, Transposed, transposed
from ...kernels.llvm.emitter import Emitter
from ...kernels.llvm.flow import each
from ...plan import Plan
from ..arrays import ARRAYS, OF_NODES, VARIABLE, program_arrays, width
from ..calls.bound import Text
from ..calls.memory import aligned, bound_arrays, varied_numbers
from ..kernel import Code, obtain, structure
from ..module import KernelText, Module, assemble, recorded_kernel, structure_name

Numbers = NDArray[np.float64]

FIRST_TAPE = 1 << 14  # doubles


@dataclass(frozen=True)
class AdjointText:
    """Both ways through a kernel, and what they take."""

    kernel: KernelText
    adjoints: list[str]
    largest_frame: int


def active_data(plan: Plan) -> list[str]:
    """Data that the design varies, with what nodes read of it."""
    varied = [name for name in VARIABLE if plan.varies(name)]
    return varied + [name for name, of in OF_NODES.items() if of in varied]


def write_adjoint(plan: Plan, program: Program, along: Sequence[str], name: str = "kernel") -> AdjointText:
    """``along``: inputs that are differentiated."""
    e, arguments, facts = recorded_kernel(plan, program, 1, transposable=True)
    taken = [*arguments, *program.inputs, *program.outputs]
    declared = ARRAYS | program_arrays(program)
    constant = [x for x in taken if declared[x].constant]
    found: Transposed = transposed(e, name, taken, [*active_data(plan), *along], constant)
    e.release()
    return AdjointText(KernelText((found.text, found.declarations), arguments, facts), found.adjoints, found.largest_frame)


def first_tape(code: Code) -> Numbers:
    """Room for a few frames at least; it is doubled as often as it turns out to be too short."""
    return np.empty(max(FIRST_TAPE, 2 * code.facts.largest_frame) + 2 * MARGIN)


def adjoint_arrays(bound: Mapping[str, Numbers], names: Sequence[str]) -> dict[str, Numbers]:
    """Zeros for the adjoints of arrays of a plan."""
    return {name: aligned(max(1, bound[name].size)) for name in names if name in bound}


class AdjointKernel:
    """A program on one model, transposed; ``along``: inputs of which adjoints are wanted."""

    def __init__(self, plan: Plan, program: Program, along: Sequence[str]):
        self.plan, self.program = plan, program
        self.structure = plan = structure(plan, program)
        self.along = tuple(name for name in program.inputs if name in along)
        key = ("adjoint", program.name, self.along, structure_name(plan))
        self.adjoints: list[str] = []
        self.code = obtain(key, self._write, program.optimisation)
        self.arrays = [*self.code.arguments, *program.inputs, *program.outputs]
        self.adjoints = self.code.facts.adjoints["kernel"]
        self.widths = {name: width(plan, program, name) for name in [*program.inputs, *program.outputs]}
        self._sweep = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self.code.library.address("sweep")
        )
        self._free: list[dict[str, NDArray[Any]]] = []  # a tape, arrays of the plan and buffers, of calls that are over

    def _write(self) -> Module:
        written = write_adjoint(self.plan, self.program, self.along)
        taken = [*written.kernel.arguments, *self.program.inputs, *self.program.outputs]
        module = assemble([written.kernel], [_write_sweep(taken, written.adjoints)])
        module.facts.adjoints, module.facts.largest_frame = {"kernel": written.adjoints}, written.largest_frame
        return module

    def run(
        self, inputs: Mapping[str, Numbers], seeds: Mapping[str, Numbers], data: Mapping[str, Numbers] | None = None
    ) -> tuple[dict[str, Numbers], dict[str, Numbers], dict[str, Numbers]]:
        """Outputs (states, width), adjoints of inputs (states, width), and those of data (size,), by their names.

        ``seeds``: adjoints of outputs, zero unless given; ``data``: arrays of a design in the place of the plan's.
        """
        states, program = len(inputs["q"]), self.program
        out = {name: np.empty((states, self.widths[name])) for name in program.outputs}
        bars = {name: np.zeros((states, self.widths[name])) for name in (*self.along, *program.outputs)}
        for name, x in seeds.items():
            bars[name][:] = x
        own = {name: x.ravel() for name, x in (data or {}).items() if name in self.code.arguments}
        bound = self._taken()
        arrays = bound | own | dict(inputs) | out
        of_arrays = adjoint_arrays(bound, self.adjoints)
        done = 0
        while done < states:
            words = self._words(bound["tape"], arrays, bars | of_arrays, {*inputs, *out})
            reached = self._sweep(words.ctypes.data, done, states)
            if reached < states:
                bound["tape"] = np.empty(2 * bound["tape"].size)
            done = reached
        self._free.append(bound)
        data_bars = {name: of_arrays[name] for name in active_data(self.plan) if name in of_arrays}
        return out, {name: bars[name] for name in self.along}, data_bars

    def _taken(self) -> dict[str, NDArray[Any]]:
        try:
            bound = self._free.pop()
        except IndexError:
            bound = bound_arrays(self.structure, self.code, 1) | {"tape": first_tape(self.code)}
        return bound | varied_numbers(self.plan, self.code)

    def _words(
        self, tape: Numbers, arrays: Mapping[str, Numbers], bars: Mapping[str, Numbers], rows: set[str]
    ) -> NDArray[np.int64]:
        start = tape.ctypes.data
        words = [self.plan.n, self.plan.model.nv, start, start + 8 * (tape.size - MARGIN)]
        for names, of in ((self.arrays, arrays), (self.adjoints, bars)):
            for name in names:
                words += [of[name].ctypes.data, of[name].shape[1] if name in rows else 0]
        return np.array(words, dtype=np.int64)


def _write_sweep(arrays: Sequence[str], adjoints: Sequence[str]) -> Text:
    e = Emitter(1)
    n, nv = (e.load_int("%bound", k) for k in range(2))
    tape, limit = (e.emit("load ptr, ptr $, align 8", e.pointer("%bound", k)) for k in (2, 3))
    places = range(4, 4 + 2 * (len(arrays) + len(adjoints)), 2)
    starts = [e.emit("load ptr, ptr $, align 8", e.pointer("%bound", k)) for k in places]
    further = [e.load_int("%bound", k + 1) for k in places]

    def state(s: str) -> None:
        own = [e.pointer(start, e.integer("mul", s, step)) for start, step in zip(starts, further, strict=True)]
        pointers = [f"ptr {x}" for x in own]
        taken = ", ".join(pointers[: len(arrays)])
        end = e.emit(f"call ptr @kernel_forward(i64 {n}, i64 {nv}, {taken}, ptr {tape}, ptr {tape}, ptr {limit})")
        full = e.emit(f"icmp eq ptr {end}, null")
        fine, short = e.new_label("fine"), e.new_label("short")
        e.do(f"br i1 {full}, label %{short}, label %{fine}")
        e.do(f"{short}:")
        e.do(f"ret i64 {s}")
        e.do(f"{fine}:")
        e.do(f"call void @kernel_reverse(i64 {n}, i64 {nv}, {', '.join(pointers)}, ptr {end})")

    each(e, "%first", "%last", state)
    e.do("ret i64 %last")
    return f"define i64 @sweep(ptr %bound, i64 %first, i64 %last) {{\nentry:\n{e.text()}\n}}\n", e.declarations
