"""Derivatives of user-defined states along given positions: of those that are held, and along a motion over time.

Along a motion z' = r(t, q, v, z), and with the design dz' = r_z dz + (what dq, dv and the parameters change of r).
"""

from __future__ import annotations

import numpy as np

from ...analyses.motions.own_states import EXACT
from ...dynamics.differentiation import Changes, Derivative, derivatives
from ...errors import DynamicsError
from ...formulations import QUANTITIES
from ...model.manifold import unit_quaternions
from .equations import Array, Equations


def of_the_start(equations: Equations) -> Array:
    """Derivatives of their values at the start, (states, P)."""
    return equations.written("given_v", equations.model.nv)[list(equations.model.state_places)]


def along_motion(
    equations: Equations, motion: tuple[Array, Array, Array], changes: tuple[Array, Array, Array]
) -> tuple[Array, Array]:
    """Derivatives of the states and of their rates, (k, states, P), along q, v, a and dq, dv, da at the times.

    Between the times motions are the cubics of analyses.motions.own_states, and so are their derivatives.
    """
    from scipy.integrate import solve_ivp
    from scipy.interpolate import CubicHermiteSpline

    (q, v, a), (dq, dv, da), times = motion, changes, equations.t
    own, first = list(equations.model.state_places), of_the_start(equations)
    found = np.repeat(first[None], len(times), axis=0)
    if len(times) > 1:
        dyn = equations.dynamics
        values = CubicHermiteSpline(times, q, dyn.rates(q, v)), CubicHermiteSpline(times, v, a)
        slopes = CubicHermiteSpline(times, dq, equations.rates(q, v, dq, dv)), CubicHermiteSpline(times, dv, da)
        sizes = np.where(equations.design.start == 0, 1.0, np.abs(equations.design.start))

        def rates(t: float, both: Array) -> Array:
            z, dz = both[: len(own)], both[len(own) :].reshape(len(own), -1) / sizes
            (here, speed), (turn, change) = ([curve(t) for curve in curves] for curves in (values, slopes))
            speed[own], change[own] = z, dz
            rate = _rates(equations, unit_quaternions(equations.model, here[None]), speed[None], turn[None], change[None], t)
            return np.concatenate([rate.value[0], (rate.along[0] * sizes).ravel()])

        start = np.concatenate([v[0, own], (first * sizes).ravel()])
        limits = {"rtol": EXACT, "atol": EXACT * np.maximum(np.abs(start), 1.0), "max_step": np.diff(times).max()}
        solved = solve_ivp(rates, (times[0], times[-1]), start, "LSODA", t_eval=times, **limits)
        if not solved.success:
            raise DynamicsError(f"the derivatives of the states of model {equations.model.name!r} grow without bound")
        found = solved.y[len(own) :].T.reshape(len(times), len(own), -1) / sizes
    dv = dv.copy()
    dv[:, own] = found
    return found, _rates(equations, q, v, dq, dv, times).along


def _rates(equations: Equations, q: Array, v: Array, dq: Array, dv: Array, t: Array | float) -> Derivative:
    """Rates of the states, (k, states), with derivatives (k, states, P): the efforts of unit masses, with opposite sign."""
    own, still = list(equations.model.state_places), np.zeros_like(v)
    changes = Changes(equations.count, {"q": dq, "v": dv}, equations.tangents)
    rows = {"q": q, "v": np.ascontiguousarray(v), "a": still}
    found = derivatives(equations.dynamics, QUANTITIES["inverse_dynamics"], rows, changes, t, equations.inputs)["tau"]
    return Derivative(-found.value[:, own], -found.along[:, own])
