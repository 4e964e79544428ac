"""The equations of a mechanism and their derivatives by a design, at many states at once.

code      shape                meaning
d         (k, nv, P)           displacements along the velocities v that the P parameters bring about; dq = E d
left      (k, m, P)            what a change of the design leaves of the equations that close the loops
B         (nv, free)           displacements that leave held coordinates where they are (assembly.loops)

Positions G d = -dPhi, velocities G dv = -d(G v + Phi_t), accelerations G da = d(gamma) - dG a; here dPhi, d(G v + Phi_t), ...
are taken along what is known already, the parameters included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...assembly.loops import HeldCoordinates, Loops
from ...design import Design
from ...dynamics.derivatives.shared_loads import ByDesign
from ...dynamics.differentiation import Changes, Derivative, derivatives
from ...dynamics.dynamics import Dynamics
from ...dynamics.quantities.measures import measuring
from ...errors import DynamicsError
from ...formulations import QUANTITIES
from ...machine.tangents.data import design_tangents
from ...model.manifold import rate_matrix, rotation, turning_joints
from ...spatial.rank import factored

Array = NDArray[np.float64]

LEFT = 1e-6  # of the equations, after they are solved: more than this is not rounding


class Equations:
    """A model compiled for a design, at k states at the times t."""

    def __init__(self, dynamics: Dynamics, design: Design, t: ArrayLike, inputs: Any = None):
        self.dynamics, self.design, self.model = dynamics, design, dynamics.model
        self.t, self.inputs = np.atleast_1d(np.asarray(t, dtype=np.float64)), inputs
        self.loops, self.count = Loops(dynamics), len(design.names)
        self.tangents = self._of_design(dynamics)

    def _of_design(self, evaluation: Any) -> dict[str, Array]:
        return design_tangents(evaluation.plan, self.design.tangents(self.design.start, evaluation.plan), self.count)

    def written(self, name: str, size: int) -> Array:
        """Derivatives of the start as the model's file has it, "given_q" or "given_v"."""
        found = self.design.tangents(self.design.start, self.dynamics.plan).get(name)
        return np.zeros((size, self.count)) if found is None else np.array(found)

    def along(self, name: str, rows: dict[str, Array], changes: dict[str, Array]) -> Derivative:
        """The one output of a program, and its derivatives along the parameters, with what changes of its inputs."""
        whole = Changes(self.count, changes, self.tangents)
        (found,) = derivatives(self.dynamics, QUANTITIES[name], rows, whole, self.t, self.inputs).values()
        return found

    def measured(self, names: list[str], rows: dict[str, Array], changes: dict[str, Array]) -> Derivative:
        """Measures: values (k, columns), and derivatives (k, columns, P)."""
        code = measuring(self.dynamics, names)
        whole = Changes(self.count, changes, self._of_design(code.evaluation))
        rows = {name: x for name, x in rows.items() if name in ("q", "v", *code.program.inputs)}
        found = derivatives(code.evaluation, code.program, rows, whole, self.t, self.inputs)["measure"]
        return Derivative(found.value[:, code.columns], found.along[:, code.columns])

    def least(self, multipliers: Derivative, rows: dict[str, Array], changes: dict[str, Array]) -> Derivative:
        """Multipliers (k, m) for which reactions are of least norm, where they are not unique."""
        loops, G = self.loops, self.G(rows["q"])
        ranks = [factored(x * loops.units, loops.tolerance).rank for x in G]
        if min(ranks) == len(loops.rows):
            return multipliers
        given = {"tau": np.zeros_like(rows["v"]), **{name: rows[name] for name in ("q", "v", "a")}}
        along = {name: changes[name] for name in ("q", "v", "a")}
        return ByDesign(self.dynamics, self.design, given, along, None, self.t, self.inputs).least(multipliers, ranks)

    # --- what closes the loops

    def G(self, q: Array) -> Array:
        """(k, m, nv)"""
        found = self.dynamics.evaluate(QUANTITIES["closure_jacobian"], {"q": q, "v": np.zeros((len(q), self.model.nv))}, self.t)
        return np.asarray(found.reshape(len(q), len(self.loops.rows), self.model.nv) * self.loops.rows[:, None])

    def open_by(self, q: Array, dq: Array) -> Array:
        """dPhi along dq and the parameters."""
        return self._closure(q, np.zeros((len(q), self.model.nv)), dq, None)[:, ::2] * self.loops.rows[:, None]

    def rate_changes(self, q: Array, v: Array, dq: Array, dv: Array | None) -> Array:
        """d(G v + Phi_t) along dq, dv and the parameters."""
        return self._closure(q, v, dq, dv)[:, 1::2] * self.loops.rows[:, None]

    def motion_changes(self, q: Array, x: Array, dq: Array) -> Array:
        """dG x along dq and the parameters: x stays, and nothing moves by itself."""
        return self.rate_changes(q, x, dq, None) - self.rate_changes(q, np.zeros_like(x), dq, None)

    def _closure(self, q: Array, v: Array, dq: Array, dv: Array | None) -> Array:
        changes = {"q": dq, "v": np.zeros((1, self.model.nv, self.count)) if dv is None else dv}
        return self.along("closure", {"q": q, "v": v}, changes).along

    def bias_changes(self, q: Array, v: Array, dq: Array, dv: Array) -> Array:
        """d(gamma) of G a = gamma."""
        return self.along("closure_right", {"q": q, "v": v}, {"q": dq, "v": dv}).along * self.loops.rows[:, None]

    def rates(self, q: Array, v: Array, dq: Array, dv: Array | None = None) -> Array:
        """d(dq/dt) along dq and dv."""
        changes = {"q": dq, "v": np.zeros((1, self.model.nv, self.count)) if dv is None else dv}
        found = derivatives(self.dynamics, QUANTITIES["rates"], {"q": q, "v": v}, Changes(self.count, changes))
        return found["qdot"].along

    # --- solved

    def turned(self, q: Array, d: Array) -> Array:
        """dq of displacements."""
        return np.array([rate_matrix(self.model, x) @ y for x, y in zip(q, d, strict=True)]).reshape(len(q), self.model.nq, -1)

    def held_positions(self, q: Array, held: HeldCoordinates, changes: Array) -> Array:
        """Velocities (k, nv, P) that make up for changes (k, nq, P) of the rates of held positions of free bodies."""
        found = np.zeros((len(q), self.model.nv, self.count))
        for at in turning_joints(self.model):
            if at.free and held.q[at.position].any():
                moved = np.where(held.q[at.position][:, None], changes[:, at.position], 0.0)
                found[:, at.linear] = -np.swapaxes([rotation(x[at.quaternion]) for x in q], 1, 2) @ moved
        return found

    def held_accelerations(self, q: Array, v: Array, a: Array, dq: Array, dv: Array, held: HeldCoordinates) -> Array:
        """The accelerations that make up for changes of those of held positions, which are R (a + w x v)."""
        whole, change = a.copy(), np.zeros_like(dv)
        for at in turning_joints(self.model):
            if at.free:
                w, u, dw, du = v[:, at.angular], v[:, at.linear], dv[:, at.angular], dv[:, at.linear]
                whole[:, at.linear] += np.cross(w, u)
                change[:, at.linear] = np.cross(dw, u[..., None], axis=1) + np.cross(w[..., None], du, axis=1)
        return self.held_positions(q, held, self.rates(q, whole, dq, change))


class Solved:
    """The equations that close the loops, with those that say what is held, factored at k states."""

    def __init__(self, equations: Equations, q: Array, held: HeldCoordinates, more: Array | None, where: Any):
        units = equations.loops.units
        own = list(equations.model.state_places)  # user-defined states close no loops
        every = (_dense(held.basis(x, units)) for x in q)
        self.basis = [B[:, ~B[own].any(axis=0)] for B in every]
        rows = equations.G(q) if more is None else np.concatenate([equations.G(q), more], axis=1)
        self.equations, self.rows, self.where, self.model = equations, rows, where, equations.model
        self.factors = [factored(G @ B, equations.loops.tolerance) for G, B in zip(rows, self.basis, strict=True)]

    def positions(self, left: Array) -> Array:
        """Positions that follow; raises DynamicsError where a parameter opens the loops."""
        d = self.followed(left)
        for k, (B, y) in enumerate(zip(self.basis, d, strict=True)):
            if B.shape[1]:
                self.must_close(self.equations, self.rows[k] @ y + left[k], left[k], self.where(k))
        return d

    @staticmethod
    def must_close(equations: Equations, missed: Array, left: Array, where: str) -> None:
        """Raises DynamicsError where parameters take the loops apart: ``missed`` (m, P) remains of what was left."""
        design, size = equations.design, np.abs(left).max(initial=0.0) + equations.loops.length
        apart = np.abs(missed).max(axis=0, initial=0.0) * np.where(design.start == 0, 1.0, np.abs(design.start))
        if apart.max(initial=0.0) > LEFT * size:
            raise DynamicsError(
                f"model {equations.model.name!r} has no derivative by {design.names[int(np.argmax(apart))]!r} at {where}: its "
                "loops have redundant equations, which contradict each other as soon as this parameter changes. Change "
                "parameters together, by a formula, so that the loops still close."
            )

    def followed(self, left: Array) -> Array:
        """(k, nv, P): the displacements that take back what is left (k, m, P) of the equations."""
        return np.array([self._at(k, -x) for k, x in enumerate(left)]).reshape(len(left), self.model.nv, -1)

    def _at(self, k: int, right: Array) -> Array:
        B, factors = self.basis[k], self.factors[k]
        if not B.shape[1]:
            return np.zeros((self.model.nv, right.shape[1]))
        if factors.rank < B.shape[1]:
            raise DynamicsError(
                f"model {self.model.name!r} has no derivatives at {self.where(k)}: its loops are singular there (a dead centre "
                "or a change point), and a small change of the design moves it without limit. Stay away from that position."
            )
        return np.asarray(B @ factors.solve_many(right))


def _dense(basis: Any) -> Array:
    return np.asarray(basis.toarray() if hasattr(basis, "toarray") else basis)
