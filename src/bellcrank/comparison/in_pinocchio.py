"""A model in Pinocchio, built joint by joint: axes as ours, angles as plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dynamics import Dynamics
from ..errors import ModelError
from ..io.exchange.export import along
from ..io.exchange.order import as_listed
from ..io.exchange.states import IDENTITY, XYZW, Ball, FloatingPinocchio, PlanarPinocchio, Shifted, StateConverter
from ..model import Closure, Model
from .engines import Array, Trajectory, runge_kutta

PROXIMAL = (1e-12, 1e-10, 200)  # accuracy, damping, iterations of constraintDynamics: it takes redundant constraints, too


class InPinocchio:
    """aba for trees; constraintDynamics for loops closed by spherical, fixed or revolute joints (two points of the axis)."""

    name = "Pinocchio"
    note = ""

    def __init__(self, model: Model, dynamics: Dynamics) -> None:
        import pinocchio as pin

        if model.driven.any():
            raise ModelError(f'Pinocchio has no prescribed motions: "{model.joint_names[int(np.argmax(model.driven))]}"')
        for joint_name, joint in zip(model.joint_names, model.joints, strict=True):
            if joint.turned:
                raise ModelError(f'Pinocchio has no {joint.kind} joint that is written from its far side: "{joint_name}"')
            if joint.mjcf is None and joint.kind != "screw":
                raise ModelError(f'Pinocchio has no {joint.kind} joint: "{joint_name}"')
        self.pin, self.model, self.dynamics = pin, model, dynamics
        self.states = StateConverter(model, "Pinocchio", as_listed(model.parents), lambda i: _pieces(model, i))
        self.theirs: Any = pin.Model()
        self.theirs.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        self.carrier: dict[int, tuple[int, Array]] = {-1: (0, np.zeros(3))}  # joint that carries a body, its origin there
        for i in as_listed(model.parents):
            self._add(i)
        _, _, armature = self.states.there(model.initial_q, np.zeros(model.nv), None, model.armature)
        self.theirs.armature = armature
        self.closing, self.closing_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for closure in model.closures:
            for constraint in self._closing(closure):
                self.closing.append(constraint)
                self.closing_data.append(constraint.createData())
        self.data = self.theirs.createData()
        if model.closures:
            self._prepare()

    def _prepare(self) -> None:
        try:
            self.pin.initConstraintDynamics(self.theirs, self.data, self.closing, self.closing_data)
        except TypeError:  # before Pinocchio 4
            self.pin.initConstraintDynamics(self.theirs, self.data, self.closing)

    def _add(self, i: int) -> None:
        pin, model, joint = self.pin, self.model, self.model.joints[i]
        parent, origin = self.carrier[model.parents[i]]
        at, turn = origin + model.position[i], np.eye(3)
        if joint.kind == "planar":
            z, x = np.array(joint.axis), np.array(joint.axis2)
            turn = np.column_stack([x, np.cross(z, x), z])
        if joint.kind == "fixed":
            self.carrier[i] = parent, at
        else:
            place, name = pin.SE3(turn, at), model.joint_names[i]
            for k, part in enumerate(self._joints(joint)):
                parent = self.theirs.addJoint(parent, part, place, f"{name}_{k}" if k else name)
                place = pin.SE3.Identity()
            self.carrier[i] = parent, np.zeros(3)
        identity, shift = self.carrier[i]
        if identity > 0:  # what is fixed to ground never moves
            inertia = pin.Inertia(float(model.mass[i]), np.array(model.center[i]), np.array(model.inertia[i]))
            self.theirs.appendBodyToJoint(identity, inertia, pin.SE3(turn.T, shift))

    def _joints(self, joint: Any) -> list[Any]:
        pin = self.pin
        several_at_once = {"spherical": "Spherical", "free": "FreeFlyer", "planar": "Planar"}
        if joint.kind in several_at_once:
            return [getattr(pin, f"JointModel{several_at_once[joint.kind]}")()]
        if joint.kind == "screw":
            return [pin.JointModelHelicalUnaligned(np.array(joint.axis), float(joint.pitch))]
        single = {"hinge": pin.JointModelRevoluteUnaligned, "slide": pin.JointModelPrismaticUnaligned}
        return [single[kind](along(joint, letter)) for kind, letter in joint.mjcf]

    def _closing(self, closure: Closure) -> list[Any]:
        pin = self.pin
        kinds = {"fixed": pin.ContactType.CONTACT_6D} | dict.fromkeys(("spherical", "revolute"), pin.ContactType.CONTACT_3D)
        if closure.joint is None or closure.joint.kind not in kinds or closure.motion is not None:
            raise ModelError(f'Pinocchio has no counterpart for "{closure.name}"')
        axis = np.array(closure.joint.axis) * float(self.dynamics.plan.length) if closure.joint.kind == "revolute" else None
        made = []
        for along_axis in (np.zeros(3),) if axis is None else (np.zeros(3), axis):
            ends: list[Any] = []
            for body, point in ((closure.body_a, closure.point_a), (closure.body_b, closure.point_b)):
                joint, shift = self.carrier[body]
                ends += [joint, pin.SE3(np.eye(3), shift + np.array(point) + along_axis)]
            made.append(pin.RigidConstraintModel(kinds[closure.joint.kind], self.theirs, *ends, pin.ReferenceFrame.LOCAL))
        return made

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        there = self.states.there(q, v, None, tau)
        _, _, a = self.states.here(there[0], there[1], self._evaluate(*there), None)
        return np.asarray(a)

    def _evaluate(self, q: Array, v: Array, tau: Array) -> Array:
        pin = self.pin
        if not self.model.closures:
            return np.asarray(pin.aba(self.theirs, self.data, q, v, tau))
        settings = pin.ProximalSettings(*PROXIMAL)
        return np.asarray(pin.constraintDynamics(self.theirs, self.data, q, v, tau, self.closing, self.closing_data, settings))

    def call(self, q: Array, v: Array, tau: Array) -> Callable[[], Any]:
        there = self.states.there(q, v, None, tau)
        return lambda: self._evaluate(*there)

    def move(self, duration: float) -> Trajectory:
        return runge_kutta(self, self.dynamics, self.model.initial_q, self.model.initial_v, duration)


def _pieces(model: Model, i: int) -> list[Any]:
    kind = model.joints[i].kind
    if kind == "spherical":
        return [Ball(IDENTITY, XYZW)]
    if kind == "free":
        return [FloatingPinocchio(IDENTITY, (0.0, 0.0, 0.0))]
    return [PlanarPinocchio()] if kind == "planar" else [Shifted() for _ in range(model.joints[i].nv)]
