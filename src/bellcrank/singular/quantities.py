"""Compiled quantities of one model at one state, called with as little overhead as possible."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..assembly.loops import Loops
from ..dynamics.dynamics import Dynamics
from ..formulations import QUANTITIES, Program
from ..spatial.rank import LENIENT, Factors
from .factors import factored

Array = NDArray[np.float64]


class Quantity:
    """A compiled program; what it is not given by name is zero."""

    def __init__(self, dynamics: Dynamics, program: str | Program, u: Array):
        self.dynamics, self.u = dynamics, u
        self.program = QUANTITIES[program] if isinstance(program, str) else program
        self.kernel = dynamics.kernel(self.program, 1)
        self.width = self.kernel.widths[self.kernel.output]
        self.rest = {x: np.zeros(self.kernel.widths[x]) for x in self.kernel.program.inputs} | {"u": u}
        self.names = self.kernel.program.inputs
        self._one = self.kernel.single() or (lambda *arguments: False)

    def __call__(self, t: float, **given: Array) -> Array:
        out = np.empty(self.width)
        arguments = self.rest | given
        if "t" in self.names:
            arguments["t"] = np.array([t])
        if self._one(*[arguments[name] for name in self.names], out):
            return out
        return self.checked(t, given)

    def checked(self, t: float, given: dict[str, Array]) -> Array:
        """The quantities by Dynamics, which checks its arguments and says what is wrong."""
        wanted: dict[str, Any] = {name: given.get(name) for name in self.program.inputs}
        return self.dynamics.evaluate(self.program, wanted, t, self.u)


class Quantities:
    """What a step needs: mass matrix, forces without closures, and the closures' errors and Jacobian in comparable rows.

    Rows are scaled to metres (plan.closures): what is small in one row is small in all.
    """

    def __init__(self, dynamics: Dynamics, tau: Array, u: Array):
        model = dynamics.model
        self.dynamics, self.model = dynamics, model
        self.tau, self.u, self.nv, self.m = tau, u, model.nv, int(model.closure_index[-1])
        self.length = float(dynamics.plan.length)
        self.loops = Loops(dynamics)
        self.scale = self.loops.rows
        self.window = (-np.inf, np.inf)  # times between which forces are as they are
        self.rank: int | None = None  # the largest that the equations have had
        self.mass_matrix = Quantity(dynamics, "mass_matrix", u)
        closed = "closed_" if model.closures else ""
        self._inverse_dynamics = Quantity(dynamics, f"{closed}inverse_dynamics", u)
        if model.closures:
            self._closure = Quantity(dynamics, "closure", u)
            self._right = Quantity(dynamics, "closure_right", u)
            self._jacobian = Quantity(dynamics, "closure_jacobian", u)
        self._still = np.zeros(self.nv)

    def clock(self, t: float) -> float:
        return min(max(t, self.window[0]), self.window[1])

    def mass(self, q: Array, t: float) -> Array:
        return self.mass_matrix(t, q=q).reshape(self.nv, self.nv)

    def force(self, q: Array, v: Array, t: float) -> Array:
        """The force that accelerates the mechanism with its loops open: M a = force."""
        return self.tau - self._inverse_dynamics(self.clock(t), q=q, v=v)

    def closure(self, q: Array, v: Array, t: float) -> Array:
        """Columns: errors, and their rates; (m, 2)."""
        if not self.m:
            return np.zeros((0, 2))
        return self._closure(self.clock(t), q=q, v=v).reshape(self.m, 2) * self.scale[:, None]

    def right(self, q: Array, v: Array, t: float) -> Array:
        """gamma; (m,)."""
        return self._right(self.clock(t), q=q, v=v) * self.scale if self.m else np.zeros(0)

    def errors(self, q: Array, t: float) -> Array:
        return self.closure(q, self._still, t)[:, 0]

    def jacobian(self, q: Array, t: float) -> Array:
        if not self.m:
            return np.zeros((0, self.nv))
        return self._jacobian(t, q=q).reshape(self.m, self.nv) * self.scale[:, None]

    def factored(self, A: Array, q: Array, t: float, regular: int = 0) -> Factors:
        """Factors of equations in the metric of the mass, at q or near it; their rank is at most that without the metric.

        Equations that were redundant count from where on they are so no longer by far: the start may be singular.
        """
        tolerance = self.loops.tolerance
        if self.rank is None:
            nodes = self.loops.dynamics.plan.nodes
            self.rank = self.loops.rank(q, t) if nodes is None else nodes.rank
        found = factored(A, tolerance, regular)
        if found.rank > self.rank:
            self.rank = max(self.rank, self.loops.rank(q, t, LENIENT * tolerance))
        return found if found.rank <= self.rank else factored(A, tolerance, regular, self.rank)

    def open_by(self, phi: Array, factors: Factors) -> float:
        """The largest of some errors, in metres, apart from what redundant equations leave; in a singular position, where
        others say nothing either, the largest of all."""
        size, U = float(np.abs(phi).max()), factors.U[:, : factors.rank]
        singular = self.rank is not None and factors.rank < self.rank
        return size if singular or size > self.loops.redundant else float(np.abs(U @ (U.T @ phi)).max())

    def joints_of(self, ways: Array, least: float = 0.1) -> tuple[str, ...]:
        """Coordinates that move more than a little in a vector over the velocities."""
        return tuple(name for name, x in zip(self.model.v_names, ways, strict=True) if x > least * ways.max())

    def names_of(self, share: Array, least: float = 0.1) -> tuple[str, ...]:
        """Closures that have more than a small share in a vector over the rows."""
        parts = np.add.reduceat(share**2, self.model.closure_index[:-1]) if self.m else np.zeros(0)
        return tuple(c.name for c, x in zip(self.model.closures, parts, strict=True) if x > least**2 * parts.max())
