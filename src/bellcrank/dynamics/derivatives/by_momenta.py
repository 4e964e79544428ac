"""Derivatives with respect to a design in canonical form: of velocities and of the rates of momenta, at a state q, p."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..differentiation import derivatives
from ..evaluation import Array, Evaluation, OrZero
from ..quantities.momenta import hamilton
from .by_design import design_of, state_tangents
from .shared_loads import design_changes


class AtMomenta(NamedTuple):
    """Hamilton's equations at a state and their derivatives: (nv,) and (nv, parameters); of many states with an axis in front.

    v, dv           velocities that belong to the momenta
    rates, drates   dp/dt
    """

    v: Array
    rates: Array
    dv: Array
    drates: Array


def canonical_sensitivity(
    dyn: Evaluation,
    q: ArrayLike,
    p: ArrayLike,
    tau: OrZero = None,
    *,
    values: ArrayLike | None = None,
    dq: ArrayLike | None = None,
    dp: ArrayLike | None = None,
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
) -> AtMomenta:
    """Exact derivatives of v and dp/dt by the parameters of the design that the dynamics was compiled for, of trees and loops.

    p         momenta, as ``momenta`` gives them; with closed loops p + G^T sigma is as good as p
    values    of the parameters, (parameters,); those of the model unless given
    dq, dp    derivatives of the state, (nq, parameters) and (nv, parameters), or (B, ...): then the results are total
              derivatives; partial ones at the same q and p unless given
    """
    design = design_of(dyn)
    rows, batched = dyn.checked({"q": q, "p": p, "tau": tau})
    sizes = {"q": (dq, dyn.model.nq), "p": (dp, dyn.model.nv)}
    along = {
        name: state_tangents(f"d{name}", given, len(rows["q"]), size, len(design.names))
        for name, (given, size) in sizes.items()
        if dq is not None or dp is not None
    }
    at = None if values is None else np.atleast_1d(design.values(values))
    found = derivatives(dyn, hamilton(dyn), rows, design_changes(dyn, design, at, along), t, inputs)
    parts = (found["v"].value, found["pdot"].value, found["v"].along, found["pdot"].along)
    if not batched and not all(np.isfinite(x).all() for x in parts):
        raise dyn.refusal(rows | {"t": dyn.time_rows(t, 1)})
    return AtMomenta(*(parts if batched else [x[0] for x in parts]))
