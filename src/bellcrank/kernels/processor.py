"""The processor that machine code is made for: BELLCRANK_CPU, "host" (the default), "generic", or a name that LLVM knows.

"generic" runs on every processor of the architecture, and so does not use fused multiply-add or wide vectors on x86. Code
for another named processor leaves out what the one at hand lacks: it always runs here.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from functools import cache
from typing import NamedTuple

import llvmlite.binding as llvm

from ..errors import StateError

HOST, GENERIC = "host", "generic"

# In a process of its own: LLVM lists its processors on stderr, and ends the process where one cannot run 64-bit code.
_TRY = """
import sys
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
target = llvm.Target.from_default_triple()
target.create_target_machine(cpu="help")
if len(sys.argv) > 1:
    module = llvm.parse_assembly("define double @f(double %x) {\\n ret double %x\\n}")
    target.create_target_machine(cpu=sys.argv[1]).emit_object(module)
"""


class Processor(NamedTuple):
    """A processor as LLVM names it, and its features that are switched on (+) or off (-)."""

    name: str
    features: str


def lane_count() -> int:
    """States that machine code takes at a time: eight where vectors have 512 bits, else four; or BELLCRANK_LANES."""
    wanted = os.environ.get("BELLCRANK_LANES")
    if wanted not in (None, "", "4", "8"):
        raise StateError(f"BELLCRANK_LANES is {wanted!r}: give 4 or 8, or leave it unset")
    return int(wanted) if wanted else _lanes(processor())


@cache
def _lanes(made_for: Processor) -> int:
    """A named processor may have what is not listed: its own features are asked for only where they are those at hand."""
    return 8 if "+avx512f" in made_for.features.split(",") else 4


def processor() -> Processor:
    """The processor that BELLCRANK_CPU asks for."""
    return _processor(os.environ.get("BELLCRANK_CPU") or HOST)


@cache
def _processor(wanted: str) -> Processor:
    if wanted == GENERIC:
        return Processor(GENERIC, "")
    features = llvm.get_host_cpu_features()
    if wanted == HOST:
        return Processor(llvm.get_host_cpu_name(), features.flatten())
    _must_be_known(wanted)
    return Processor(wanted, ",".join(f"-{feature}" for feature, present in sorted(features.items()) if not present))


def _must_be_known(wanted: str) -> None:
    listed = _tried()
    known = re.findall(r"^\s+(\S+)\s+- Select the \1 processor", listed.stderr, re.MULTILINE)
    triple = llvm.get_default_triple()
    remedy = 'Use "host" (the default), "generic", or the name of a processor as LLVM writes it'
    if wanted not in known:
        near = difflib.get_close_matches(wanted, known, n=5, cutoff=0.5)
        example = f", such as {', '.join(near or known[:5])}" if known else ""
        raise StateError(f"BELLCRANK_CPU is {wanted!r}: LLVM has no such processor for {triple}. {remedy}{example}.")
    if _tried(wanted).returncode != 0:
        raise StateError(f"BELLCRANK_CPU is {wanted!r}: that processor does not run code for {triple}. {remedy}.")


def _tried(*name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", _TRY, *name], capture_output=True, text=True, check=False)
