"""What binds a kernel to a model: an array of 64-bit words, sizes and addresses."""

from __future__ import annotations

from ...formulations import Program
from ...kernels.llvm.emitter import Emitter

Text = tuple[str, dict[str, str]]  # a function, and the declarations that it needs
ARRAY_TYPE, FLOAT64, TRUE, FALSE = "array_type", "float64", "true", "false"
DESIGNS = ("designs", "design_width", "design_every", "design_entries", "design_places")
"""Rows of designs: their address and width, how many states share one; how many numbers go where (source, address)."""


def bound_words(program: Program, arguments: list[str], designs: bool = False) -> list[str]:
    """Names of the words of ``bound``, in order; ``arguments``: arrays that the kernel takes besides its own."""
    arrays = [*program.inputs, *program.outputs]
    words = ["n", "nv", "batch", *arguments]
    words += [f"width:{a}" for a in arrays] + [f"user:{a}" for a in arrays] + [f"buffer:{a}" for a in arrays]
    return [*words, ARRAY_TYPE, FLOAT64, TRUE, FALSE, *(DESIGNS if designs else ())]


def result(program: Program) -> str:
    """The output that is returned; a program has one."""
    (name,) = [name for name in program.outputs if name not in program.scratch]
    return name


class Bound:
    """Reads words of ``bound`` inside a function."""

    def __init__(self, e: Emitter, program: Program, taken: list[str], designs: bool = False):
        self.e, self.taken = e, taken
        self.place = {word: k for k, word in enumerate(bound_words(program, taken, designs))}

    def word(self, name: str) -> str:
        return self.e.load_int("%bound", self.place[name])

    def address(self, name: str) -> str:
        return self.e.emit(f"load ptr, ptr {self.e.pointer('%bound', self.place[name])}, align 8")

    def call_kernel(self, arrays: dict[str, str]) -> None:
        taken = [self.address(name) for name in self.taken]
        arguments = ", ".join(f"ptr {p}" for p in [*taken, *arrays.values()])
        self.e.do(f"call void @kernel(i64 {self.word('n')}, i64 {self.word('nv')}, {arguments})")
