"""Programs of a planned model on dual numbers: values, and derivatives along given changes of what they read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..formulations import Program
from ..formulations.program import tangent_of
from ..machine.arrays import for_plan
from ..machine.kernel import made_once
from ..machine.tangents.data import chunk_of, from_chunks, in_chunks
from ..machine.tangents.sweep import TangentKernel
from .evaluation import Array, Evaluation, OrZero


class Derivative(NamedTuple):
    """The derivative of an output: values (states, size), and changes (states, size, parameters)."""

    value: Array
    along: Array


@dataclass(frozen=True)
class Changes:
    """What changes with each of some parameters: inputs of a program, (states or 1, size, parameters) by their names, and data
    of the plan, as kernels take them (machine.tangents); ``data`` are values in the place of the plan's."""

    parameters: int
    inputs: Mapping[str, Array]
    tangents: Mapping[str, Array] = field(default_factory=dict)
    data: Mapping[str, Array] = field(default_factory=dict)


def derivatives(
    dyn: Evaluation, program: Program, rows: dict[str, Array], changes: Changes, t: ArrayLike = 0.0, inputs: OrZero = None
) -> dict[str, Derivative]:
    """All outputs of a program at rows of checked arguments, along the changes."""
    count = changes.parameters
    kernel = tangent_kernel(dyn, program, tuple(changes.inputs), chunk_of(count), of_design=bool(changes.tangents))
    given = _given(dyn, kernel, rows, t, inputs)
    for name, x in changes.inputs.items():
        if tangent_of(name) in kernel.program.inputs:
            given[tangent_of(name)] = in_chunks(x)
    found = kernel.run(given, {**changes.data, **changes.tangents}, max(1, -(-count // chunk_of(count))))
    return {name: Derivative(*from_chunks(x, count)) for name, x in found.items() if name not in program.scratch}


def values_at(
    dyn: Evaluation,
    program: Program,
    rows: dict[str, Array],
    data: Mapping[str, Array],
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
) -> dict[str, Array]:
    """Values alone, without derivatives, with the data of a design or with one design for each state."""
    kernel = tangent_kernel(dyn, program, (), 0)
    found = kernel.run(_given(dyn, kernel, rows, t, inputs), data)
    return {name: x[:, 0, :, 0] for name, x in found.items() if name not in program.scratch}


def _given(dyn: Evaluation, kernel: TangentKernel, rows: dict[str, Array], t: ArrayLike, inputs: OrZero) -> dict[str, Array]:
    """What a kernel reads of rows of arguments, of the time and of the model's inputs."""
    states = len(rows["q"])
    given = {name: np.ascontiguousarray(x) for name, x in rows.items() if name in kernel.program.inputs}
    if "t" in kernel.program.inputs:
        given["t"] = dyn.time_rows(t, states)
    if "u" in kernel.program.inputs:
        given["u"] = dyn.input_rows(inputs, states)
    return given


def tangent_kernel(
    dyn: Evaluation, program: Program, along: tuple[str, ...], tangents: int, *, of_design: bool = True
) -> TangentKernel:
    """A program on dual numbers, compiled for this model; ``of_design``: with tangents of the data that a design may change."""
    key = (program.name, program.optimisation, along, tangents, of_design)
    if key not in dyn.tangent_kernels:
        level = min(program.optimisation, dyn.optimisation)
        whole = for_plan(replace(program, optimisation=level), dyn.plan).differentiated(along, tangents, of_design=of_design)
        dyn.tangent_kernels[key] = made_once(dyn.plan, ("sweep", *key), lambda: TangentKernel(dyn.plan, whole))
    return dyn.tangent_kernels[key]
