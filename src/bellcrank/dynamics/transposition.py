"""Adjoints of programs of a planned model: from the adjoints of their outputs to those of their inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..formulations import Program
from ..machine.adjoint.kernel import AdjointKernel
from ..machine.arrays import for_plan
from ..machine.kernel import made_once
from .evaluation import Array, Evaluation, OrZero


class Adjoint(NamedTuple):
    """Of a program: its outputs, and the adjoints of its inputs, (states, size) each; those of the data of the design, (size,),
    summed over the states."""

    values: dict[str, Array]
    inputs: dict[str, Array]
    data: dict[str, Array]


def adjoint(
    dyn: Evaluation,
    program: Program,
    rows: Mapping[str, Array],
    seeds: Mapping[str, Array],
    along: Sequence[str],
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
) -> Adjoint:
    """The adjoint of a program; ``seeds``: adjoints of outputs, (states, size); ``along``: inputs whose adjoints are wanted."""
    kernel, states = adjoint_kernel(dyn, program, tuple(along)), len(rows["q"])
    given = {name: np.ascontiguousarray(x) for name, x in rows.items() if name in kernel.program.inputs}
    if "t" in kernel.program.inputs:
        given["t"] = dyn.time_rows(t, states)
    if "u" in kernel.program.inputs:
        given["u"] = dyn.input_rows(inputs, states)
    return Adjoint(*kernel.run(given, seeds))


def adjoint_kernel(dyn: Evaluation, program: Program, along: tuple[str, ...]) -> AdjointKernel:
    """A program transposed, compiled for this model."""
    if program.optimisation > dyn.optimisation:
        program = replace(program, optimisation=dyn.optimisation)
    whole = for_plan(program, dyn.plan)
    key = (whole.name, along, whole.optimisation)
    if key not in dyn.adjoint_kernels:
        dyn.adjoint_kernels[key] = made_once(dyn.plan, ("adjoint", *key), lambda: AdjointKernel(dyn.plan, whole, along))
    return dyn.adjoint_kernels[key]
