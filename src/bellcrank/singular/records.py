"""Records of the steps of a run: samples, works, the balance of energy. They are evaluated a few hundred steps at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics

Array = NDArray[np.float64]


class States(NamedTuple):
    """Rows of a batch: time, coordinates, velocities; accelerations and multipliers, for the drives; energy lost in a jump."""

    t: Array
    q: Array
    v: Array
    a: Array
    multipliers: Array
    lost: Array


class EnergyBalance:
    """Works by the trapezoidal rule, of the same order as the steps; and the energy that they should explain."""

    def __init__(self, dynamics: Dynamics, tau: Array, u: Array):
        model = dynamics.model
        self.dynamics, self.tau, self.u = dynamics, tau, u
        self.driven = bool(model.driven.any())
        self.closings = any(closure.motion is not None for closure in model.closures)
        self.count = len(model.elements) + len(dynamics.frames.drive_order) + self.closings * len(model.closures) + 1
        self.works = np.zeros(self.count)
        self.window = (-np.inf, np.inf)  # times between which forces are as they are
        self._last: tuple[float, Array] | None = None
        self._first_energy: float | None = None
        self.lost = 0.0
        self.worst_balance = self.largest_kinetic = 0.0

    def enter(self, states: States) -> Array:
        """Works at all states of a batch, which follows the one before."""
        powers = self._powers(states)
        t = states.t
        if self._last is not None:
            t, powers = np.append(self._last[0], t), np.vstack([self._last[1], powers])
        done = self.works + np.cumsum(0.5 * np.diff(t)[:, None] * (powers[1:] + powers[:-1]), axis=0)
        works = done if self._last is not None else np.vstack([self.works, done])
        self.works, self._last = works[-1].copy(), (float(t[-1]), powers[-1].copy())
        self._balance(states, works)
        return works

    def _powers(self, states: States) -> Array:
        """Powers of the elements, the drives (in the order of the walk), the closures if one is driven, and the efforts."""
        dynamics, parts = self.dynamics, [(states.v @ self.tau)[:, None]]
        states = states._replace(t=np.clip(states.t, *self.window))
        if self.closings:
            parts.insert(0, dynamics.powers_of_closures(states.q, states.v, states.multipliers, t=states.t))
        if self.driven:
            given = {"t": states.t, "inputs": self.u, "multipliers": states.multipliers}
            parts.insert(0, dynamics.drive_powers(states.q, states.v, states.a, **given))
        if dynamics.model.elements:
            parts.insert(0, dynamics.elements(states.q, states.v, t=states.t, inputs=self.u)[1])
        return np.hstack(parts)

    def _balance(self, states: States, works: Array) -> None:
        kinetic, potential = self.dynamics.energy(states.q, states.v, t=states.t)
        lost = self.lost + np.cumsum(states.lost)
        self.lost = float(lost[-1])
        energy = kinetic + potential + lost - works.sum(axis=1)
        if self.dynamics.model.elements:
            energy = energy + self.dynamics.elements(states.q, states.v, t=states.t, inputs=self.u)[0].sum(axis=1)
        if self._first_energy is None:
            self._first_energy = float(energy[0])
        self.worst_balance = max(self.worst_balance, float(np.abs(energy - self._first_energy).max()))
        self.largest_kinetic = max(self.largest_kinetic, float(kinetic.max()))

    @property
    def energy_error(self) -> float:
        return self.worst_balance / self.largest_kinetic if self.largest_kinetic > 0 else self.worst_balance
