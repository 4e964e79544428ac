"""Routines on matrices in memory, transposed as kernels are: each once, whatever calls it.

    NAME_forward(..., top, full, bottom, limit)        does the same, and leaves on the tape what the backward pass needs
    NAME_reverse(..., adjoints of the matrices, top)

All matrices count as differentiated, since what is read and what is written may be parts of one array.
"""

from __future__ import annotations

from ..llvm.matrices.routines import recorded
from .forward import FULL, Forward
from .reverse import TOP, Reverse, adjoint_of
from .scopes import Scopes


def transposed_routine(name: str) -> tuple[str, dict[str, str], int]:
    """Text of both functions, what they need, and their largest frame."""
    routine, types, names = recorded(name)
    matrices = [f"%{x}" for type_, x in zip(types, names, strict=True) if type_ == "ptr"]
    e = routine.e
    scopes = Scopes(e.region, matrices)
    back = Reverse(scopes, set()).write(e.region)
    e.region = Forward(e, scopes).write(e.region)
    taken = ", ".join(f"{type_} %{x}" for type_, x in zip(types, names, strict=True))
    tape = ", ".join(f"ptr {x}" for x in (TOP, FULL, "%bottom", "%limit"))
    bars = ", ".join(f"ptr {adjoint_of(x)}" for x in matrices)
    text = ""
    for way, more, writer in (("forward", tape, e), ("reverse", f"{bars}, ptr {TOP}", back)):
        writer.do("ret void")
        text += f"define internal void @matrix_{name}_{way}({taken}, {more}) noinline {{\nentry:\n{writer.text()}\n}}\n"
    return scopes.sized(text), e.declarations | back.declarations, scopes.largest_frame
