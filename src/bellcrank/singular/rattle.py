"""RATTLE in joint coordinates, with solves of least norm: second order, symmetric, and through singular positions.

Source: Andersen's RATTLE in the form of EQUATIONS 5.3 and 5.5, which replaces Huang's update. M depends on q here.

    v_h  = v_n + h/2 (a(q_n, v_n) + M_n^-1 G_n^T lambda)           half a kick
    q_n+1 = q_n + h v_h                                            drift; a quaternion by the exponential
    phi(q_n+1, t_n+1) = 0                                          gives lambda
    v_n+1 = v_h + h/2 (a(q_n+1, v_n+1) + M_n+1^-1 G_n+1^T mu)      half a kick, implicit in the velocities
    G_n+1 v_n+1 + phi_t = 0                                        gives mu

a are the accelerations with open loops. Where G_n and G_n+1 lose rank the unknown parts of lambda and mu are zero: the motion
goes on along the branch of its velocity. lambda starts from the multipliers of the accelerations, so that what the positions
do not say near a singular one is right to third order already. If G_n is so poor that q_n+1 cannot be closed with it, G_n+1
takes its place for that step.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import DynamicsError
from ..model.manifold import Drift
from ..spatial.rank import Factors
from ..wording import argument
from .factors import Metric
from .impacts.impulse import started
from .implicit import settled
from .loop import NOTHING, Progress, Watched, march
from .outcome import Passed, Report
from .passages import PassageFinder, WatchedStep
from .quantities import Quantities
from .records import EnergyBalance, States

Array = NDArray[np.float64]

ROUNDING = 1e-15
CLOSED = 1e-11  # errors of a closure, as a part of the model's size, that may remain where its equations are poor
MOST = 30  # steps of an iteration


def integrate_rattle(
    dynamics: Dynamics,
    start: dict[str, Array],
    times: Array,
    max_step: float | None = None,
    progress: Progress | None = None,
    watched: Watched = NOTHING,
) -> Passed:
    """A run from ``start`` (q, v, tau, u) at times[0] to times[-1], in equal steps of at most max_step between the samples."""
    stepper = Rattle(dynamics, start, float(times[0]))
    return march(stepper, EnergyBalance(dynamics, start["tau"], start["u"]), times, max_step, progress, watched)


class Place(NamedTuple):
    """The quantities of a configuration: metric, factors of G L^-T, and the rates of the closures at rest."""

    t: float
    q: Array
    metric: Metric
    factors: Factors
    drift: Array


class GridPoint(NamedTuple):
    """A state between two steps: accelerations with open loops, what the closures add to them, their multipliers, and the
    energy lost in a jump on the way to it."""

    place: Place
    v: Array
    free: Array
    constraint: Array
    multipliers: Array
    lost: float = 0.0


class Rattle:
    """A state on its way through time."""

    def __init__(self, dynamics: Dynamics, start: dict[str, Array], t: float):
        self.quantities = Quantities(dynamics, start["tau"], start["u"])
        self.dynamics, self.model, self.report = dynamics, dynamics.model, Report()
        self.watch = PassageFinder(self.quantities.names_of, self.quantities.joints_of)
        self._moved = Drift(self.model)
        self.evaluations = self.iterations = 0
        v, impact = started(self.quantities, start["q"], start["v"], t)
        if impact is not None:
            self.report.impacts.append(impact)
        self.node = self._node(self._place(start["q"].copy(), t), v)
        self._seen()

    @property
    def t(self) -> float:
        return self.node.place.t

    def begin(self, window: tuple[float, float]) -> None:
        self.quantities.window = window
        self.node = self._node(self.node.place, self.node.v)

    def now(self) -> GridPoint:
        return self.node

    def states(self, kept: list[GridPoint]) -> States:
        rows = [(n.place.t, n.place.q, n.v, n.free + n.constraint, n.multipliers, n.lost) for n in kept]
        return States(*(np.array(column) for column in zip(*rows, strict=True)))

    def finish(self, samples: list[GridPoint]) -> None:
        self.report.passages, self.report.rank = self.watch.passages, self.watch.regular

    def counts(self) -> dict[str, int]:
        return {"evaluations": self.evaluations, "iterations": self.iterations}

    def step(self, until: float) -> None:
        """One step to the time ``until``; raises DynamicsError where there is none."""
        before, h = self.node, until - self.t
        half, q = self._drift(before, h, until)
        place = self._place(q, until)
        v = self._kick(place, half, h)
        self.node = self._node(place, v)
        self.node = self.node._replace(lost=self._lost(before, h))
        self._seen()

    def _drift(self, n: GridPoint, h: float, until: float) -> tuple[Array, Array]:
        """v_h and q_n+1 that closes the loops."""
        place, to_velocity = n.place, n.place.metric.inverse.T
        half = n.v + 0.5 * h * (n.free + n.constraint)
        q = self._moved(place.q, h * half)
        if not self.quantities.m:
            return half, q
        ways = to_velocity @ place.factors.Vt[: place.factors.kept].T
        half, q, error = self._closed(place.q, half, h, until, ways)
        if error > CLOSED * self.quantities.length:
            half, q, error = self._nearest(place, n.v + 0.5 * h * (n.free + n.constraint), h, until)
        if not error <= CLOSED * self.quantities.length:
            raise DynamicsError(self._open(q, until))
        return half, q

    def _closed(self, start: Array, half: Array, h: float, until: float, ways: Array) -> tuple[Array, Array, float]:
        """Newton's method for phi = 0 along columns ``ways`` of velocities; the best that it found, and its error."""
        best, error, factors = (half, start), np.inf, None
        for k in range(MOST):
            q = self._moved(start, h * half)
            phi = self.quantities.errors(q, until)
            size = float(np.abs(phi).max())
            slow = not size <= 0.5 * error
            if slow and factors is not None:
                size = self.quantities.open_by(phi, factors)
            if size < error:
                best, error = (half, q), size
            if size <= ROUNDING * self.quantities.length or (
                slow and (error <= CLOSED * self.quantities.length or k > MOST // 2)
            ):
                break
            if factors is None or k >= 2:  # the first Jacobian serves until the errors are of rounding, if it is good enough
                factors = self.quantities.factored(self.quantities.jacobian(q, until) @ ways, q, until)
            half = half + ways @ factors.solve(phi / -h)
            self.iterations += 1
        return *best, error

    def _nearest(self, place: Place, open_half: Array, h: float, until: float) -> tuple[Array, Array, float]:
        """The same with G_n+1: x of least norm with phi(q_n + h (v + L^-T x)) = 0, the nearest place that closes the loops."""
        to_velocity, x = place.metric.inverse.T, np.zeros(len(open_half))
        best, error = (open_half, place.q), np.inf
        for _ in range(MOST):
            half = open_half + to_velocity @ x
            q = self._moved(place.q, h * half)
            phi = self.quantities.errors(q, until)
            A = self.quantities.jacobian(q, until) @ to_velocity
            factors = self.quantities.factored(A, q, until)
            size = self.quantities.open_by(phi, factors)
            if size < error:
                best, error = (half, q), size
            new = factors.solve(A @ x - phi / h)
            change, x = float(np.abs(new - x).max()), new
            self.iterations += 1
            if size <= CLOSED * self.quantities.length and change <= 1e-9 * np.abs(x).max():
                break
        return *best, error

    def _kick(self, place: Place, half: Array, h: float) -> Array:
        """v = c + H force(v): the end of the step, with the closures' rates zero."""
        L, inverse = place.metric
        c = inverse.T @ (place.factors.without(L.T @ half) - place.factors.solve(place.drift))
        H = 0.5 * h * (inverse.T @ place.factors.without(inverse))
        guess = 2 * half - self.node.v
        v = settled(partial(self._force, place), partial(self._slopes, place), c, H, guess)
        if v is None:
            raise DynamicsError(
                f"forces that depend on velocities change too much in a step of {h:.3g} s. "
                f"Take shorter ones ({argument('max_step')})"
            )
        return v

    def _slopes(self, place: Place, v: Array) -> Array:
        """d force/dv by differences: enough for Newton's method."""
        small = 1e-6 * (1 + np.abs(v).max())
        both = np.vstack([v + small * np.eye(len(v)), v - small * np.eye(len(v))])
        out = self.dynamics.inverse_dynamics(
            place.q, both, np.zeros(len(v)), t=self.quantities.clock(place.t), inputs=self.quantities.u
        )
        up, down = np.split(out, 2)
        return (down - up).T / (2 * small)

    def _force(self, place: Place, v: Array) -> Array:
        self.evaluations += 1
        return self.quantities.force(place.q, v, place.t)

    def _place(self, q: Array, t: float) -> Place:
        metric = Metric.of(self.quantities.mass(q, t))
        A = self.quantities.jacobian(q, t) @ metric.inverse.T
        drift = self.quantities.closure(q, np.zeros(self.quantities.nv), t)[:, 1]
        return Place(t, q, metric, self.quantities.factored(A, q, t, self.watch.regular), drift)

    def _node(self, place: Place, v: Array) -> GridPoint:
        """Accelerations of least deviation: G a = gamma where the rows say something."""
        inverse, factors = place.metric.inverse, place.factors
        x = inverse @ self._force(place, v)
        rows = self.quantities.closure(place.q, v, place.t)
        right = self.quantities.right(place.q, v, place.t)
        constraint = factors.solve(right - factors.U @ (factors.s * (factors.Vt @ x)))
        self.report.closure_position = max(self.report.closure_position, float(np.abs(rows[:, 0]).max(initial=0.0)))
        self.report.closure_velocity = max(self.report.closure_velocity, float(np.abs(rows[:, 1]).max(initial=0.0)))
        multipliers = factors.solve_transposed(constraint) * self.quantities.scale
        return GridPoint(place, v, inverse.T @ x, inverse.T @ constraint, multipliers)

    def _lost(self, before: GridPoint, h: float) -> float:
        """Energy of what the closures changed in the velocities beyond what their forces do in a step."""
        n = self.node
        forces = 0.5 * h * (before.free + before.constraint + n.free + n.constraint)
        jump = n.place.metric.L.T @ (n.v - before.v - forces)
        return 0.5 * float(jump @ jump)

    def _seen(self) -> None:
        if self.quantities.m:
            place = self.node.place
            self.watch.see(WatchedStep(place.t, place.factors, place.metric.inverse, self.node.lost))

    def _open(self, q: Array, t: float) -> str:
        phi = self.quantities.errors(q, t)
        worst = int(np.argmax(np.abs(phi)))
        closure = self.model.closures[int(np.searchsorted(self.model.closure_index, worst, side="right")) - 1]
        return (
            f'"{closure.name}" cannot be closed at t = {t:.9g} s: it stays {abs(phi[worst]) * 1e3:.3g} mm apart. '
            f"Take shorter steps ({argument('max_step')}), or look for motions that contradict each other or pass a dead centre"
        )
