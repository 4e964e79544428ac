"""Traces a function of numbers into machine code and runs it on arrays: one state at a time, or in lanes."""

from __future__ import annotations

import ctypes

import numpy as np

from bellcrank.kernels import jit
from bellcrank.kernels.llvm.emitter import Emitter
from bellcrank.kernels.llvm.flow import each
from bellcrank.kernels.llvm.pool import Table
from bellcrank.machine.calls.memory import aligned
from bellcrank.machine.module import PROFILE


class Traced:
    """``f(x1, x2, ...) -> (y1, y2, ...)`` in machine code, for ``lanes`` states at once.

    With a ``table``, f gets it as its first argument, as something to gather from.
    """

    def __init__(self, f, inputs, lanes, table=None):
        self.inputs, self.lanes, self.table = inputs, lanes, table
        self.emitter = e = Emitter(lanes)

        def block(b):
            xs = [e.symbol(e.load("%x", e.integer("add", e.integer("mul", b, inputs), k))) for k in range(inputs)]
            ys = f(*xs) if table is None else f(Table(e, "%table", len(table)), *xs)
            self.outputs = len(ys)
            for k, y in enumerate(ys):
                e.store(y, "%y", e.integer("add", e.integer("mul", b, self.outputs), k))

        each(e, 0, "%blocks", block)
        e.do("ret void")
        head = "define void @f(i64 %blocks, ptr noalias %x, ptr noalias %y, ptr noalias %table) {\nentry:\n"
        code = head + e.text() + "\n}\n"
        self.text = "\n".join([*e.declarations.values(), code, PROFILE])
        self.library = jit.load_object(jit.compile_text(self.text))
        kinds = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        self.function = ctypes.CFUNCTYPE(None, *kinds)(self.library.address("f"))

    def __call__(self, *columns):
        """Columns of inputs of one length N to an array (outputs, N); the last block repeats the last state."""
        x = np.array([np.asarray(c, dtype=float) for c in columns]).reshape(self.inputs, -1)
        states = x.shape[1]
        blocks = -(-states // self.lanes)
        padded = np.pad(x, ((0, 0), (0, blocks * self.lanes - states)), mode="edge")
        given = aligned(padded.size)
        given[:] = padded.reshape(self.inputs, blocks, self.lanes).transpose(1, 0, 2).ravel()
        out = aligned(blocks * self.outputs * self.lanes)
        table = np.zeros(1) if self.table is None else np.ascontiguousarray(self.table, dtype=float)
        self.function(blocks, given.ctypes.data, out.ctypes.data, table.ctypes.data)
        return out.reshape(blocks, self.outputs, self.lanes).transpose(1, 0, 2).reshape(self.outputs, -1)[:, :states].copy()

    def recorded(self, operation):
        """How many lines of the code do this operation: "fadd", "fmul", "select", ..."""
        return self.text.count(f"= {operation} ")
