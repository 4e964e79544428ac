"""Exact derivatives of the acceleration, by dual numbers in machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...formulations import QUANTITIES
from ..differentiation import Changes, derivatives
from ..evaluation import Array, Evaluation, OrZero
from ..quantities.accelerations import require_determined

FEW = 6  # coordinates of a tree up to which one call costs less than two with fewer operations


class Jacobians(NamedTuple):
    """Derivatives of the acceleration: (nv, nv), and (nv, inputs); of many states (B, nv, nv) and (B, nv, inputs).

    dq is along displacements that v-like directions give, q' = rates(q, direction): for a quaternion, turns about the child's
    axes.
    """

    dq: Array
    dv: Array
    dtau: Array
    dinputs: Array


def jacobians(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, tau: OrZero = None, *, t: ArrayLike = 0.0, inputs: OrZero = None
) -> Jacobians:
    """Exact derivatives of the acceleration, by dual numbers in machine code, at one state or at many: (B, nv, nv).

    They are those of the formulation's own acceleration, also where the loops are not closed.
    """
    require_determined(dyn)
    given, batched = dyn.checked({"q": q, "v": v, "tau": tau})
    way = _by_acceleration if dyn.model.closures or dyn.model.nv <= FEW else _by_inverse_dynamics
    parts = way(dyn, given, t, inputs)
    if not batched and not all(np.isfinite(x).all() for x in parts):
        raise dyn.refusal(given | {"t": dyn.time_rows(t, len(given["q"]))})
    return Jacobians(*(parts if batched else [x[0] for x in parts]))


def _by_inverse_dynamics(dyn: Evaluation, given: dict[str, Array], t: ArrayLike, inputs: OrZero) -> list[Array]:
    """Of a tree. tau = f(q, v, a) is M a and what does not depend on a, so that, with a kept in f,

        da/dtau = M^-1,    da/dx = -M^-1 df/dx

    A direction of tau changes nothing but bias forces, and inverse dynamics takes a third of the operations of forward
    dynamics: all directions through these cost half of what they cost through the acceleration.
    """
    n, controls = dyn.model.nv, len(dyn.model.inputs)
    unit = np.eye(n)[None]
    a, inverse = derivatives(dyn, dyn.program, given, Changes(n, {"tau": unit}), t, inputs)["a"]
    sizes = [n, n, controls]
    seeds = dict(zip(("q", "v", "u"), _seeds(dyn, given["q"], sizes), strict=True))
    changes = Changes(sum(sizes), seeds if controls else {name: seeds[name] for name in "qv"})
    motion = {"q": given["q"], "v": given["v"], "a": a}
    efforts = derivatives(dyn, QUANTITIES["inverse_dynamics"], motion, changes, t, inputs)["tau"].along
    dq, dv, dinputs = np.split(-inverse @ efforts, np.cumsum(sizes)[:-1], axis=2)
    return [dq, dv, inverse, dinputs]


def _by_acceleration(dyn: Evaluation, given: dict[str, Array], t: ArrayLike, inputs: OrZero) -> list[Array]:
    """All directions through the formulation itself: off the closures its acceleration is not that of a mass matrix, and for
    few coordinates one call is the quicker way."""
    n, controls = dyn.model.nv, len(dyn.model.inputs)
    sizes = [n, n, controls, n]
    seeds = dict(zip(("q", "v", "u", "tau"), _seeds(dyn, given["q"], sizes), strict=True))
    found = derivatives(dyn, dyn.program, given, Changes(sum(sizes), seeds), t, inputs)["a"]
    dq, dv, dinputs, dtau = np.split(found.along, np.cumsum(sizes)[:-1], axis=2)
    return [dq, dv, dtau, dinputs]


def _seeds(dyn: Evaluation, q: Array, sizes: Sequence[int]) -> list[Array]:
    """Of q, v, the inputs, and others: the identity in columns of their own; of q, what velocities do to it."""
    n, (starts, total) = dyn.model.nv, (np.cumsum([0, *sizes]), sum(sizes))
    seeds = []
    for size, start in zip(sizes, starts, strict=False):
        seed = np.zeros((1, size, total))
        seed[0, :, start : start + size] = np.eye(size)
        seeds.append(seed)
    read = np.zeros((1, dyn.model.input_width, total))  # of which the first are the model's inputs
    read[:, : sizes[2]] = seeds[2]
    seeds[2] = read
    if all(joint.quaternion is None for joint in dyn.model.joints):
        q = q[:1]  # rates are velocities, at every state
    directions = np.zeros((len(q), 0, dyn.model.nq))
    if n:
        directions = dyn.rates(np.repeat(q, n, axis=0), np.tile(np.eye(n), (len(q), 1))).reshape(len(q), n, -1)
    seeds[0] = np.zeros((len(q), dyn.model.nq, total))
    seeds[0][:, :, :n] = np.swapaxes(directions, 1, 2)
    return seeds
