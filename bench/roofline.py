"""How much of what the processor can do is done: operations of a kernel over its time, beside the measured peak.

    python bench/roofline.py [--quick]

The peak is that of fused multiply-adds of whole vectors in a loop without memory, 16 at a time, two operations each. Operations
of a kernel are the additions and multiplications that the counting number counts; sines, cosines, divisions and roots, which
take many instructions each, and loads and stores are not counted. One thread. Results are
compared with those of one state at a time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from part import Part, Row, alone
from timing import race
from trees import apart, states

import bellcrank as bc
from bellcrank.formulations import FORMULATIONS
from bellcrank.kernels import jit
from bellcrank.kernels.processor import lane_count
from bellcrank.model import generators
from bellcrank.papers.operations import count_program

CHAINS, REPEATS, STATES = 16, 20_000, 256


def peak_loop(lanes: int) -> Callable[[int, int], None]:
    """f(count): count times CHAINS vectors x = x * a + b."""
    vector = f"<{lanes} x double>"
    fma = f"llvm.fma.v{lanes}f64"
    one, small = (f"<{', '.join([f'double {x}'] * lanes)}>" for x in ("0.5", "1.0"))
    phis = [f"%x{k} = phi {vector} [{small}, %entry], [%y{k}, %top]" for k in range(CHAINS)]
    steps = [f"%y{k} = call {vector} @{fma}({vector} %x{k}, {vector} {one}, {vector} {small})" for k in range(CHAINS)]
    sums = [f"%s{k} = fadd {vector} {f'%s{k - 1}' if k > 1 else '%y0'}, %y{k}" for k in range(1, CHAINS)]
    lines = [
        "entry:",
        "br label %top",
        "top:",
        "%k = phi i64 [0, %entry], [%next, %top]",
        *phis,
        *steps,
        "%next = add i64 %k, 1",
    ]
    lines += ["%more = icmp slt i64 %next, %count", "br i1 %more, label %top, label %done", "done:", *sums]
    lines += [f"store {vector} %s{CHAINS - 1}, ptr %out, align 8", "ret void"]
    text = f"declare {vector} @{fma}({vector}, {vector}, {vector})\ndefine void @peak(ptr %out, i64 %count) {{\n"
    code = jit.load_object(jit.compile_text(text + "\n".join(lines) + "\n}\n"))
    loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(code.address("peak"))
    return lambda out, count: (loop(out, count), code)[0]


def part(quick: bool) -> Part:
    """Chains in lanes."""
    lanes, out = lane_count(), np.zeros(8)
    loop = peak_loop(lanes)
    rows, table = [], []
    for n in (7, 24, 100):
        model = generators.chain(n)
        dyn = bc.compile(model)
        kernel = dyn.kernel(dyn.program, lanes)
        q, v, tau = states(model, STATES)
        counted = count_program(model, FORMULATIONS[dyn.formulation], "plane", True)
        operations = counted.additions + counted.multiplications
        calls = {"peak": lambda: loop(out.ctypes.data, REPEATS)}
        given = {"q": q, "v": v, "tau": tau}
        error = apart(kernel.batch(given, threads=1), dyn.kernel(dyn.program, 1).batch(given, threads=1))
        calls["kernel"] = lambda kernel=kernel, given=given: kernel.batch(given, threads=1)
        best = race(calls, 0.3 if quick else 2.0)
        peak = 2 * lanes * CHAINS * REPEATS / best["peak"] / 1e9
        rate = operations * STATES / best["kernel"] / 1e9
        rows.append(
            Row(f"roofline: chain {n}, lanes", rate / peak, rate, "measured peak", peak, "10^9 operations per second", error)
        )
        table.append(
            {
                "mechanism": f"chain {n}",
                "operations": operations,
                "10^9 operations per second": rate,
                "measured peak": peak,
                "part": rate / peak,
            }
        )
    return Part("roofline", rows, {"Operations over time": table})


if __name__ == "__main__":
    alone(part, __doc__)
