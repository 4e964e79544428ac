"""Dynamics: a model compiled to machine code, and everything that can be asked of it."""

from __future__ import annotations

import difflib
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DynamicsError, StateError
from ..formulations import FORMULATIONS, QUANTITIES, Program
from ..model import Model
from ..topology import make_plan
from .diagnosis import why_not_finite
from .kernel import Kernel
from .userframes import UserFrames

Array = NDArray[np.float64]
Reference = Literal["centroid", "joint", "origin"]

LANES = 4


def compile(model: Model, formulation: str = "auto", *, reference: Reference | None = None) -> Dynamics:
    """Machine code for a model's dynamics.

    formulation  "auto" (articulated_body for trees), "articulated_body", "reference_point", "mass_matrix"
    reference    of "reference_point": "centroid", "joint" or "origin" (default)
    """
    return Dynamics(model, formulation, reference=reference)


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

    def __init__(self, model: Model, formulation: str = "auto", *, reference: Reference | None = None):
        if not isinstance(model, Model):
            raise StateError(f"compile takes a Model; load a file or a gallery model first: bc.load({model!r})")
        self.model = model
        self.formulation, self._program = choose(formulation, reference)
        self.plan = make_plan(model)
        self._frames = UserFrames(self.plan)
        self._kernels: dict[tuple[str, int], Kernel] = {}
        self._nv = model.nv
        self._no_effort = np.zeros(model.nv)
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
        out = np.empty(self._nv)
        effort = self._no_effort if tau is None else tau
        if not self._extras:
            if self._one(q, v, effort, out):
                return out
        elif self._one(q, v, effort, *self._extra_arrays(t, inputs), out):
            return out
        return self._evaluate(self._program, {"q": q, "v": v, "tau": tau}, t, inputs, status)

    def _extra_arrays(self, t: ArrayLike, inputs: ArrayLike | None) -> list[Array]:
        u = np.zeros(len(self.model.inputs)) if inputs is None else np.asarray(inputs, dtype=np.float64)
        given = {"t": np.atleast_1d(np.asarray(t, dtype=np.float64)), "u": u}
        return [given[name] for name in self._extras]

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, t: ArrayLike = 0.0, inputs: ArrayLike | None = None
    ) -> Array:
        """Joint efforts that the motion q, v, a takes besides the model's own forces, gravity included."""
        return self._evaluate(QUANTITIES["inverse_dynamics"], {"q": q, "v": v, "a": a}, t, inputs)

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
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, t: ArrayLike = 0.0, inputs: ArrayLike | None = None
    ) -> Array:
        """Efforts that keep the prescribed motions going, in the order of the driven joints (model.driven_names)."""
        flat = self._evaluate(QUANTITIES["drives"], {"q": q, "v": v, "a": a}, t, inputs)
        return self._frames.drives(flat.reshape(*flat.shape[:-1], -1, 2)[..., 0])

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
        effort: bool = False,
    ) -> Array:
        """Wrench of the parent on the child at each joint's point, in world axes: force, then moment; (n, 6).

        Without the joint's own effort along its free directions, unless ``effort`` asks for it.
        """
        poses = self._evaluate(QUANTITIES["poses"], {"q": q}, t)
        wrenches = self._evaluate(QUANTITIES["reactions"], {"q": q, "v": v, "a": a}, t, inputs)
        return self._frames.reactions(poses, wrenches, effort)

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
        rows = self._evaluate(QUANTITIES["tangent"], state | seeds, t, inputs)
        if not np.isfinite(rows).all():
            raise self._refusal(given | {"t": np.array([[t]])})
        dq, dv, dtau = (rows[k * n : (k + 1) * n].T for k in range(3))
        return Jacobians(dq, dv, dtau, dtau @ self._input_gains())

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
                inputs[name] = np.zeros((states, self.model.nv))
        return inputs, batched

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


def choose(formulation: str, reference: str | None) -> tuple[str, Program]:
    """The program of a formulation by name and option, and the name of what was chosen."""
    if reference is not None and formulation != "reference_point":
        raise StateError(f"reference={reference!r} is an option of formulation='reference_point', not of {formulation!r}")
    if formulation == "auto":
        return "articulated_body", FORMULATIONS["articulated_body"]
    name = f"reference_point:{reference or 'origin'}" if formulation == "reference_point" else formulation
    if name not in FORMULATIONS:
        known = ["auto", *dict.fromkeys(key.partition(":")[0] for key in FORMULATIONS)]
        if formulation == "reference_point":
            raise StateError(f"reference={reference!r} is unknown: use 'centroid', 'joint' or 'origin'")
        near = difflib.get_close_matches(formulation, known, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise StateError(f"there is no formulation {formulation!r}{hint}: use one of {', '.join(known)}")
    return name, FORMULATIONS[name]
