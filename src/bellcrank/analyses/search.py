"""The search for a position of rest: Newton's method on the manifold of configurations, with a trust region.

code     meaning                                                       unit
r        tau - g(q): efforts that nothing balances                      N m, N
d        displacement (manifold.py)                                     rad, m
y        L^T d: the same with unit mass matrix (stiffness.py)
mu       shortens steps: d = (|B| + mu)^-1 r in modal coordinates       rad2/s2

"stable" goes downhill: along modes of negative stiffness too it follows the force (|B| in place of B), and a step is taken if
the efforts do enough of the expected work along it, r.d integrated by Gauss-Legendre. That is the energy where there is one,
needs none where there is not (follower forces, spinning drives), and keeps the digits that differences of energies lose.
"nearest" makes the efforts themselves smaller, |L^-1 r|^2 by Levenberg & Marquardt: it goes to saddles and summits as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ..dynamics.dynamics import Dynamics
from ..model.manifold import displaced
from .stiffness import Conditions, Scales, Stiffness, holding_efforts, scales, stiffness
from .ties import Ties

Array = NDArray[np.float64]
Seek = Literal["stable", "nearest"]
Step = Callable[[float], tuple[Array, Array, float]]  # displacement, the same in modal coordinates, and what it promises

LONGEST_TURN = 1.0  # rad, of any joint in one step
SHORT = 1e-6  # a Newton step that is taken without a trial, in the units of Scales
EXACT = 1e-11  # a Newton step that is not worth taking
BALANCED = 1e-14  # efforts that are rounding, of the largest carried
UNHELD = 1e-9  # efforts that matter in a direction without stiffness, of the largest carried
FALLING = 5  # steps with nothing left to do but fall
NODES, WEIGHTS = (np.array(x) for x in np.polynomial.legendre.leggauss(6))


class RestingPlace(NamedTuple):
    q: Array
    residual: Array
    around: Stiffness
    measured: Scales
    iterations: int
    problem: str | None
    fall: Array  # acceleration in the directions that nothing holds


class _Place(NamedTuple):
    """A position, and everything that is known there."""

    q: Array
    r: Array
    around: Stiffness
    measured: Scales
    modal: Array  # r in modal coordinates

    @property
    def unheld(self) -> Array:
        """Efforts, in modal coordinates, that act in directions without stiffness."""
        limits = UNHELD * (np.abs(self.around.shapes).T @ self.measured.effort)
        return np.where(self.around.neutral & (np.abs(self.modal) > limits), self.modal, 0.0)

    @property
    def fall(self) -> Array:
        return self.around.shapes @ self.unheld

    def found(self, iterations: int, problem: str | None) -> RestingPlace:
        return RestingPlace(self.q, self.r, self.around, self.measured, iterations, problem, self.fall)

    @property
    def held(self) -> NDArray[np.bool_]:
        return np.asarray(~self.around.neutral)


def search(dyn: Dynamics, q: Array, given: Conditions, seek: Seek, most: int) -> RestingPlace:
    """The search from q until the Newton step is rounding; the result says what the problem is if it does not succeed."""
    step = _downhill if seek == "stable" else _levenberg
    place = _arrive(dyn, q, given)
    mu, falling, last = 0.0, 0, np.inf
    for k in range(most):
        newton = _length(_newton(place), place)
        unheld = bool(place.unheld.any())
        shrinks = newton < 0.5 * last
        balanced = bool((np.abs(place.r) <= BALANCED * place.measured.effort).all())
        if not unheld and (balanced or newton <= EXACT or (newton < SHORT and not shrinks)):
            return place.found(k, None)
        falling = falling + 1 if unheld and newton < SHORT else 0
        if falling > FALLING:
            return place.found(k, "falling")
        last = newton
        moved, mu = step(dyn, place, given, mu)
        if moved is None:
            return place.found(k, "stuck")
        place = _arrive(dyn, moved, given)
    return place.found(most, "slow")


def _arrive(dyn: Dynamics, q: Array, given: Conditions) -> _Place:
    held = holding_efforts(dyn, q, given)
    around = stiffness(dyn, q, given)
    r = Ties(dyn, given.t).unbalanced(q, given.tau - held)
    return _Place(q, r, around, scales(dyn, q, given), around.shapes.T @ r)


def _newton(place: _Place) -> Array:
    """The full step, in the directions that have stiffness: also where forces have no potential and B is not symmetric."""
    Y = place.around.modal[:, place.held]
    return place.around.shapes[:, place.held] @ np.linalg.lstsq(Y.T @ place.around.B @ Y, place.modal[place.held])[0]


def _length(d: Array, place: _Place) -> float:
    return float(np.abs(d / place.measured.displacement).max(initial=0.0))


def _bounded(place: _Place, modal: Array) -> tuple[Array, Array]:
    """The displacement, and the same in modal coordinates, with no joint turned too far."""
    d = place.around.shapes @ modal
    turned = np.abs(d[place.measured.displacement == 1.0]).max(initial=0.0)
    factor = min(1.0, LONGEST_TURN / turned) if turned > 0 else 1.0
    return d * factor, modal * factor


def _downhill(dyn: Dynamics, place: _Place, given: Conditions, mu: float) -> tuple[Array | None, float]:
    ties, newton = Ties(dyn, given.t), _newton(place)
    squares, falls = place.around.squares, place.unheld
    if _length(newton, place) < SHORT and not falls.any() and (squares[place.held] > 0).all():
        return ties.moved(place.q, newton), 0.0

    def step(mu: float) -> tuple[Array, Array, float]:
        modal = np.where(place.held, place.modal / (np.abs(squares) + mu + ~place.held), 0.0)
        if falls.any():  # as far as the mechanism's own size
            modal += falls / _length(place.fall, place)
        d, modal = _bounded(place, modal)
        return d, modal, float(modal @ (place.modal - 0.5 * squares * modal))

    def gain(d: Array) -> float:
        return _work(dyn, ties, place.q, d, given)

    reference = _typical(np.abs(squares), place.modal)
    return _tried(ties, place, step, gain, mu, reference)


def _work(dyn: Dynamics, ties: Ties, q: Array, d: Array, given: Conditions) -> float:
    """Work of the unbalanced efforts along a displacement, with the loops closed on the way."""
    if not ties.any:
        path = (NODES[:, None] + 1) / 2 * d
        efforts = given.tau - holding_efforts(dyn, displaced(dyn.model, q, path), given)
        return float(WEIGHTS / 2 @ (efforts @ d))
    total = 0.0
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        place = ties.moved(q, (node + 1) / 2 * d)
        if place is None:
            return -np.inf
        total += weight / 2 * float(ties.unbalanced(place, given.tau - holding_efforts(dyn, place, given)) @ d)
    return total


def _levenberg(dyn: Dynamics, place: _Place, given: Conditions, mu: float) -> tuple[Array | None, float]:
    if place.unheld.any():  # no stiffness says where to: follow the force
        return _downhill(dyn, place, given, mu)
    ties, around = Ties(dyn, given.t), place.around
    Y = around.modal[:, place.held]
    B = Y.T @ around.B @ Y
    right = place.modal[place.held]

    def step(mu: float) -> tuple[Array, Array, float]:
        modal = np.zeros(len(place.modal))
        stacked = np.vstack([B, np.sqrt(mu) * np.eye(len(B))])  # (B^T B + mu) y = B^T r, without squaring B
        modal[place.held] = np.linalg.lstsq(stacked, np.append(right, np.zeros(len(B))))[0]
        d, modal = _bounded(place, modal)
        left = right - B @ modal[place.held]
        return d, modal, float(right @ right - left @ left)

    def gain(d: Array) -> float:
        new = ties.moved(place.q, d)
        if new is None:
            return -np.inf
        r = ties.unbalanced(new, given.tau - holding_efforts(dyn, new, given))
        before, after = (solve_triangular(around.L, around.N.T @ x, lower=True) for x in (place.r, r))
        return float(before @ before - after @ after)

    return _tried(ties, place, step, gain, mu, _typical(around.squares[place.held] ** 2, right))


def _typical(squares: Array, modal: Array) -> float:
    """Mean of the squares, weighted by the efforts."""
    weight = modal @ modal
    return float(squares @ modal**2 / weight) if weight > 0 else 1.0


def _tried(
    ties: Ties, place: _Place, step: Step, gain: Callable[[Array], float], mu: float, reference: float
) -> tuple[Array | None, float]:
    """Shorten the step until it brings what it promises; the next one may be longer again."""
    for _ in range(60):
        d, _, promised = step(mu)
        if promised <= 0.0:
            break
        ratio = gain(d) / promised
        if ratio > 0.1:
            longer = 0.0 if mu < 1e-3 * reference else mu / 4
            return ties.moved(place.q, d), longer if ratio > 0.5 else mu
        if _length(d, place) < EXACT:
            break
        mu = max(4 * mu, 0.1 * reference)
    return None, mu
