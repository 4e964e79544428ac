"""Forces with a kink exactly where a mechanism is: their derivatives there are those of one side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...errors import warn
from ...forces import FORCES
from ...formulations import QUANTITIES
from ...plan.loads import ELEMENT_TABLE, element_gates

Array = NDArray[np.float64]

TOUCHING = 1e-9  # rad, or of the typical length


def warn_of_kinks(dynamics: Dynamics, q: Array, t: float) -> None:
    """One warning with all elements that begin or end to act exactly at q."""
    found = list(dict.fromkeys(_touching(dynamics, q, t)))
    if found:
        warn(
            f"model {dynamics.model.name!r} is exactly where the force of {', '.join(map(repr, found))} begins: it has a kink "
            "there, and derivatives are those of one side. Move the stop, or the position, a little to choose a side."
        )


def _touching(dynamics: Dynamics, q: Array, t: float) -> Iterator[str]:
    model, length = dynamics.model, max(1.0, dynamics.plan.length)
    for element in model.elements:
        if FORCES[element.kind].gates and element.joint >= 0 and not model.driven[element.joint]:
            x = q[int(model.q_index[element.joint]) + element.dof]
            ends = (element.values.get("lower", np.nan), element.values.get("upper", np.nan))
            if any(abs(x - end) <= TOUCHING for end in ends):
                yield element.name
    loads = dynamics.plan.loads
    if not loads.openings:
        return
    gaps = dynamics.evaluate(QUANTITIES["openings"], {"q": q, "v": np.zeros(model.nv)}, t)
    for element, row in zip(model.elements, loads.element_table, strict=True):
        gates = element_gates(loads.element_signatures[row[0]])
        first = row[ELEMENT_TABLE.index("opening")]
        if gates and np.abs(gaps[first : first + gates]).min() <= TOUCHING * length:
            yield element.name
