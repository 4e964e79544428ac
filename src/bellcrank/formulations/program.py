"""A recursion with its inputs and outputs, as it is compiled and run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any


def tangent_of(name: str) -> str:
    """The name of the tangents of an input, or of some data."""
    return f"d_{name}"


@dataclass(frozen=True)
class Program:
    """A recursion with its inputs and outputs.

    Outputs are per degree of freedom ("v"), per coordinate ("q"), square ("v*v"), or a number of values per body, degree of
    freedom, driven degree of freedom, force element, closure or its equations ("body*12", "v*6", "drive*2", "element*3",
    "closure*6", "row*3", "row*v"). ``scratch`` outputs are not returned.

    With ``tangents`` it is done on dual numbers: the value once, and beside it so many tangents. Inputs that have any are
    followed by inputs of their tangents, "d_q" for "q"; outputs have theirs behind each number.
    """

    name: str
    run: Callable[[Any], None]
    inputs: tuple[str, ...]
    outputs: dict[str, str]
    scratch: tuple[str, ...] = ()
    forces: bool = False  # the model's force elements act
    late: bool = False  # but only when the recursion says so
    nodes: bool = False  # it walks over nodes, which must be planned
    optimisation: int = 3  # LLVM's level; 0 is compiled soon, for what is asked for now and then, not in loops
    tangents: int = 0
    of_design: bool = True  # tangents are those of the data too, where a design may change them

    def key(self) -> tuple[Any, ...]:
        """A text of all that decides which code the program needs, besides the structure of the model."""
        passes = self.scratch, self.forces, self.late, self.nodes, self.tangents, self.of_design
        return (self.name, self.inputs, *self.outputs.items(), *passes)

    def differentiated(self, along: Sequence[str], tangents: int, *, of_design: bool = True) -> Program:
        """The program on dual numbers, along some inputs, and along the data of a design unless ``of_design`` is False."""
        given = tuple(name for name in self.inputs if name in along)
        inputs = self.inputs + tuple(tangent_of(name) for name in given)
        name = f"{self.name}/d({','.join(given)})*{tangents}{'' if of_design else ' alone'}"
        return replace(self, name=name, inputs=inputs, tangents=tangents, of_design=of_design)
