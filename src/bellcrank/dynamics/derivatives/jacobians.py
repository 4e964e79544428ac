"""Exact derivatives of the acceleration, by dual numbers in machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..differentiation import Changes, derivatives
from ..evaluation import Array, Evaluation, OrZero


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
    given, batched = dyn.checked({"q": q, "v": v, "tau": tau})
    model, n, states = dyn.model, dyn.model.nv, len(given["q"])
    sizes = [n, n, n, len(model.inputs)]
    seeds = dict(zip(("q", "v", "tau", "u"), _seeds(dyn, given["q"], sizes), strict=True))
    found = derivatives(dyn, dyn.program, given, Changes(sum(sizes), seeds), t, inputs)["a"]
    if not batched and not (np.isfinite(found.value).all() and np.isfinite(found.along).all()):
        raise dyn.refusal(given | {"t": dyn.time_rows(t, states)})
    parts = np.split(found.along, np.cumsum(sizes)[:-1], axis=2)
    return Jacobians(*(parts if batched else [x[0] for x in parts]))


def _seeds(dyn: Evaluation, q: Array, sizes: Sequence[int]) -> list[Array]:
    """Of q, v, tau and the inputs: the identity in columns of their own; of q, what velocities do to it."""
    n, (starts, total) = dyn.model.nv, (np.cumsum([0, *sizes]), sum(sizes))
    seeds = []
    for size, start in zip(sizes, starts, strict=False):
        seed = np.zeros((1, size, total))
        seed[0, :, start : start + size] = np.eye(size)
        seeds.append(seed)
    read = np.zeros((1, dyn.model.input_width, total))  # of which the first are the model's inputs
    read[:, : sizes[3]] = seeds[3]
    seeds[3] = read
    if n:
        directions = dyn.rates(np.repeat(q, n, axis=0), np.tile(np.eye(n), (len(q), 1))).reshape(len(q), n, -1)
    else:
        directions = np.zeros((len(q), 0, dyn.model.nq))
    seeds[0] = np.zeros((len(q), dyn.model.nq, total))
    seeds[0][:, :, :n] = np.swapaxes(directions, 1, 2)
    return seeds
