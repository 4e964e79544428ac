"""Arguments of a run, checked: its span and samples, the method, the first state."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import Given, given_values, own_assembly, start_run
from ..dynamics.diagnosis import contradicted_loops
from ..dynamics.dynamics import Dynamics
from ..dynamics.singular_positions import singular_loops
from ..errors import DynamicsError, StateError
from ..extremes import is_finite_number
from ..integrate import METHODS
from ..machine.steps.cuts.known import drawn_along, first_anchors, known_anchors
from ..model import Model
from ..model.spec.problems import brief
from ..wording import argument
from .checks.size import must_fit
from .loops.contradictions import must_agree
from .loops.midpoint import CLOSED_METHODS
from .loops.passing import PASSING_METHODS
from .stiff.bdf import STIFF_METHODS

if TYPE_CHECKING:
    from ..results import Run

Array = NDArray[np.float64]

AUTO = "auto"  # dopri5 until a run shows itself stiff, then radau
NEVER_NONE = ("rtol", "atol", "max_steps")  # have values of their own


def times_of(model: Model, duration: float | None, step: float | None) -> Array:
    """Times of the samples from zero on; samples that do not fit into memory are refused."""
    duration, step = span(model, duration, step)
    must_fit(model, int(min(duration / step, 1e300)) + 1)
    return sample_times(duration, step)


def sample_times(duration: float, step: float) -> Array:
    """0, step, 2 step, ... and the end, which may come after a shorter interval."""
    count = int(np.floor(duration / step * (1 + 1e-12)))
    times: Array = step * np.arange(count + 1, dtype=np.float64)
    if duration - times[-1] > 1e-9 * step:
        return np.append(times, duration)
    times[-1] = duration
    return times


def span(model: Model, duration: float | None, step: float | None) -> tuple[float, float]:
    duration = model.duration if duration is None else duration
    if duration is None:
        raise StateError(f"model {model.name!r} has no duration: give {argument('duration')}, in seconds")
    must_be_positive(duration=duration)
    step = model.step if step is None else step
    step = duration / 100 if step is None else step
    must_be_positive(step=step)
    return float(duration), min(float(step), float(duration))


def must_be_positive(**values: float | None) -> None:
    """Raises StateError for what is not; None means that it was not given, which is allowed but for NEVER_NONE."""
    for name, value in values.items():
        if not (is_finite_number(value) and value > 0) and (value is not None or name in NEVER_NONE):
            raise StateError(f"{name} must be a positive number; it is {brief(value)}")


def must_be_known(name: str) -> None:
    known = [AUTO, *METHODS, *STIFF_METHODS, *PASSING_METHODS]
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise StateError(f"there is no method {name!r}{hint}: use one of {', '.join(known)}")


def no_functions(method: str) -> StateError:
    named = ", ".join((AUTO, *(name for name, scheme in METHODS.items() if scheme.adaptive or not scheme.implicit)))
    return StateError(f"tau and inputs as functions or tables are supported by {named}, not with {method}")


def formulation_for(method: str, model: Model, formulation: str, functions: bool) -> str:
    """The meaning of "auto" for a method: those that keep the structure of Hamilton's equations integrate q and p."""
    scheme = METHODS.get(method)
    if scheme is None or not scheme.implicit or scheme.adaptive:
        return formulation
    if functions:
        raise no_functions(method)
    turning = [name for name, joint in zip(model.joint_names, model.joints, strict=True) if joint.quaternion is not None]
    if turning and not scheme.turns:
        raise StateError(
            f"{method} would not keep the structure at joints with quaternions ({', '.join(turning[:3])}): "
            "use implicit_midpoint, or midpoint4, which has order 4 too"
        )
    if model.closures and method not in CLOSED_METHODS:
        raise StateError(
            f"{method} is for trees, and model {model.name!r} has closed loops: use implicit_midpoint, or midpoint4, "
            "which has order 4 too"
        )
    if formulation not in ("auto", "canonical_momenta"):
        raise StateError(
            f"{method} keeps the structure of Hamilton's equations in q and p: use formulation 'canonical_momenta' "
            f"(or 'auto', which then is that), not {formulation!r}"
        )
    return "canonical_momenta"


def starting_state(dynamics: Dynamics, after: Run | None, given: dict[str, Any], *, passing: bool = False) -> dict[str, Array]:
    """The first state, checked by evaluating the equations there.

    ``passing``: it may be a singular position, where the accelerations ``a`` are not numbers.
    """
    model = dynamics.model
    first_time = 0.0
    if after is not None and not hasattr(after, "values"):
        raise StateError(f"after must be a Run to go on from; it is {after!r}")
    if after is not None:
        first_time = float(after.values("time")[-1])
        given = given | {name: after.values(name)[-1] for name in ("q", "v") if given[name] is None}
    q, v = first_state(dynamics, given["q"], given["v"], first_time)
    start = {"q": q, "v": v, "tau": _one(dynamics, "tau", or_default(given["tau"], np.zeros(model.nv)))}
    start["u"] = dynamics.input_rows(named_inputs(model, given["u"]), 1)[0].copy()
    anchors, known = known_anchors(model), None if after is None else after.values("anchors")[-1, list(model.stictions)]
    start["u"][anchors.inputs] = first_anchors(model, q, v) if known is None or not known.all() else known
    start["u"] = drawn_along(anchors, q, start["u"])
    start["t"] = np.array(first_time)
    start["a"] = _first_acceleration(dynamics, start, passing)
    if model.closures and np.isfinite(start["a"]).all():
        must_agree(dynamics, start, first_time)
    return start


def first_state(dynamics: Dynamics, q: Given, v: Given, t: float) -> tuple[Array, Array]:
    """The model's own start, or what is given instead, with which all loops agree; a warning names what had to be changed."""
    model = dynamics.model
    if q is None and v is None:
        if not model.closures:
            return np.array(model.given_q), np.array(model.given_v)
        own = own_assembly(dynamics).warned()
        return np.array(own.q), np.array(own.v)
    if not model.closures or not isinstance(q, Mapping | None):
        whole = given_values(dynamics, "q", q, model.given_q)
        q = unit = with_unit_quaternions(model, whole[None])[0]
    if not model.closures:
        return unit, given_values(dynamics, "v", v, model.given_v)
    found = start_run(dynamics, q, v, t)
    return found.q, found.v


def _one(dynamics: Dynamics, name: str, given: ArrayLike) -> Array:
    x = np.array(dynamics.array(name, given))
    if x.ndim != 1:
        raise StateError(f"{name} must be one state; it has shape {x.shape}")
    return x


def _first_acceleration(dynamics: Dynamics, start: dict[str, Array], passing: bool) -> Array:
    try:
        return dynamics.acceleration(start["q"], start["v"], start["tau"], t=start["t"], inputs=start["u"])
    except DynamicsError:
        if contradicted_loops(dynamics.plan, start):
            given = {"t": start["t"], "inputs": start["u"]}
            a = dynamics.by_multipliers().acceleration(start["q"], start["v"], start["tau"], **given)
            must_agree(dynamics, start | {"a": a}, float(start["t"]))
        if not passing or singular_loops(dynamics.plan, start) is None:
            raise
        return np.full(dynamics.model.nv, np.nan)


def with_unit_quaternions(model: Model, q: Array) -> Array:
    """Rows of coordinates, their quaternions rid of rounding; one that is not unit is an error."""
    q = q.copy()
    for i, joint in enumerate(model.joints):
        if joint.quaternion is not None and not model.driven[i]:
            at = model.q_index[i] + joint.quaternion
            lengths = np.linalg.norm(q[:, at : at + 4], axis=1)
            wrong = np.flatnonzero(np.abs(lengths - 1) >= 1e-6)
            if len(wrong):
                row = f" in row {wrong[0]}" if len(q) > 1 else ""
                length = f"{lengths[wrong[0]]:.6g}"
                raise StateError(f"the quaternion of joint {model.joint_names[i]!r}{row} has length {length}: it must be 1")
            q[:, at : at + 4] /= lengths[:, None]
    return q


def named_inputs(model: Model, given: ArrayLike | Mapping[str, float] | None) -> ArrayLike | None:
    """Inputs in the model's order, from a mapping by name; those that are not named are zero."""
    if not isinstance(given, Mapping):
        return given
    for name in given:
        if name not in model.inputs:
            raise StateError(f"there is no input {name!r}; model {model.name!r} has {', '.join(model.inputs) or 'none'}")
    return [given.get(name, 0.0) for name in model.inputs]


def or_default(given: ArrayLike | None, default: ArrayLike) -> ArrayLike:
    return default if given is None else given
