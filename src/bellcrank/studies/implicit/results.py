"""Analyses with derivatives, as results of the same kind as those of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...analyses.resting import MOST
from ...design import Design
from ...model import Model
from ...results import Run
from ...results.labels import Labels
from ..outcome import OutputValue, Sensitivity
from .driven import driven
from .efforts import motion_with_efforts
from .equations import Array
from .mode_outputs import found_of_modes
from .outputs import Axis, found_of, outputs_of
from .resting import Rest, rest
from .vibration import roots


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
    states: Mapping[str, float] | None = None,
) -> Sensitivity:
    """Derivatives of an input's motion through its range."""
    given: dict[str, Any] = {"coordinate": coordinate, "values": values, "times": times, "speed": speed}
    given |= {"acceleration": acceleration, "hold": hold, "q": q, "t": t, "states": states}
    found, moved = driven(design, **given)
    axis = Axis(found.input, found.values, found.unit)
    outcome = found_of(axis, outputs_of(axis, outputs), moved)
    motion = {"q": (moved.q, moved.dq), "v": (moved.v, moved.dv)}
    return result(design, "drive", axis, motion, outcome, {"input": found.input, "speed": speed, "t": t})


def of_equilibrium(
    model: Model,
    design: Design,
    outputs: Sequence[str],
    *,
    q0: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    t: float = 0.0,
    seek: str = "stable",
    max_iterations: int = MOST,
) -> Sensitivity:
    """Derivatives of a position of rest."""
    given: dict[str, Any] = {"q0": q0, "tau": tau, "inputs": inputs, "t": t, "seek": seek, "max_iterations": max_iterations}
    at = rest(design, **given)
    axis = Axis("", np.zeros(0), "")
    found = found_of(axis, outputs_of(axis, outputs), at)
    return result(design, "equilibrium", axis, at_rest(at), found, {"seek": seek, "t": t})


def of_modes(
    model: Model,
    design: Design,
    outputs: Sequence[str],
    *,
    tau: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    t: float = 0.0,
) -> Sensitivity:
    """Derivatives of the modes about the equilibrium."""
    found = roots(design, tau=tau, inputs=inputs, t=t)
    axis = Axis("", np.zeros(0), "")
    return result(design, "modes", axis, at_rest(found.at), found_of_modes(outputs, found), {"t": t})


def of_inverse_motion(
    model: Model,
    design: Design,
    outputs: Sequence[str],
    *,
    motion: Mapping[str, Any] | Run,
    times: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    actuated: Sequence[str] | None = None,
) -> Sensitivity:
    """Derivatives of the efforts that a motion takes."""
    at, moved = motion_with_efforts(design, motion, times, inputs, actuated)
    axis = Axis("time", at, "s")
    found = found_of(axis, outputs_of(axis, outputs), moved)
    states = {"q": (moved.q, moved.dq), "v": (moved.v, moved.dv)}
    return result(design, "inverse_motion", axis, states, found, {"actuated": list(moved.actuated)})


def at_rest(at: Rest) -> dict[str, tuple[Array, Array]]:
    return {"q": (at.found.q, at.dq), "v": (at.found.v, at.dv)}


def result(
    design: Design,
    analysis: str,
    axis: Axis,
    states: dict[str, tuple[Array, Array]],
    found: dict[str, OutputValue],
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
