"""A compiled program bound to a model: one state at a time, or batches on all cores."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cache, partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..formulations import Program
from ..kernels import cache as object_cache
from ..kernels import jit
from ..kernels.stopwatch import compiling
from ..kernels.threads import in_pieces, thread_count
from ..plan import Plan
from .arrays import for_plan, width
from .calls.bound import bound_words, result
from .calls.memory import aligned, bound_arrays, varied_numbers
from .module import BufferSizes, Module, structure_name, write_module
from .tangents.lane_data import LaneDesigns, Places, lane_places

Numbers = NDArray[np.float64]

_BLOCKS_PER_TASK = 128  # below this a second thread costs more than it brings
_PIECE_BODIES = 1 << 14  # times blocks between two looks for an interrupt: some hundredths of a second


class Code:
    """Loaded machine code of a module, what it needs of buffers, and the arrays that its kernels take."""

    def __init__(self, library: jit.Library, facts: BufferSizes, arguments: list[str]):
        self.library, self.facts, self.arguments = library, facts, arguments


_loaded: dict[str, Code] = {}  # code that is in use, or was a short while ago
_MOST_LOADED = 128


def obtain(key_parts: tuple[Any, ...], write: Callable[[], Module], level: int = 3) -> Code:
    """Loaded already, from the cache on disk, or written, compiled (jit.machine explains the level) and put there."""
    level = jit.at_most(level)
    name = object_cache.key(jit.identity(), level, *key_parts)
    code = _loaded.get(name)
    if code is None:
        if len(_loaded) >= _MOST_LOADED:
            _loaded.pop(next(iter(_loaded)), None)  # another thread may have been faster
        with compiling():
            code = _loaded[name] = _fetch_or_compile(name, write, level)
    return code


@contextmanager
def _without_collections() -> Iterator[None]:
    """Recording makes many small objects and no garbage: looking for some takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _fetch_or_compile(name: str, write: Callable[[], Module], level: int) -> Code:
    entry = object_cache.fetch(name)
    if entry is None:
        with _without_collections():
            module = write()
        entry = {"facts": vars(module.facts), "arguments": module.arguments}, jit.compile_text(module.text, level)
        object_cache.store(name, *entry)
    said, code = entry
    return Code(jit.load_object(code), BufferSizes(**said["facts"]), said["arguments"])


def structure(plan: Plan, program: Program) -> Plan:
    """The plan as a program sees it: one code for programs that go by bodies, however blocks of loops are planned."""
    if program.nodes or plan.nodes is None:
        return plan
    if WITHOUT_NODES not in plan.made:
        plan.made[WITHOUT_NODES] = replace(plan, nodes=None)
    found: Plan = plan.made[WITHOUT_NODES]
    return found


WITHOUT_NODES = "without nodes"


class OnNumbers(Protocol):
    """Machine code with what surrounds it; a copy works on another plan that differs in its numbers only."""

    plan: Plan


Made = TypeVar("Made", bound=OnNumbers)


def made_once(plan: Plan, name: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """The object made for a plan, or a copy of the one made for a plan that differs in its numbers only."""
    first: Made | None = plan.made.get(name)
    if first is None:
        first = plan.made[name] = make()
    if first.plan is plan:
        return first
    other = copy(first)
    other.plan = plan
    return other


class Kernel:
    """A program on one model, for one number of lanes."""

    design_places: Places | None = None
    plan: Plan

    def __init__(self, plan: Plan, program: Program, lanes: int):
        program = for_plan(program, plan)
        self.plan, self.program, self.lanes = plan, program, lanes
        self.structure = plan = structure(plan, program)
        key = (program.name, lanes, structure_name(plan))
        self.code = obtain(key, lambda: write_module(plan, program, lanes), program.optimisation)
        self.widths = {name: width(plan, program, name) for name in [*program.inputs, *program.outputs]}
        if plan.lane_designs:
            self.design_places = lane_places(plan)
        self._open(program, plan.n)

    def _open(self, program: Program, bodies: int) -> None:
        self._piece = max(1, _PIECE_BODIES // max(1, bodies))
        self.output = result(program)
        self._batch = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self.code.library.address("batch")
        )
        self._free: list[Frame] = []

    def batch(self, inputs: Mapping[str, Numbers], threads: int | None = None, designs: LaneDesigns | None = None) -> Numbers:
        """Outputs (B, width) for inputs (B, width), C-contiguous; the same whatever the number of threads."""
        states = len(next(iter(inputs.values())))
        out = np.empty((states, self.widths[self.output]))
        blocks = -(-states // self.lanes)
        words = {"batch": states, f"user:{self.output}": out.__array_interface__["data"][0]}
        for name, array in inputs.items():
            words[f"user:{name}"] = array.__array_interface__["data"][0]  # array.ctypes costs five times as much
        if designs is not None:
            words |= {"designs": designs.rows.ctypes.data, "design_width": designs.rows.shape[1], "design_every": designs.every}
        tasks = 1
        if blocks >= 2 * _BLOCKS_PER_TASK or threads is not None:
            tasks = max(1, min(threads or thread_count(), blocks // _BLOCKS_PER_TASK if threads is None else blocks))
        held = words, inputs, out, designs
        in_pieces(partial(self._run, held), blocks, tasks, self._piece)
        return out

    def _run(self, held: tuple[Mapping[str, int], Any, Any, Any], pieces: Iterable[tuple[int, int]]) -> None:
        """``held``: words, and the arrays whose addresses they have, which stay as long as a thread works on them."""
        frame = self._take()
        for name, value in held[0].items():
            frame.set(name, value)
        for first, last in pieces:
            self._batch(frame.address, first, last)
        self._free.append(frame)

    def _take(self) -> Frame:
        try:
            frame = self._free.pop()
        except IndexError:
            return Frame(self)
        frame.bind(self)
        return frame

    def bound(self) -> tuple[dict[str, Any], dict[str, int]]:
        """Arrays for one thread, and sizes."""
        plan = self.structure
        return bound_arrays(plan, self.code, self.lanes), {"n": plan.n, "nv": plan.model.nv}

    def numbers(self) -> dict[str, Numbers]:
        """The numbers of those arrays of ``bound`` that differ between plans that share this code."""
        return varied_numbers(self.plan, self.code)

    def single(self, frame: Frame | None = None) -> Callable[..., bool] | None:
        """f(inputs..., out) -> True, or False if an argument or the result is not as it should be; None if not possible.

        ``frame``: the arrays that it works on, those of the plan unless given.
        """
        if self.lanes != 1 or not _numpy_is_as_expected():
            return None
        return self._function("single", frame)

    def many(self) -> Callable[..., bool] | None:
        """``single`` for rows of states, if they are not too many; it does not say whether results are finite."""
        if self.lanes == 1 or self.design_places is not None or not _numpy_is_as_expected():
            return None
        return self._function("many", None)

    def _function(self, name: str, frame: Frame | None) -> Callable[..., bool]:
        address = self.code.library.address(name)
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
        self.kernel = kernel
        self.arrays |= kernel.numbers()
        numbers = sizes | {"batch": 1, "array_type": id(np.ndarray)}
        numbers |= {"float64": id(np.dtype(np.float64)), "true": id(True), "false": id(False)}
        for name, size in kernel.widths.items():
            self.arrays[f"buffer:{name}"] = aligned(max(1, size) * lanes)
            numbers[f"width:{name}"] = size
        numbers |= {name: array.ctypes.data for name, array in self.arrays.items()}
        places = kernel.design_places
        if places is not None:
            self.arrays["design_places"] = pairs = _pairs(places, self.arrays, lanes)
            numbers |= {"design_entries": len(pairs), "design_places": pairs.ctypes.data}
        self.place = {word: k for k, word in enumerate(bound_words(kernel.program, code.arguments, places is not None))}
        self.words = np.array([numbers.get(word, 0) for word in self.place], dtype=np.int64)
        self.address = self.words.ctypes.data

    def set(self, word: str, value: int) -> None:
        self.words[self.place[word]] = value

    def bind(self, kernel: Kernel) -> None:
        """Binds the frame to a kernel of the same code, on other numbers."""
        if kernel is not self.kernel:
            self.kernel, numbers = kernel, kernel.numbers()
            self.arrays |= numbers
            for name, array in numbers.items():
                self.set(name, array.__array_interface__["data"][0])

    def held_words(self) -> NDArray[np.int64]:
        """The words as an array that keeps alive what they point to, for as long as a function has it."""
        held = self.words.view(_HeldWords)
        held.arrays = self.arrays
        return held


def _pairs(places: Places, arrays: Mapping[str, Any], lanes: int) -> NDArray[np.int64]:
    """For each number in the row of a design: its place there, and its address in the data of the lanes."""
    rows = [
        np.stack([sources, arrays[name].ctypes.data + 8 * lanes * entries], axis=1)
        for name, (entries, sources) in places.items()
        if name in arrays
    ]
    return np.ascontiguousarray(np.concatenate([np.zeros((0, 2), dtype=np.int64), *rows]), dtype=np.int64)


class _HeldWords(np.ndarray[Any, np.dtype[np.int64]]):
    arrays: dict[str, Any]


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
