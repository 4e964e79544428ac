"""Derivatives of multipliers where equations are redundant. The multipliers are those whose joint reactions have least norm.

quantities.minimum_norm says which these are. With N the self-stresses, G^T N = 0, and w(lambda) the wrenches of all joints and
closures, moments over L, they are lambda + N z, where lambda are any that balance the motion and

    (C N)^T w(lambda + N z) = 0      no self-stress makes the wrenches smaller;   C = dw/dlambda

As long as the redundant equations stay redundant along a change, so are their derivatives:

    G^T dN = -dG^T N                                     the smallest solution; what it adds along N changes nothing
    (C N)^T (C N) dz = -d(C N)^T w - (C N)^T dw          w at lambda + N z, dw along the change with z kept

Wrenches and the efforts that a motion takes are affine in lambda: what N adds to them is their difference between lambda and
lambda + N. So both are asked for at a few multipliers, and are differentiated by the programs that compute them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import StateError
from ...formulations import QUANTITIES
from ...machine.tangents.data import design_data, design_tangents
from ...numbers import Dual
from ...numbers.variable import Replay, depends_on_design
from ...plan.closures import row_scales
from ..differentiation import Changes, Derivative, derivatives, values_at
from ..evaluation import Array, Evaluation, OrZero
from ..quantities.measures import Measuring, measuring
from ..quantities.minimum_norm import coupler_place, mean_square

if TYPE_CHECKING:
    from ...design import Design

WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
KEPT = 1e-7  # of changes of efforts: what may be left of them, where the redundant equations stay redundant
NOISE = 1e-10  # the same, as a part of the forces of the closures


@dataclass(frozen=True)
class ByDesign:
    """A dynamics at states, and how they change with each parameter of a design.

    rows    q, v, tau and the acceleration a, (states, size) each
    along   changes of q, v and a, (states or 1, size, parameters); what is missing is kept
    p       another design than the one where the parameters start; (parameters,), or one for each state
    """

    dyn: Evaluation
    design: Design
    rows: dict[str, Array]
    along: Mapping[str, Array]
    p: Array | None
    t: ArrayLike
    inputs: OrZero

    def least(self, multipliers: Derivative, ranks: Sequence[int]) -> Derivative:
        """Multipliers of least reactions, from any that balance the motion, (states, m) and (states, m, parameters)."""
        states = [self._one(k).least(*given) for k, given in enumerate(zip(*multipliers, ranks, strict=True))]
        return Derivative(*(np.stack(parts) for parts in zip(*states, strict=True)))

    def _one(self, k: int) -> OneState:
        count = len(self.rows["q"])
        rows = self.rows | {"t": self.dyn.time_rows(self.t, count), "u": self.dyn.input_rows(self.inputs, count)}
        along = {name: x[k : k + 1] if len(x) > 1 else x for name, x in self.along.items()}
        p = self.p if self.p is None or self.p.ndim == 1 else self.p[k]
        return OneState(self.dyn, self.design, {name: x[k : k + 1] for name, x in rows.items()}, along, p)


def design_changes(dyn: Evaluation, design: Design, p: Array | None, along: Mapping[str, Array]) -> Changes:
    """Changes with the parameters: of data of the plan, and of inputs of the program."""
    at, count = design.start if p is None else p, len(design.names)
    data = {} if p is None else design_data(dyn.plan, design.arrays(p, dyn.plan))
    return Changes(count, along, design_tangents(dyn.plan, design.tangents(at, dyn.plan), count), data)


def size_along(design: Design, p: Array) -> tuple[float, Array]:
    """L of minimum_norm.size_of at p, and its derivatives."""
    square, seeds = mean_square(design.recording.model), Dual.seeds(p.tolist())
    found = Replay(design.recording.tape, [square])(seeds)[0] if depends_on_design(square) else square
    value, along = (found.value, found.tangents) if isinstance(found, Dual) else (found, (0.0,) * len(seeds))
    size = float(np.sqrt(value))
    return (size, np.array(along) / (2 * size)) if size > 0 else (1.0, np.zeros(len(seeds)))


@dataclass(frozen=True)
class OneState:
    """The multipliers of least reactions and their derivatives at one state; rows with t and the inputs u."""

    dyn: Evaluation
    design: Design
    rows: dict[str, Array]
    along: Mapping[str, Array]
    p: Array | None

    def least(self, multipliers: Array, along: Array, rank: int) -> tuple[Array, Array]:
        """Multipliers (m,) and their derivatives (m, parameters)."""
        N = self.self_stresses(rank) * (np.abs(multipliers).max() or 1.0)  # so that what they add does not drown
        dN = self._changes_of(N, multipliers)  # (m, k, parameters)
        w, _ = self._wrenches(multipliers, N, along, dN)
        z = np.linalg.lstsq((w[1:] - w[0]).T, -w[0], rcond=None)[0]
        best, moved = multipliers + N @ z, along + np.einsum("mkp,k->mp", dN, z)
        w, dw = self._wrenches(best, N, moved, dN)
        CN, dCN = w[1:] - w[0], dw[1:] - dw[0]
        push = np.einsum("kwp,w->kp", dCN, w[0]) + CN @ dw[0]
        return best, moved - N @ np.linalg.solve(CN @ CN.T, push)

    @property
    def _values(self) -> Array:
        return self.design.start if self.p is None else self.p

    def _changes(self, of: Evaluation, **more: Array) -> Changes:
        return design_changes(of, self.design, self.p, {**self.along, **more})

    @cached_property
    def G(self) -> Array:
        m, nv = self.dyn.equations, self.dyn.model.nv
        program, data = QUANTITIES["closure_jacobian"], self._changes(self.dyn).data
        (found,) = values_at(self.dyn, program, self.given(1), data, self.t, self.u).values()
        return found[0].reshape(m, nv)

    def self_stresses(self, rank: int) -> Array:
        """N (m, k)."""
        scale = row_scales(self.dyn.model, self.dyn.plan.length)
        U, _, _ = np.linalg.svd(self.G * scale[:, None])
        return np.asarray(scale[:, None] * U[:, rank:])

    def _changes_of(self, N: Array, multipliers: Array) -> Array:
        """dN (m, k, parameters)."""
        taken = self._efforts(multipliers, N)
        left = taken[1:] - taken[0]  # -dG^T N
        scales = np.where(self._values != 0, np.abs(self._values), 1.0)
        least = KEPT * np.abs(taken).max(axis=(0, 1)) + NOISE * np.abs(self.G).max() * np.abs(N).max() / scales
        dN = np.linalg.lstsq(self.G.T, np.hstack(left), rcond=1e-9)[0]
        missed = np.abs(np.hstack(left) - self.G.T @ dN).reshape(len(left[0]), len(left), -1).max(axis=(0, 1))
        broken = np.flatnonzero(missed > least)
        if len(broken):
            raise StateError(
                f"a change of {self.design.names[broken[0]]!r} takes apart loops of {self.dyn.model.name!r} that have "
                "redundant equations: reactions have no derivative by it. Change parameters together, by a formula, so that "
                "the parts stay aligned; where q and v are given, give dq and dv too, so that the loops stay closed."
            )
        return np.asarray(dN.reshape(len(N), len(left), -1))

    # --- what the programs say at lambda, and at lambda with each self-stress

    @property
    def t(self) -> Array:
        return self.rows["t"][0]

    @property
    def u(self) -> Array:
        return self.rows["u"][0]

    def given(self, states: int) -> dict[str, Array]:
        return {name: np.repeat(self.rows[name], states, axis=0) for name in ("q", "v", "tau", "a")}

    def _efforts(self, multipliers: Array, N: Array) -> Array:
        """(1 + k, nv, parameters): changes of the efforts that the motion takes besides those of the closures."""
        given = self.given(1 + N.shape[1]) | {"lambda": self.stressed(multipliers, N)}
        changes = self._changes(self.dyn)
        found = derivatives(self.dyn, QUANTITIES["closed_inverse_dynamics"], given, changes, self.t, self.u)
        return found["tau"].along

    def _wrenches(self, multipliers: Array, N: Array, along: Array, dN: Array) -> tuple[Array, Array]:
        """w (1 + k, 6 items), and its derivatives (1 + k, 6 items, parameters).

        Couplers count by their efforts, not by what these do to bearings.
        """
        code, stressed = self.measuring_of_all, self.stressed(multipliers, N)
        moved = along + np.concatenate([np.zeros((1, *along.shape)), np.moveaxis(dN, 1, 0)])
        felt, felt_along = stressed.copy(), moved.copy()
        felt[:, self.efforts], felt_along[:, self.efforts] = 0.0, 0.0
        given = self.given(len(stressed)) | {"lambda": felt}
        changes = self._changes(code.evaluation, **{"lambda": felt_along})
        found = derivatives(code.evaluation, code.program, given, changes, self.t, self.u)["measure"]
        values = np.concatenate([found.value[:, code.columns], stressed[:, self.efforts]], axis=1)
        slopes = np.concatenate([found.along[:, code.columns], moved[:, self.efforts]], axis=1)
        L, dL = size_along(self.design, self._values)
        moments = self.moments
        slopes[:, moments] = (slopes[:, moments] - values[:, moments, None] * (dL / L)) / L
        values[:, moments] /= L
        return values, slopes

    def stressed(self, multipliers: Array, N: Array) -> Array:
        """lambda, and lambda with each self-stress, (1 + k, m)."""
        return np.asarray(multipliers + np.vstack([np.zeros(len(N)), N.T]))

    @cached_property
    def _coupled(self) -> list[int]:
        return [k for k, closure in enumerate(self.dyn.model.closures) if closure.kind == "coupler"]

    @property
    def efforts(self) -> list[int]:
        """Multipliers of couplers, which are their efforts."""
        return [int(self.dyn.model.closure_index[k]) for k in self._coupled]

    @cached_property
    def moments(self) -> NDArray[np.bool_]:
        """Which of all components of the wrenches are moments."""
        model = self.dyn.model
        turns = [coupler_place(model, model.closures[k]) > 2 for k in self._coupled]
        return np.array([name[-2] == "m" for name in self.measuring_of_all.names] + turns, dtype=bool)

    @cached_property
    def measuring_of_all(self) -> Measuring:
        model = self.dyn.model
        joints = [f"{name}.whole" for name, joint in zip(model.joint_names, model.joints, strict=True) if joint.mechanical]
        closing = [closure.name for closure in model.closures if closure.kind != "coupler"]
        return measuring(self.dyn, [f"{name}.{part}" for name in (*joints, *closing) for part in WRENCH])
