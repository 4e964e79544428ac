"""Derivatives of runs and analyses by central differences, each from two models that are solved anew: for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...design import Design
from ...errors import StateError, interrupts_pass
from ...extremes import in_our_errors
from ...model import Model
from ...model.parameters.parameters import is_number
from ..asking import sensitivity
from ..cluster import on_cluster
from ..outcome import Sensitivity

STEP = 1e-6


@in_our_errors(StateError)
def finite_differences(
    model: Model,
    parameters: Sequence[str] | Design,
    outputs: Sequence[str] = (),
    duration: float | None = None,
    *,
    relative_step: float = STEP,
    scheduler: Any = None,
    **options: Any,
) -> Sensitivity:
    """The derivatives of ``sensitivity`` by central differences instead: less exact, but independent of it.

    relative_step   of each parameter, as a part of its value (of 1, where that is zero)
    scheduler       address of a Dask scheduler ("tcp://...:8786") or a Client: the runs are made by its workers

    All else as for sensitivity. The truncation error falls with the square of the step, and what rounding and the error of
    the integration leave grows with its inverse.
    """
    if not is_number(relative_step) or not 0 < relative_step < 1:
        raise StateError(f"relative_step is {relative_step!r}: give a number between 0 and 1, such as 1e-6")
    design = parameters if isinstance(parameters, Design) else Design(model, parameters)
    middle = sensitivity(model, design, outputs, duration, **options)
    widths = np.array([2 * relative_step * (abs(at) or 1.0) for at in design.start])
    moves = [sign * width / 2 * unit for width, unit in zip(widths, np.eye(len(widths)), strict=True) for sign in (1, -1)]
    names = [name for name in design.names for _ in (1, -1)]
    asked = [(design.model(design.start + move), name) for move, name in zip(moves, names, strict=True)]
    jobs = {k: (model, name, outputs, duration, options) for k, (model, name) in enumerate(asked)}
    if scheduler is None:
        with interrupts_pass():
            values = {k: values_of(*job) for k, job in jobs.items()}
    else:
        values = dict(on_cluster(values_of, jobs, scheduler, "difference"))

    def slopes(name: str) -> Any:
        pairs = [(values[2 * k][name], values[2 * k + 1][name]) for k in range(len(widths))]
        return np.stack([(up - down) / width for (up, down), width in zip(pairs, widths, strict=True)], axis=-1)

    found = {name: x._replace(along=slopes(name)) for name, x in middle.found.items()}
    states = {"dq_values": slopes(_Q), "dv_values": slopes(_V)}
    return replace(middle, found=found, **states, settings=middle.settings | {"differences": relative_step})


_Q, _V = "q of the state", "v of the state"


def values_of(
    model: Model, name: str, outputs: Sequence[str], duration: float | None, options: dict[str, Any]
) -> dict[str, np.ndarray[Any, Any]]:
    """Outputs and states of one run or analysis."""
    found = sensitivity(model, [name], outputs, duration, **options)
    states = {_Q: np.asarray(found.q_values), _V: np.asarray(found.v_values)}
    return {output: np.asarray(found.value(output)) for output in found.found} | states
