"""A mechanism in a motion that is known, with the derivatives of the motion, of its efforts and of measures.

Efforts of actuators A that keep the motion going, with the multipliers lambda of the loops and r the efforts that the open tree
would take, are those of least norm where there are more of them than degrees of freedom:

    E_A tau + G^T lambda = r,      tau = E_A^T eta,   G eta = 0

and differentiated, with d(r - G^T lambda) at fixed lambda from dual numbers,

    [ E_A E_A^T   G^T ] [ d eta    ]     [ d(r - G^T lambda) ]
    [ G           0   ] [ d lambda ]  =  [ -dG eta           ]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...assembly.loops import HeldCoordinates
from ...dynamics.differentiation import Derivative
from ...dynamics.quantities.measures import measuring
from ...errors import StateError
from ...model.measures.columns import EFFORT
from ...results.labels import Labels
from ...spatial.rank import factored
from .equations import Array, Equations, Solved


class Efforts(NamedTuple):
    """Efforts of the actuators, (k, nv), and the multipliers of the loops (k, m), with their derivatives."""

    tau: Derivative
    multipliers: Derivative


@dataclass(frozen=True, eq=False)
class DifferentiatedMotion:
    """q, v, a (k, ...) and their derivatives (k, ..., P); ``actuated``: the degrees of freedom on which efforts act."""

    equations: Equations
    q: Array
    v: Array
    a: Array
    dq: Array
    dv: Array
    da: Array | None  # None where it is not known
    held: HeldCoordinates
    actuated: tuple[str, ...]

    @classmethod
    def following(
        cls, equations: Equations, solved: Solved, motion: tuple[Array, Array, Array], dq: Array, held: HeldCoordinates
    ) -> DifferentiatedMotion:
        """The motion of closed loops; ``dq`` has what the held coordinates do, whose rates do not depend on the design."""
        q, v, a = motion
        dq = dq + equations.turned(q, solved.positions(equations.open_by(q, dq)))
        dv = equations.held_positions(q, held, equations.rates(q, v, dq))
        dv = dv + solved.followed(equations.rate_changes(q, v, dq, dv))
        da = equations.held_accelerations(q, v, a, dq, dv, held)
        right = equations.bias_changes(q, v, dq, dv) - equations.motion_changes(q, a, dq)
        G = equations.G(q)
        da = da + solved.followed(G @ da - right)
        names = tuple(name for name, is_held in zip(equations.model.v_names, held.v, strict=True) if is_held)
        return cls(equations, q, v, a, dq, dv, da, held, names)

    def acted_on(self, actuated: tuple[str, ...]) -> DifferentiatedMotion:
        """This motion, moved by efforts on these degrees of freedom."""
        return replace(self, actuated=actuated)

    @property
    def changes(self) -> dict[str, Array]:
        return {"q": self.dq, "v": self.dv} | ({} if self.da is None else {"a": self.da})

    def measured(self, names: list[str]) -> tuple[Derivative, tuple[str, ...]]:
        """Values (k, columns), derivatives (k, columns, P), and units: of measures, and of efforts, "crank_pivot.effort" and
        "crank_pivot.power" of what is not a drive of the model."""
        model, own = self.equations.model, dict[str, tuple[int, str]]()
        for k in (k for k in range(model.nv) if k not in model.state_places):
            own |= {f"{model.v_names[k]}.{what}": (k, what) for what in ("effort", "power")}
        plain = [name for name in names if name not in own]
        found, units = self._plainly_measured(plain)
        columns, their_units = dict(zip(plain, range(len(plain)), strict=True)), dict(zip(plain, units, strict=True))
        parts = [
            self._of_effort(*own[name]) if name in own else (found.value[:, columns[name]], found.along[:, columns[name]])
            for name in names
        ]
        dofs = Labels.of(model).dof_units
        their_units |= {name: "W" if what == "power" else EFFORT[dofs[k]] for name, (k, what) in own.items()}
        value, along = (np.stack(part, axis=1) for part in zip(*parts, strict=True))
        return Derivative(value, along), tuple(their_units[name] for name in names)

    def _of_effort(self, k: int, what: str) -> tuple[Array, Array]:
        tau, v = self.efforts.tau, self.v[:, k]
        if what == "effort":
            return tau.value[:, k], tau.along[:, k]
        return tau.value[:, k] * v, tau.along[:, k] * v[:, None] + tau.value[:, k, None] * self.dv[:, k]

    def _plainly_measured(self, names: list[str]) -> tuple[Derivative, tuple[str, ...]]:
        if not names:
            return Derivative(np.zeros((len(self.q), 0)), np.zeros((len(self.q), 0, self.equations.count))), ()
        code = measuring(self.equations.dynamics, names)
        rows, changes = {"q": self.q, "v": self.v}, {"q": self.dq, "v": self.dv}
        if code.moving:
            if self.da is None:
                raise StateError(
                    f"accelerations, of which {_listed(names)} depend, have no derivatives while a joint that closes a loop is "
                    "driven: drive another joint"
                )
            rows["a"], changes["a"] = self.a, self.da
        if code.pushed:
            moved = {"q": self.q, "v": self.v, "a": self.a}
            rows["lambda"], changes["lambda"] = self.equations.least(self.efforts.multipliers, moved, self.changes)
        return self.equations.measured(names, rows, changes), code.units

    @cached_property
    def efforts(self) -> Efforts:
        """The efforts that keep the motion going, by the actuators and the loops."""
        eq, model = self.equations, self.equations.model
        if self.da is None:
            raise StateError("forces have no derivatives while a joint that closes a loop is driven: drive another joint")
        free = eq.along("inverse_dynamics", {"q": self.q, "v": self.v, "a": self.a}, self.changes)
        if not model.closures:
            none = Derivative(np.zeros((len(self.q), 0)), np.zeros((len(self.q), 0, eq.count)))
            return Efforts(free, none)
        places = [model.v_names.index(name) for name in self.actuated]
        E = np.zeros((model.nv, model.nv))
        E[places, places] = 1.0
        scale = eq.loops.rows[:, None]
        G, m, tolerance = eq.G(self.q) / scale, len(scale), eq.loops.tolerance
        parts = [_solved(E, G_k, r, np.zeros(m), tolerance) for G_k, r in zip(G, free.value, strict=True)]
        eta, multipliers = (np.array(part) for part in zip(*parts, strict=True))
        rows = {"q": self.q, "v": self.v, "a": self.a, "lambda": multipliers}
        held = np.zeros((1, m, eq.count))
        taken = eq.along("closed_inverse_dynamics", rows, self.changes | {"lambda": held}).along
        turned = -eq.motion_changes(self.q, eta, self.dq) / scale
        found = [_solved(E, *given, tolerance) for given in zip(G, taken, turned, strict=True)]
        d_eta, d_multipliers = (np.array(part) for part in zip(*found, strict=True))
        return Efforts(Derivative(eta @ E, E @ d_eta), Derivative(multipliers, d_multipliers))


def _solved(E: Array, G: Array, first: Array, second: Array, tolerance: float) -> tuple[Array, Array]:
    """eta and lambda; of least norm where they are not unique."""
    n, m = len(E), len(G)
    whole = np.block([[E, G.T], [G, np.zeros((m, m))]])
    found = factored(whole, tolerance).solve_many(np.concatenate([first, second]).reshape(n + m, -1))
    found = found.reshape(n + m, *first.shape[1:])
    return found[:n], found[n:]


def _listed(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names[:4])
