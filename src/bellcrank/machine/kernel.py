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
from ..kernels.routine import CHUNK
from ..kernels.stopwatch import compiling
from ..plan import Plan
from ..plan.nodes import NODE_TABLE
from ..plan.row_selection import least_kept, order_of_rows
from .closures import FIELDS, SCRATCH
from .loads import IMPULSE, SIZES, STATE, WRENCH
from .module import Module, bound_words, result, write_module
from .nodes.channels import CHANNELS
from .nodes.walk import block_width

Array = NDArray[np.float64]

_BLOCKS_PER_TASK = 64  # below this a second thread costs more than it brings


class Code:
    """Loaded machine code of a module, with the widths of its workspace rows."""

    def __init__(self, library: jit.Library, facts: dict[str, Any]):
        self.library = library
        self.work_row, self.message_row, self.scratch = (facts[name] for name in ("work_row", "message_row", "scratch"))
        self.node_rows: dict[str, list[int]] = {"memory": facts["node_rows"], "matrices": facts["node_matrices"]}
        self.dense_rows = bool(facts["dense_rows"])  # all equations of closures at once


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
        facts = {
            name: getattr(module, name)
            for name in ("work_row", "message_row", "dense_rows", "node_rows", "node_matrices", "scratch")
        }
        entry = facts, jit.compile_text(module.text, level)
        object_cache.store(name, *entry)
    facts, code = entry
    return Code(jit.load_object(code), facts)


def structure_key(plan: Plan) -> tuple[Any, ...]:
    nodes = () if plan.nodes is None else plan.nodes.key()
    present = tuple(bool(x) for x in (*plan.gravity, *plan.baumgarte))
    return (plan.signatures, present, *plan.loads.key(), nodes)


def for_plan(program: Program, plan: Plan) -> Program:
    """The program with the inputs that this model adds: the time, and what its input elements read."""
    more: tuple[str, ...] = ("t",) if plan.loads.time_dependent and (plan.loads.motions or program.forces) else ()
    more += ("u",) if program.forces and any(s.has_input for s in plan.loads.element_signatures) else ()
    return replace(program, inputs=program.inputs + more)


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
            jobs = [workers().submit(self._run, inputs, out, states, a, b) for a, b in pairwise(cuts)]
            for job in jobs:
                job.result()
        return out

    def _run(self, inputs: Mapping[str, Array], out: Array, states: int, first: int, last: int) -> None:
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

    def single(self) -> Callable[..., bool] | None:
        """f(inputs..., out) -> True, or False if an argument or the result is not as it should be; None if not possible."""
        if self.lanes != 1 or not _numpy_is_as_expected():
            return None
        frame = Frame(self)
        address = self.code.library.address("single")
        definition = _definitions.setdefault(address, _MethodDef(b"evaluate", address, _FASTCALL, None))
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        function: Callable[..., bool] = new(ctypes.addressof(definition), frame.words, None)
        self._alive = frame
        return function


def width(plan: Plan, program: Program, name: str) -> int:
    model = plan.model
    if name in program.inputs:
        rows = plan.loads.closing.rows
        return {"q": model.nq, "dq": model.nq, "t": 1, "u": len(model.inputs), "lambda": rows}.get(name, model.nv)
    kind = program.outputs[name]
    if kind == "v*v":
        return model.nv * model.nv
    per, _, size = kind.partition("*")
    driven = int(sum(joint.nv for joint, is_driven in zip(model.joints, model.driven, strict=True) if is_driven))
    counts = {"q": model.nq, "v": model.nv, "body": model.n, "drive": driven, "element": len(model.elements)}
    counts |= {"closure": len(model.closures), "row": plan.loads.closing.rows}
    counts |= {"node": 0 if plan.nodes is None else plan.nodes.count}
    return counts[per] * (model.nv if size == "v" else int(size or 1))


class Frame:
    """The words that bind a kernel to a model, and buffers for one thread."""

    def __init__(self, kernel: Kernel):
        plan, lanes, code = kernel.plan, kernel.lanes, kernel.code
        self.arrays: dict[str, Any] = fixed_arrays(plan, code, lanes)
        numbers = {"n": plan.n, "nv": plan.model.nv, "batch": 1, "array_type": id(np.ndarray)}
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


def fixed_arrays(plan: Plan, code: Code, lanes: int) -> dict[str, Any]:
    """Tables of the plan and buffers of a kernel, by the names of module.FIXED."""
    loads = plan.loads
    touched = max(1, len(loads.touched))
    closing, nv = loads.closing, plan.model.nv
    counts = {"motions": loads.motions, "elements": loads.elements, "pool": len(loads.pool), "touched": len(loads.touched)}
    nodes = plan.nodes
    count = 0 if nodes is None else nodes.count
    counts |= {"closures": closing.closures, "grips": len(closing.grips), "rows": closing.rows, "nodes": count}
    node_table, memory = _with_memory(plan, code)
    sizes = {
        "work": plan.n * code.work_row,
        "messages": max(1, plan.messages) * code.message_row,
        "climbing": SCRATCH,
        "driven_q": max(1, 7 * loads.motions),
        "driven_v": max(1, 6 * loads.motions),
        "driven_a": max(1, 6 * loads.motions),
        "states": 2 * STATE * touched,  # with tangents
        "applied": 2 * WRENCH * touched,
        "impulses": IMPULSE * touched,
        "effort": 2 * max(1, nv),
        "rows": 2 * len(FIELDS) * max(1, closing.rows),
        "left": 2 * max(1, closing.rows * (nv if code.dense_rows else block_width(plan))),
        "grips": 12 * max(1, len(closing.grips)),
        "lower": 2 * max(1, closing.rows**2 if code.dense_rows else 1),
        "push": 2 * max(1, nv),
        "node_work": memory + CHUNK,
        "scratch": code.scratch + CHUNK,
        "channels": 2 * CHANNELS * (plan.n if count else 1),
        "images": max(1, 0 if nodes is None else nodes.told) + CHUNK,
    }
    tables = {
        "table": np.ascontiguousarray(plan.table),
        "dofs": parents_of_dofs(plan),
        "data": np.ascontiguousarray(plan.data),
        "gravity": np.ascontiguousarray(plan.gravity),
        "sizes": np.array([counts[name] for name in SIZES], dtype=np.int64),
        "motion_table": _never_empty(loads.motion_table),
        "motion_data": _never_empty(loads.motion_data),
        "element_table": _never_empty(loads.element_table),
        "element_data": _never_empty(loads.element_data),
        "pool": np.ascontiguousarray(loads.pool),
        "closure_table": _never_empty(closing.table),
        "closure_data": _never_empty(closing.data),
        "grip_table": _never_empty(closing.grips),
        "factors": _never_empty(closing.factors),
        "settings": np.array([plan.tolerance, plan.length, *plan.baumgarte]),
        "row_order": _never_empty(np.array(order_of_rows(plan), dtype=np.int64)),
        "row_least": _never_empty(least_kept(plan)),
        "node_table": _never_empty(node_table),
        "node_ints": _never_empty(np.zeros(0, dtype=np.int64) if nodes is None else nodes.ints),
        "node_body_data": _never_empty(np.zeros(0) if nodes is None else nodes.shared_bodies),
        "node_closure_data": _never_empty(np.zeros(0) if nodes is None else nodes.shared_closures),
        "kept": np.zeros(max(1, closing.rows), dtype=np.int64),
    }
    return tables | {name: aligned(size * lanes) for name, size in sizes.items()}


def _with_memory(plan: Plan, code: Code) -> tuple[NDArray[np.int64], int]:
    """The table of nodes with the place of each one's memory, and the size of all."""
    if plan.nodes is None:
        return np.zeros(0, dtype=np.int64), 0
    table, start = plan.nodes.table.copy(), 0
    for name, rows in code.node_rows.items():
        start = -(-start // CHUNK) * CHUNK
        ends = start + np.cumsum([0, *(rows[k] for k in table[:, 0])])
        table[:, NODE_TABLE.index(name)] = ends[:-1]
        start = int(ends[-1])
    return table, start


def _never_empty(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array) if array.size else np.zeros(1, dtype=array.dtype)


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
