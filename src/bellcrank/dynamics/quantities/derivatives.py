"""Exact derivatives of the acceleration, by dual numbers in machine code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...errors import StateError
from ...formulations import QUANTITIES
from ...model import Model
from ..evaluation import Array, Evaluation, OrZero


class Jacobians(NamedTuple):
    """Derivatives of the acceleration: (nv, nv), and (nv, inputs).

    dq is along displacements that v-like directions give, q' = rates(q, direction): for a quaternion, turns about the child's
    axes.
    """

    dq: Array
    dv: Array
    dtau: Array
    dinputs: Array


def jacobians(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, tau: OrZero = None, *, t: float = 0.0, inputs: OrZero = None
) -> Jacobians:
    """Exact derivatives of the acceleration at one state, by dual numbers in machine code."""
    model, n = dyn.model, dyn.model.nv
    given, batched = dyn.checked({"q": q, "v": v, "tau": tau})
    if batched:
        raise StateError("jacobians are taken at one state at a time: give q and v as (nq,) and (nv,)")
    directions = dyn.rates(np.tile(given["q"], (n, 1)), np.eye(n)) if n else np.zeros((0, model.nq))
    seeds = {
        "dq": np.vstack([directions, np.zeros((2 * n, model.nq))]),
        "dv": np.vstack([np.zeros((n, n)), np.eye(n), np.zeros((n, n))]),
        "dtau": np.vstack([np.zeros((2 * n, n)), np.eye(n)]),
    }
    state = {name: np.repeat(x, 3 * n, axis=0) for name, x in given.items()}
    rows = dyn.evaluate(QUANTITIES["closed_tangent" if model.closures else "tangent"], state | seeds, t, inputs)
    if not np.isfinite(rows).all():
        raise dyn.refusal(given | {"t": np.array([[t]])})
    dq, dv, dtau = (rows[k * n : (k + 1) * n].T for k in range(3))
    return Jacobians(dq, dv, dtau, _by_inputs(dyn, given, dtau, t, inputs))


def _by_inputs(dyn: Evaluation, given: dict[str, Array], dtau: Array, t: float, inputs: OrZero) -> Array:
    """(nv, inputs): exact, since accelerations are linear in the inputs."""
    model, count = dyn.model, len(dyn.model.inputs)
    if all(e.joint >= 0 for e in model.elements if e.kind == "joint_input") or count == 0:
        return dtau @ _input_gains(model)
    state = {name: np.repeat(x, count + 1, axis=0) for name, x in given.items()}
    u = np.zeros(count) if inputs is None else np.asarray(inputs, dtype=np.float64)
    rows = dyn.evaluate(dyn.program, state, t, u + np.vstack([np.zeros(count), np.eye(count)]))
    return np.asarray((rows[1:] - rows[0]).T)


def _input_gains(model: Model) -> Array:
    """(nv, inputs): effort on each degree of freedom for a unit of each input."""
    gains = np.zeros((model.nv, len(model.inputs)))
    for element in model.elements:
        if element.kind == "joint_input":
            gains[model.v_index[element.joint] + element.dof, element.input] += element.values["gain"]
    return gains
