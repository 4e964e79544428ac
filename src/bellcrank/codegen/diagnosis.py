"""Why the equations of motion have no finite answer at a state: which joint could not be eliminated."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from ..formulations import FORMULATIONS
from ..numbers import Number
from ..topology import Plan
from .plain import PlainWalk
from .structure import leaves


def why_not_finite(plan: Plan, state: dict[str, NDArray[np.float64]]) -> str:
    """Repeat the elimination slowly, from the tips inward, and name the first joint where it breaks down."""
    inputs: dict[str, list[Number]] = {name: list(state.get(name, np.zeros(plan.model.nv))) for name in ("q", "v", "tau")}
    inputs |= {"t": list(np.atleast_1d(state.get("t", 0.0))), "u": list(state.get("u", np.zeros(len(plan.model.inputs))))}
    data = [list(row) for row in plan.data]
    walk = PlainWalk(plan, inputs, data)
    with np.errstate(all="ignore"), suppress(ZeroDivisionError):  # numpy's numbers give inf, folded ones raise
        walk.run(FORMULATIONS["articulated_body"])
    model = plan.model
    for i in reversed(range(plan.n)):
        body = plan.tree.order[i]
        pivots = walk.bodies[i]._kept.get("pivots")  # none: the walk ended here
        if pivots is None or not np.isfinite([float(x) for x in leaves(tuple(pivot.gain for pivot in pivots))]).all():
            return (
                f"joint {model.joint_names[body]!r} moves no inertia in one of its directions "
                f"(body {model.body_names[body]!r}): give the bodies that it carries mass or inertia, or it an armature"
            )
    return "the accelerations are not finite: the state is too large for double precision"
