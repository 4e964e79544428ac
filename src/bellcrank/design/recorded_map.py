"""Machine code of a tape: some of its numbers as functions of the parameters, and their derivatives along directions."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formulations import Program
from ..kernels.adjoint.transpose import MARGIN, transposed
from ..kernels.llvm.emitter import Emitter
from ..kernels.processor import lane_count
from ..machine.calls.batch import write_batch
from ..machine.calls.direct import write_single
from ..machine.kernel import Kernel, obtain
from ..machine.module import BufferSizes, KernelText, Module, assemble
from ..numbers import Dual
from ..numbers.variable import Replay, Tape

Numbers = NDArray[np.float64]

LONG = 2_000  # operations: compiled with less effort
LARGEST = 40_000  # operations: a longer tape is replayed in Python, since compiling it would take too long


def _nothing(walk: Any) -> None:
    """Programs of tapes walk nowhere."""


VALUES = Program("recorded map", _nothing, ("p",), {"values": ""})
TANGENTS = Program("recorded tangents", _nothing, ("p", "dp"), {"values": ""})


class RecordedMap:
    """outputs(p) of a tape; outputs that do not depend on p may be plain numbers."""

    def __init__(self, tape: Tape, outputs: Sequence[Any]):
        self.tape, self.outputs = tape, list(outputs)
        self.places = tape.needed(self.outputs)
        self.compiled = len(self.places) <= LARGEST

    @cached_property
    def _single(self) -> Any:
        """For one design at a time; None where numpy is not as expected."""
        return MapKernel(self, VALUES, 1).single()

    @cached_property
    def _many(self) -> MapKernel:
        return MapKernel(self, VALUES, lane_count())

    @cached_property
    def _tangents(self) -> MapKernel:
        return MapKernel(self, TANGENTS, lane_count())

    def values(self, p: Numbers) -> tuple[Numbers, Any]:
        """(outputs,) of p (np,), or (B, outputs) of (B, np); and whether all are finite, of each row."""
        if p.ndim == 1 and self.compiled and self._single is not None:
            out = np.empty(len(self.outputs))
            return out, self._single(p, out)
        rows = np.ascontiguousarray(np.atleast_2d(p))
        found = self._many.batch({"p": rows}, threads=1) if self.compiled else self._in_python(rows)
        finite = np.asarray(np.isfinite(found).all(axis=1))
        return (found, finite) if p.ndim > 1 else (found[0], bool(finite[0]))

    def _in_python(self, p: Numbers) -> Numbers:
        replay = Replay(self.tape, self.outputs)
        with np.errstate(all="ignore"):
            return np.array([replay(list(row)) for row in p], dtype=float).reshape(len(p), len(self.outputs))

    def along(self, p: Numbers, dp: Numbers) -> Numbers:
        """(B, outputs): derivatives at p (B, np) along directions (B, np)."""
        if not self.compiled:
            replay = Replay(self.tape, self.outputs)
            rows = [replay([Dual(x, (dx,)) for x, dx in zip(a, b, strict=True)]) for a, b in zip(p, dp, strict=True)]
            return np.array([[_tangent(x) for x in row] for row in rows], dtype=float).reshape(len(p), -1)
        return self._tangents.batch({"p": np.ascontiguousarray(p), "dp": np.ascontiguousarray(dp)}, threads=1)

    @cached_property
    def _backward(self) -> BackwardMap:
        return BackwardMap(self)

    def gradient(self, p: Numbers, bars: Numbers) -> Numbers:
        """(np,): the sum of bar * d(output)/dp over all outputs, at p (np,)."""
        if self.compiled:
            return self._backward(p, bars)
        rows = np.repeat(p[None], len(p), axis=0)
        return self.along(rows, np.eye(len(p))) @ bars


def _tangent(x: Any) -> Any:
    return x.tangents[0] if isinstance(x, Dual) else 0.0


class BackwardMap:
    """A tape compiled, and run backward: the adjoints of the parameters from those of the outputs."""

    def __init__(self, recorded: RecordedMap):
        tape = recorded.tape
        steps = [(k, tape.steps[k]) for k in recorded.places]
        outputs = [getattr(x, "ref", x) for x in recorded.outputs]
        level = 1 if len(steps) <= LONG else 0
        key = ("recorded map, backward", len(tape.parameters), steps, outputs)
        self.code = obtain(key, lambda: _backward_module(recorded), level)
        self.tape = np.empty(self.code.facts.largest_frame + 2 * MARGIN)
        self.outputs = len(outputs)
        self._gradient = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 6)(self.code.library.address("gradient"))

    def __call__(self, p: Numbers, bars: Numbers) -> Numbers:
        found, values, seeds = np.zeros(len(p)), np.empty(self.outputs), np.array(bars, dtype=np.float64)
        p, tape = np.ascontiguousarray(p), self.tape
        limit = tape.ctypes.data + 8 * (tape.size - MARGIN)
        arrays = (p, values, found, seeds, tape)
        self._gradient(*[x.ctypes.data for x in arrays], limit)
        return found


def _backward_module(recorded: RecordedMap) -> Module:
    e = _recorded(recorded, VALUES, 1)
    found = transposed(e, "kernel", ["p", "values"], ["p"], ["p"])
    text = """define void @gradient(ptr %p, ptr %values, ptr %bar.p, ptr %bar.values, ptr %tape, ptr %limit) {
%end = call ptr @kernel_forward(i64 0, i64 0, ptr %p, ptr %values, ptr %tape, ptr %tape, ptr %limit)
call void @kernel_reverse(i64 0, i64 0, ptr %p, ptr %values, ptr %bar.p, ptr %bar.values, ptr %end)
ret void
}
"""
    kernel = KernelText((found.text, found.declarations), [], BufferSizes(largest_frame=found.largest_frame))
    return assemble([kernel], [(text, {})])


_STEPS_OF_A_BODY = 100


class MapKernel(Kernel):
    """A tape compiled, for one number of lanes."""

    def __init__(self, recorded: RecordedMap, program: Program, lanes: int):
        tape = recorded.tape
        steps = [(k, tape.steps[k]) for k in recorded.places]
        outputs = [getattr(x, "ref", x) for x in recorded.outputs]
        level = 1 if len(steps) <= LONG else 0
        self.program, self.lanes = program, lanes
        key = (program.name, lanes, len(tape.parameters), steps, outputs)
        self.code = obtain(key, lambda: _module(recorded, program, lanes), level)
        self.widths = {"p": len(tape.parameters), "dp": len(tape.parameters), "values": len(recorded.outputs)}
        self.widths = {name: self.widths[name] for name in (*program.inputs, "values")}
        self._open(program, 1 + len(steps) // _STEPS_OF_A_BODY)

    def bound(self) -> tuple[dict[str, Any], dict[str, int]]:
        return {}, {"n": 0, "nv": 0}

    def numbers(self) -> dict[str, Numbers]:
        return {}


def _recorded(recorded: RecordedMap, program: Program, lanes: int) -> Emitter:
    e = Emitter(lanes)
    count = len(recorded.tape.parameters)
    p: list[Any] = [e.symbol(e.load("%p", k)) for k in range(count)]
    if program is TANGENTS:
        p = [Dual(x, (e.symbol(e.load("%dp", k)),)) for k, x in enumerate(p)]
    found = recorded.tape.replay(recorded.outputs, p)
    for k, x in enumerate(found):
        e.store(_tangent(x) if program is TANGENTS else x, "%values", k)
    e.do("ret void")
    return e


def _module(recorded: RecordedMap, program: Program, lanes: int) -> Module:
    e = _recorded(recorded, program, lanes)
    pointers = ", ".join(f"ptr noalias %{name}" for name in (*program.inputs, *program.outputs))
    text = f"define internal void @kernel(i64 %n, i64 %nv, {pointers}) {{\nentry:\n{e.text()}\n}}\n"
    others = [write_batch(program, [], lanes), *([write_single(program, [])] if lanes == 1 else [])]
    return assemble([KernelText((text, e.declarations), [], BufferSizes())], others)
