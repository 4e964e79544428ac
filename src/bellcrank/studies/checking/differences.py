"""Derivatives of runs and analyses by central differences, each from two models that are solved anew: for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...design import Design
from ...errors import StateError
from ...model import Model
from ..asking import sensitivity
from ..outcome import Sensitivity

STEP = 1e-6


def finite_differences(
    model: Model,
    parameters: Sequence[str] | Design,
    outputs: Sequence[str] = (),
    duration: float | None = None,
    *,
    relative_step: float = STEP,
    **options: Any,
) -> Sensitivity:
    """What sensitivity finds, by central differences instead: less exact, and independent of it.

    relative_step   of each parameter, as a part of its value (of 1, where that is zero)

    All else as for sensitivity. The truncation error falls with the square of the step, and what rounding and the error of
    the integration leave grows with its inverse.
    """
    if not 0 < relative_step < 1:
        raise StateError(f"relative_step is {relative_step!r}: give a number between 0 and 1, such as 1e-6")
    design = parameters if isinstance(parameters, Design) else Design(model, parameters)
    middle = sensitivity(model, design, outputs, duration, **options)
    columns = []
    for k, (name, at) in enumerate(zip(design.names, design.start, strict=True)):
        h = relative_step * (abs(at) or 1.0)
        moved = [design.model(design.start + sign * h * np.eye(len(design.names))[k]) for sign in (1, -1)]
        pair = [sensitivity(other, [name], outputs, duration, **options) for other in moved]
        columns.append((pair, 2 * h))

    def slopes(of: Any) -> Any:
        return np.stack([(np.asarray(of(pair[0])) - np.asarray(of(pair[1]))) / width for pair, width in columns], axis=-1)

    found = {name: x._replace(along=slopes(lambda s, name=name: s.value(name))) for name, x in middle.found.items()}
    states = {"dq_values": slopes(lambda s: s.q_values), "dv_values": slopes(lambda s: s.v_values)}
    return replace(middle, found=found, **states, settings=middle.settings | {"differences": relative_step})
