"""What can be asked of a model in canonical form: momenta and velocities, Hamilton's equations, reactions from momenta."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from ..errors import StateError
from ..formulations import CANONICAL, QUANTITIES, Program
from .closed_dynamics import ClosedDynamics
from .evaluation import Array


class CanonicalDynamics(ClosedDynamics):
    """The half of Dynamics that is about momenta; arguments and results as there.

    p is conjugate to v: p = dT/dv, armature included. Where v is not dq/dt (spherical and free joints) the entries of p are
    quasi-momenta, moments and impulses in the child's axes.
    """

    @property
    def canonical(self) -> bool:
        """Whether time loops in machine code integrate q and p, rather than q and v."""
        return self.formulation in CANONICAL

    @property
    def _hamilton(self) -> Program:
        self._must_have_nodes()
        own = "canonical_momenta" if self.model.closures else "canonical_momenta:joint"
        return CANONICAL.get(self.formulation, CANONICAL[own])

    def _must_have_nodes(self) -> None:
        if self.model.closures and self.plan.nodes is None:
            raise StateError(
                f"momenta of closed loops go with formulation 'canonical_momenta' or 'coordinate_reduction', "
                f"not with {self.formulation.partition(':')[0]!r}"
            )

    def momenta(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """p at the state q, v. With closed loops p + G^T sigma belongs to the same state, whatever sigma: here it is zero."""
        return self._evaluate(QUANTITIES["momenta"], {"q": q, "v": v}, t)

    def velocities(self, q: ArrayLike, p: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """v at the state q, p: the way back."""
        self._must_have_nodes()
        program = QUANTITIES["closed_velocities" if self.model.closures else "velocities"]
        return self._evaluate(program, {"q": q, "p": p}, t)

    def canonical_rates(
        self,
        q: ArrayLike,
        p: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """Hamilton's equations: dq/dt and dp/dt at the state q, p under the model's forces, and the efforts tau besides."""
        given: dict[str, Any] = {"q": q, "p": p, "tau": tau}
        program = self._hamilton
        pdot = self._evaluate(replace(program, scratch=("v", *program.scratch)), given, t, inputs)
        return self.rates(q, self.velocities(q, p, t=t)), pdot

    def canonical_reactions(
        self,
        q: ArrayLike,
        p: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
        effort: bool = False,
    ) -> Array:
        """Wrenches of the parents on the children as ``reactions`` gives them, from momenta, by one more sweep; (n, 6)."""
        if self.model.closures:
            raise StateError("canonical_reactions are for trees: with closed loops use reactions and closure_reactions")
        wrenches = self._evaluate(QUANTITIES["canonical_reactions"], {"q": q, "p": p, "tau": tau}, t, inputs)
        return self._frames.reactions(self._evaluate(QUANTITIES["poses"], {"q": q}, t), wrenches, effort)

    # what a time loop integrates beside q ---------------------------------------------------------------------------

    @property
    def _stepping(self) -> Program:
        """The program that a time loop in machine code calls."""
        return self._hamilton if self.canonical else self._program

    def _speeds(self, q: ArrayLike, v: ArrayLike, t: ArrayLike) -> ArrayLike:
        return self.momenta(q, v, t=t) if self.canonical else v

    def _velocities_of(self, q: ArrayLike, speeds: ArrayLike, t: ArrayLike) -> ArrayLike:
        return self.velocities(q, speeds, t=t) if self.canonical else speeds
