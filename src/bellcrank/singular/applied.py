"""Wrenches on the bodies that are no reactions: gravity, force elements, efforts of the joints. At the centres, world axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codegen.dynamics import Dynamics
from ..codegen.plain import PlainWalk
from ..formulations import Program
from .maximal import Bodies, Converter, cross

Array = NDArray[np.float64]

_FORCES = Program("applied", lambda walk: None, ("q", "v", "tau"), {}, forces=True)


class Applied:
    """Forces and moments, (n, 6), of everything that acts."""

    def __init__(self, dynamics: Dynamics, converter: Converter, tau: Array, u: Array):
        self.dynamics, self.model, self.converter = dynamics, dynamics.model, converter
        self.tau, self.u = tau, u
        self.weight = np.zeros((self.model.n, 6))
        self.weight[:, :3] = self.model.mass[:, None] * self.model.gravity
        self.idle = not self.model.elements and not tau.any()

    def __call__(self, t: float, bodies: Bodies, R: Array, q: Array) -> Array:
        """``R``: the bodies' axes; ``q``: coordinates a step before, which say how often a joint has turned."""
        if self.idle:
            return self.weight
        many = Bodies(*(x[None] for x in bodies))
        q, v = (x[0] for x in self.converter.coordinates(many, q))
        efforts, wrenches = self.tau, self.weight.copy()
        if self.model.elements:
            efforts = self._elements(t, q, v, R, wrenches)
        for i, joint in enumerate(self.model.joints):
            own = efforts[self.model.v_index[i] : self.model.v_index[i] + joint.nv]
            if own.any():
                self._effort(i, q, own, bodies, R, wrenches)
        return wrenches

    def _elements(self, t: float, q: Array, v: Array, R: Array, wrenches: Array) -> Array:
        """Adds those between bodies, and gives the efforts of those on joints, with tau."""
        inputs: dict[str, Any] = {"q": q, "v": v, "tau": self.tau, "t": np.array([t]), "u": self.u}
        walk = PlainWalk(self.dynamics.plan, {name: x.tolist() for name, x in inputs.items()}, self.dynamics.plan.data.tolist())
        walk.run(_FORCES)
        plan, frames = self.dynamics.plan, self.dynamics._frames
        for place, numbers in zip(plan.loads.touched, walk.applied, strict=True):
            body = plan.tree.order[place]
            moment, force = frames.G_rotation @ numbers[:3], frames.G_rotation @ numbers[3:]
            arm = R[body] @ (frames.K_origin[body] - self.model.center[body])
            wrenches[body] += np.concatenate([force, moment + cross(arm, force)])
        return np.array(walk.inputs["effort"], dtype=float)

    def _effort(self, i: int, q: Array, efforts: Array, bodies: Bodies, R: Array, wrenches: Array) -> None:
        """On the child at the joint's point, and the opposite on the parent."""
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
