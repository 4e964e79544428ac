"""The adjoint of a recorded kernel as two functions: a forward pass that fills a tape, and a backward pass.

    forward(n, nv, arrays, tape, bottom, limit) -> the end of the tape, or null if it was too short
    reverse(n, nv, arrays, adjoints of the arrays, end)

The second one adds to the adjoints of what the kernel reads, and leaves zeros in those of what it writes: so a caller puts the
adjoints of the outputs there and finds, after it, those of the inputs and of the data, summed over as many calls as it likes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..llvm.emitter import Emitter
from ..llvm.graph import Operation, Region
from .forward import FULL, Forward
from .reverse import TOP, Reverse, adjoint_of
from .routines import transposed_routine
from .scopes import Scopes, routine_name

MARGIN = 64  # doubles that must be left behind the last frame, for links: as deep as regions may stand in each other


@dataclass(frozen=True)
class Transposed:
    """Texts of both functions, what they need, and the arrays whose adjoints the second one takes."""

    text: str
    declarations: dict[str, str]
    adjoints: list[str]
    largest_frame: int


def transposed(e: Emitter, name: str, arguments: Sequence[str], active: Iterable[str], constant: Iterable[str]) -> Transposed:
    """The adjoint of a kernel just recorded; given its arrays, those that are differentiated, and those it only reads."""
    body = Region([part for part in e.region.parts if not _is_return(part)])
    scopes = Scopes(body, [f"%{x}" for x in active])
    back = Reverse(scopes, {f"%{x}" for x in constant}).write(body)
    back.region.parts.insert(0, Operation(TOP, "alloca ptr, align 8", ()))
    back.region.parts.insert(1, Operation(None, "store ptr %end, ptr $, align 8", (TOP,)))
    back.do("ret void")
    forward = Forward(e, scopes)
    e.region = forward.write(body)
    _in_function(e)
    adjoints = [x for x in arguments if f"%{x}" in scopes.arrays]
    taken = ", ".join(["i64 %n", "i64 %nv", *(f"ptr noalias %{x}" for x in arguments)])
    bars = "".join(f", ptr noalias {adjoint_of('%' + x)}" for x in adjoints)
    text = _function("ptr", f"{name}_forward", f"{taken}, ptr %tape, ptr %bottom, ptr %limit", e)
    text += _function("void", f"{name}_reverse", f"{taken}{bars}, ptr %end", back)
    declarations, largest = e.declarations | back.declarations, scopes.largest_frame
    for routine in dict.fromkeys(routine_name(call) for call in forward.calls):
        declarations[f"{routine} transposed"], needed, frame = transposed_routine(routine)
        declarations |= needed
        largest = max(largest, frame)
    return Transposed(scopes.sized(text), declarations, adjoints, largest)


def _function(type_: str, name: str, taken: str, e: Emitter) -> str:
    return f"define internal {type_} @{name}({taken}) {{\nentry:\n{e.text()}\n}}\n"


def _in_function(e: Emitter) -> None:
    """Cells of the stack before the kernel, and what it returns behind it."""
    head = [
        Operation(TOP, "alloca ptr, align 8", ()),
        Operation(FULL, "alloca i1, align 8", ()),
        Operation(None, "store ptr %tape, ptr $, align 8", (TOP,)),
        Operation(None, "store i1 false, ptr $, align 8", (FULL,)),
    ]
    end, full = e.name(), e.name()
    e.region.parts[:0] = head
    e.region.parts += [
        Operation(end, "load ptr, ptr $, align 8", (TOP,)),
        Operation(full, "load i1, ptr $, align 8", (FULL,)),
        Operation("%answer", "select i1 $, ptr null, ptr $", (full, end)),
        Operation(None, "ret ptr %answer", ()),
    ]


def _is_return(part: object) -> bool:
    return isinstance(part, Operation) and part.kind == "ret void"
