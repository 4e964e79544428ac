"""Huang's method: the reactions of all joints from the positions at the end of a step, to second order in its length.

Source: Huang et al. (4)-(33) as corrected in EQUATIONS 5.1 to 5.3. Every body moves by itself; all joints are equations.

    U, P                         how points and axes move in a step without reactions          (13), (19)
    phi(x + U + W(Q), q + P + H(Q)) = 0, linear in Q                                           (22)-(33)
    a = M^-1 (g + Z^T Q),  x += v dt + h a,  v += a dt,  h = dt^2/2
    v -= M^-1 G^T (G M^-1 G^T)^+ G v                                                           not in the paper

Without the last line an error of the velocities changes its sign in every step and never decays (EQUATIONS 5.3). The
reactions Q are along the directions that joints forbid, as wrenches that balance each other where a joint has slid: the paper's
opposite forces at two different points of a sliding joint's axis would not.

code     paper    meaning                                                    shape
x                 velocities or accelerations times M^1/2, all bodies        (6n,)
A                 G M^-1/2, rows of the Jacobian                             (m, 6n)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...dynamics.output_frames import on_children
from ...errors import BellcrankError, DynamicsError
from ...singular.factors import factored
from ...singular.impacts.impulse import started
from ...singular.loop import NOTHING, Progress, Watched, march
from ...singular.outcome import Momentum, Passed, Reactions, Report
from ...singular.passages import PassageFinder, WatchedStep
from ...singular.quantities import Quantities
from ...singular.records import EnergyBalance, States
from ...spatial.rank import Factors
from ...wording import argument
from .applied import Applied
from .maximal import Bodies, Converter, apply, cross, least_inertia, turned
from .ties import Ints, PlacedBodies, Ties, Wrenches, all_ties

Array = NDArray[np.float64]


def integrate_reaction_taylor(
    dynamics: Dynamics,
    start: dict[str, Array],
    times: Array,
    max_step: float | None = None,
    progress: Progress | None = None,
    watched: Watched = NOTHING,
    *,
    project: bool = True,
) -> Passed:
    """A run from ``start`` (q, v, tau, u) at times[0] to times[-1], in equal steps of at most max_step between the samples.

    ``project=False`` leaves out the projection of the velocities, as published; nobody should want that but to see it.
    """
    stepper = ReactionTaylor(dynamics, start, float(times[0]), project=project)
    return march(stepper, EnergyBalance(dynamics, start["tau"], start["u"]), times, max_step, progress, watched)


@dataclass
class Moment:
    """The bodies at a time, the energy that the projection took, and the reactions of the step that begins here."""

    t: float
    bodies: Bodies
    R: Array
    place: PlacedBodies
    wrenches: Wrenches
    factors: Factors
    taken: float = 0.0
    reactions: Array | None = None


class ForcesAndAccelerations(NamedTuple):
    """Accelerations of the centres (world) and of the turns (own axes), reactions of the ties, applied wrenches."""

    a: Array
    alpha: Array
    reactions: Array
    applied: Array


class ReactionTaylor:
    """All bodies in motion through time."""

    def __init__(self, dynamics: Dynamics, start: dict[str, Array], t: float, *, project: bool = True):
        model = dynamics.model
        self.dynamics, self.model, self.project, self.report = dynamics, model, project, Report()
        self.length, self.tolerance = float(dynamics.plan.length), float(dynamics.plan.tolerance)
        self.ties: Ties = all_ties(model, self.length)
        self.converter = Converter(dynamics)
        self.applied = Applied(dynamics, self.converter, start["tau"], start["u"])
        self.root_mass = np.sqrt(model.mass)[:, None]
        self.inertia = least_inertia(model, self.length)  # about the centres, in body axes
        L = np.linalg.cholesky(self.inertia)
        self.L_inverse = np.linalg.inv(L)
        self.L_T, self.L_inverse_T = np.swapaxes(L, 1, 2), np.swapaxes(self.L_inverse, 1, 2)
        self.watch = PassageFinder(self.ties.names_of, self._moving)
        self._last_q, self._dt, self._solves = start["q"].copy(), 0.0, 0
        self._window = (-np.inf, np.inf)
        v = start["v"]
        if project:
            v, impact = started(Quantities(dynamics, start["tau"], start["u"]), start["q"], v, t)
            self.report.impacts += [] if impact is None else [impact]
        self.moment = self._moment(t, self.converter.bodies(start["q"], v, t))
        self._expected = self._momentum = self._momenta(self.moment)
        self._worst = np.zeros(2)
        self._see()

    @property
    def t(self) -> float:
        return self.moment.t

    def begin(self, window: tuple[float, float]) -> None:
        self._window = window

    def step(self, until: float) -> None:
        """One step to the time ``until``; raises DynamicsError where there is none."""
        try:
            self._step(until)
        except np.linalg.LinAlgError as trouble:  # singular values of numbers that have grown without bound
            raise DynamicsError(f"the motion grows without bound. Take shorter steps ({argument('max_step')})") from trouble

    def _step(self, until: float) -> None:
        now, self._dt = self.moment, until - self.t
        pushed = self._solve(now, self._dt)
        now.reactions = pushed.reactions
        dt, b = self._dt, now.bodies
        h = 0.5 * dt * dt
        moved = Bodies(
            b.r + b.v * dt + h * pushed.a,
            turned(b.p, b.w * dt + h * pushed.alpha),
            b.v + dt * pushed.a,
            b.w + dt * pushed.alpha,
        )
        if not all(np.isfinite(x).all() for x in moved):
            raise DynamicsError(f"the state is no longer finite. Take shorter steps ({argument('max_step')})")
        self.moment = self._moment(until, moved)
        impulses = self._settle() if self.project else np.zeros((len(self.ties.a), 6))
        self._balance(now, pushed, impulses)
        self._see()

    def _moment(self, t: float, bodies: Bodies) -> Moment:
        R = bodies.axes
        place = self.ties.placed(np.vstack([bodies.r, np.zeros(3)]), np.concatenate([R, np.eye(3)[None]]))
        wrenches = self.ties.wrenches(place)
        factors = factored(self._rows(wrenches, R), self.tolerance, self.watch.regular)
        return Moment(t, bodies, R, place, wrenches, factors)

    def _rows(self, wrenches: Wrenches, R: Array) -> Array:
        """A = G M^-1/2."""
        ties, m = self.ties, len(self.ties.tie)
        G = np.zeros((m, self.model.n + 1, 6))
        rows, a, b = np.arange(m), ties.a[ties.tie], ties.b[ties.tie]
        G[rows, a, :3], G[rows, a, 3:] = -wrenches.force, wrenches.moment_a
        G[rows, b, :3], G[rows, b, 3:] = wrenches.force, wrenches.moment_b
        G = G[:, :-1]
        G[..., :3] /= self.root_mass
        G[..., 3:] = apply(self.L_inverse @ np.swapaxes(R, 1, 2), G[..., 3:])
        return G.reshape(m, -1)

    def _solve(self, now: Moment, dt: float) -> ForcesAndAccelerations:
        """The reactions that keep all joints together at the end of the step.                   (4), (22)-(33)"""
        b, R, h = now.bodies, now.R, 0.5 * dt * dt
        self._solves += 1
        applied = self.applied(min(max(now.t, self._window[0]), self._window[1]), b, R, self._last_q)
        a = applied[:, :3] / self.model.mass[:, None]
        J = self.inertia
        moment = apply(np.swapaxes(R, 1, 2), applied[:, 3:]) - cross(b.w, apply(J, b.w))
        alpha: Array = np.linalg.solve(J, moment[..., None])[..., 0].astype(float)
        pool = self._carried(now, a, apply(R, alpha), dt)
        ways = now.factors.Vt[: now.factors.kept].T
        rows = self._rows(self.ties.wrenches(now.place, pool), R) @ ways
        x = ways @ factored(rows, self.tolerance).solve(self.ties.errors(now.place, pool) / -h)
        multipliers = now.factors.solve_transposed(x)
        x = x.reshape(-1, 6)
        a = a + x[:, :3] / self.root_mass
        alpha = alpha + apply(self.L_inverse_T, x[:, 3:])
        return ForcesAndAccelerations(a, alpha, self.ties.reactions(now.place, now.wrenches, multipliers), applied)

    def _carried(self, now: Moment, a: Array, alpha: Array, dt: float) -> Array:
        """Points and axes at the end of the step without reactions: x + U, q + P; alpha in world axes.     (13), (19)"""
        ties, b, h = self.ties, now.bodies, 0.5 * dt * dt
        w = np.vstack([apply(now.R, b.w), np.zeros(3)])
        alpha, a, v = (np.vstack([x, np.zeros(3)]) for x in (alpha, a, b.v))

        def swept(body: Ints, arm: Array) -> Array:
            """w x arm dt + h (alpha x arm + w x (w x arm)), arms (k, j, 3)."""
            spin, gain = w[body][:, None], alpha[body][:, None]
            once = cross(spin, arm)
            return once * dt + h * (cross(gain, arm) + cross(spin, once))

        pool = now.place.pool.copy()
        at_a, at_b = swept(ties.a, now.place.arm_a[:, None])[:, 0], swept(ties.b, now.place.arm_b[:, None])[:, 0]
        pool[:, 0] += (v[ties.b] - v[ties.a]) * dt + h * (a[ties.b] - a[ties.a]) + at_b - at_a
        pool[:, 1:4] += swept(ties.a, pool[:, 1:4])
        pool[:, 4:7] += swept(ties.b, pool[:, 4:7])
        return pool

    def _settle(self) -> Array:
        """Velocities without what the joints forbid; the impulses on the ties that this took."""
        now = self.moment
        x = np.concatenate([now.bodies.v * self.root_mass, apply(self.L_T, now.bodies.w)], axis=1)
        kept = now.factors.without(x.ravel()).reshape(-1, 6)
        taken = kept - x
        now.taken = 0.5 * float((taken**2).sum())
        v = kept[:, :3] / self.root_mass
        now.bodies = now.bodies._replace(v=v, w=apply(self.L_inverse_T, kept[:, 3:]))
        return self.ties.reactions(now.place, now.wrenches, now.factors.solve_transposed(taken.ravel()))

    def _balance(self, before: Moment, pushed: ForcesAndAccelerations, impulses: Array) -> None:
        """Momenta against what came from outside: applied wrenches, and the ties to ground."""
        r = before.bodies.r
        outer = self._dt * np.array(
            [pushed.applied[:, :3].sum(0), (pushed.applied[:, 3:] + cross(r, pushed.applied[:, :3])).sum(0)]
        )
        outer = outer + self._dt * self._from_ground(before, pushed.reactions) + self._from_ground(self.moment, impulses)
        self._expected = self._expected + outer
        off = np.linalg.norm(self._momenta(self.moment) - self._expected, axis=1)
        self._worst = np.maximum(self._worst, off)

    def _from_ground(self, at: Moment, wrenches: Array) -> Array:
        """Force and moment about the world's origin of the ties to ground."""
        ties, n = self.ties, self.model.n
        sign = (ties.a == n).astype(float) - (ties.b == n)
        r = np.vstack([at.bodies.r, np.zeros(3)])
        force = wrenches[:, :3] * sign[:, None]
        moment = wrenches[:, 3:] * sign[:, None] + cross(r[ties.b] + at.place.arm_b, force)
        return np.array([force.sum(0), moment.sum(0)])

    def _momenta(self, now: Moment) -> Array:
        b = now.bodies
        linear = self.model.mass[:, None] * b.v
        own = apply(now.R, apply(self.inertia, b.w))
        return np.array([linear.sum(0), (cross(b.r, linear) + own).sum(0)])

    def _see(self) -> None:
        now = self.moment
        rates = self._rates(now)
        self.report.closure_position = max(
            self.report.closure_position, float(np.abs(self.ties.errors(now.place)).max(initial=0.0))
        )
        self.report.closure_velocity = max(self.report.closure_velocity, float(np.abs(rates).max(initial=0.0)))
        if len(self.ties.tie):
            self.watch.see(WatchedStep(now.t, now.factors, np.eye(6 * self.model.n), now.taken))

    def _rates(self, now: Moment) -> Array:
        b = now.bodies
        x = np.concatenate([b.v * self.root_mass, apply(self.L_T, b.w)], axis=1).ravel()
        return now.factors.U @ (now.factors.s * (now.factors.Vt @ x))

    def _moving(self, ways: Array) -> tuple[str, ...]:
        """Joints of the bodies that move in a vector over all velocities."""
        parts = np.linalg.norm(ways.reshape(-1, 6), axis=1)
        return tuple(name for name, x in zip(self.model.joint_names, parts, strict=True) if x > 0.1 * parts.max())

    def now(self) -> Moment:
        return self.moment

    def states(self, kept: list[Moment]) -> States:
        bodies = Bodies(*(np.array(x) for x in zip(*(moment.bodies for moment in kept), strict=True)))
        q, v = self.converter.coordinates(bodies, self._last_q)
        self._last_q = q[-1].copy()
        none = np.zeros((len(kept), 0))
        return States(np.array([moment.t for moment in kept]), q, v, none, none, np.zeros(len(kept)))

    def finish(self, samples: list[Moment]) -> None:
        n = self.model.n
        last = samples[-1]
        if last.reactions is None:
            last.reactions = self._last_reactions(last)
        reactions = np.array([moment.reactions for moment in samples])
        bodies = Bodies(*(np.array(x) for x in zip(*(moment.bodies for moment in samples), strict=True)))
        origins = bodies.r - apply(bodies.axes, self.model.center)
        tree = on_children(self.model, origins, bodies.axes, reactions[:, :n])
        self.report.reactions = Reactions(tree, reactions[:, n:])
        self.report.momentum = Momentum(*self._worst.tolist())
        self.report.passages = self.watch.passages

    def _last_reactions(self, last: Moment) -> Array:
        """Reactions of the step that would come next; NaN where a run that grows without bound has ended."""
        try:
            with np.errstate(all="ignore"):
                return self._solve(last, self._dt or 1e-3).reactions
        except (BellcrankError, np.linalg.LinAlgError):
            return np.full((len(self.ties.a), 6), np.nan)

    def counts(self) -> dict[str, int]:
        return {"solves": self._solves}
