"""Analyses with derivatives, as results of the same kind as those of runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...design import Design
from ...model import Model
from ...results.labels import Labels
from ..outcome import Found, Sensitivity
from .driven import driven
from .equations import Array
from .outputs import Axis, found_of, outputs_of


def of_drive(
    model: Model,
    design: Design,
    outputs: Sequence[str],
    *,
    coordinate: str | None = None,
    values: ArrayLike | None = None,
    times: ArrayLike | None = None,
    speed: float = 1.0,
    acceleration: float = 0.0,
    hold: Iterable[str] | str = (),
    q: ArrayLike | None = None,
    t: float = 0.0,
) -> Sensitivity:
    """Of an input through its range."""
    given: dict[str, Any] = {"coordinate": coordinate, "values": values, "times": times, "speed": speed}
    given |= {"acceleration": acceleration, "hold": hold, "q": q, "t": t}
    found, moved = driven(design, **given)
    axis = Axis(found.input, found.values, found.unit)
    outcome = found_of(axis, outputs_of(axis, outputs), moved)
    states = {"q": (moved.q, moved.dq), "v": (moved.v, moved.dv)}
    return result(design, "drive", axis, states, outcome, {"input": found.input, "speed": speed, "t": t})


def result(
    design: Design,
    analysis: str,
    axis: Axis,
    states: dict[str, tuple[Array, Array]],
    found: dict[str, Found],
    settings: dict[str, Any],
) -> Sensitivity:
    labels = Labels.of(design.base)
    return Sensitivity(
        model=design.base.name,
        parameters=design.names,
        parameter_units=design.units,
        at=np.array(design.start),
        time=axis.values,
        coordinates=labels.coordinates,
        coordinate_units=labels.coordinate_units,
        dofs=labels.dofs,
        dof_units=labels.dof_units,
        q_values=states["q"][0],
        v_values=states["v"][0],
        dq_values=states["q"][1],
        dv_values=states["v"][1],
        found=found,
        settings=settings,
        analysis=analysis,
        axis=axis.name,
        axis_unit=axis.unit,
    )
