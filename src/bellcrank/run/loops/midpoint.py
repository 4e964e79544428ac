"""The midpoint rule for closed loops with prescribed motions, one step at a time; others run in machine code.

The method is that of machine.steps.implicit.closed: symplectic, symmetric, of order two; composed, of order four.

Hamilton's equations of the tree that is left when the loops are cut take a step of the implicit midpoint rule, Phi, between two
pushes of the closures, which are impulses at the ends of the step:

    p' = p_n - G(q_n)^T lambda                    lambda so that phi(q_n+1) = 0
    (q_n+1, p'') = Phi(q_n, p')                   q_m = q_n + h/2 v_m,  p_m = p' + h/2 f_m,  (v_m, f_m) = rates(q_m, p_m)
    p_n+1 = p'' - G(q_n+1)^T mu                   mu so that G v + phi_t = 0 there

Pushes are flows of the functions lambda.phi, and Phi is symplectic, so that the whole is a symplectic map of the motions that
keep the loops closed (E. Hairer, C. Lubich & G. Wanner, Geometric Numerical Integration, 2006, VII.1.4; for M that depends on q
see L. Jay, SIAM J. Numer. Anal. 33, 1996). It is the constrained variational integrator of the discrete Lagrangian
h L(q_m, v_m).

Energy has no trend, and momenta that the mechanism keeps are kept. All equations are solved until only rounding is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...errors import DynamicsError
from ...formulations import CANONICAL, QUANTITIES
from ...integrate import RungeKutta
from ...machine.steps.implicit.kept_rows import kept_rows
from ...model import Model
from ...singular import Passed, Report
from ...singular.loop import march
from ...singular.quantities import Quantities, Quantity
from ...singular.records import EnergyBalance, States
from ...wording import argument

Array = NDArray[np.float64]

CLOSED_METHODS = ("implicit_midpoint", "midpoint4")
MOST = 60  # iterations of a step
SMALL, IDLE = 1e-11, 2  # changes that may be rounding; iterations in which they shrink no further
CLOSED = 1e-11  # errors of a closure, as a part of the model's size, that may remain


def is_compiled(method: str, model: Model) -> bool:
    """Whether a run goes through machine.steps.implicit.closed: all but those with prescribed motions, whose works need the
    multipliers of every step."""
    driven = bool(model.driven.any()) or any(closure.motion is not None for closure in model.closures)
    return method in CLOSED_METHODS and bool(model.closures) and not driven


def integrate_closed_midpoint(
    dynamics: Dynamics,
    method: RungeKutta,
    start: dict[str, Array],
    times: Array,
    max_step: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Passed:
    """From ``start`` (q, v, tau, u) at times[0] to times[-1], in equal steps of at most max_step between the samples."""
    stepper = ClosedMidpoint(dynamics, method, start, float(times[0]))
    return march(stepper, EnergyBalance(dynamics, start["tau"], start["u"]), times, max_step, progress)


class GridPoint(NamedTuple):
    """Between two steps: rows of the closures and their product with the inverse of the mass matrix besides."""

    t: float
    q: Array
    p: Array
    v: Array
    G: Array
    to_velocity: Array  # M^-1 G^T


class ClosedMidpoint:
    """A state on its way through time."""

    def __init__(self, dynamics: Dynamics, method: RungeKutta, start: dict[str, Array], t: float):
        self.dynamics, self.parts, self.report = dynamics, method.parts, Report()
        self.tau, self.u = start["tau"], start["u"]
        self.quantities = Quantities(dynamics, self.tau, self.u)
        self.kept = kept_rows(dynamics.plan)
        tree = CANONICAL["canonical_momenta:joint"]
        self._velocities = Quantity(dynamics, QUANTITIES["velocities"], self.u)
        self._forces = Quantity(dynamics, replace(tree, scratch=("v", *tree.scratch)), self.u)
        self._momenta = Quantity(dynamics, QUANTITIES["momenta"], self.u)
        self.evaluations = self.iterations = 0
        self._guess: dict[int, tuple[Array, Array, Array]] = {}
        q, v = start["q"].copy(), start["v"].copy()
        self.point = self._placed(t, q, self._momenta(t, q=q, v=v), v)

    @property
    def t(self) -> float:
        return self.point.t

    def now(self) -> GridPoint:
        return self.point

    def states(self, kept: list[GridPoint]) -> States:
        t, q, v = (np.array(x) for x in zip(*((n.t, n.q, n.v) for n in kept), strict=True))
        a, pushes = np.zeros_like(v), np.zeros((len(t), self.quantities.m))
        model = self.dynamics.model
        if model.driven.any() or any(closure.motion is not None for closure in model.closures):
            a = self.dynamics.acceleration(q, v, self.tau, t=t, inputs=self.u)
            pushes = self.dynamics.multipliers(q, v, self.tau, t=t, inputs=self.u)
        return States(t, q, v, a, pushes, np.zeros(len(t)))

    def finish(self, samples: list[GridPoint]) -> None:
        self.report.rank = len(self.kept)

    def counts(self) -> dict[str, int]:
        return {"evaluations": self.evaluations, "iterations": self.iterations}

    def step(self, until: float) -> None:
        """One step to the time ``until``, or its parts; raises DynamicsError where there is none."""
        start, whole = self.t, until - self.t
        done = 0.0
        for k, part in enumerate(self.parts):
            done += part
            self._part(k, part * whole, until if k == len(self.parts) - 1 else start + done * whole)

    def _part(self, number: int, h: float, until: float) -> None:
        n = self.point
        try:
            q, p = self._between(number, n, h, until)
        except DynamicsError as trouble:  # of numbers that grow from iteration to iteration
            raise DynamicsError(self._unsolved(h)) from trouble
        v = self._velocities(until, q=q, p=p)
        self.point = self._settled(self._placed(until, q, p, v))
        self._look()

    def _between(self, number: int, n: GridPoint, h: float, until: float) -> tuple[Array, Array]:
        """The midpoint rule for the open tree with the first push: coordinates at the end, and momenta before the second."""
        v, f, push = self._guess.get(number) or (n.v, np.zeros_like(n.v), np.zeros(len(self.kept)))
        S = np.linalg.inv(h * (n.G @ n.to_velocity)) if len(self.kept) else np.zeros((0, 0))
        t, best, idle = until - 0.5 * h, np.inf, 0
        for k in range(MOST):
            self.iterations += 1
            p = n.p - n.G.T @ push
            new_v, new_f = self._rates(t, n.q + 0.5 * h * v, p + 0.5 * h * f)
            q = n.q + h * new_v
            error = self.quantities.errors(q, until)[self.kept]
            change = self._change(n, h, (new_v, new_f), (v, f), error, push)
            v, f, push = new_v, new_f, push + S @ error
            best, idle = min(best, change), 0 if change < best else idle + 1
            if change == 0.0 or (best <= SMALL and idle == IDLE):
                break
            if k == 1 and len(self.kept):  # the rows at both ends: their product no longer changes much
                S = np.linalg.inv(h * (self._rows(q, until) @ n.to_velocity))
        if not best <= SMALL:
            raise DynamicsError("no convergence")
        self._guess[number] = v, f, push
        return n.q + h * v, n.p - n.G.T @ push + h * f

    def _rates(self, t: float, q: Array, p: Array) -> tuple[Array, Array]:
        self.evaluations += 1
        return self._velocities(t, q=q, p=p), self._forces(t, q=q, p=p, tau=self.tau)

    def _change(
        self, n: GridPoint, h: float, new: tuple[Array, Array], old: tuple[Array, Array], error: Array, push: Array
    ) -> float:
        """Of an iteration, as a part of the largest coordinate and momentum, or of what a step changes in them; and the error
        of the closures. Pushes are not compared: they are uncertain by rounding of q over h."""
        (v, f), h = new, abs(h)
        place = _largest(n.q) + h * _largest(v) + min(1.0, self.quantities.length)
        momentum = _largest(n.p) + h * _largest(f) + _largest(n.G.T @ push) + 1e-300
        moved, forced = h * _largest(v - old[0]), h * _largest(f - old[1])
        return max(moved / place, forced / momentum, _largest(error) / self.quantities.length)

    def _placed(self, t: float, q: Array, p: Array, v: Array) -> GridPoint:
        G = self._rows(q, t)
        to_velocity: Array = np.asarray(np.linalg.solve(self.quantities.mass(q, t), G.T), dtype=np.float64)
        return GridPoint(t, q, p, v, G, to_velocity)

    def _rows(self, q: Array, t: float) -> Array:
        return self.quantities.jacobian(q, t)[self.kept]

    def _settled(self, n: GridPoint) -> GridPoint:
        """The second push: velocities that keep the loops closed; twice, so that only rounding is left."""
        q, p, v, t = n.q, n.p, n.v, n.t
        if len(self.kept):
            S = np.linalg.inv(n.G @ n.to_velocity)
            for _ in range(2):
                p = p - n.G.T @ (S @ self.quantities.closure(q, v, t)[self.kept, 1])
                v = self._velocities(t, q=q, p=p)
        return n._replace(p=p, v=v)

    def _look(self) -> None:
        n, report = self.point, self.report
        rows = np.abs(self.quantities.closure(n.q, n.v, n.t)).max(axis=0)
        if not (rows[0] <= CLOSED * self.quantities.length and np.isfinite(n.p).all()):
            raise DynamicsError(
                f"its loops stay open by {rows[0]:.3g} m: they are in a singular position or near one, which this method "
                f"cannot pass. "
                f"Use {argument('method', 'rattle')}, or {argument('on_singular', 'pass')} with dopri5"
            )
        report.closure_position = max(report.closure_position, float(rows[0]))
        report.closure_velocity = max(report.closure_velocity, float(rows[1]))

    def _unsolved(self, h: float) -> str:
        return (
            f"the equations of a step of {h:.3g} s cannot be solved: the step is too long, or the loops are in a singular "
            f"position. Take shorter ones ({argument('max_step')})"
        )


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
