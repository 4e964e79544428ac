"""Derivatives of an equilibrium: where it rests, and everything there, by the parameters of a design.

At rest the efforts f(q, lambda) = g(q) - G^T lambda that the motion takes are those that are given, and the loops are closed:

    [ K   -G^T ] [ d        ]     [ df/dp   ]
    [ G    0   ] [ d lambda ] = - [ dPhi/dp ]

K is the stiffness, with the curvature of the closures in it (analyses.stiffness). In directions that have none the mechanism is
moved as little as can be. User-defined states z, whose rates are zero there too, are unknowns beside the displacements: their
rates are among the efforts, as those of unit masses with the velocity z, and the columns of K are then those of C.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...analyses.resting import Equilibrium, equilibrium
from ...analyses.state import conditions
from ...analyses.stiffness import effort_jacobians, scales
from ...analyses.ties import Ties
from ...design import Design
from ...dynamics.differentiation import Derivative
from ...dynamics.dynamics import Dynamics
from ...dynamics.quantities.measures import measuring
from ...errors import DynamicsError, warn
from ...spatial.rank import factored
from ..checking.kinks import warn_of_kinks
from .equations import Array, Equations, Solved
from .standing import standing

SOFT = 1e-9  # of the stiffest direction: what has less is neutral
UNHELD = 1e-6  # of the efforts that a parameter changes


class Rest(NamedTuple):
    """A position of rest and its derivatives: d (nv, P) displacements, or changes of user-defined states; of the multipliers
    (m, P)."""

    equations: Equations
    found: Equilibrium
    K: Array
    d: Array
    dq: Array
    multipliers: Array
    d_multipliers: Array

    @property
    def dv(self) -> Array:
        """(nv, P): zero, but for user-defined states."""
        own = np.zeros((self.equations.model.nv, 1))
        own[list(self.equations.model.state_places)] = 1.0
        return np.asarray(own * self.d)

    @property
    def rows(self) -> dict[str, Array]:
        still = np.zeros((1, self.equations.model.nv))
        return {"q": self.found.q[None], "v": self.found.v[None], "a": still, "lambda": self.multipliers[None]}

    @property
    def changes(self) -> dict[str, Array]:
        still = np.zeros((1, self.equations.model.nv, self.equations.count))
        return {"q": self.dq[None], "v": self.dv[None], "a": still, "lambda": self.d_multipliers[None]}

    def measured(self, names: list[str]) -> tuple[Derivative, tuple[str, ...]]:
        code = measuring(self.equations.dynamics, names)
        rows, changes = self.rows, self.changes
        if code.pushed:
            given = Derivative(rows["lambda"], changes["lambda"])
            rows["lambda"], changes["lambda"] = self.equations.least(given, rows, changes)
        kept = ("q", "v", *code.program.inputs)
        rows, changes = ({name: x for name, x in part.items() if name in kept} for part in (rows, changes))
        return self.equations.measured(names, rows, changes), code.units


def rest(design: Design, **options: Any) -> Rest:
    """The equilibrium of the model, found, and differentiated."""
    found = equilibrium(design.base, **options)
    return differentiated(design, found)


def differentiated(design: Design, found: Equilibrium) -> Rest:
    used = standing(design, found.t, joints=False)
    dynamics = Dynamics(used.base, "multipliers" if used.base.closures else "auto", optimisation=0, design=used)
    warn_of_kinks(dynamics, found.q, found.t)
    equations = Equations(dynamics, used, found.t, found.inputs)
    return _Solution(equations, found).rest


class _Solution:
    def __init__(self, equations: Equations, found: Equilibrium):
        self.equations, self.found, dynamics = equations, found, equations.dynamics
        self.given = conditions(dynamics, found.tau, found.inputs, found.t)
        self.ties, self.q, self.v = Ties(dynamics, found.t), found.q, found.v
        still, own = np.zeros(equations.model.nv), list(equations.model.state_places)
        holding = dynamics.inverse_dynamics(self.q, self.v, still, t=found.t, inputs=found.inputs)
        self.multipliers = self.ties.multipliers(self.q, self.given.tau - holding)
        self.K, C = effort_jacobians(dynamics, self.q, self.v, still, self.given, self.multipliers)
        self.K[:, own] = C[:, own]

    @cached_property
    def by_design(self) -> Array:
        """df/dp (nv, P)."""
        eq, model = self.equations, self.equations.model
        still = np.zeros((1, model.nv))
        rows = {"q": self.q[None], "v": self.v[None], "a": still}
        changes = {"q": np.zeros((1, model.nq, eq.count))}
        if self.multipliers is None:
            return eq.along("inverse_dynamics", rows, changes).along[0]
        return eq.along("closed_inverse_dynamics", rows | {"lambda": self.multipliers[None]}, changes).along[0]

    @property
    def rest(self) -> Rest:
        eq, model = self.equations, self.equations.model
        none = np.zeros((0, eq.count))
        if not self.ties.any:
            d = self._balanced(np.eye(model.nv), np.zeros((model.nv, eq.count)))
            return Rest(eq, self.found, self.K, d, eq.turned(self.q[None], d[None])[0], none[:, 0], none)
        assert self.multipliers is not None
        q = self.q[None]
        free = np.zeros((1, model.nq, eq.count))
        d = self._balanced(self.ties.basis(self.q), self._closed(eq.open_by(q, free)))
        scale = eq.loops.rows[:, None]
        factors = factored(eq.G(q)[0] * eq.loops.units, eq.loops.tolerance)
        pushes = eq.loops.units[:, None] * (self.by_design + self.K @ d)
        r = factors.rank
        d_multipliers = factors.U[:, :r] @ ((factors.Vt[:r] @ pushes) / factors.s[:r, None]) * scale
        dq = eq.turned(q, d[None])[0]
        return Rest(eq, self.found, self.K, d, dq, self.multipliers, d_multipliers)

    def _closed(self, left: Array) -> Array:
        """The smallest displacement that keeps the loops closed."""
        eq = self.equations
        J = eq.G(self.q[None])[0] * eq.loops.units
        d = eq.loops.units[:, None] * factored(J, eq.loops.tolerance).solve_many(-left[0])
        Solved.must_close(eq, eq.G(self.q[None])[0] @ d + left[0], left[0], "rest")
        return d

    @property
    def _units(self) -> Array:
        """The units of comparison: rad, the size of the mechanism, that of a state."""
        own = list(self.equations.model.state_places)
        units = scales(self.equations.dynamics, self.q, self.given).displacement
        units[own] = 1.0 + np.abs(self.v[own])
        return units

    def _balanced(self, N: Array, d: Array) -> Array:
        """d and what of N is needed so that efforts stay balanced."""
        eq = self.equations
        if not N.shape[1]:
            return d
        right = -N.T @ (self.by_design + self.K @ d)
        weights = np.sqrt(N.T**2 @ self._units**2)  # so that stiffnesses of turns and slides can be compared
        K, rows = (N.T @ self.K @ N) * weights, weights[:, None]
        if eq.model.state_places:  # rates have units of their own
            largest = np.abs(K).max(axis=1, keepdims=True)
            rows = 1.0 / np.where(largest > 0, largest, 1.0)
        K = rows * K
        factors = factored(K, SOFT)
        y = factors.solve_many(rows * right)
        missed = np.abs(K @ y - rows * right).max(axis=0, initial=0.0)
        carried = np.abs(rows * (N.T @ np.abs(self.by_design))).max(initial=0.0)
        loose = ", ".join(map(repr, self.found.neutral)) or "it"
        if factors.rank < len(K):
            if missed.max(initial=0.0) > UNHELD * carried:
                raise DynamicsError(
                    f"the equilibrium of {eq.model.name!r} has no derivative by {eq.design.names[int(np.argmax(missed))]!r}: "
                    f"nothing holds {loose}, and a change of this parameter moves it without limit. Give "
                    "a spring, or hold the joint."
                )
            warn(
                f"model {eq.model.name!r}: its equilibrium is neutral along {loose}. No parameter says "
                "where it stays along these: derivatives are those of the smallest displacement."
            )
        return np.asarray(d + N @ (weights[:, None] * y))
