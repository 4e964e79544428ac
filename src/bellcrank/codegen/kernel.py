"""A compiled program bound to a model: one state at a time, or batches on all cores."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formulations import Program
from ..topology import Plan
from . import cache as object_cache
from . import jit
from .module import Module, bound_words, result, write_module

Array = NDArray[np.float64]

_BLOCKS_PER_TASK = 64  # below this a second thread costs more than it brings


class Code:
    """Loaded machine code of a module, with the widths of its workspace rows."""

    def __init__(self, library: jit.Library, work_row: int, message_row: int):
        self.library, self.work_row, self.message_row = library, work_row, message_row


_loaded: dict[str, Code] = {}  # code that is in use, or was a short while ago
_MOST_LOADED = 128


def obtain(key_parts: tuple[Any, ...], write: Callable[[], Module]) -> Code:
    """Loaded already, from the cache on disk, or written, compiled and put there."""
    name = object_cache.key(jit.identity(), *key_parts)
    if name not in _loaded:
        if len(_loaded) >= _MOST_LOADED:
            _loaded.pop(next(iter(_loaded)))
        _loaded[name] = _fetch_or_compile(name, write)
    return _loaded[name]


def _fetch_or_compile(name: str, write: Callable[[], Module]) -> Code:
    entry = object_cache.fetch(name)
    if entry is None:
        module = write()
        facts = {"work_row": module.work_row, "message_row": module.message_row}
        entry = facts, jit.compile_text(module.text)
        object_cache.store(name, *entry)
    facts, code = entry
    return Code(jit.load_object(code), facts["work_row"], facts["message_row"])


def structure_key(plan: Plan) -> tuple[Any, ...]:
    return (plan.signatures, tuple(bool(g) for g in plan.gravity))


class Kernel:
    """A program on one model, for one number of lanes."""

    def __init__(self, plan: Plan, program: Program, lanes: int):
        self.plan, self.program, self.lanes = plan, program, lanes
        self.code = obtain((program.name, lanes, *structure_key(plan)), lambda: write_module(plan, program, lanes))
        self.widths = {name: width(plan, program, name) for name in [*program.inputs, *program.outputs]}
        self.output = result(program)
        self._batch = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self.code.library.address("batch")
        )
        self._free: list[Frame] = []

    def batch(self, inputs: Mapping[str, Array], threads: int | None = None) -> Array:
        """Outputs (B, width) for inputs (B, width), C-contiguous; the same whatever the number of threads."""
        states = len(next(iter(inputs.values())))
        out = np.empty((states, self.widths[self.output]))
        blocks = -(-states // self.lanes)
        tasks = max(1, min(threads or os.cpu_count() or 1, blocks // _BLOCKS_PER_TASK if threads is None else blocks))
        cuts = [blocks * k // tasks for k in range(tasks + 1)]
        if tasks == 1:
            self._run(inputs, out, states, 0, blocks)
        else:
            jobs = [_workers().submit(self._run, inputs, out, states, a, b) for a, b in pairwise(cuts)]
            for job in jobs:
                job.result()
        return out

    def _run(self, inputs: Mapping[str, Array], out: Array, states: int, first: int, last: int) -> None:
        frame = self._take()
        frame.set("states", states)
        for name, array in [*inputs.items(), (self.output, out)]:
            frame.set(f"user:{name}", array.__array_interface__["data"][0])  # array.ctypes costs five times as much
        self._batch(frame.address, first, last)
        self._free.append(frame)

    def _take(self) -> Frame:
        try:
            return self._free.pop()
        except IndexError:
            return Frame(self)

    def single(self) -> Callable[..., bool] | None:
        """f(inputs..., out) -> True, or False if an argument or the result is not as it should be; None if not possible."""
        if self.lanes != 1 or not _numpy_is_as_expected():
            return None
        frame = Frame(self)
        definition = _MethodDef(b"evaluate", self.code.library.address("single"), _FASTCALL, None)
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        function: Callable[..., bool] = new(ctypes.addressof(definition), frame.words, None)
        self._alive = (frame, definition)
        return function


def width(plan: Plan, program: Program, name: str) -> int:
    model = plan.model
    if name in program.inputs:
        return model.nq if name == "q" else model.nv
    kind = program.outputs[name]
    if kind == "v*v":
        return model.nv * model.nv
    per, _, size = kind.partition("*")
    return {"q": model.nq, "v": model.nv, "body": model.n}[per] * int(size or 1)


class Frame:
    """The words that bind a kernel to a model, and buffers for one thread."""

    def __init__(self, kernel: Kernel):
        plan, lanes, code = kernel.plan, kernel.lanes, kernel.code
        self.arrays: dict[str, Any] = {
            "table": np.ascontiguousarray(plan.table),
            "dofs": parents_of_dofs(plan),
            "data": np.ascontiguousarray(plan.data),
            "gravity": np.ascontiguousarray(plan.gravity),
            "work": aligned(plan.n * code.work_row * lanes),
            "messages": aligned(max(1, plan.messages) * code.message_row * lanes),
            "climbing": aligned(16 * lanes),
        }
        numbers = {"n": plan.n, "nv": plan.model.nv, "states": 1, "array_type": id(np.ndarray)}
        numbers |= {"float64": id(np.dtype(np.float64)), "true": id(True), "false": id(False)}
        for name, size in kernel.widths.items():
            self.arrays[f"buffer:{name}"] = aligned(max(1, size) * lanes)
            numbers[f"width:{name}"] = size
        numbers |= {name: array.ctypes.data for name, array in self.arrays.items()}
        self.place = {word: k for k, word in enumerate(bound_words(kernel.program))}
        self.words = np.array([numbers.get(word, 0) for word in self.place], dtype=np.int64)
        self.address = self.words.ctypes.data

    def set(self, word: str, value: int) -> None:
        self.words[self.place[word]] = value


def parents_of_dofs(plan: Plan) -> NDArray[np.int64]:
    """For each degree of freedom, the parent of its body, in the order of the walk."""
    table = plan.table
    parents = np.zeros(max(1, plan.model.nv), dtype=np.int64)
    for row in table:
        parents[row[3] : row[3] + row[7]] = row[1]
    return parents


def aligned(count: int) -> Array:
    """Zeros on a boundary of 64 bytes."""
    raw = np.zeros(count + 8)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + count]


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="bellcrank")


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL = 0x80


@cache
def _numpy_is_as_expected() -> bool:
    """Whether array objects have the layout that module.py reads, and one thread at a time runs Python."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    probe = np.zeros(3)
    start = id(probe)

    def word(offset: int) -> int:
        return ctypes.c_int64.from_address(start + offset).value

    return (
        word(8) == id(np.ndarray)
        and word(16) == probe.ctypes.data
        and ctypes.c_int32.from_address(start + 24).value == 1
        and ctypes.c_int64.from_address(word(32)).value == 3
        and word(56) == id(np.dtype(np.float64))
        and ctypes.c_int32.from_address(start + 64).value & 0x501 == 0x501
    )
