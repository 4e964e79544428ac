"""Applied wrenches on the bodies, at their centres in world axes: gravity, force elements, efforts of the joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...singular.quantities import Quantity
from .maximal import Bodies, Converter, apply, cross

Array = NDArray[np.float64]


class Applied:
    """Forces and moments, (n, 6), of everything that acts."""

    def __init__(self, dynamics: Dynamics, converter: Converter, tau: Array, u: Array):
        self.dynamics, self.model, self.converter = dynamics, dynamics.model, converter
        self.tau = tau
        self._acting = Quantity(dynamics, "acting", u) if dynamics.model.elements else None
        self.weight = np.zeros((self.model.n, 6))
        self.weight[:, :3] = self.model.mass[:, None] * self.model.gravity
        self.idle = not self.model.elements and not tau.any()

    def __call__(self, t: float, bodies: Bodies, R: Array, q: Array) -> Array:
        """``R``: the bodies' axes; ``q``: coordinates a step before, which say how often a joint has turned."""
        if self.idle:
            return self.weight
        many = Bodies(*(x[None] for x in bodies))
        q, v = (x[0] for x in self.converter.coordinates(many, q))
        wrenches = self.weight.copy()
        efforts = [self.tau[a:][: joint.nv] for a, joint in zip(self.model.v_index, self.model.joints, strict=False)]
        if self._acting is not None:
            acting = self._acting(t, q=q, v=v, tau=self.tau).reshape(-1, 12)
            wrenches += self._at_centers(acting[:, :6], R)
            efforts = [row[6:][: joint.nv] for row, joint in zip(acting, self.model.joints, strict=True)]
        for i, own in enumerate(efforts):
            if own.any():
                self._effort(i, q, own, bodies, R, wrenches)
        return wrenches

    def _at_centers(self, wrenches: Array, R: Array) -> Array:
        """Moments and forces at the bodies' origins as forces and moments at their centres, in the user's axes."""
        frames = self.dynamics.frames
        moment, force = (wrenches[:, part] @ frames.G_rotation.T for part in (slice(3), slice(3, 6)))
        arm = apply(R, frames.K_origin - self.model.center)
        return np.hstack([force, moment + cross(arm, force)])

    def _effort(self, i: int, q: Array, efforts: Array, bodies: Bodies, R: Array, wrenches: Array) -> None:
        """The effort on the child at the joint's point, and the opposite on the parent."""
        model, joint = self.model, self.model.joints[i]
        total = np.zeros(6)
        first = int(model.q_index[i])
        for E, effort in zip(joint.efforts(q[first : first + joint.nq].tolist()), efforts, strict=True):
            total += np.array([*E.f, *E.n]) * effort
        A = R[i] @ self.converter.axes[i]
        force, moment = A @ total[:3], A @ total[3:]
        point = bodies.r[i] - R[i] @ model.center[i]
        for body, sign in ((i, 1.0), (model.parents[i], -1.0)):
            if body >= 0:
                wrenches[body] += sign * np.concatenate([force, moment + cross(point - bodies.r[body], force)])
