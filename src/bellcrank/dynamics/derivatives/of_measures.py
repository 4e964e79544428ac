"""Exact derivatives of measures, by dual numbers in machine code: of the state, efforts and inputs, accelerations following."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...errors import StateError
from ...formulations import QUANTITIES, Program
from ...spatial.rank import factored
from ..differentiation import Changes, derivatives
from ..evaluation import Array, Evaluation, OrZero
from ..quantities.loops import multipliers as multipliers_of
from ..quantities.measures import Measuring, measuring
from .jacobians import jacobians


class MeasureJacobians(NamedTuple):
    """Derivatives of measures at one state: (columns, nv), (columns, nv), (columns, nv) and (columns, inputs).

    Accelerations and the forces of loops follow the state, the efforts and the inputs. dq as in Jacobians.
    """

    dq: Array
    dv: Array
    dtau: Array
    dinputs: Array


def measure_jacobians(
    dyn: Evaluation,
    q: ArrayLike,
    v: ArrayLike,
    tau: OrZero = None,
    *,
    t: float = 0.0,
    inputs: OrZero = None,
    names: Sequence[str] | None = None,
) -> MeasureJacobians:
    """Derivatives of measures, which are named as for ``measures``, at one state.

    Where loops have redundant equations, only measures that are unique have derivatives that mean something.
    """
    code = measuring(dyn, names)
    given, batched = dyn.checked({"q": q, "v": v, "tau": tau})
    if batched:
        raise StateError("measure_jacobians are taken at one state at a time: give q and v as (nq,) and (nv,)")
    sizes = [dyn.model.nv] * 3 + [len(dyn.model.inputs)]
    changes = _seeds(dyn, given["q"], sizes)
    if code.moving and dyn.model.nv:
        given["a"] = dyn.evaluate(dyn.program, {x: given[x] for x in ("q", "v", "tau")}, t, inputs)
        J = jacobians(dyn, given["q"][0], given["v"][0], given["tau"][0], t=t, inputs=inputs)
        changes["da"] = np.hstack(J).T
    if code.pushed:
        given["lambda"] = multipliers_of(dyn, given["q"], given["v"], given["tau"], t=t, inputs=inputs)
        changes["dlambda"] = _change_of_multipliers(dyn, given, changes, t, inputs)
    rows = measure_changes(code, given, changes, t, inputs)
    return MeasureJacobians(*np.split(rows.T, np.cumsum(sizes)[:-1], axis=1))


def measure_changes(code: Measuring, given: dict[str, Array], changes: dict[str, Array], t: float, inputs: OrZero) -> Array:
    """(changes, columns): of measures along changes of all that they are found from, "dq", "da", "dlambda", row by row."""
    if not len(changes["dq"]):
        return np.zeros((0, len(code.names)))
    return rows_along(code.evaluation, code.program, "measure", given, changes, t, inputs)[:, code.columns]


def effort_changes(dyn: Evaluation, given: dict[str, Array], changes: dict[str, Array], t: float, inputs: OrZero) -> Array:
    """(changes, nv): of the efforts that a motion takes, at the same multipliers, along changes of q, v, a and the inputs."""
    program = QUANTITIES["closed_inverse_dynamics" if dyn.model.closures else "inverse_dynamics"]
    return rows_along(dyn, replace(program, optimisation=0), "tau", given, changes, t, inputs)


def _seeds(dyn: Evaluation, q: Array, sizes: Sequence[int]) -> dict[str, Array]:
    """A row for each change: the identity in rows of their own; of q, what velocities do to it."""
    total, starts = sum(sizes), np.cumsum([0, *sizes])
    found = {}
    for name, size, start in zip(("dq", "dv", "dtau", "du"), sizes, starts, strict=False):
        found[name] = np.zeros((total, size))
        found[name][start : start + size] = np.eye(size)
    n = dyn.model.nv
    whole = np.zeros((total, dyn.model.nq))
    if n:
        whole[:n] = dyn.rates(np.repeat(q, n, axis=0), np.eye(n))
    return found | {"dq": whole}


def rows_along(
    dyn: Evaluation,
    program: Program,
    output: str,
    given: dict[str, Array],
    changes: dict[str, Array],
    t: float,
    inputs: OrZero,
) -> Array:
    """An output of a program at one state along all changes, a row for each."""
    along = {name.removeprefix("d"): np.ascontiguousarray(x.T)[None] for name, x in changes.items()}
    if "u" in along:  # what forces read besides the model's inputs does not change
        padded = np.zeros((1, dyn.model.input_width, along["u"].shape[2]))
        padded[:, : along["u"].shape[1]] = along["u"]
        along["u"] = padded
    rows = {name: x for name, x in given.items() if name in program.inputs}
    return derivatives(dyn, program, rows, Changes(len(changes["dq"]), along), t, inputs)[output].along[0].T


def _change_of_multipliers(
    dyn: Evaluation, given: dict[str, Array], changes: dict[str, Array], t: float, inputs: OrZero
) -> Array:
    """G^T d(lambda) = d(efforts that the motion takes, multipliers held) - d(tau); of least norm where they are not unique."""
    taken = effort_changes(dyn, given, changes, t, inputs)
    G = dyn.closure_jacobian(given["q"][0], t=t)
    return factored(G.T, dyn.plan.tolerance).solve_many((taken - changes["dtau"]).T).T
