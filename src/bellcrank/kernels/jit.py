"""LLVM text to machine code in this process. Only this file, and processor.py for its names, talk to llvmlite."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from ..errors import StateError
from .processor import Processor, processor

VARIABLE = "BELLCRANK_OPTIMISATION"


class Library:
    """Machine code that is loaded; it lives as long as this object."""

    def __init__(self, engine: Any):
        self._engine = engine
        self._addresses: dict[str, int] = {}  # LLVM takes half a millisecond to find one

    def address(self, function: str) -> int:
        if function not in self._addresses:
            self._addresses[function] = int(self._engine.get_function_address(function))
        return self._addresses[function]


def at_most(level: int) -> int:
    """A level of optimisation, or BELLCRANK_OPTIMISATION where that is lower."""
    limit = os.environ.get(VARIABLE, "").strip() or "3"
    if limit not in ("0", "1", "2", "3"):
        raise StateError(f"{VARIABLE} is {limit!r}: give 0 (compile fast) to 3 (run fast), or leave it unset")
    return min(level, int(limit))


def machine(level: int = 3) -> Any:
    """The processor to make code for, and how hard to try: 0 compiles 3 to 8 times as fast, to 2 to 3 times slower code."""
    return _machine(level, processor())


@cache
def _machine(level: int, made_for: Processor) -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    _offer_symbols()
    return _fresh_machine(level, made_for)


def identity() -> str:
    """A text of everything besides the code that machine code depends on: processor, versions, platform."""
    return _identity(processor())


@cache
def _identity(made_for: Processor) -> str:
    return "\n".join(
        [
            *made_for,
            llvm.get_default_triple(),
            ".".join(map(str, llvm.llvm_version_info)),
            sys.platform,
            sys.version,
        ]
    )


def _offer_symbols() -> None:
    library = ctypes.CDLL("ucrtbase") if sys.platform == "win32" else ctypes.CDLL(None)
    for name in ("sin", "cos", "pow", "fma"):  # fma where the processor has none
        llvm.add_symbol(name, _address(getattr(library, name)))
    llvm.add_symbol("Py_IncRef", _address(ctypes.pythonapi.Py_IncRef))


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def compile_text(text: str, level: int = 3) -> bytes:
    """Object code. The recorder has folded already: scalar replacement is all that LLVM's passes still bring."""
    module = llvm.parse_assembly(text)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.slp_vectorization = tuning.loop_vectorization = tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(machine(level), tuning)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.run(module, builder)
    return bytes(machine(level).emit_object(module))


def load_object(code: bytes) -> Library:
    machine()
    empty = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(empty, _fresh_machine(3, processor()))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Library(engine)


def _fresh_machine(level: int, made_for: Processor) -> Any:
    """An engine takes over its target machine, so each needs one."""
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=made_for.name, features=made_for.features, opt=level, jit=True
    )
