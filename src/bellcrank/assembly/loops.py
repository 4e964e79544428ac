"""The equations that close the loops of a model in comparable units, and coordinates that are held while the others move.

Rows are in metres (angles times a typical length); a change of the configuration is measured in radians (lengths over the
typical length).

code    shape        meaning
phi     (m,)         errors of the equations, scaled
G       (m, nv)      their derivatives along displacements (model.manifold), rows scaled
J       (m, nv)      the same with columns scaled to radians: what rank is decided by (spatial.rank)
B       (nv, free)   displacements that leave held coordinates where they are; scaled to radians
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..model import Model
from ..model.manifold import displaced, quaternion_product, rotation, turning_joints
from ..plan.closures import row_scales
from ..plan.equation_blocks import EquationBlock, connected, equation_blocks
from ..spatial.rank import LENIENT, factored
from .minimum_norm import LARGE

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

CLOSED = 1e-10  # of the typical length: loops that are open by less are closed
ALIGNED = 3e-8  # of the typical length: what redundant equations leave open beyond it is reported, and spread over all


class Loops:
    """The loop equations of a compiled model."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics, self.model = dynamics, dynamics.model
        self.length, self.tolerance = dynamics.plan.length, float(dynamics.plan.tolerance)
        self.rows = row_scales(self.model, self.length)
        units = [unit for _, joint in self.model.moving_joints for unit in joint.v_units]
        self.units = np.array([1.0 if unit.startswith("rad") else self.length for unit in units])

    def phi(self, q: Array, t: float) -> Array:
        return np.asarray(self.dynamics.closure(q, np.zeros(self.model.nv), t=t)[0] * self.rows)

    def phi_t(self, q: Array, t: float) -> Array:
        """The rate of the equations by the time alone: G v + phi_t = 0."""
        return np.asarray(self.dynamics.closure(q, np.zeros(self.model.nv), t=t)[1] * self.rows)

    def G(self, q: Array, t: float) -> Array:
        return np.asarray(self.dynamics.closure_jacobian(q, t=t) * self.rows[:, None])

    def J(self, q: Array, t: float) -> Array:
        return np.asarray(self.G(q, t) * self.units)

    @property
    def groups(self) -> NDArray[np.intp]:
        """The closure of each equation."""
        return np.repeat(np.arange(len(self.model.closures)), [closure.rows for closure in self.model.closures])

    @property
    def large(self) -> bool:
        """Whether matrices are taken as sparse, without a look at singular values."""
        return min(len(self.rows), self.model.nv) > LARGE

    def blocks(self, q: Array, t: float, tolerance: float | None = None) -> tuple[list[EquationBlock], NDArray[np.intp]]:
        """Blocks of equations with their ranks, and the velocities that no loop touches."""
        return equation_blocks(self.J(q, t), self.groups, tolerance or self.tolerance)

    def independent(self, q: Array, t: float) -> tuple[Array, Array]:
        """Combinations U^T (r, m) of the equations that count, orthonormal; and their singular values s (r,)."""
        J = self.J(q, t)
        parts, values = [np.zeros((0, len(J)))], [np.zeros(0)]
        for rows, columns in connected(J, self.groups):
            found = factored(J[np.ix_(rows, columns)], self.tolerance)
            parts.append(np.zeros((found.rank, len(J))))
            parts[-1][:, rows] = found.U[:, : found.rank].T
            values.append(found.s[: found.rank])
        return np.vstack(parts), np.concatenate(values)

    def rank(self, q: Array, t: float, tolerance: float | None = None) -> int:
        """How many equations are independent."""
        return sum(block.rank for block in self.blocks(q, t, tolerance)[0]) if len(self.rows) else 0

    def rate(self, q: Array, v: Array, t: float) -> Array:
        """G v + phi_t, without G."""
        return np.asarray(self.dynamics.closure(q, v, t=t)[1] * self.rows)

    def pivot(self, q: Array, t: float) -> float:
        """The least distance of a block of loops from losing an equation: Blocks.pivot."""
        pivots = self.dynamics.blocks(q, np.zeros(self.model.nv), t=t).pivot
        return float(np.nan_to_num(pivots).min(initial=1.0))

    @property
    def by_blocks(self) -> bool:
        """Whether the compiled elimination closes them, which needs masses."""
        return self.dynamics.plan.nodes is not None and not self.model.kinematic

    def worst(self, q: Array, t: float) -> float:
        """The largest error, in metres."""
        return float(np.abs(self.phi(q, t)).max(initial=0.0))

    @property
    def redundant(self) -> float:
        """The error that redundant equations may leave, in metres: closing them further would move the mechanism far."""
        return float(LENIENT**2 * self.tolerance * self.length)

    def error(self, q: Array, t: float) -> float:
        """The largest error that independent equations leave, in metres: redundant ones close only as well as they are.

        What they leave counts where it is more than axes that are slightly off explain: then points are apart.
        """
        phi = self.phi(q, t)
        size = float(np.abs(phi).max(initial=0.0))
        if self.large or not CLOSED * self.length < size <= ALIGNED * self.length:
            return size
        U, _ = self.independent(q, t)
        return float(np.abs(U.T @ (U @ phi)).max(initial=0.0))


@dataclass(frozen=True)
class HeldCoordinates:
    """Coordinates that keep their values; of a quaternion all four or none."""

    model: Model
    q: Mask
    v: Mask  # velocities that have one coordinate each, and turns of held quaternions; not those of free positions
    known: dict[bytes, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, model: Model, names: set[str]) -> HeldCoordinates:
        """The held coordinates by their names in model.q_names."""
        q = np.array([name in names for name in model.q_names], dtype=bool)
        v = np.zeros(model.nv, dtype=bool)
        plain_q, plain_v = np.ones(model.nq, dtype=bool), np.ones(model.nv, dtype=bool)
        for at in turning_joints(model):
            q[at.quaternion] = v[at.angular] = q[at.quaternion].any()
            plain_q[at.position] = plain_q[at.quaternion] = False
            plain_v[at.linear] = plain_v[at.angular] = False
        plain_v[list(model.state_places)] = False
        v[plain_v] = q[plain_q]
        return cls(model, q, v)

    @classmethod
    def none(cls, model: Model) -> HeldCoordinates:
        return cls.of(model, set())

    @classmethod
    def all(cls, model: Model) -> HeldCoordinates:
        return cls.of(model, set(model.q_names))

    @property
    def any(self) -> bool:
        return bool(self.q.any())

    @property
    def count(self) -> int:
        """Degrees of freedom that they take."""
        return int(self.v.sum())

    @property
    def plain(self) -> bool:
        """Whether they are angles and slides, not parts of the pose of a ball or a free body."""
        return int(self.q.sum()) == self.count and not any(self.q[at.quaternion].any() for at in turning_joints(self.model))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, held in zip(self.model.q_names, self.q, strict=True) if held)

    def basis(self, q: Array, units: Array) -> Any:
        """B, sparse: columns are displacements of one radian, or of the typical length."""
        if any(at.free for at in turning_joints(self.model)):
            return self._basis(q, units)
        key = units.tobytes()
        if key not in self.known:  # it does not depend on q
            self.known[key] = self._basis(q, units)
        return self.known[key]

    def _basis(self, q: Array, units: Array) -> Any:
        from scipy.sparse import csc_array

        keep, places = ~self.v, np.arange(self.model.nv)
        row, column, value = [places], [places], [units.copy()]
        for at in turning_joints(self.model):
            if at.free:
                value[0][at.linear] = 0.0
                keep[at.linear] = ~self.q[at.position]
                row.append(np.repeat(places[at.linear], 3))
                column.append(np.tile(places[at.linear], 3))
                value.append((rotation(q[at.quaternion]).T * units[at.linear]).ravel())
        shape = (self.model.nv, self.model.nv)
        B = csc_array((np.concatenate(value), (np.concatenate(row), np.concatenate(column))), shape=shape)
        return B[:, np.flatnonzero(keep)]

    def toward(self, q: Array, start: Array, end: Array) -> Array:
        """The displacement, at q, of held coordinates on their straight way from start to end."""
        d = np.zeros(self.model.nv)
        plain_q, plain_v = np.ones(self.model.nq, dtype=bool), np.ones(self.model.nv, dtype=bool)
        for at in turning_joints(self.model):
            plain_q[at.position] = plain_q[at.quaternion] = False
            plain_v[at.linear] = plain_v[at.angular] = False
            if self.q[at.quaternion].any():
                d[at.angular] = _turn_between(start[at.quaternion], end[at.quaternion])
            moved = np.where(self.q[at.position], end[at.position] - start[at.position], 0.0)
            if at.free:
                d[at.linear] = rotation(q[at.quaternion]).T @ moved
        plain_v[list(self.model.state_places)] = False
        d[plain_v] = np.where(self.q[plain_q], (end - start)[plain_q], 0.0)
        return d

    def placed(self, q: Array, start: Array, end: Array, s: float) -> Array:
        """q with its held coordinates at the part s of their way."""
        way = displaced(self.model, start, s * self.toward(start, start, end))
        for at in turning_joints(self.model):
            way[at.position] = start[at.position] + s * (end - start)[at.position]
        return np.where(self.q, way, q)


def _turn_between(p: Array, r: Array) -> Array:
    """The rotation vector w of r = p exp(w)."""
    between = quaternion_product(p * np.array([1.0, -1.0, -1.0, -1.0]), r)
    between = between if between[0] >= 0 else -between
    sine = float(np.linalg.norm(between[1:]))
    return np.asarray(between[1:] * (2.0 if sine < 1e-12 else 2 * np.arctan2(sine, between[0]) / sine))
