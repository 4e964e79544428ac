"""The adjoint of the first state of a run, taken back to the design: the transposed of studies.starting.

There, dq = w_q + N X_q e_q and dv = w_v + X_v e_v, with w what the file writes, e the change of the errors of the closures (of
their rates) that is left, and X the smallest displacements that mend it. Backward: X^T on the adjoints, and the adjoint of e.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import Loops
from ...assembly.start import start_of
from ...dynamics.dynamics import Dynamics
from ...dynamics.transposition import adjoint
from ...formulations import QUANTITIES
from ...model.manifold import rate_matrix
from ..starting import followed, held_basis

Array = NDArray[np.float64]


def start_bars(dynamics: Dynamics, start: dict[str, Array], given: dict[str, Any], bar: Array) -> list[dict[str, Array]]:
    """Adjoints of the start as it is written, and of the data, from that of the first state, (nq + nv,)."""
    model = dynamics.model
    bar_q, bar_v = bar[: model.nq].copy(), bar[model.nq :].copy()
    found: list[dict[str, Array]] = []
    if model.closures:
        found = _through_closures(dynamics, start, given, bar_q, bar_v)
    written = {"given_q": bar_q} if given["q"] is None else {}
    return [*found, written | ({"given_v": bar_v} if given["v"] is None else {})]


def _through_closures(
    dynamics: Dynamics, start: dict[str, Array], given: dict[str, Any], bar_q: Array, bar_v: Array
) -> list[dict[str, Array]]:
    """Those of the data; the adjoints of q and v become those of what is written."""
    loops, q, t = Loops(dynamics), start["q"], float(start["t"])
    asked, every = start_of(dynamics, given["q"], given["v"], None), np.eye(dynamics.equations)
    of_positions = rate_matrix(dynamics.model, q) @ followed(loops, q, t, held_basis(loops, asked.held, q), every)
    of_velocities = followed(loops, q, t, np.diag(loops.units)[:, ~asked.held_v], every)
    rows, found = {"q": q[None], "v": start["v"][None]}, []
    for which, X, bar in ((1, of_velocities, bar_v), (0, of_positions, bar_q)):
        seeds = np.zeros((1, 2 * dynamics.equations))
        seeds[0, which::2] = X.T @ bar
        back = adjoint(dynamics, QUANTITIES["closure"], rows, {"closure": seeds}, ("q", "v"), t)
        bar_q += back.inputs["q"][0]
        bar_v += back.inputs["v"][0]
        found.append(back.data)
    return found
