"""Programs of a planned model on one state or many: arguments checked, kernels compiled when first asked for."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DynamicsError, StateError
from ..formulations import QUANTITIES, Program
from ..kernels.processor import lane_count
from ..machine.adjoint.kernel import AdjointKernel
from ..machine.kernel import Kernel, made_once
from ..machine.tangents.lane_data import LaneDesigns
from ..machine.tangents.sweep import TangentKernel
from .diagnosis import why_not_finite
from .output_frames import OutputFrames

if TYPE_CHECKING:
    from .planning import Planned

Array = NDArray[np.float64]
OrZero: TypeAlias = ArrayLike | None
"""An argument that is zero unless it is given."""

MANY = 1024  # states for which code that is not optimised is compiled for lanes too: fewer take less time than that
OPTIMISED = 3  # of LLVM's levels; 0 compiles in a fraction of the time


class Evaluation:
    """Evaluates programs of a planned model, and the kinematics that planning itself asks for.

    Arguments are one state, arrays (nq,) and (nv,), or many, (B, nq) and (B, nv); results have the same leading shape.
    """

    def __init__(self, planned: Planned, optimisation: int = OPTIMISED):
        self.planned, self.optimisation = planned, optimisation
        self.plan, self.model = planned.plan, planned.plan.model
        self.formulation, self.program = planned.formulation, planned.program
        self.frames, self.equations = OutputFrames(planned.plan), planned.plan.loads.closing.rows
        self.designs: LaneDesigns | None = None
        self.lanes_only = False
        self.kernels: dict[tuple[str, int, int, bool], Kernel] = {}
        self.tangent_kernels: dict[tuple[Any, ...], TangentKernel] = {}  # see differentiation
        self.adjoint_kernels: dict[tuple[str, tuple[str, ...], int], AdjointKernel] = {}  # see transposition
        self.measuring_code: dict[tuple[str, ...], Any] = {}  # by names of measures (quantities.measures)

    def rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dq/dt."""
        return self.evaluate(QUANTITIES["rates"], {"q": q, "v": v})

    def poses(self, q: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Array, Array]:
        """Positions (n, 3) of the bodies' origins, and rotations (n, 3, 3) from body to world axes."""
        return self.frames.poses(self.evaluate(QUANTITIES["poses"], {"q": q}, t))

    def closure(self, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Array, Array]:
        """Errors of the equations that close the loops, and their rates: (m,) each, in the order of model.closure_index."""
        rows = self.table("closure", {"q": q, "v": v}, t, shape=(self.equations, 2))
        return rows[..., 0], rows[..., 1]

    def closure_jacobian(self, q: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
        """G, the derivatives of the equations that close the loops with respect to velocities; (m, nv)."""
        return self.table("closure_jacobian", {"q": q, "v": None}, t, shape=(self.equations, self.model.nv))

    def kernel(self, program: Program, lanes: int) -> Kernel:
        """A program compiled for this model, for one state at a time or for lanes."""
        key = (program.name, lanes, program.optimisation, self.designs is not None)
        if key not in self.kernels:
            try:
                self.kernels[key] = self._kernel(program, lanes)
            except ZeroDivisionError:  # a pivot that folds to zero, whatever the state
                raise DynamicsError(why_not_finite(self.plan, {"q": self.model.neutral_q})) from None
        return self.kernels[key]

    def _kernel(self, program: Program, lanes: int) -> Kernel:
        if self.designs is not None:
            return Kernel(replace(self.plan, lane_designs=True), program, lanes)
        name = ("kernel", program.name, lanes, program.optimisation)
        return made_once(self.plan, name, lambda: Kernel(self.plan, program, lanes))

    def in_lanes(self) -> Self:
        """The evaluation with all batches in lanes, so that the result of a state does not depend on how many there are."""
        other = copy(self)
        other.lanes_only = True
        return other

    def at_designs(self, rows: Array, every: int = 1) -> Self:
        """The evaluation of many states at designs of their own, one in each lane; ``rows``: Design.rows of this plan.

        Each row holds for ``every`` states, one after the other.
        """
        other = copy(self)  # kernels are shared
        other.designs = LaneDesigns(rows, every)
        return other

    def table(self, name: str, given: dict[str, Any], t: ArrayLike, inputs: OrZero = None, *, shape: tuple[int, int]) -> Array:
        """A quantity that gives a table for each state."""
        flat = self.evaluate(QUANTITIES[name], given, t, inputs)
        return flat.reshape(*flat.shape[:-1], *shape)

    def evaluate(
        self,
        program: Program,
        given: dict[str, Any],
        t: ArrayLike = 0.0,
        inputs: OrZero = None,
        status: NDArray[Any] | None = None,
    ) -> Array:
        """Any program on one state or a batch; ``given``: what it reads, by name, zero where it is None."""
        arrays, batched = self.checked(given)
        states = len(arrays["q"])
        if program.optimisation > self.optimisation:
            program = replace(program, optimisation=self.optimisation)
        in_lanes = batched if program.optimisation or self.lanes_only else states >= MANY
        kernel = self.kernel(program, lane_count() if in_lanes or self.designs is not None else 1)
        if "t" in kernel.program.inputs:
            arrays["t"] = self.time_rows(t, states)
        if "u" in kernel.program.inputs:
            arrays["u"] = self.input_rows(inputs, states)
        out = kernel.batch(arrays, designs=self.designs)
        if batched:
            if status is not None:
                fill(status, arrays, out)
            return out
        if not np.isfinite(out).all():
            raise self.refusal(arrays)
        return out[0]

    def checked(self, given: dict[str, Any]) -> tuple[dict[str, Array], bool]:
        """Arguments as rows, one for each state; and whether a batch was given, rather than one state."""
        if given.get("q", ()) is None:
            raise StateError("q is None: give the coordinates of a state")
        arrays = {name: self.array(name, x) for name, x in given.items() if x is not None}
        lengths = {len(x) for x in arrays.values() if x.ndim == 2}
        if len(lengths) > 1:
            raise StateError(f"the batches differ in length: {', '.join(f'{n} {x.shape}' for n, x in arrays.items())}")
        states = next(iter(lengths), 1)
        rows = {name: _repeated(name, x if x.ndim == 2 else x[None], states, x.shape[-1]) for name, x in arrays.items()}
        zeros = {name: np.zeros((states, len(self._names(name)))) for name, x in given.items() if x is None}
        return rows | zeros, bool(lengths)

    def time_rows(self, t: ArrayLike, states: int) -> Array:
        """The time of each state; (states, 1)."""
        x = as_numbers("t", t)
        return _repeated("t", x[:, None] if x.ndim == 1 else x, states, 1)

    def input_rows(self, inputs: OrZero, states: int) -> Array:
        """The model's inputs at each state, and the anchors of friction that holds; (states, model.input_width).

        Anchors are taken where they come with the inputs; else there are none.
        """
        names = self.model.inputs
        x = np.zeros(len(names)) if inputs is None else as_numbers("inputs", inputs)
        if self.model.stictions and x.ndim and x.shape[-1] == self.model.input_width:
            return _repeated("inputs", x, states, self.model.input_width)
        listed = f": {', '.join(names)}" if names else ", for the model has no inputs"
        return self.with_anchors(_repeated("inputs", x, states, len(names), listed))

    def with_anchors(self, inputs: Array) -> Array:
        """Rows of inputs made as wide as the machine code takes them."""
        missing = self.model.input_width - inputs.shape[-1] if inputs.ndim else 0
        if not self.model.stictions or missing != len(self.model.stictions):
            return inputs
        return np.concatenate([inputs, np.zeros((*inputs.shape[:-1], missing))], axis=-1)

    def array(self, name: str, given: ArrayLike) -> Array:
        """The argument as float64 of the right shape, or an error in the user's names."""
        x = as_numbers(name, given)
        names = self._names(name)
        if x.ndim not in (1, 2) or x.shape[-1] != len(names):
            listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            raise StateError(
                f"{name} has shape {x.shape}; model {self.model.name!r} needs ({len(names)},) or (B, {len(names)}): {listed}"
            )
        return x

    @cached_property
    def _other_names(self) -> dict[str, tuple[str, ...]]:
        """Names of the entries of all arguments that are not like v."""
        equations = tuple(f"{c.name}.{k + 1}" for c in self.model.closures for k in range(c.rows))
        of_q = self.model.q_names
        inputs = self.model.inputs
        own = {"q": of_q, "lambda": equations, "u": inputs}
        return own | {f"d{name}": names for name, names in own.items()} | {"t": ("t",)}

    def _names(self, argument: str) -> tuple[str, ...]:
        """Names of the entries of an argument."""
        return self._other_names.get(argument, self.model.v_names)

    def refusal(self, arrays: dict[str, Array]) -> Exception:
        """The reason why there is no finite result at the first state of checked arguments."""
        for name, x in arrays.items():
            bad = np.flatnonzero(~np.isfinite(x[0]))
            if len(bad):
                return StateError(f"{name} of {self._names(name)[bad[0]]!r} is {x[0, bad[0]]}: all of a state must be finite")
        for name, joint, start in zip(self.model.joint_names, self.model.joints, self.model.q_index, strict=True):
            if joint.quaternion is not None and not arrays["q"][0, start + joint.quaternion :][:4].any():
                return StateError(f"the quaternion of joint {name!r} is zero: its length must be 1")
        return DynamicsError(why_not_finite(self.plan, {name: x[0] for name, x in arrays.items()}))


def as_numbers(name: str, given: ArrayLike) -> Array:
    try:
        if np.iscomplexobj(given):  # numpy would drop the imaginary parts
            raise TypeError("they are complex")
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise StateError(f"{name} must be numbers: {problem}") from None


def _repeated(name: str, x: Array, states: int, size: int, listed: str = "") -> Array:
    if x.shape == (states, size):
        return np.ascontiguousarray(x)
    if not x.ndim:
        return np.full((states, size), x)
    try:
        if x.ndim and x.shape[-1] != size:  # which numpy would repeat
            raise ValueError
        return np.ascontiguousarray(np.broadcast_to(x, (states, size)))
    except ValueError:
        raise StateError(f"{name} has shape {x.shape}; {states} states need ({states}, {size}) or ({size},){listed}") from None


def fill(status: NDArray[Any], arrays: dict[str, Array], out: Array) -> None:
    if status.shape != (len(out),):
        raise StateError(f"status must have shape ({len(out)},), one entry for each state; it has {status.shape}")
    given = np.all([np.isfinite(x).all(axis=1) for x in arrays.values()], axis=0)
    status[...] = np.where(given, np.where(np.isfinite(out).all(axis=1), 0, 2), 1)
