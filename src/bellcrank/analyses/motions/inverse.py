"""Inverse dynamics along a given motion: the efforts that it takes, the powers, the reactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...dynamics.dynamics import Dynamics
from ...errors import DynamicsError, StateError
from ...extremes import in_our_errors
from ...model import Model
from ...model.measures.columns import EFFORT
from ...results import Run
from ...results.derived import drive_efforts
from ...results.labels import Labels
from ...run.control import refuse_loads
from ..state import compiled, increasing, input_values
from .closed_motion import actuator_efforts, closed_course, given_motion
from .motion import course_of, state_of
from .own_states import states_along

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]


@in_our_errors(DynamicsError)
def inverse_motion(
    model: Model,
    motion: Mapping[str, Any] | Run,
    times: ArrayLike | None = None,
    *,
    inputs: ArrayLike | None = None,
    actuated: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
) -> xr.Dataset:
    """Efforts of a motion: ``effort``, ``power``, ``reactions``, ``measures``, and ``drives`` of what is driven, over time.

    motion   for every coordinate, or for a joint as a whole: a number; a function of time, which may give (x, x', x''); a pair
             (times, values) or Table, through which a quintic spline is laid; an array with a row for each of ``times``.
             A spherical joint is given as a whole by quaternions, a free one by x, y, z and a quaternion.
             Or a Run, whose own q, v and a are taken.
    times    s, increasing; those of the run for a run
    inputs   constant values of the model's inputs
    actuated degrees of freedom (model.v_names) on which the efforts act, of a mechanism with closed loops. If not given: those
             whose motion is given; of a run, or where all are given, those with motors, or all
    measures names of measures, paths that every model has, "hinge.fx", or formulas over them; all measures of the model if
             not given

    With closed loops ``motion`` may have as many coordinates as the loops leave free: the others follow. More actuators than
    that share the load with the least sum of squares, which the attribute ``actuation`` says.

    User-defined states begin as the model says and are integrated along the motion; those of a run are its own.

    effort is what must be applied besides the model's own forces; effort = tau of a simulated run. power = effort v.
    """
    refuse_loads(model, "inverse_motion")
    dyn = compiled(model)
    u = input_values(dyn, inputs)
    if actuated is not None and not model.closures:
        raise StateError("actuated is for mechanisms with closed loops: in a tree every degree of freedom has its own effort")
    at, (q, v, a) = _motion(dyn, motion, times)
    if model.state_places and not isinstance(motion, Run):
        v, a = states_along(dyn, at, q, v, a, u)
    effort, actuation = dyn.inverse_dynamics(q, v, a, t=at, inputs=u), ""
    if model.closures:
        driving = given_motion(model, motion) if actuated is None else tuple(actuated)
        effort, actuation = actuator_efforts(dyn, q, at, effort, driving)
    if not np.isfinite(effort).all():
        k = int(np.flatnonzero(~np.isfinite(effort).all(axis=1))[0])
        raise DynamicsError(f"the efforts are not finite at t = {at[k]:.6g} s: a table ends, or two points of a spring meet")
    reactions = dyn.reactions(q, v, a, t=at, inputs=u, tau=effort)[:, : model.body_count]
    if model.closures:
        reactions = np.concatenate([reactions, dyn.closure_reactions(q, v, effort, t=at, inputs=u)], axis=1)
    values = {"q": q, "v": v, "a": a, "reactions": reactions}
    if Labels.of(model).drives:
        values["drives"] = drive_efforts(dyn, q, v, a, t=at, inputs=u, tau=effort)
    names = model.measure_names if measures is None else tuple(measures)
    if names:
        values["measures"] = dyn.measures(q, v, effort, t=at, inputs=u, a=a, names=names)
    labels = replace(Labels.of(model), measures=names, measure_units=dyn.measure_units(names))
    data = _labelled(labels, at, values, effort, effort * v)
    if actuation:
        data.attrs["actuation"] = actuation
    return data


def _motion(
    dyn: Dynamics, motion: Mapping[str, Any] | Run, times: ArrayLike | None
) -> tuple[Array, tuple[Array, Array, Array]]:
    model = dyn.model
    if isinstance(motion, Run):
        if times is not None:
            raise StateError("a run has its own times: leave times out, or give its coordinates as tables")
        q, v, a = (motion.values(name) for name in ("q", "v", "a"))
        if q.shape[1] != model.nq or v.shape[1] != model.nv:
            raise StateError(f"the run is one of {motion.labels.model!r}, whose coordinates are not those of {model.name!r}")
        return motion.values("time"), (q, v, a)
    if times is None:
        raise StateError("give the times, in seconds, at which the efforts are to be computed")
    at = increasing("times", times)
    if model.closures:
        return at, closed_course(dyn, motion, at)
    return at, state_of(model, course_of(model, motion, at))


def _labelled(labels: Labels, times: Array, values: dict[str, Array], effort: Array, power: Array) -> xr.Dataset:
    from ...results.quantities import label_all

    data = label_all(values, times, labels)
    units = np.array([EFFORT.get(unit, "") for unit in labels.dof_units], dtype=object)
    data = data.assign_coords(effort_unit=("dof", units))
    data["effort"] = (("time", "dof"), effort, {"units": "see effort_unit", "long_name": "effort besides the model's forces"})
    data["power"] = (("time", "dof"), power, {"units": "W", "long_name": "power of the effort"})
    data.attrs["model"] = labels.model
    return data
