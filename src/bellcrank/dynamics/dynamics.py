"""Dynamics: a model compiled to machine code, and everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DynamicsError, StateError
from ..extremes import in_our_errors
from ..formulations import CANONICAL, Program
from ..model import Model
from . import derivatives, quantities
from .evaluation import OPTIMISED, Array, Evaluation, OrZero
from .planning import Planned, planned

if TYPE_CHECKING:
    from ..design import Design

Reference = Literal["centroid", "joint", "origin"]


@in_our_errors(DynamicsError)
def compile(
    model: Model,
    formulation: str = "auto",
    *,
    reference: Reference | None = None,
    rank_tolerance: float | None = None,
    baumgarte: tuple[float, float] | None = None,
    variant: str | None = None,
    dependents: Sequence[str] | None = None,
    fictitious: Sequence[str] | None = None,
    design: Design | None = None,
    optimisation: int = OPTIMISED,
) -> Dynamics:
    """Machine code for a model's dynamics.

    formulation     for trees "articulated_body" ("auto"), "reference_point", "mass_matrix", "canonical_momenta"; for models
                    with closed loops "coordinate_reduction" ("auto", but for over-constrained loops that are long),
                    "multipliers", "canonical_momenta"
    reference       of "reference_point" ("origin" unless given) and "multipliers" ("joint"): "centroid", "joint", "origin";
                    of "canonical_momenta" for trees: "joint" (unless given), "origin"
    rank_tolerance  an equation that closes a loop is redundant if what it adds to the others is less than this part of what
                    it could add: how far from aligned parts may be and still count as aligned; 1e-7, and more for a model
                    from a file whose numbers are rounded further (2e-5 of six digits), unless given
    baumgarte       alpha, beta (1/s) of Baumgarte's stabilisation; none unless given
    variant         of "coordinate_reduction": "block" (compiled), or Critchley & Anderson's own, in Python and slow: "rcr",
                    "acs" (with ``dependents``, names of coordinates), "gcl" (with ``fictitious``, two bodies between which
                    it puts a joint that changes nothing), or the body-by-body elimination "body"
    design          a bc.Design of the model: nothing that its parameters can change becomes a constant of the machine code
    optimisation    of the machine code, 0 to 3: with 0, for a few states, compiling takes a fraction of the time, and running
                    two to three times as long
    """
    options: dict[str, Any] = {"rank_tolerance": rank_tolerance, "baumgarte": baumgarte, "optimisation": optimisation}
    options |= {"variant": variant, "dependents": dependents, "fictitious": fictitious}
    return Dynamics(model, formulation, reference=reference, design=design, **options)


class Dynamics(Evaluation):
    """Accelerations, efforts, energies and reactions of a model.

    Arguments are one state, arrays (nq,) and (nv,), or many, (B, nq) and (B, nv); results have the same leading shape. The
    time ``t`` (a number, or one for each state) matters for models with prescribed motions and tables of time; ``inputs``
    are the values of the model's inputs, zero if not given.

    It is planned before it exists, and never changes: ``replanned`` and ``by_multipliers`` give others. Its methods are
    those of Evaluation (rates, poses, closure, closure_jacobian; any program by evaluate) and the functions of quantities/.
    """

    def __init__(
        self,
        model: Model,
        formulation: str = "auto",
        *,
        reference: Reference | None = None,
        rank_tolerance: float | None = None,
        baumgarte: tuple[float, float] | None = None,
        variant: str | None = None,
        dependents: Sequence[str] | None = None,
        fictitious: Sequence[str] | None = None,
        design: Design | None = None,
        optimisation: int = OPTIMISED,
    ):
        if optimisation not in range(OPTIMISED + 1):
            raise StateError(f"optimisation is {optimisation!r}: give 0 (compile fast) to {OPTIMISED} (run fast)")
        options: dict[str, Any] = {"rank_tolerance": rank_tolerance, "baumgarte": baumgarte, "variant": variant}
        options |= {"dependents": dependents, "fictitious": fictitious}
        settled = planned(model, formulation, reference=reference, design=design, **options)
        self._compile(settled, optimisation)

    @classmethod
    def of(cls, settled: Planned, optimisation: int) -> Dynamics:
        """The Dynamics of a model that has been planned, compiled with one of LLVM's levels of optimisation."""
        self = cls.__new__(cls)
        self._compile(settled, optimisation)
        return self

    def _compile(self, settled: Planned, optimisation: int) -> None:
        super().__init__(settled, optimisation)
        self.direct: Callable[..., bool]
        self.direct, self._extras = quantities.accelerations.direct_call(self)
        self._nv, self._no_effort = self.model.nv, np.zeros(self.model.nv)

    def __repr__(self) -> str:
        return f"Dynamics({self.model.name!r}, formulation={self.formulation!r}, nq={self.model.nq}, nv={self.model.nv})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what was planned: it is compiled where it arrives."""
        return Dynamics.of, (self.planned, self.optimisation)

    def __copy__(self) -> Dynamics:
        """A copy with the same kernels; what is compiled later belongs to the copy alone."""
        other = Dynamics.__new__(Dynamics)
        other.__dict__ |= self.__dict__ | {"tangent_kernels": {}, "adjoint_kernels": {}, "measuring_code": {}}
        return other

    def replanned(self, q: Array, t: float) -> Dynamics:
        """The Dynamics in which the equations that are kept of the closures are chosen at q."""
        return Dynamics.of(self.planned.chosen_at(q, t), self.optimisation)

    def at_designs(self, rows: Array, every: int = 1) -> Dynamics:
        other = super().at_designs(rows, every)
        other.direct = other._many = quantities.accelerations.decline
        other._extras = ()
        return other

    def by_multipliers(self) -> Dynamics:
        """The Dynamics by the formulation that finds redundant equations at every state."""
        return Dynamics.of(self.planned.by_multipliers(), self.optimisation)

    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: OrZero = None,
        *,
        t: ArrayLike = 0.0,
        inputs: OrZero = None,
        status: NDArray[Any] | None = None,
        p: ArrayLike | None = None,
    ) -> Array:
        """dv/dt at the state q, v under the model's forces, gravity, and the joint efforts tau besides.

        p: another design of those that the dynamics was compiled for, (parameters,), or one for each state, (B, parameters).

        One state without a finite answer raises DynamicsError. A batch never raises for one of its states: its row is not
        a number, and ``status``, an integer array (B,) to be filled, has 0 where the answer is good, 1 where the given
        state is not finite and 2 where the equations have no finite answer.
        """
        if p is not None:
            return derivatives.by_design.acceleration_at(self, q, v, tau, p, t, inputs, status)
        out = np.empty(self._nv)
        effort = self._no_effort if tau is None else tau
        if not self._extras:
            if self.direct(q, v, effort, out):
                return out
        elif self.direct(q, v, effort, *self._extra_arrays(t, inputs), out):
            return out
        if self.planned.variant is not None:
            return quantities.accelerations.by_variant(self, q, v, tau, t, inputs, status)
        if status is None and type(q) is np.ndarray and q.ndim == 2:
            out = np.empty((len(q), self._nv))
            effort = np.zeros((len(q), self._nv)) if tau is None else tau
            extras = self._extra_rows(len(q), t, inputs) if self._extras else ()
            if self._many(q, v, effort, *extras, out):
                return out
        return self.evaluate(self.program, {"q": q, "v": v, "tau": tau}, t, inputs, status)

    @cached_property
    def _many(self) -> Callable[..., bool]:
        """f(q, v, tau, *extras, out) for rows of states; declines by False."""
        return quantities.accelerations.direct_batch(self)

    def _extra_rows(self, states: int, t: ArrayLike, inputs: OrZero) -> list[Array]:
        return [self.time_rows(t, states) if name == "t" else self.input_rows(inputs, states) for name in self._extras]

    def _extra_arrays(self, t: ArrayLike, inputs: OrZero) -> list[Array]:
        u = np.zeros(self.model.input_width) if inputs is None else self.with_anchors(np.asarray(inputs, dtype=np.float64))
        given = {"t": np.atleast_1d(np.asarray(t, dtype=np.float64)), "u": u}
        return [given[name] for name in self._extras]

    mass_matrix = quantities.momenta.mass_matrix
    inverse_dynamics = quantities.forces.inverse_dynamics
    jacobians = derivatives.jacobians.jacobians
    sensitivity = derivatives.by_design.sensitivity

    energy = quantities.momenta.energy
    momentum = quantities.momenta.momentum
    elements = quantities.forces.elements

    reactions = quantities.reactions.reactions
    drive_efforts = quantities.reactions.drive_efforts
    drive_powers = quantities.reactions.drive_powers
    closure_reactions = quantities.reactions.closure_reactions
    closure_efforts = quantities.reactions.closure_efforts
    closure_powers = quantities.reactions.closure_powers
    closure_wrenches = quantities.forces.closure_wrenches
    powers_of_closures = quantities.forces.powers_of_closures

    closing_coordinates = quantities.loops.closing_coordinates
    closure_bias = quantities.loops.closure_bias
    closure_pivots = quantities.loops.closure_pivots
    multipliers = quantities.loops.multipliers
    shared_reactions = quantities.loops.shared_reactions
    blocks = quantities.loops.blocks
    projected = quantities.loops.projected
    least_change = quantities.loops.least_change

    measures = quantities.measures.measures
    measure_units = quantities.measures.measure_units
    measure_jacobians = derivatives.of_measures.measure_jacobians

    momenta = quantities.momenta.momenta
    velocities = quantities.momenta.velocities
    impulses = quantities.momenta.impulses
    canonical_sensitivity = derivatives.by_momenta.canonical_sensitivity
    canonical_rates = quantities.momenta.canonical_rates
    canonical_reactions = quantities.momenta.canonical_reactions

    @property
    def canonical(self) -> bool:
        """Whether time loops in machine code integrate q and p, rather than q and v."""
        return self.formulation in CANONICAL

    @property
    def stepping(self) -> Program:
        """The program that a time loop in machine code calls: of dp/dt, or of dv/dt."""
        return quantities.momenta.hamilton(self) if self.canonical else self.program

    def speeds_of(self, q: Array, v: Array, t: float) -> Array:
        """The quantity that a time loop in machine code integrates beside q: p, or v itself."""
        return self.momenta(q, v, t=t) if self.canonical else v
