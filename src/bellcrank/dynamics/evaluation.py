"""Programs of a model on one state or many: arguments checked, kernels compiled when first asked for, results or an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DynamicsError, StateError
from ..formulations import QUANTITIES, Program
from ..machine.kernel import Kernel
from ..model import Model
from ..plan import Plan
from .diagnosis import why_not_finite
from .user_frames import UserFrames

Array = NDArray[np.float64]

LANES = 4
MANY = 1024  # states for which quick code is compiled for lanes too: fewer take less time than that


class Evaluation:
    """What Dynamics is built on: a model, its plan, and the kernels compiled so far."""

    model: Model
    formulation: str
    plan: Plan
    _program: Program
    _quick: bool
    _frames: UserFrames
    _kernels: dict[tuple[str, int, bool], Kernel]

    def rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dq/dt."""
        return self._evaluate(QUANTITIES["rates"], {"q": q, "v": v})

    def poses(self, q: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Array, Array]:
        """Positions (n, 3) of the bodies' origins, and rotations (n, 3, 3) from body to world axes."""
        return self._frames.poses(self._evaluate(QUANTITIES["poses"], {"q": q}, t))

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

    def _kernel(self, program: Program, lanes: int) -> Kernel:
        key = (program.name, lanes, program.quick)
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
        if self._quick and not program.quick:
            program = replace(program, quick=True)
        kernel = self._kernel(program, LANES if states >= (MANY if program.quick else LANES) else 1)
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
