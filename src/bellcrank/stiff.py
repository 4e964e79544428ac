"""Runs of stiff models by scipy's implicit methods, with exact Jacobians.

The state is y = (q, v, works). With E, E+ and the derivatives of the acceleration (manifold.py, Dynamics.jacobians),

         [ d(E v)/dq     E      0 ]
    J =  [ da/dd E+     da/dv   0 ]
         [ 0             0      0 ]

Works are quadratures: they depend on nothing but what was integrated before, so they need no rows of J and, as in the machine
code's runs, no say in the step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .codegen.dynamics import Dynamics
from .errors import BellcrankError, StateError
from .formulations import QUANTITIES
from .manifold import cross_matrix, rate_matrix, rotation, turning_joints, velocity_matrix

Array = NDArray[np.float64]

STIFF_METHODS = ("radau", "bdf")
FINEST = 100 * float(np.finfo(float).eps)  # of scipy's solvers


class StiffRun(NamedTuple):
    """Samples from the start on; works in the order of Trajectory.works_done; why it ended early, or None.

    A run that ended early has its last state as its last sample.
    """

    times: Array
    q: Array
    v: Array
    works: Array
    counts: dict[str, int]
    problem: str | None


def integrate_stiff(
    dynamics: Dynamics,
    method: str,
    start: dict[str, Array],
    times: Array,
    rtol: float,
    atol: float,
    max_step: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> StiffRun:
    """From ``start`` (q, v, tau, u) at times[0] to times[-1], with samples at all times between.

    "radau" is Hairer & Wanner's Radau IIA of order 5, L-stable; its steps end at the samples, since its interpolation is of
    order 3 only. "bdf" has orders 1 to 5, cheaper steps, and interpolates to its own order.
    """
    if method not in STIFF_METHODS:
        raise StateError(f"there is no stiff method {method!r}: use one of {', '.join(STIFF_METHODS)}")
    if rtol < FINEST:
        raise StateError(f"{method} cannot keep rtol = {rtol:g}: give {FINEST:.2g} at least")
    from scipy.integrate import BDF, Radau

    system = _System(dynamics, start)
    y = np.concatenate([start["q"], start["v"], np.zeros(system.works)])
    tolerances = np.where(np.arange(len(y)) < system.state, atol, np.inf)
    cls = {"radau": Radau, "bdf": BDF}[method]
    options = {"rtol": rtol, "atol": tolerances, "jac": system.jacobian, "max_step": max_step or np.inf}
    solver = cls(system.slope, float(times[0]), y, float(times[-1]), **options)
    kept = [y]
    steps, problem = 0, None
    try:
        while problem is None and len(kept) < len(times):
            if method == "radau":
                solver.t_bound, solver.status = float(times[len(kept)]), "running"
            problem = _step(solver, system, method)
            if problem is None:
                steps += 1
                kept += _reached(solver, times[len(kept) :], exact=method == "radau")
                if progress is not None:
                    progress(float((solver.t - times[0]) / (times[-1] - times[0])))
    except KeyboardInterrupt:
        problem = f"interrupted at t = {solver.t:.6g} s"
    reached = times[: len(kept)]
    if problem is not None and solver.t > reached[-1]:
        reached, kept = np.append(reached, solver.t), [*kept, solver.y.copy()]
    counts = {"steps": steps, "evaluations": solver.nfev, "jacobians": solver.njev, "factorizations": solver.nlu}
    return StiffRun(reached, *system.parts(np.array(kept)), counts, problem)


def _step(solver: Any, system: _System, method: str) -> str | None:
    """One step; what went wrong, when, and at which coordinate."""
    where = f"stopped at t = {solver.t:.9g} s: {system.worst(solver.t, solver.y)}"
    with np.errstate(all="ignore"):
        try:
            solver.step()
        except (ValueError, np.linalg.LinAlgError):  # a matrix that is not finite, or cannot be factored
            return f"{where} has derivatives that are not finite. What was computed until then is kept."
    if solver.status != "failed":
        return None
    return (
        f"{where} changes too fast, {method} would need a step below {10 * np.spacing(solver.t):.2g} s. "
        "Look for massless parts or forces without bound there, or loosen rtol and atol. What was computed until then is kept."
    )


def _reached(solver: Any, ahead: Array, *, exact: bool) -> list[Array]:
    """States at the samples that the last step came to or passed."""
    if exact:
        return [solver.y.copy()] if solver.t >= ahead[0] else []
    passed = ahead[ahead <= solver.t]
    if not len(passed):
        return []
    between = solver.dense_output()
    return [between(t) if t < solver.t else solver.y.copy() for t in passed]


class _System:
    """The equations of motion in first order."""

    def __init__(self, dynamics: Dynamics, start: dict[str, Array]) -> None:
        model = dynamics.model
        self.dynamics, self.model = dynamics, model
        self.tau, self.u = start["tau"], start["u"]
        self.state = model.nq + model.nv
        self.works = len(model.elements) + len(dynamics._frames.drive_order) + 1

    def parts(self, y: Array) -> tuple[Array, Array, Array]:
        """q (with quaternions of unit length), v and works."""
        q, v, works = np.split(y, [self.model.nq, self.state], axis=1)
        for at in turning_joints(self.model):
            q[:, at.quaternion] /= np.linalg.norm(q[:, at.quaternion], axis=1, keepdims=True)
        return q, v, works

    def slope(self, t: float, y: Array) -> Array:
        """dy/dt; not a number where the equations have no finite answer, from which the solver takes a step back."""
        q, v = y[: self.model.nq], y[self.model.nq : self.state]
        try:
            a = self.dynamics.acceleration(q, v, self.tau, t=t, inputs=self.u)
            return np.concatenate([self.dynamics.rates(q, v), a, self._powers(t, q, v, a)])
        except BellcrankError:
            return np.full(len(y), np.nan)

    def _powers(self, t: float, q: Array, v: Array, a: Array) -> Array:
        dynamics, powers = self.dynamics, [np.array([self.tau @ v])]
        if self.model.driven.any():
            drives = dynamics._evaluate(QUANTITIES["drives"], {"q": q, "v": v, "a": a}, t, self.u)
            powers.insert(0, drives.reshape(-1, 2)[:, 1])
        if self.model.elements:
            powers.insert(0, dynamics.elements(q, v, t=t, inputs=self.u)[1])
        return np.concatenate(powers)

    def jacobian(self, t: float, y: Array) -> Array:
        nq, q, v = self.model.nq, y[: self.model.nq], y[self.model.nq : self.state]
        J = self.dynamics.jacobians(q, v, self.tau, t=t, inputs=self.u)
        inverse = velocity_matrix(self.model, q)
        full = np.zeros((len(y), len(y)))
        full[:nq, :nq] = _rates_by_position(self.dynamics, q, v, inverse)
        full[:nq, nq : self.state] = rate_matrix(self.model, q)
        full[nq : self.state, :nq] = J.dq @ inverse
        full[nq : self.state, nq : self.state] = J.dv
        return full

    def worst(self, t: float, y: Array) -> str:
        """Name of the coordinate that changes fastest for its size, or the first that is not finite."""
        slope = self.slope(t, y)[: self.state]
        names = [*(f"q of {name}" for name in self.model.q_names), *(f"v of {name}" for name in self.model.v_names)]
        bad = np.flatnonzero(~np.isfinite(slope))
        return names[bad[0] if len(bad) else int(np.argmax(np.abs(slope) / (1 + np.abs(y[: self.state]))))]


def _rates_by_position(dynamics: Dynamics, q: Array, v: Array, inverse: Array) -> Array:
    """d(E v)/dq: a quaternion's rate q (0, w)/2 is linear in it; a free body's R v turns with it, -R (v x) d."""
    model = dynamics.model
    result = np.zeros((model.nq, model.nq))
    for at in turning_joints(model):
        x, y, z = v[at.angular] / 2
        result[at.quaternion, at.quaternion] = [[0, -x, -y, -z], [x, 0, z, -y], [y, -z, 0, x], [z, y, -x, 0]]
        if at.free:
            turned = -rotation(q[at.quaternion]) @ cross_matrix(v[at.linear])
            result[at.position] += turned @ inverse[at.angular]
    return result
