"""A mechanism at rest whose driven joints become ordinary coordinates, so that their motions can be disturbed.

About a position of rest neighbouring motions d obey, with e the efforts of the drives and the closures' forces G^T lambda,

    M d'' + C d' + K d = f + G^T lambda + E e

M, C, K come from dual numbers through the inverse dynamics, with the multipliers as they are at rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.derivatives.of_measures import effort_changes, measure_changes
from ...dynamics.dynamics import Dynamics
from ...dynamics.quantities.measures import measuring
from ...model import Model
from ..motions.kinematics import frozen
from ..state import compiled
from ..stiffness import Conditions
from ..ties import Ties

Array = NDArray[np.float64]


class AtRest(NamedTuple):
    """The mechanism about a position of rest; ``drives``: degrees of freedom whose motions are prescribed, by name."""

    dyn: Dynamics
    q: Array
    v: Array  # zero but for user-defined states
    given: Conditions
    multipliers: Array
    drives: dict[str, int]

    @property
    def rows(self) -> dict[str, Array]:
        still = np.zeros((1, self.dyn.model.nv))
        return {"q": self.q[None], "v": self.v[None], "a": still, "lambda": self.multipliers[None]}

    def matrices(self) -> tuple[Array, Array, Array, Array]:
        """M, C, K (nv, nv), and what a unit of each input brings (nv, inputs)."""
        n, count = self.dyn.model.nv, len(self.dyn.model.inputs)
        rows = effort_changes(self.dyn, self.rows, self._seeds([n, n, n, count]), self.given.t, self.given.inputs)
        K, C, M, B = np.split(rows.T, np.cumsum([n, n, n]), axis=1)
        return M, C, K, -B

    def measures(self, names: list[str]) -> tuple[Array, ...]:
        """Derivatives of measures by d, d', d'', the inputs and the multipliers, each with the others held."""
        model = self.dyn.model
        sizes = [model.nv] * 3 + [len(model.inputs), self.dyn.equations]
        rows = measure_changes(measuring(self.dyn, names), self.rows, self._seeds(sizes), self.given.t, self.given.inputs)
        return tuple(np.split(rows.T, np.cumsum(sizes)[:-1], axis=1))

    def _seeds(self, sizes: list[int]) -> dict[str, Array]:
        """A row for each change: the identity in rows of their own; of q, what velocities do to it."""
        n, total, starts = self.dyn.model.nv, sum(sizes), np.cumsum([0, *sizes])
        found = {}
        for name, size, start in zip(("dq", "dv", "da", "du", "dlambda"), sizes, starts, strict=False):
            found[name] = np.zeros((total, size))
            found[name][start : start + size] = np.eye(size)
        turned = np.zeros((total, self.dyn.model.nq))
        turned[:n] = self.dyn.rates(np.tile(self.q, (n, 1)), np.eye(n))
        return found | {"dq": turned}

    def basis(self) -> Array:
        """Displacements that the loops allow, (nv, free)."""
        return Ties(self.dyn, self.given.t).basis(self.q)


def at_rest(model: Model, q: Array, v: Array, given: Conditions) -> AtRest:
    """The mechanism at rest. ``q``: a position of rest, its drives standing as at the time; ``v``: with user-defined states."""
    still = frozen(model, given.t)
    dyn = compiled(still)
    multipliers = np.zeros(0)
    if model.closures:
        multipliers = dyn.multipliers(q, v, given.tau, t=given.t, inputs=given.inputs)
    whole, drives = _released(still, dyn, q, given)
    free = [k for k in range(whole.nv) if k not in drives.values()]
    tau, speeds = np.zeros(whole.nv), np.zeros(whole.nv)
    tau[free], speeds[free] = given.tau, v
    return AtRest(compiled(whole), np.array(whole.given_q), speeds, given._replace(tau=tau), multipliers, drives)


def _released(model: Model, dyn: Dynamics, q: Array, given: Conditions) -> tuple[Model, dict[str, int]]:
    """The model without prescribed motions of joints, and the degrees of freedom that were driven."""
    positions: list[float] = []
    armature: list[float] = []
    drives: dict[str, int] = {}
    for i, (name, joint) in enumerate(zip(model.joint_names, model.joints, strict=True)):
        if not model.driven[i]:
            first, own = model.q_index[i], model.v_index[i]
            positions += q[first : first + joint.nq].tolist()
            armature += model.armature[own : own + joint.nv].tolist()
            continue
        paths = [f"{name}.{part}.q" if part else f"{name}.q" for part in joint.q_names]
        positions += dyn.measures(q, np.zeros(model.nv), t=given.t, names=paths).tolist() if paths else []
        drives |= {f"{name}.{part}" if part else name: len(armature) + k for k, part in enumerate(joint.v_names)}
        armature += [0.0] * joint.nv
    kept = tuple(measure for measure in model.measures if measure.kind != "drive" or measure.closure >= 0)
    still: dict[str, Any] = {"given_q": np.array(positions), "given_v": np.zeros(len(armature)), "armature": np.array(armature)}
    return replace(model, motions=(), held_q=(), held_v=(), measures=kept, **still), drives
