"""The equations of motion in first order, y = (q, v, works), for loops outside machine code; and what a loop leaves behind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import BellcrankError
from ..machine.steps.cuts.known import drawn_along, known_anchors
from ..model.manifold import cross_matrix, rate_matrix, rotation, turning_joints, velocity_matrix
from ..wording import argument
from .loops.treatment import NO_LOOPS, Loops

Array = NDArray[np.float64]


_NO_FUNCTIONS = "rattle, which passes it well, supports neither functions nor tables."


def let_it_pass(*, functions: bool = False) -> str:
    """The remedies at a singular configuration; ``functions``: efforts or inputs are functions or tables."""
    going_on = argument("on_singular", "warn")
    if functions:
        return f"Continue through it with {going_on}; {_NO_FUNCTIONS}"
    passing = f"{argument('method', 'rattle')} or {argument('on_singular', 'pass')}"
    return f"Let it pass with {passing}, or continue through it by this method with {going_on}."


def stuck(*, functions: bool = False) -> str:
    """The same, where "warn" did not help."""
    passing = f"{argument('method', 'rattle')} or {argument('on_singular', 'pass')}"
    through = _NO_FUNCTIONS if functions else f"use {passing}."
    return f"This method cannot pass it, since accelerations have no bound there: {through}"


class Passage(NamedTuple):
    """A singular configuration that was met: when, and at the equation of which closure."""

    time: float
    closure: str

    def problem(self, remedy: str | None = None) -> str:
        """The reason why a run ended there."""
        return f"{self._what()} {remedy or let_it_pass()} What was computed until then is kept."

    def ended(self, problem: str | None) -> bool:
        """Whether this is why a run ended."""
        return problem is not None and problem.startswith(self._what())

    def _what(self) -> str:
        return (
            f"stopped at t = {self.time:.9g} s: the mechanism reaches a singular configuration, where the loop through "
            f'"{self.closure}" could continue in more than one way.'
        )


class Outcome(NamedTuple):
    """Samples from the start on; works in the order of Trajectory.works_done; why it ended early, or None.

    A run that ended early has its last state as its last sample. ``peak``: the largest kinetic energy at any step, as far
    as it is known. ``lost``: what impacts took. Both in J. ``anchors`` of friction
    that holds, a row for each sample; None where there are none. ``dq`` and ``dv``: derivatives of the samples by parameters,
    (samples, nq, parameters) and (samples, nv, parameters), where they were asked for; ``missed``: for each parameter, the
    estimated errors of all steps in parts of what the tolerance allows in one.
    """

    times: Array
    q: Array
    v: Array
    works: Array
    counts: dict[str, int]
    problem: str | None
    passages: tuple[Passage, ...] = ()
    peak: float = 0.0
    lost: float = 0.0
    anchors: Array | None = None
    dq: Array | None = None
    dv: Array | None = None
    missed: Array | None = None
    reactions: Array | None = None  # (samples, joints and closures, 6), where a method has its own

    def until(self, count: int) -> Outcome:
        """The first samples only."""
        rows = {name: getattr(self, name) for name in ("times", "q", "v", "works", "anchors", "dq", "dv", "reactions")}
        return self._replace(**{name: x[:count] for name, x in rows.items() if x is not None})


def energy_scale(dynamics: Dynamics, start: dict[str, Array]) -> float:
    """An energy that matters for a model: the kinetic one at the start, and what lifts each body by its own size."""
    model = dynamics.model
    kinetic, _ = dynamics.energy(start["q"], start["v"], t=float(start.get("t", 0.0)))
    sizes = np.linalg.norm(model.center, axis=1) + np.linalg.norm(model.position, axis=1)
    return float(kinetic + np.linalg.norm(model.gravity) * (model.mass @ sizes))


class Fastest:
    """The state of a run with the largest speeds, of those that were noted."""

    def __init__(self, dynamics: Dynamics):
        self.dynamics, self.speed = dynamics, 0.0
        self.at: tuple[float, Array] | None = None

    def note(self, t: float, y: Array) -> None:
        nq, nv = self.dynamics.model.nq, self.dynamics.model.nv
        speed = float(y[nq : nq + nv] @ y[nq : nq + nv])
        if speed > self.speed:
            self.speed, self.at = speed, (t, y[: nq + nv].copy())

    def kinetic(self) -> float:
        """The kinetic energy in J."""
        if self.at is None:
            return 0.0
        q, v = np.split(self.at[1], [self.dynamics.model.nq])
        return float(np.nan_to_num(self.dynamics.energy(q[None], v[None], t=self.at[0])[0][0], posinf=0.0))


def powers(dynamics: Dynamics, at: dict[str, Array]) -> Array:
    """Powers of the force elements, of the drives (in the order of the walk), of driven closures, and of the given efforts."""
    model, q, v, t, u = dynamics.model, at["q"], at["v"], float(at["t"]), at["u"]
    parts = [np.array([at["tau"] @ v])]
    if any(closure.motion is not None for closure in model.closures):
        parts.insert(0, dynamics.closure_powers(q, v, at["tau"], t=t, inputs=u))
    if model.driven.any():
        parts.insert(0, dynamics.drive_powers(q, v, at["a"], t=t, inputs=u, tau=at["tau"]))
    if model.elements:
        parts.insert(0, dynamics.elements(q, v, t=t, inputs=u)[1])
    return np.concatenate(parts)


class FirstOrder:
    """The equations of motion in first order."""

    def __init__(self, dynamics: Dynamics, start: dict[str, Array], loops: Loops = NO_LOOPS) -> None:
        model = dynamics.model
        self.loops = loops
        self.dynamics, self.model = dynamics, model
        self.tau, self.u = start["tau"], start["u"]
        self.window = (-np.inf, np.inf)  # times between which the equations hold as they are
        self.state = model.nq + model.nv
        self._anchors = known_anchors(model)
        self.closings = len(model.closures) if any(c.motion is not None for c in model.closures) else 0
        self.works = len(model.elements) + len(dynamics.frames.drive_order) + self.closings + 1

    def anchors(self) -> Array:
        """Anchors of friction that holds, as they are now."""
        return self.u[len(self.model.inputs) :].copy()

    def draw_anchors(self, y: Array) -> None:
        """After a step that ended at y."""
        self.u = drawn_along(self._anchors, y[: self.model.nq], self.u)

    def parts(self, y: Array) -> tuple[Array, Array, Array]:
        """q (with quaternions of unit length), v and works."""
        q, v, works = np.split(y, [self.model.nq, self.state], axis=1)
        for at in turning_joints(self.model):
            q[:, at.quaternion] /= np.linalg.norm(q[:, at.quaternion], axis=1, keepdims=True)
        return q, v, works

    def closed(self, t: float, y: Array) -> Array:
        """The state moved onto the closures."""
        if not (self.loops.project and self.model.closures):
            return y
        q, v = self.dynamics.projected(y[: self.model.nq], y[self.model.nq : self.state], t=t, metric=self.loops.metric)
        return np.concatenate(self.parts(np.concatenate([q, v, y[self.state :]])[None]), axis=1)[0]

    def slope(self, t: float, y: Array) -> Array:
        """dy/dt; not a number where the equations have no finite answer, from which the solver takes a step back."""
        q, v, t = y[: self.model.nq], y[self.model.nq : self.state], min(max(t, self.window[0]), self.window[1])
        try:
            a = self.dynamics.acceleration(q, v, self.tau, t=t, inputs=self.u)
            return np.concatenate([self.dynamics.rates(q, v), a, self._powers(t, q, v, a)])
        except BellcrankError:
            return np.full(len(y), np.nan)

    def _powers(self, t: float, q: Array, v: Array, a: Array) -> Array:
        return powers(self.dynamics, {"q": q, "v": v, "a": a, "t": np.array(t), "tau": self.tau, "u": self.u})

    def jacobian(self, t: float, y: Array) -> Array:
        nq, q, v = self.model.nq, y[: self.model.nq], y[self.model.nq : self.state]
        t = min(max(t, self.window[0]), self.window[1])
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
        if self.state == 0:
            return "the work of a drive or force"
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
