"""Mass, damping and stiffness about a state, and the stiffness seen through the mass matrix.

The inverse dynamics tau = g(q, v, a) of neighbouring motions differ by   dtau = M da + C dv + K d,   d a displacement
(manifold.py). C and K come from dual numbers through the recursion of the inverse dynamics, where no mass matrix is inverted.
With M = L L^T and the coordinates y = L^T d, which have the unit mass matrix, a mechanism at rest obeys

    y'' = -B y,   B = L^-1 K L^-T

B is symmetric where the forces have a potential; its eigenvalues are squares of natural frequencies, rad2/s2.

With closed loops, d = N y' of what they leave free (ties.py): M, C and K become N^T M N, N^T C N and N^T K N, where K is that
of the inverse dynamics with the multipliers of the closures held as they are (the curvature of the closures is in it).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular

from ..dynamics.differentiation import Changes, derivatives
from ..dynamics.dynamics import Dynamics
from ..formulations import QUANTITIES
from ..kernels.threads import interruptible
from ..model import Model
from ..model.manifold import rate_matrix
from ..results.labels import Labels
from .ties import Ties

Array = NDArray[np.float64]

EPSILON = float(np.finfo(float).eps)
TIE = 1e-9  # relative difference of numbers that are equal but for rounding


class Conditions(NamedTuple):
    """What acts besides the model's own forces, and when."""

    tau: Array
    inputs: Array
    t: float


class Scales(NamedTuple):
    """Units for comparison: of a displacement 1 rad or the mechanism's size; of an effort the largest that is carried."""

    displacement: Array
    effort: Array


class Stiffness(NamedTuple):
    """Stiffness in the ``free`` directions: all nv of a tree."""

    N: Array  # (nv, free)
    L: Array
    B: Array
    squares: Array  # eigenvalues of the symmetric part of B, ascending
    modal: Array  # (free, free) columns: their vectors
    shapes: Array  # (nv, free) columns: displacements of unit modal mass
    noise: float  # squares below this are zero, as far as one can tell

    @property
    def neutral(self) -> NDArray[np.bool_]:
        return np.asarray(np.abs(self.squares) <= self.noise)


def holding_efforts(dyn: Dynamics, q: Array, given: Conditions) -> Array:
    """g(q), for one position or many: what must be applied besides the model's forces to keep it at rest."""
    still = np.zeros(dyn.model.nv)
    return dyn.inverse_dynamics(q, still, still, t=given.t, inputs=given.inputs)


def effort_jacobians(
    dyn: Dynamics, q: Array, v: Array, a: Array, given: Conditions, multipliers: Array | None = None
) -> tuple[Array, Array]:
    """K and C: derivatives of the inverse dynamics along displacements and velocities, (nv, nv) each."""
    model, n = dyn.model, dyn.model.nv
    state = {"q": q[None], "v": v[None], "a": a[None]}
    if multipliers is not None:
        state["lambda"] = multipliers[None]
    along = {"q": np.hstack([rate_matrix(model, q), np.zeros((model.nq, n))]), "v": np.hstack([np.zeros((n, n)), np.eye(n)])}
    changes = Changes(2 * n, {name: x[None] for name, x in along.items()})
    program = QUANTITIES["inverse_dynamics" if multipliers is None else "closed_inverse_dynamics"]
    found = derivatives(dyn, program, state, changes, given.t, given.inputs)["tau"].along[0]
    return found[:, :n], found[:, n:]


def stiffness(dyn: Dynamics, q: Array, given: Conditions) -> Stiffness:
    """About q at rest."""
    ties, still = Ties(dyn, given.t), np.zeros(dyn.model.nv)
    multipliers = ties.multipliers(q, given.tau - holding_efforts(dyn, q, given)) if ties.any else None
    K, _ = effort_jacobians(dyn, q, still, still, given, multipliers)
    N, M = ties.basis(q), dyn.mass_matrix(q, t=given.t)
    if not N.shape[1]:
        none = np.zeros((0, 0))
        return Stiffness(N, none, none, np.zeros(0), none, N, 0.0)
    if ties.any:
        K, M = N.T @ K @ N, N.T @ M @ N
    L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
    B = solve_triangular(L, solve_triangular(L, K, lower=True).T, lower=True).T
    squares, y = interruptible(eigh, (B + B.T) / 2)
    shapes = solve_triangular(L, y, lower=True, trans=1)
    return Stiffness(N, L, B, squares, y, N @ shapes if ties.any else shapes, noise(dyn.model, squares))


def noise(model: Model, squares: Array) -> float:
    """Rounding of the eigenvalues, and gravity that should cancel: a period of more than 1e4 swings is not a period."""
    largest = float(np.abs(squares).max(initial=0.0))
    gravity = float(np.linalg.norm(model.gravity)) / size(model)
    return 10 * max(10, len(squares)) * EPSILON * largest + 1e-9 * gravity


def size(model: Model) -> float:
    """A length of the mechanism's order, in m."""
    lengths = np.concatenate([np.linalg.norm(model.position, axis=1), np.linalg.norm(model.center, axis=1)])
    return float(lengths.max(initial=0.0)) or 1.0


def scales(dyn: Dynamics, q: Array, given: Conditions) -> Scales:
    model = dyn.model
    still, length = np.zeros(model.nv), size(model)
    turns = np.array([unit == "rad/s" for unit in Labels.of(model).dof_units], dtype=bool)
    wrenches = np.abs(dyn.reactions(q, still, still, t=given.t, inputs=given.inputs, effort=True))
    forces = [wrenches[:, :3].max(initial=0.0), np.abs(given.tau[~turns]).max(initial=0.0)]
    if model.elements:
        forces.append(np.abs(dyn.elements(q, still, t=given.t, inputs=given.inputs)[2]).max())
    moments = [wrenches[:, 3:].max(initial=0.0), np.abs(given.tau[turns]).max(initial=0.0), length * max(forces)]
    return Scales(np.where(turns, 1.0, length), np.where(turns, max(moments), max(forces)))


def directions(model: Model, shapes: Array, weights: Array) -> tuple[str, ...]:
    """Names for the directions that columns span: of each the coordinate that moves most, no coordinate twice."""
    return tuple(model.v_names[k] for k in pivots(shapes / weights[:, None]))


def pivots(shapes: Array) -> list[int]:
    """As many rows as there are columns, in which the columns differ most from each other.

    QR with pivots of an orthonormal basis of the columns: what it chooses depends on the space that they span, not on the
    basis in which LAPACK returns it. Of rows that are equally good the first is taken, whatever rounding says.
    """
    rest = np.asarray(np.linalg.qr(shapes)[0])
    chosen: list[int] = []
    for _ in range(shapes.shape[1]):
        lengths = np.linalg.norm(rest, axis=1)
        chosen.append(first_of_largest(lengths))
        way = rest[chosen[-1]] / lengths[chosen[-1]]
        rest = rest - np.outer(rest @ way, way)
    return sorted(chosen)


def first_of_largest(values: Array) -> int:
    """Where the largest is; the first place of those that differ from it by rounding only."""
    return int(np.argmax(values >= (1 - TIE) * values.max()))
