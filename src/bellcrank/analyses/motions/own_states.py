"""User-defined states along given positions: kept constant while an input is driven, integrated along a motion over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...errors import DynamicsError, StateError
from ...model import Model
from ...model.manifold import unit_quaternions
from ...wording import did_you_mean

Array = NDArray[np.float64]

MOST = 20_000  # evaluations of the rates, and 500 more for each time
EXACT = 1e-9  # relative tolerance of the integration; absolutely, of the largest value a state has at the start, or of 1


def held_states(model: Model, given: Mapping[str, float] | None) -> Array:
    """Their values: those of the start, but for the given ones."""
    found = dict(zip(model.state_names, np.asarray(model.given_v)[list(model.state_places)].tolist(), strict=True))
    for name, value in (given or {}).items():
        if name not in found:
            known = f"it has {', '.join(found)}" if found else "it has none"
            raise StateError(f"model {model.name!r} has no state {name!r}{did_you_mean(name, found)}: {known}")
        if not (isinstance(value, int | float | np.number) and np.isfinite(value)):
            raise StateError(f"state {name!r} must be held at one finite number; it is {value!r}")
        found[name] = float(value)
    return np.array(list(found.values()))


def states_along(dyn: Dynamics, times: Array, q: Array, v: Array, a: Array, u: Array) -> tuple[Array, Array]:
    """v and a with the states, z' = rate(t, q(t), v(t), z), and their rates.

    Between the times q and v are cubics through their values and rates, so that errors are of the fourth power of the steps.
    """
    model, own = dyn.model, list(dyn.model.state_places)
    v, a = v.copy(), a.copy()
    v[:, own] = np.asarray(model.given_v)[own]
    if len(times) > 1:
        v[:, own] = _integrated(dyn, times, q, v, a, u)
    a[:, own] = dyn.elements(q, v, t=times, inputs=u)[2][:, model.force_count :]
    return v, a


def _integrated(dyn: Dynamics, times: Array, q: Array, v: Array, a: Array, u: Array) -> Array:
    from scipy.integrate import solve_ivp
    from scipy.interpolate import CubicHermiteSpline

    model, own = dyn.model, list(dyn.model.state_places)
    positions, speeds = CubicHermiteSpline(times, q, dyn.rates(q, v)), CubicHermiteSpline(times, v, a)

    evaluations = iter(range(MOST + 500 * len(times)))

    def rates(t: float, z: Array) -> Array:
        if next(evaluations, None) is None:
            raise _stuck(model, t)
        here = np.asarray(speeds(t))
        here[own] = z
        at = unit_quaternions(model, np.asarray(positions(t))[None])
        return np.asarray(dyn.elements(at[0], here, t=t, inputs=u)[2][model.force_count :])

    start = v[0, own]
    size = np.maximum(np.abs(start), 1.0)
    found = solve_ivp(
        rates, (times[0], times[-1]), start, "LSODA", t_eval=times, rtol=EXACT, atol=EXACT * size, max_step=np.diff(times).max()
    )
    if not found.success:
        raise _stuck(model, float(found.t[-1]))
    return np.asarray(found.y.T)


def _stuck(model: Model, t: float) -> DynamicsError:
    return DynamicsError(
        f"the states of model {model.name!r} cannot be integrated along this motion beyond t = {t:.6g} s: it takes too many "
        "steps. Do they grow without bound, or are they too fast?"
    )
