"""Dynamics: a model compiled to machine code, and everything that can be asked of it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DynamicsError, StateError
from ..formulations import CLOSED, FORMULATIONS, QUANTITIES, Program
from ..model import Model
from ..topology import make_plan
from ..topology.plan import RANK_TOLERANCE
from .closing_joints import closing_coordinates, closing_efforts
from .diagnosis import why_not_finite
from .kernel import Kernel
from .least import least_multipliers
from .node_ranks import generic_configuration, plan_nodes
from .stepper import MASS, MINIMUM_NORM, projections
from .userframes import UserFrames

Array = NDArray[np.float64]
Reference = Literal["centroid", "joint", "origin"]

LANES = 4


def compile(
    model: Model,
    formulation: str = "auto",
    *,
    reference: Reference | None = None,
    rank_tolerance: float = RANK_TOLERANCE,
    baumgarte: tuple[float, float] | None = None,
    variant: str | None = None,
    dependents: Sequence[str] | None = None,
) -> Dynamics:
    """Machine code for a model's dynamics.

    formulation     for trees "articulated_body" ("auto"), "reference_point", "mass_matrix"; for models with closed loops
                    "coordinate_reduction" ("auto"), "multipliers"
    reference       of "reference_point" ("origin" unless given) and "multipliers" ("joint"): "centroid", "joint", "origin"
    rank_tolerance  an equation that closes a loop is redundant if what it adds to the others is less than this part of what
                    it could add: how far from aligned parts may be and still count as aligned
    baumgarte       alpha, beta (1/s) of Baumgarte's stabilisation; none unless given
    variant         of "coordinate_reduction": "block" (compiled), or Critchley & Anderson's own, in Python and slow: "rcr",
                    "acs" (with ``dependents``, names of coordinates), "gcl", or the body-by-body elimination "body"
    """
    options: dict[str, Any] = {"rank_tolerance": rank_tolerance, "baumgarte": baumgarte}
    return Dynamics(model, formulation, reference=reference, variant=variant, dependents=dependents, **options)


class Jacobians(NamedTuple):
    """Derivatives of the acceleration: (nv, nv), and (nv, inputs).

    dq is along displacements that v-like directions give, q' = rates(q, direction): for a quaternion, turns about the child's
    axes.
    """

    dq: Array
    dv: Array
    dtau: Array
    dinputs: Array


class Dynamics:
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
        rank_tolerance: float = RANK_TOLERANCE,
        baumgarte: tuple[float, float] | None = None,
        variant: str | None = None,
        dependents: Sequence[str] | None = None,
    ):
        if not isinstance(model, Model):
            raise StateError(f"compile takes a Model; load a file or a gallery model first: bc.load({model!r})")
        self.model = model
        if not isinstance(rank_tolerance, float | int) or not 0 < rank_tolerance < 1:
            raise StateError(f"rank_tolerance is {rank_tolerance!r}: give a number between 0 and 1")
        self.formulation, self._program = choose(formulation, reference, closed=bool(model.closures))
        self._variant = _checked_variant(self.formulation, variant, dependents)
        self.plan = make_plan(model, tolerance=rank_tolerance, baumgarte=_gains(baumgarte))
        self._frames = UserFrames(self.plan)
        self._kernels: dict[tuple[str, int], Kernel] = {}
        self._nv = model.nv
        self._no_effort = np.zeros(model.nv)
        if self.formulation == "coordinate_reduction":
            self.plan = replace(self.plan, nodes=plan_nodes(self.plan, *generic_configuration(self)))
            self._kernels.clear()
        kernel = self._kernel(self._program, 1)
        self._extras = kernel.program.inputs[3:]  # of t and u, those that this model reads
        self._one = kernel.single() or (lambda *arguments: False)

    def __repr__(self) -> str:
        return f"Dynamics({self.model.name!r}, formulation={self.formulation!r}, nq={self.model.nq}, nv={self.model.nv})"

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
        if self._variant is not None:
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
        from ..reduction import accelerate  # upward: the teaching variants are built on this layer

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

    def rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dq/dt."""
        return self._evaluate(QUANTITIES["rates"], {"q": q, "v": v})

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
        """Efforts that keep the prescribed motions going, in the order of the driven joints (model.driven_names).

        ``tau`` matters for models with closed loops only, where efforts elsewhere are felt through the loops.
        """
        flat = self._with_closures("drives", q, v, a, t, inputs, tau)
        return self._frames.drives(flat.reshape(*flat.shape[:-1], -1, 2)[..., 0])

    def _with_closures(
        self, quantity: str, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike, inputs: Any, tau: Any
    ) -> Array:
        given = {"q": q, "v": v, "a": a}
        if not self.model.closures:
            return self._evaluate(QUANTITIES[quantity], given, t, inputs)
        multipliers = self.multipliers(q, v, tau, t=t, inputs=inputs)
        return self._evaluate(QUANTITIES[f"closed_{quantity}"], given | {"lambda": multipliers}, t, inputs)

    def poses(self, q: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Array, Array]:
        """Positions (n, 3) of the bodies' origins, and rotations (n, 3, 3) from body to world axes."""
        return self._frames.poses(self._evaluate(QUANTITIES["poses"], {"q": q}, t))

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
    ) -> Array:
        """Wrench of the parent on the child at each joint's point, in the world's or the child's axes: force, moment; (n, 6).

        Without the joint's own effort along its free directions, unless ``effort`` asks for it. With closed loops, ``tau`` are
        the efforts that a was computed with; closure_reactions has the joints that close the loops.
        """
        poses = self._evaluate(QUANTITIES["poses"], {"q": q}, t)
        world = self._frames.reactions(poses, self._with_closures("reactions", q, v, a, t, inputs, tau), effort)
        return self._in_axes(world, axes, q, t, range(self.model.n))

    def _in_axes(self, wrenches: Array, axes: str, q: ArrayLike, t: ArrayLike, bodies: Sequence[int]) -> Array:
        """Wrenches on bodies (-1: ground), turned from the world's axes into the bodies' own."""
        if axes not in ("world", "child"):
            raise StateError(f"axes is {axes!r}: use 'world' or 'child'")
        if axes == "world":
            return wrenches
        _, rotations = self.poses(q, t=t)
        with_ground = np.concatenate([rotations, np.broadcast_to(np.eye(3), (*rotations.shape[:-3], 1, 3, 3))], axis=-3)
        pairs = wrenches.reshape(*wrenches.shape[:-1], 2, 3)
        return (pairs @ with_ground[..., list(bodies), :, :]).reshape(wrenches.shape)

    # closed loops ---------------------------------------------------------------------------------------------------

    def closure(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Array, Array]:
        """Errors of the equations that close the loops, and their rates: (m,) each, in the order of model.closure_index."""
        rows = self._closure_rows(q, v, t)
        return rows[..., 0], rows[..., 1]

    def closing_coordinates(self, q: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """Coordinates of the joints that close loops, in the order of model.closing_names; angles between -pi and pi."""
        return closing_coordinates(self.model, *self.poses(q, t=t))

    def closure_bias(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """gamma in G a = gamma, the equations that close the loops for accelerations; (m,)."""
        return self._closure_rows(q, v, t)[..., 2]

    def _closure_rows(self, q: ArrayLike, v: ArrayLike, t: ArrayLike) -> Array:
        flat = self._evaluate(QUANTITIES["closure"], {"q": q, "v": v}, t)
        return flat.reshape(*flat.shape[:-1], self.plan.loads.closing.rows, 3)

    def closure_jacobian(self, q: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """G, the derivatives of the equations that close the loops with respect to velocities; (m, nv)."""
        flat = self._evaluate(QUANTITIES["closure_jacobian"], {"q": q, "v": None}, t)
        return flat.reshape(*flat.shape[:-1], self.plan.loads.closing.rows, self.model.nv)

    def multipliers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
    ) -> Array:
        """Lagrange multipliers of the equations that close the loops: the force on the bodies is +G^T lambda; (m,).

        Where equations are redundant they are not unique, and those of least norm are given, moments per typical length.
        """
        flat = self._evaluate(QUANTITIES["multipliers"], {"q": q, "v": v, "tau": tau}, t, inputs)
        rows = flat.reshape(*flat.shape[:-1], self.plan.loads.closing.rows, 3)
        return least_multipliers(self, rows[..., 0], rows[..., 1] > 0, q, t)

    def closure_pivots(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """How much each equation adds to those before it, as a part of what it could; 0 for a redundant one; (m,)."""
        flat = self._evaluate(QUANTITIES["multipliers"], {"q": q, "v": v, "tau": None}, t)
        return flat.reshape(*flat.shape[:-1], self.plan.loads.closing.rows, 3)[..., 1]

    def block_pivots(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """Of coordinate_reduction, how far each block is from losing an equation: 0 at a singular configuration; (nodes,)."""
        if self.plan.nodes is None:
            raise StateError(f"block_pivots are those of formulation 'coordinate_reduction', not of {self.formulation!r}")
        return self._evaluate(QUANTITIES["pivots"], {"q": q, "v": v, "tau": None}, t)

    def closure_reactions(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
        axes: Literal["world", "child"] = "world",
    ) -> Array:
        """Wrench on the second body of each closure, a joint's child, at its point: force, then moment; (c, 6).

        In the world's axes or the child's. That of a driven joint has the effort of its drive in it.
        """
        rows = self._closing(q, v, self.multipliers(q, v, tau, t=t, inputs=inputs), t)
        world = rows[..., :6].reshape(*rows.shape[:-1], 2, 3) @ self._frames.G_rotation.T
        bodies = [closure.body_b for closure in self.model.closures]
        return self._in_axes(world.reshape(*rows.shape[:-1], 6), axes, q, t, bodies)

    def closure_efforts(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
    ) -> Array:
        """Efforts that keep driven closures going: forces of rods, efforts of joints, along what their laws prescribe."""
        given: dict[str, Any] = {"t": t, "inputs": inputs}
        wrenches = self.closure_reactions(q, v, tau, **given)
        return closing_efforts(self.model, *self.poses(q, t=t), wrenches, self.multipliers(q, v, tau, **given))

    def closure_powers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: ArrayLike | None = None,
    ) -> Array:
        """Power that each closure brings; nothing unless it is driven; (c,)."""
        return self._closing(q, v, self.multipliers(q, v, tau, t=t, inputs=inputs), t)[..., 6]

    def _closing(self, q: ArrayLike, v: ArrayLike, multipliers: Array, t: ArrayLike) -> Array:
        flat = self._evaluate(QUANTITIES["closing_reactions"], {"q": q, "v": v, "lambda": multipliers}, t)
        return flat.reshape(*flat.shape[:-1], len(self.model.closures), 7)

    def projected(
        self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0, steps: int = 1, metric: str = MINIMUM_NORM
    ) -> tuple[Array, Array]:
        """The state moved onto the closures by the smallest change, by steps of Newton's method.

        Smallest in the norm of the coordinates ("minimum_norm", lengths scaled) or in that of the kinetic energy ("mass").
        """
        if metric not in (MINIMUM_NORM, MASS):
            raise StateError(f"metric is {metric!r}: use {MINIMUM_NORM!r} or {MASS!r}")
        q, v = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        programs = projections(metric, self.plan)
        for _ in range(steps):
            q = q + self.rates(q, self._evaluate(programs["positions"], {"q": q, "v": v}, t))
        return q, v + self._evaluate(programs["velocities"], {"q": q, "v": v}, t)

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

    def _kernel(self, program: Program, lanes: int) -> Kernel:
        key = (program.name, lanes)
        if key not in self._kernels:
            try:
                self._kernels[key] = Kernel(self.plan, program, lanes)
            except ZeroDivisionError:  # a pivot that folds to zero, whatever the state
                raise DynamicsError(why_not_finite(self.plan, {"q": self.model.neutral_q})) from None
        return self._kernels[key]

    def _evaluate(
        self,
        program: Program,
        given: dict[str, Any],
        t: ArrayLike = 0.0,
        u: ArrayLike | None = None,
        status: NDArray[Any] | None = None,
    ) -> Array:
        """Any program on one state or a batch, with everything checked."""
        inputs, batched = self._checked(given)
        states = len(inputs["q"])
        kernel = self._kernel(program, LANES if states >= LANES else 1)
        if "t" in kernel.program.inputs:
            inputs["t"] = self._extra("t", t, states, 1)
        if "u" in kernel.program.inputs:
            count = len(self.model.inputs)
            inputs["u"] = self._extra("inputs", np.zeros(count) if u is None else u, states, count)
        out = kernel.batch(inputs)
        if batched:
            if status is not None:
                _fill(status, inputs, out)
            return out
        if not np.isfinite(out).all():
            raise self._refusal(inputs)
        return out[0]

    def _checked(self, given: dict[str, Any]) -> tuple[dict[str, Array], bool]:
        arrays = {name: self._array(name, x) for name, x in given.items() if x is not None}
        shapes = {x.shape[0] for x in arrays.values() if x.ndim == 2}
        if len(shapes) > 1:
            raise StateError(f"the batches differ in length: {', '.join(f'{n} {x.shape}' for n, x in arrays.items())}")
        states = shapes.pop() if shapes else 1
        batched = any(x.ndim == 2 for x in arrays.values())
        inputs = {n: np.ascontiguousarray(np.broadcast_to(x, (states, x.shape[-1]))) for n, x in arrays.items()}
        for name, x in given.items():
            if x is None:
                inputs[name] = np.zeros((states, self._size(name)))
        return inputs, batched

    def _size(self, name: str) -> int:
        return self.plan.loads.closing.rows if name == "lambda" else self.model.nq if name in ("q", "dq") else self.model.nv

    def _extra(self, name: str, given: ArrayLike, states: int, size: int) -> Array:
        """The time or the inputs of each state."""
        x = np.asarray(given, dtype=np.float64)
        if name == "t" and x.ndim == 1:
            x = x[:, None]
        try:
            return np.ascontiguousarray(np.broadcast_to(x, (states, size)))
        except ValueError:
            listed = "" if name == "t" else f": {', '.join(self.model.inputs)}"
            raise StateError(
                f"{name} has shape {x.shape}; {states} states need ({states}, {size}) or ({size},){listed}"
            ) from None

    def _array(self, name: str, given: ArrayLike) -> Array:
        """The argument as float64 of the right shape, or an error in the user's names."""
        names = self.model.q_names if name in ("q", "dq") else self.model.v_names
        try:
            if np.iscomplexobj(given):  # numpy would drop the imaginary parts
                raise TypeError("they are complex")
            x = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise StateError(f"{name} must be numbers: {problem}") from None
        if name == "lambda":
            names = tuple(f"{c.name}.{k + 1}" for c in self.model.closures for k in range(c.rows))
        if x.ndim not in (1, 2) or x.shape[-1] != len(names):
            listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            raise StateError(
                f"{name} has shape {x.shape}; model {self.model.name!r} needs ({len(names)},) or (B, {len(names)}): {listed}"
            )
        return x

    def _refusal(self, inputs: dict[str, Array]) -> Exception:
        for name, x in inputs.items():
            names = {"q": self.model.q_names, "t": ("t",), "u": self.model.inputs}.get(name, self.model.v_names)
            bad = np.flatnonzero(~np.isfinite(x[0]))
            if len(bad):
                return StateError(f"{name} of {names[bad[0]]!r} is {x[0, bad[0]]}: all of a state must be finite")
        for name, joint, start in zip(self.model.joint_names, self.model.joints, self.model.q_index, strict=True):
            if joint.quaternion is not None and not inputs["q"][0, start + joint.quaternion :][:4].any():
                return StateError(f"the quaternion of joint {name!r} is zero: its length must be 1")
        return DynamicsError(why_not_finite(self.plan, {name: x[0] for name, x in inputs.items()}))


def _fill(status: NDArray[Any], inputs: dict[str, Array], out: Array) -> None:
    if status.shape != (len(out),):
        raise StateError(f"status must have shape ({len(out)},), one entry for each state; it has {status.shape}")
    given = np.all([np.isfinite(x).all(axis=1) for x in inputs.values()], axis=0)
    status[...] = np.where(given, np.where(np.isfinite(out).all(axis=1), 0, 2), 1)


VARIANTS = ("block", "body", "rcr", "acs", "gcl")


def _checked_variant(
    formulation: str, variant: str | None, dependents: Sequence[str] | None
) -> tuple[str, Sequence[str] | None] | None:
    """A variant that runs in Python; None for compiled code."""
    if variant is None and dependents is None:
        return None
    if formulation != "coordinate_reduction":
        raise StateError(f"variant and dependents are options of formulation 'coordinate_reduction', not of {formulation!r}")
    if variant not in VARIANTS or (dependents is not None and variant != "acs"):
        raise StateError(f"variant={variant!r}, dependents={dependents!r}: use {', '.join(VARIANTS)}; dependents go with 'acs'")
    return None if variant == "block" else (variant, dependents)


def _gains(baumgarte: tuple[float, float] | None) -> tuple[float, float]:
    """2 alpha and beta^2."""
    if baumgarte is None:
        return 0.0, 0.0
    try:
        alpha, beta = (float(x) for x in baumgarte)
    except (TypeError, ValueError):
        alpha = beta = np.nan
    if not (0 <= alpha < np.inf and 0 <= beta < np.inf):
        raise StateError(f"baumgarte is {baumgarte!r}: give two numbers alpha and beta in 1/s, zero or more")
    return 2 * alpha, beta * beta


def choose(formulation: str, reference: str | None, *, closed: bool) -> tuple[str, Program]:
    """The program of a formulation by name and option, and the name of what was chosen."""
    known = CLOSED if closed else FORMULATIONS | CLOSED
    families = ["auto", *dict.fromkeys(key.partition(":")[0] for key in known)]
    with_reference = {"reference_point": "origin", "multipliers": "joint"}
    asked = formulation
    if formulation == "auto":
        formulation = "coordinate_reduction" if closed else "articulated_body"
    if closed and formulation in {key.partition(":")[0] for key in FORMULATIONS}:
        raise StateError(
            f"formulation {formulation!r} is for trees, and this model has closed loops: use {', '.join(families)}"
        )
    if reference is not None and formulation not in with_reference:
        options = "formulation='reference_point' and 'multipliers'"
        raise StateError(f"reference={reference!r} is an option of {options}, not of {asked!r}")
    name = formulation
    if formulation in with_reference:
        name = f"{formulation}:{reference or with_reference[formulation]}"
    if name not in known:
        if formulation in with_reference:
            raise StateError(f"reference={reference!r} is unknown: use 'centroid', 'joint' or 'origin'")
        near = difflib.get_close_matches(formulation, families, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise StateError(f"there is no formulation {formulation!r}{hint}: use one of {', '.join(families)}")
    return name, known[name]
