"""Derivatives of the roots of small motions about an equilibrium, by the parameters of a design.

With P(s) = s^2 M + s C + K, displacements x that the loops allow and forces z of the closures,

    P(s) x - G^T z = 0,   G x = 0;       on the left   P(s)^T y + G^T w = 0,   G y = 0

a root moves with the design, the equilibrium included, by

    ds = -( y^T dP x - z^T dG y + w^T dG x ) / ( y^T (2 s M + C) x )

dP x is a second derivative of the efforts that a motion takes: that of dual numbers, the directions of all modes at once, over
complex numbers with a step of 1e-30 along a parameter, through the recursion in Python. It has no error but rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ...analyses.resting import resting_place
from ...analyses.state import conditions
from ...analyses.stiffness import effort_jacobians
from ...analyses.ties import Ties
from ...analyses.vibration import Mode, modes
from ...design import Design
from ...errors import warn
from ...formulations import QUANTITIES
from ...machine.in_python import InPython
from ...model.manifold import rate_matrix
from ...numbers import Dual
from ...spatial.rank import factored
from ..checking.complex_step import STEP, complex_data
from .equations import Array
from .resting import Rest, differentiated

Complex = NDArray[np.complex128]

SAME = 1e-6  # of |s|^2: roots that are this close are one
ROUNDING = 1e-14  # of the largest singular value of P


class Roots(NamedTuple):
    """Modes, and the derivatives of their roots, (modes, P); not a number where roots coincide."""

    at: Rest
    modes: tuple[Mode, ...]
    slopes: Complex


class _Vectors(NamedTuple):
    """Vectors of one mode: right and left displacements, and forces of the closures."""

    s: complex
    x: Complex
    y: Complex
    z: Complex
    w: Complex
    slope: complex  # y^T (2 s M + C) x


def roots(design: Design, **options: Any) -> Roots:
    """Roots of the modes about the equilibrium of the model, with their derivatives."""
    found = modes(design.base, **options)
    at = differentiated(design, resting_place(design.base, **options))
    slopes = np.zeros((len(found.modes), at.equations.count), dtype=complex)
    moving = [k for k, mode in enumerate(found.modes) if mode.kind != "rigid"]
    vectors = _vectors(at, [found.modes[k].root for k in moving])
    for k, column in zip(moving, _slopes(at, vectors), strict=True):
        slopes[k] = column
    lost = [str(k + 1) for k in moving if not np.isfinite(slopes[k]).all()]
    if lost:
        warn(
            f"model {design.base.name!r}: the roots of modes {', '.join(lost)} coincide with others. Their shapes are not "
            "unique, and each of them has no derivative by itself: they are not a number."
        )
    return Roots(at, found.modes, slopes)


def _vectors(at: Rest, wanted: Sequence[complex]) -> list[_Vectors]:
    eq, found = at.equations, at.found
    dyn, still = eq.dynamics, np.zeros(eq.model.nv)
    given, ties = conditions(dyn, found.tau, found.inputs, found.t), Ties(dyn, found.t)
    K, C = effort_jacobians(dyn, found.q, found.v, still, given, at.multipliers if ties.any else None)
    M, N = dyn.mass_matrix(found.q, t=found.t), ties.basis(found.q)
    G = eq.G(found.q[None])[0] / eq.loops.rows[:, None] if ties.any else np.zeros((0, eq.model.nv))
    if not N.shape[1]:
        return []
    L = np.linalg.cholesky(N.T @ M @ N)
    into = N @ solve_triangular(L, np.eye(len(L)), lower=True).T  # with it, masses are one
    return [_of_root(s, (M, C, K), into, G, dyn.plan.tolerance) for s in wanted]


def _of_root(s: complex, matrices: tuple[Array, Array, Array], into: Array, G: Array, tolerance: float) -> _Vectors:
    M, C, K = matrices
    P = s * s * M + s * C + K
    U, sizes, Vh = np.linalg.svd(into.T @ P @ into)
    x, y = into @ Vh[-1].conj(), into @ U[:, -1].conj()
    z, w = factored(G.T, tolerance).solve_many(np.stack([P @ x, -P.T @ y], axis=1)).T
    slope = complex(y @ (2 * s * M + C) @ x)
    twice = len(sizes) > 1 and sizes[-2] <= SAME * abs(s) ** 2 + ROUNDING * sizes[0]
    return _Vectors(s, x, y, z, w, complex("nan") if twice else slope)


def _slopes(at: Rest, vectors: list[_Vectors]) -> list[Complex]:
    """ds (P,) of each."""
    if not vectors:
        return []
    changed = _changed_efforts(at, vectors)
    with np.errstate(invalid="ignore"):
        return [-(mode.y @ changed[k] + _of_loops(at, mode)) / mode.slope for k, mode in enumerate(vectors)]


def _of_loops(at: Rest, mode: _Vectors) -> Complex:
    """-z^T dG y + w^T dG x, (P,)."""
    eq = at.equations
    if not len(mode.z):
        return np.zeros(eq.count, dtype=complex)

    def turned(x: Complex) -> Complex:
        parts = [eq.motion_changes(at.found.q[None], part[None], at.dq[None])[0] for part in (x.real, x.imag)]
        return np.asarray((parts[0] + 1j * parts[1]) / eq.loops.rows[:, None])

    return np.asarray(mode.w @ turned(mode.x) - mode.z @ turned(mode.y))


def _changed_efforts(at: Rest, vectors: list[_Vectors]) -> Complex:
    """dP x (modes, nv, P): by the parameters, and what they change of the position and of the multipliers."""
    eq, q = at.equations, at.found.q
    motions = [(mode.x, mode.s * mode.x, mode.s**2 * mode.x) for mode in vectors]
    parts = [tuple(part(x) for x in motion) for motion in motions for part in (np.real, np.imag)]
    E = rate_matrix(eq.model, q)
    moved = np.array([E @ x for x, _, _ in parts])
    turned = np.array([eq.rates(q[None], x[None], at.dq[None])[0] for x, _, _ in parts])  # dE x, (parts, nq, P)
    name = "closed_inverse_dynamics" if len(at.multipliers) else "inverse_dynamics"
    found = []
    for p, data in enumerate(complex_data(eq.dynamics.plan, eq.design)):
        given: dict[str, list[Any]] = {
            "q": _duals(q + 1j * STEP * at.dq[:, p], moved + 1j * STEP * turned[:, :, p]),
            "v": _duals(at.found.v + 1j * STEP * at.dv[:, p], np.array([v for _, v, _ in parts], dtype=complex)),
            "a": _duals(np.zeros(eq.model.nv, dtype=complex), np.array([a for _, _, a in parts], dtype=complex)),
            "t": [at.found.t],
            "u": list(at.found.inputs),
            "lambda": list(at.multipliers + 1j * STEP * at.d_multipliers[:, p]),
        }
        given = {key: x for key, x in given.items() if key != "lambda" or len(at.multipliers)}
        efforts = InPython(eq.dynamics.plan, QUANTITIES[name], given, data).run()["tau"]
        found.append([_tangents(x, len(parts)) for x in efforts])
    columns = np.imag(np.array(found)) / STEP  # (P, nv, parts)
    return np.moveaxis(columns[..., ::2] + 1j * columns[..., 1::2], (0, 1, 2), (2, 1, 0))


def _duals(values: Complex, directions: Complex) -> list[Dual]:
    return [Dual(x, list(directions[:, i])) for i, x in enumerate(values)]


def _tangents(x: Any, count: int) -> list[complex]:
    return list(x.tangents) if isinstance(x, Dual) else [0j] * count
