"""A compiled program bound to a model: one state at a time, or batches on all cores."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formulations import Program
from ..kernels import cache as object_cache
from ..kernels import jit
from ..kernels.arrays import Array
from ..kernels.llvm.routine import CHUNK
from ..kernels.stopwatch import compiling
from ..plan import Plan
from ..plan.nodes import NODE_TABLE
from .arrays import ARRAYS, for_plan, plan_counts, width
from .module import Facts, Module, bound_words, result, write_module
from .nodes.walk import block_width

Numbers = NDArray[np.float64]

_BLOCKS_PER_TASK = 64  # below this a second thread costs more than it brings


class Code:
    """Loaded machine code of a module, what it needs of buffers, and the arrays that its kernels take."""

    def __init__(self, library: jit.Library, facts: Facts, arguments: list[str]):
        self.library, self.facts, self.arguments = library, facts, arguments


_loaded: dict[str, Code] = {}  # code that is in use, or was a short while ago
_MOST_LOADED = 128


def obtain(key_parts: tuple[Any, ...], write: Callable[[], Module], level: int = 3) -> Code:
    """Loaded already, from the cache on disk, or written, compiled (jit.machine explains the level) and put there."""
    name = object_cache.key(jit.identity(), *key_parts)
    code = _loaded.get(name)
    if code is None:
        if len(_loaded) >= _MOST_LOADED:
            _loaded.pop(next(iter(_loaded)), None)  # another thread may have been faster
        with compiling():
            code = _loaded[name] = _fetch_or_compile(name, write, level)
    return code


def _fetch_or_compile(name: str, write: Callable[[], Module], level: int) -> Code:
    entry = object_cache.fetch(name)
    if entry is None:
        module = write()
        entry = {"facts": vars(module.facts), "arguments": module.arguments}, jit.compile_text(module.text, level)
        object_cache.store(name, *entry)
    said, code = entry
    return Code(jit.load_object(code), Facts(**said["facts"]), said["arguments"])


def structure_key(plan: Plan) -> tuple[Any, ...]:
    nodes = () if plan.nodes is None else plan.nodes.key()
    present = (*plan.has_gravity, *(bool(x) for x in plan.baumgarte))
    shared = ("pool", "factors", "given_factors", "action_data")  # of others the signatures say what varies
    varied = *(plan.varies("gravity", k) for k in range(3)), *(plan.varies(name) for name in shared)
    return (plan.signatures, present, varied, *plan.loads.key(), nodes, plan.outside_joints)


class Kernel:
    """A program on one model, for one number of lanes."""

    def __init__(self, plan: Plan, program: Program, lanes: int):
        program = for_plan(program, plan)
        plan = plan if program.nodes or plan.nodes is None else replace(plan, nodes=None)  # one code, however they are planned
        self.plan, self.program, self.lanes = plan, program, lanes
        level = program.optimisation
        self.code = obtain(
            (program.name, lanes, level, *structure_key(plan)), lambda: write_module(plan, program, lanes), level
        )
        self.widths = {name: width(plan, program, name) for name in [*program.inputs, *program.outputs]}
        self._open(program)

    def _open(self, program: Program) -> None:
        self.output = result(program)
        self._batch = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self.code.library.address("batch")
        )
        self._free: list[Frame] = []

    def batch(self, inputs: Mapping[str, Numbers], threads: int | None = None) -> Numbers:
        """Outputs (B, width) for inputs (B, width), C-contiguous; the same whatever the number of threads."""
        states = len(next(iter(inputs.values())))
        out = np.empty((states, self.widths[self.output]))
        blocks = -(-states // self.lanes)
        tasks = max(1, min(threads or os.cpu_count() or 1, blocks // _BLOCKS_PER_TASK if threads is None else blocks))
        cuts = [blocks * k // tasks for k in range(tasks + 1)]
        if tasks == 1:
            self._run(inputs, out, states, 0, blocks)
        else:
            jobs = [workers().submit(self._run, inputs, out, states, a, b) for a, b in pairwise(cuts)]
            for job in jobs:
                job.result()
        return out

    def _run(self, inputs: Mapping[str, Numbers], out: Numbers, states: int, first: int, last: int) -> None:
        frame = self._take()
        frame.set("batch", states)
        for name, array in [*inputs.items(), (self.output, out)]:
            frame.set(f"user:{name}", array.__array_interface__["data"][0])  # array.ctypes costs five times as much
        self._batch(frame.address, first, last)
        self._free.append(frame)

    def _take(self) -> Frame:
        try:
            return self._free.pop()
        except IndexError:
            return Frame(self)

    def bound(self) -> tuple[dict[str, Any], dict[str, int]]:
        """Arrays for one thread, and sizes."""
        return bound_arrays(self.plan, self.code, self.lanes), {"n": self.plan.n, "nv": self.plan.model.nv}

    def single(self, frame: Frame | None = None) -> Callable[..., bool] | None:
        """f(inputs..., out) -> True, or False if an argument or the result is not as it should be; None if not possible.

        ``frame``: the arrays that it works on, those of the plan unless given.
        """
        if self.lanes != 1 or not _numpy_is_as_expected():
            return None
        address = self.code.library.address("single")
        definition = _definitions.setdefault(address, _MethodDef(b"evaluate", address, _FASTCALL, None))
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        function: Callable[..., bool] = new(ctypes.addressof(definition), (frame or Frame(self)).held_words(), None)
        return function


class Frame:
    """The words that bind a kernel to a model, and buffers for one thread."""

    def __init__(self, kernel: Kernel):
        lanes, code = kernel.lanes, kernel.code
        self.arrays, sizes = kernel.bound()
        numbers = sizes | {"batch": 1, "array_type": id(np.ndarray)}
        numbers |= {"float64": id(np.dtype(np.float64)), "true": id(True), "false": id(False)}
        for name, size in kernel.widths.items():
            self.arrays[f"buffer:{name}"] = aligned(max(1, size) * lanes)
            numbers[f"width:{name}"] = size
        numbers |= {name: array.ctypes.data for name, array in self.arrays.items()}
        self.place = {word: k for k, word in enumerate(bound_words(kernel.program, code.arguments))}
        self.words = np.array([numbers.get(word, 0) for word in self.place], dtype=np.int64)
        self.address = self.words.ctypes.data

    def set(self, word: str, value: int) -> None:
        self.words[self.place[word]] = value

    def held_words(self) -> NDArray[np.int64]:
        """The words as an array that keeps alive what they point to, for as long as a function has it."""
        held = self.words.view(_HeldWords)
        held.arrays = self.arrays
        return held


class _HeldWords(np.ndarray[Any, np.dtype[np.int64]]):
    arrays: dict[str, Any]


def bound_arrays(plan: Plan, code: Code, lanes: int) -> dict[str, Any]:
    """Tables and data of the plan and buffers for one thread, of the arrays that the kernels take."""
    counts, facts = plan_counts(plan), code.facts
    node_table, node_work = _with_memory(plan, facts)
    counts |= {"work_row": facts.work_row, "message_row": facts.message_row, "node_work": node_work + CHUNK}
    counts |= {"left_row": counts["nv"] if facts.dense else block_width(plan), "lower_rows": facts.dense * counts["rows"]}
    counts |= {"scratch": facts.scratch + CHUNK, "forms": counts["forms"] + CHUNK, "node_messages": facts.sent * plan.n}

    def bound(array: Array) -> NDArray[Any]:
        if array.fill is not None:
            given = node_table if array.name == "node_table" else array.fill(plan)
            return _never_empty(np.asarray(given, dtype=np.int64 if array.integers else np.float64))
        size = max(1, array.size(counts))
        if array.integers:
            return np.zeros(size, dtype=np.int64)
        if array.kind == "tangent":
            return aligned(size * facts.tangents)
        return aligned(size * lanes * (1 + facts.tangents if array.active else 1))

    return {name: bound(ARRAYS[name]) for name in code.arguments}


def _with_memory(plan: Plan, facts: Facts) -> tuple[NDArray[np.int64], int]:
    """The table of nodes with the place of each one's memory, and the size of all."""
    if plan.nodes is None:
        return np.zeros(0, dtype=np.int64), 0
    table, start = plan.nodes.table.copy(), 0
    for name, rows in (("memory", facts.node_rows), ("matrices", facts.node_matrices)):
        start = -(-start // CHUNK) * CHUNK
        ends = start + np.cumsum([0, *(rows[k] for k in table[:, 0])])
        table[:, NODE_TABLE.index(name)] = ends[:-1]
        start = int(ends[-1])
    return table, start


def _never_empty(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array) if array.size else np.zeros(1, dtype=array.dtype)


def aligned(count: int) -> Numbers:
    """Zeros on a boundary of 64 bytes."""
    raw = np.zeros(count + 8)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + count]


@cache
def workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="bellcrank")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=workers.cache_clear)  # threads do not survive a fork


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL = 0x80
_definitions: dict[int, _MethodDef] = {}  # for good: Python looks at them when it disposes of a function


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
