"""Adjoints of the multipliers of least reactions, at one state: the transpose of shared_loads.

There d(lambda + N z) = dlambda + dN z - N (CN CN^T)^-1 push, push_k = dCN_k.w + CN_k.dw and G^T dN = -dG^T N, with the rows of
CN what each self-stress adds to the wrenches w. Of an adjoint b of these multipliers, and y = (CN CN^T)^-1 N^T b,

    w* = (sum y_k) w - CN^T y,   (w + CN_k)* = -y_k w        of the wrenches at lambda + N z, and with each self-stress besides
    lambda* = b + what these leave of multipliers,   N_k* = z_k lambda* + what (w + CN_k)* leaves
    (G^T dN_k)* = G^+ N_k*                                    of the efforts that each self-stress adds to a motion
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...formulations import QUANTITIES
from ...plan import Plan
from ..evaluation import Array
from ..transposition import adjoint
from .shared_loads import OneState, size_along


class SharedLoadAdjoints(NamedTuple):
    """Adjoints: of multipliers that balance the motion, (m,); of q, v and a, (size,); of data, with their plans; of L."""

    multipliers: Array
    state: dict[str, Array]
    data: list[tuple[Plan, dict[str, Array]]]
    size: float


def least_back(at: OneState, multipliers: Array, bar: Array, rank: int) -> SharedLoadAdjoints:
    """The adjoints; ``multipliers``: any that balance the motion; ``bar``: the adjoint of those of least reactions, (m,)."""
    L, _ = size_along(at.design, at.design.start)
    size = np.where(at.moments, L, 1.0)
    N = at.self_stresses(rank) * (np.abs(multipliers).max() or 1.0)
    w = _wrenches(at, at.stressed(multipliers, N)) / size
    z = np.linalg.lstsq((w[1:] - w[0]).T, -w[0], rcond=None)[0]
    best = at.stressed(multipliers + N @ z, N)
    w = _wrenches(at, best) / size
    CN = w[1:] - w[0]
    y = np.linalg.solve(CN @ CN.T, N.T @ bar)
    seeds = np.vstack([y.sum() * w[0] - CN.T @ y, -np.outer(y, w[0])])
    of_stressed, state, data = _wrenches_back(at, best, seeds / size)
    total = bar + of_stressed.sum(axis=0)
    of_stresses = np.outer(z, total) + of_stressed[1:]
    more, of_efforts = _efforts_back(at, at.stressed(multipliers, N), of_stresses)
    state = {name: x + more.get(name, 0.0) for name, x in state.items()}
    return SharedLoadAdjoints(total, state, [*data, of_efforts], -float((seeds * w)[:, at.moments].sum()) / L)


def _wrenches(at: OneState, stressed: Array) -> Array:
    """Wrenches of all joints and closures at some multipliers, as shared_loads has them, moments not over L."""
    code, felt = at.measuring_of_all, stressed.copy()
    felt[:, at.efforts] = 0.0
    given = at.given(len(stressed)) | {"lambda": felt}
    rows = {name: x for name, x in given.items() if name in code.program.inputs}
    found = code.evaluation.evaluate(code.program, rows, at.t, at.u)
    return np.concatenate([found[:, code.columns], stressed[:, at.efforts]], axis=1)


def _wrenches_back(
    at: OneState, stressed: Array, bars: Array
) -> tuple[Array, dict[str, Array], list[tuple[Plan, dict[str, Array]]]]:
    """Adjoints of the multipliers (1 + k, m), of the state, and of data."""
    code, felt = at.measuring_of_all, stressed.copy()
    felt[:, at.efforts] = 0.0
    columns = len(code.columns)
    seeds = np.zeros((len(stressed), code.evaluation.plan.loads.measures.ordered.size))
    seeds[:, code.columns] = bars[:, :columns]
    given, along = at.given(len(stressed)) | {"lambda": felt}, ("q", "v", "a", "lambda")
    found = adjoint(code.evaluation, code.program, given, {"measure": seeds}, along, at.t, at.u)
    of_stressed = found.inputs.get("lambda", np.zeros_like(stressed)).copy()
    of_stressed[:, at.efforts] = bars[:, columns:]
    wanted = [name for name in ("q", "v", "a") if name in found.inputs]
    state: dict[str, Array] = {name: found.inputs[name].sum(axis=0) for name in wanted}
    return of_stressed, state, [(code.evaluation.plan, found.data)]


def _efforts_back(at: OneState, stressed: Array, bars: Array) -> tuple[dict[str, Array], tuple[Plan, dict[str, Array]]]:
    """From adjoints of the changes of self-stresses, (k, m), to those of the state and of the data."""
    pulled = np.linalg.lstsq(at.G, bars.T, rcond=1e-9)[0].T  # (k, nv)
    seeds = np.vstack([-pulled.sum(axis=0), pulled])
    program, given = QUANTITIES["closed_inverse_dynamics"], at.given(len(stressed)) | {"lambda": stressed}
    found = adjoint(at.dyn, program, given, {"tau": seeds}, ("q", "v", "a"), at.t, at.u)
    return {name: x.sum(axis=0) for name, x in found.inputs.items()}, (at.dyn.plan, found.data)
