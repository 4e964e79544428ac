"""Dynamics: a model compiled to machine code, and everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DynamicsError, StateError
from ..formulations import QUANTITIES
from ..model import Model
from ..model.spec.problems import names as named
from ..plan import make_plan
from ..plan.row_selection import comparable_rows
from ..spatial.rank import RANK_TOLERANCE, independent_rows
from ..wording import argument
from .canonical import CanonicalDynamics
from .evaluation import Array
from .node_ranks import plan_generic_nodes, plan_nodes
from .options import checked_variant, choose, stabilisation
from .user_frames import UserFrames

Reference = Literal["centroid", "joint", "origin"]

MUCH_FASTER = 2.0  # what "auto" asks of the multipliers


def compile(
    model: Model,
    formulation: str = "auto",
    *,
    reference: Reference | None = None,
    rank_tolerance: float | None = None,
    baumgarte: tuple[float, float] | None = None,
    variant: str | None = None,
    dependents: Sequence[str] | None = None,
    quick: bool = False,
) -> Dynamics:
    """Machine code for a model's dynamics.

    formulation     for trees "articulated_body" ("auto"), "reference_point", "mass_matrix", "canonical_momenta"; for models
                    with closed loops "coordinate_reduction" ("auto", but for long loops), "multipliers", "canonical_momenta"
    reference       of "reference_point" ("origin" unless given) and "multipliers" ("joint"): "centroid", "joint", "origin";
                    of "canonical_momenta" for trees: "joint" (unless given), "origin"
    rank_tolerance  an equation that closes a loop is redundant if what it adds to the others is less than this part of what
                    it could add: how far from aligned parts may be and still count as aligned; 1e-7, and more for a model
                    from a file whose numbers are rounded further (2e-5 of six digits), unless given
    baumgarte       alpha, beta (1/s) of Baumgarte's stabilisation; none unless given
    variant         of "coordinate_reduction": "block" (compiled), or Critchley & Anderson's own, in Python and slow: "rcr",
                    "acs" (with ``dependents``, names of coordinates), "gcl", or the body-by-body elimination "body"
    quick           for a few states: code is compiled when it is first asked for, in a fraction of the time, and takes two to
                    three times as long to run
    """
    options: dict[str, Any] = {"rank_tolerance": rank_tolerance, "baumgarte": baumgarte, "quick": quick}
    return Dynamics(model, formulation, reference=reference, variant=variant, dependents=dependents, **options)


def _declined(*arguments: Any) -> bool:
    """In place of the short way to one acceleration, where there is none."""
    return False


class Jacobians(NamedTuple):
    """Derivatives of the acceleration: (nv, nv), and (nv, inputs).

    dq is along displacements that v-like directions give, q' = rates(q, direction): for a quaternion, turns about the child's
    axes.
    """

    dq: Array
    dv: Array
    dtau: Array
    dinputs: Array


class Dynamics(CanonicalDynamics):
    """Accelerations, efforts, energies and reactions of a model.

    Arguments are one state, arrays (nq,) and (nv,), or many, (B, nq) and (B, nv); results have the same leading shape. The
    time ``t`` (a number, or one for each state) matters for models with prescribed motions and tables of time; ``inputs``
    are the values of the model's inputs, zero if not given.
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
        quick: bool = False,
    ):
        if not isinstance(model, Model):
            raise StateError(f"compile takes a Model; load a file or a gallery model first: bc.load({model!r})")
        self.model = model
        if rank_tolerance is None:
            rank_tolerance = max(RANK_TOLERANCE, 0.0 if model.source is None else model.source.misalignment)
        if not isinstance(rank_tolerance, float | int) or not 0 < rank_tolerance < 1:
            raise StateError(f"rank_tolerance is {rank_tolerance!r}: give a number between 0 and 1")
        self.formulation, self._program = choose(formulation, reference, closed=bool(model.closures))
        self._variant = checked_variant(self.formulation, variant, dependents)
        self.plan = make_plan(model, tolerance=rank_tolerance, baumgarte=stabilisation(baumgarte))
        self._frames = UserFrames(self.plan)
        self._kernels, self._quick = {}, quick
        self._extras: tuple[str, ...] = ()
        self._one: Callable[..., bool] = _declined
        self._nv = model.nv
        self._no_effort = np.zeros(model.nv)
        if self._program.nodes:
            self.plan = replace(self.plan, nodes=plan_generic_nodes(self.plan, self))
            if formulation == "auto" and self._multipliers_are_much_faster():
                self.formulation, self._program = choose("multipliers", None, closed=True)
                self.plan = replace(self.plan, nodes=None)
        self._bind()

    def _multipliers_are_much_faster(self) -> bool:
        """Few equations on many joints, as in one long loop, are their case; measured, as Nodes.work."""
        assert self.plan.nodes is not None
        work = 150 * self.model.n + 0.35 * self.plan.loads.closing.rows**2 * self.model.nv
        return self.plan.nodes.work > MUCH_FASTER * work

    def _bind(self) -> None:
        """Compile the accelerations for the plan as it is now; quick code waits until it is asked for, variants need none."""
        self._kernels.clear()
        if self.model.kinematic:
            self._one = self._kinematic
            return
        if self._quick or self._variant is not None:
            return
        kernel = self._kernel(self._program, 1)
        self._extras = kernel.program.inputs[3:]  # of t and u, those that this model reads
        self._one = kernel.single() or _declined

    def _kinematic(self, *arguments: Any) -> bool:
        """In place of an acceleration, where the model was loaded for kinematics."""
        assert self.model.source is not None
        joints = named(self.model.source.undetermined, 6)
        raise DynamicsError(
            f"model {self.model.name!r} has no accelerations, and no runs: it was loaded for kinematics, and the joints "
            f"{joints} move nothing that has mass. Give their bodies masses and load it without "
            f"{argument('massless', 'kinematics')} (in a .toml file: without undetermined in [source]). "
            "It can be assembled and driven."
        )

    def __repr__(self) -> str:
        return f"Dynamics({self.model.name!r}, formulation={self.formulation!r}, nq={self.model.nq}, nv={self.model.nv})"

    def replanned(self, q: Array, t: float) -> Dynamics:
        """The same, with the equations that are kept of those that close the loops chosen at q."""
        other = copy(self)
        if self.plan.nodes is not None:
            chosen = replace(self.plan, nodes=plan_nodes(self.plan, q, t))
        else:
            chosen = replace(self.plan, kept_rows=independent_rows(comparable_rows(self, q, t), self.plan.tolerance))
        other.plan, other._kernels = chosen, {}
        other._bind()
        return other

    def by_multipliers(self) -> Dynamics:
        """The same by the formulation that finds redundant equations at every state."""
        other = copy(self)
        if self.plan.nodes is not None:
            other.formulation, other._program = choose("multipliers", None, closed=True)
        other.plan, other._kernels, other._variant = replace(self.plan, nodes=None, kept_rows=()), {}, None
        other._bind()
        return other

    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
        status: NDArray[Any] | None = None,
    ) -> Array:
        """dv/dt at the state q, v under the model's forces, gravity, and the joint efforts tau besides.

        One state without a finite answer raises DynamicsError. A batch never raises for one of its states: its row is not
        a number, and ``status``, an integer array (B,) to be filled, has 0 where the answer is good, 1 where the given
        state is not finite and 2 where the equations have no finite answer.
        """
        if self._variant is not None and not self.model.kinematic:
            return self._by_variant({"q": q, "v": v, "tau": tau}, t, inputs)
        out = np.empty(self._nv)
        effort = self._no_effort if tau is None else tau
        if not self._extras:
            if self._one(q, v, effort, out):
                return out
        elif self._one(q, v, effort, *self._extra_arrays(t, inputs), out):
            return out
        return self._evaluate(self._program, {"q": q, "v": v, "tau": tau}, t, inputs, status)

    def _by_variant(self, given: dict[str, Any], t: ArrayLike, inputs: ArrayLike | None) -> Array:
        """State by state, in Python."""
        from ..papers.reduction import accelerate  # upward: the teaching variants are built on this layer

        assert self._variant is not None
        variant, dependents = self._variant
        states, batched = self._checked(given)
        count = len(states["q"])
        times = self._extra("t", t, count, 1)
        u = self._extra("inputs", np.zeros(len(self.model.inputs)) if inputs is None else inputs, count, len(self.model.inputs))
        rows = [
            accelerate(self.model, q, v, tau, t=float(time[0]), inputs=own, variant=variant, dependents=dependents).a
            for q, v, tau, time, own in zip(states["q"], states["v"], states["tau"], times, u, strict=True)
        ]
        return np.array(rows) if batched else np.asarray(rows[0])

    def _extra_arrays(self, t: ArrayLike, inputs: ArrayLike | None) -> list[Array]:
        u = np.zeros(len(self.model.inputs)) if inputs is None else np.asarray(inputs, dtype=np.float64)
        given = {"t": np.atleast_1d(np.asarray(t, dtype=np.float64)), "u": u}
        return [given[name] for name in self._extras]

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
        multipliers: ArrayLike | None = None,
    ) -> Array:
        """Joint efforts that the motion q, v, a takes besides the model's own forces, gravity included.

        With closed loops: besides those of the closures too, which are given by their multipliers (none: the loops are open).
        """
        given = {"q": q, "v": v, "a": a}
        if not self.model.closures:
            return self._evaluate(QUANTITIES["inverse_dynamics"], given, t, inputs)
        return self._evaluate(QUANTITIES["closed_inverse_dynamics"], given | {"lambda": multipliers}, t, inputs)

    def mass_matrix(self, q: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """(nv, nv), armature included."""
        flat = self._evaluate(QUANTITIES["mass_matrix"], {"q": q}, t)
        return flat.reshape(*flat.shape[:-1], self.model.nv, self.model.nv)

    def energy(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Any, Any]:
        """Kinetic and potential energy of the bodies (zero with all mass at the world's origin)."""
        kinetic, potential, _, _ = self._frames.energy(self._evaluate(QUANTITIES["energy"], {"q": q, "v": v}, t))
        return kinetic, potential

    def momentum(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Array, Array]:
        """Linear momentum, and angular momentum about the world's origin."""
        _, _, linear, angular = self._frames.energy(self._evaluate(QUANTITIES["energy"], {"q": q, "v": v}, t))
        return linear, angular

    def elements(
        self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0, inputs: ArrayLike | None = None
    ) -> tuple[Array, Array, Array]:
        """Of each force element: the energy that it stores, the power that it brings, its force or effort."""
        flat = self._evaluate(QUANTITIES["elements"], {"q": q, "v": v}, t, inputs)
        rows = flat.reshape(*flat.shape[:-1], len(self.model.elements), 3)
        return rows[..., 0], rows[..., 1], rows[..., 2]

    def drive_efforts(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
        tau: ArrayLike | None = None,
    ) -> Array:
        """Efforts that keep the prescribed motions going, in the order of the joints that model.driven marks.

        ``tau`` matters for models with closed loops only, where efforts elsewhere are felt through the loops.
        """
        flat = self._with_closures("drives", q, v, a, t, inputs, tau)
        return self._frames.drives(flat.reshape(*flat.shape[:-1], -1, 2)[..., 0])

    def _with_closures(
        self,
        quantity: str,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        t: ArrayLike,
        inputs: Any,
        tau: Any,
        multipliers: ArrayLike | None = None,
    ) -> Array:
        given = {"q": q, "v": v, "a": a}
        if not self.model.closures:
            return self._evaluate(QUANTITIES[quantity], given, t, inputs)
        if multipliers is None:
            multipliers = self.multipliers(q, v, tau, t=t, inputs=inputs)
        return self._evaluate(QUANTITIES[f"closed_{quantity}"], given | {"lambda": multipliers}, t, inputs)

    def reactions(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        effort: bool = False,
        axes: Literal["world", "child"] = "world",
        multipliers: ArrayLike | None = None,
    ) -> Array:
        """Wrench of the parent on the child at each joint's point, in the world's or the child's axes: force, moment; (n, 6).

        Without the joint's own effort along its free directions, unless ``effort`` asks for it. With closed loops, ``tau`` are
        the efforts that a was computed with, and ``multipliers`` theirs, if they are known already; closure_reactions has the
        joints that close the loops.
        """
        poses = self._evaluate(QUANTITIES["poses"], {"q": q}, t)
        world = self._frames.reactions(poses, self._with_closures("reactions", q, v, a, t, inputs, tau, multipliers), effort)
        turned = self.model.turned or (False,) * self.model.n
        children = [self.model.parents[i] if far else i for i, far in enumerate(turned)]
        return self._in_axes(world, axes, q, t, children)

    def jacobians(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: float = 0.0,
        inputs: ArrayLike | None = None,
    ) -> Jacobians:
        """Exact derivatives of the acceleration at one state, by dual numbers in machine code."""
        n = self._nv
        given, batched = self._checked({"q": q, "v": v, "tau": tau})
        if batched:
            raise StateError("jacobians are taken at one state at a time: give q and v as (nq,) and (nv,)")
        directions = self.rates(np.tile(given["q"], (n, 1)), np.eye(n)) if n else np.zeros((0, self.model.nq))
        seeds = {
            "dq": np.vstack([directions, np.zeros((2 * n, self.model.nq))]),
            "dv": np.vstack([np.zeros((n, n)), np.eye(n), np.zeros((n, n))]),
            "dtau": np.vstack([np.zeros((2 * n, n)), np.eye(n)]),
        }
        state = {name: np.repeat(x, 3 * n, axis=0) for name, x in given.items()}
        tangent = QUANTITIES["closed_tangent" if self.model.closures else "tangent"]
        rows = self._evaluate(tangent, state | seeds, t, inputs)
        if not np.isfinite(rows).all():
            raise self._refusal(given | {"t": np.array([[t]])})
        dq, dv, dtau = (rows[k * n : (k + 1) * n].T for k in range(3))
        return Jacobians(dq, dv, dtau, self._by_inputs(given, dtau, t, inputs))

    def _by_inputs(self, given: dict[str, Array], dtau: Array, t: float, inputs: ArrayLike | None) -> Array:
        """(nv, inputs): exact, since accelerations are linear in the inputs."""
        count = len(self.model.inputs)
        if all(e.joint >= 0 for e in self.model.elements if e.kind == "joint_input") or count == 0:
            return dtau @ self._input_gains()
        state = {name: np.repeat(x, count + 1, axis=0) for name, x in given.items()}
        u = np.zeros(count) if inputs is None else np.asarray(inputs, dtype=np.float64)
        rows = self._evaluate(self._program, state, t, u + np.vstack([np.zeros(count), np.eye(count)]))
        return np.asarray((rows[1:] - rows[0]).T)

    def _input_gains(self) -> Array:
        """(nv, inputs): effort on each degree of freedom for a unit of each input."""
        gains = np.zeros((self._nv, len(self.model.inputs)))
        for element in self.model.elements:
            if element.kind == "joint_input":
                gains[self.model.v_index[element.joint] + element.dof, element.input] += element.values["gain"]
        return gains
