"""The equations of steady oscillations about rest, solved frequency by frequency.

With s = 2 pi i f and displacements d = N y that the loops allow, of which the drives prescribe p,

    N^T (s^2 M + s C + K) N y = N^T f,    y = Y p + Z z,    (E^T N) Y = 1,  (E^T N) Z = 0

The forces of closures and drives are what is left over: (s^2 M + s C + K) d - f = G^T lambda + E e.  (released.py)

A user-defined state has no displacement: its unknown is the state z itself, whose columns of M and C count s z and z.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError
from ...spatial.rank import factored
from .released import AtRest

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class Excitation(NamedTuple):
    """An excitation: an "input", a "drive" or an "effort", and which."""

    unit: str
    kind: str
    place: int


class Harmonic:
    """The responses of the named measures, then of the efforts of all drives."""

    def __init__(self, at: AtRest, excitations: Sequence[Excitation], names: list[str]):
        n, count = at.dyn.model.nv, len(excitations)
        self.M, self.C, self.K, B = at.matrices()
        self.push, self.moved = np.zeros((n, count)), np.zeros((len(at.drives), count))
        self.fed = np.zeros((len(at.dyn.model.inputs), count))
        for j, (_, kind, k) in enumerate(excitations):
            if kind == "drive":
                self.moved[k, j] = 1.0
            elif kind == "input":
                self.push[:, j], self.fed[k, j] = B[:, k], 1.0
            else:
                self.push[k, j] = 1.0
        self.parts = at.measures(names)
        self.own = list(at.dyn.model.state_places)
        E = np.eye(n)[:, list(at.drives.values())]
        G = at.dyn.closure_jacobian(at.q, t=at.given.t)
        self.equations, self.held = len(G), factored(np.hstack([G.T, E]), at.dyn.plan.tolerance)
        self.N = at.basis()
        self.Y, self.Z = _prescribed(E.T @ self.N)

    def at(self, f: float) -> Complex:
        """(measures and drives, excitations)."""
        s, N, Z = 2j * np.pi * f, self.N, self.Z
        D = self._along(s, self.K, self.C, self.M)
        led = self.Y @ self.moved
        y = led + Z @ _solution(Z.T @ N.T @ D @ N @ Z, Z.T @ (N.T @ (self.push - D @ (N @ led))))
        x = N @ y
        forces, drives = np.split(self.held.solve_many(D @ x - self.push), [self.equations])
        by_d, by_v, by_a, by_input, by_force = self.parts
        measured = self._along(s, by_d, by_v, by_a) @ x + by_input @ self.fed + by_force @ forces
        return np.vstack([measured, drives])

    def _along(self, s: complex, by_d: Array, by_v: Array, by_a: Array) -> Complex:
        """The effect of unit amplitudes of the unknowns: displacements, and user-defined states."""
        found = by_d + s * by_v + s * s * by_a
        found[:, self.own] = by_v[:, self.own] + s * by_a[:, self.own]
        return np.asarray(found)


def _prescribed(P: Array) -> tuple[Array, Array]:
    """Y with P Y = 1, and Z with P Z = 0, orthonormal."""
    if not len(P):
        return np.zeros((P.shape[1], 0)), np.eye(P.shape[1])
    _, sizes, V = np.linalg.svd(P)
    if len(sizes) < len(P) or sizes.min() < 1e-9 * sizes.max():
        raise StateError("the drives depend on each other through the loops here: none of them can be disturbed alone")
    return np.asarray(np.linalg.pinv(P), dtype=np.float64), V[len(P) :].T


def _solution(A: NDArray[Any], right: NDArray[Any]) -> Complex:
    """The solution; NaN where the frequency is that of an undamped mode, to rounding."""
    try:
        return np.asarray(np.linalg.solve(A, right))
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan, dtype=complex)
