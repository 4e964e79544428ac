"""Closed loops in other engines: Pinocchio's constraintDynamics and LCABA, MuJoCo's equality constraints.

Trees of hinges and universal joints, closed by hinges or balls. Pinocchio and MuJoCo hold two points together, which is all
that a hinge in a planar loop adds; a hinge that closes a loop in space would be another mechanism, and is refused.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import peers
import pinocchio as pin
from numpy.typing import NDArray

from bellcrank.kernels import jit
from bellcrank.model import Closure, Model

Array = NDArray[np.float64]
Call = Callable[[], Any]

# accuracy, mu, iterations: the quickest settings that keep constraintDynamics accurate
DENSE = {"independent": (1e-12, 0.0, 1), "planar": (1e-12, 1e-10, 2)}  # a planar loop has a row that depends on others
# LCABA's: one iteration; until it is satisfied, which from mu = 1e-8 gains nothing on long chains; its most accurate
LINEAR = {"LCABA, once": (1e-12, 1e-8, 1), "LCABA": (1e-12, 1e-8, 10), "LCABA, mu 1e-4": (1e-12, 1e-4, 100)}


def planar(model: Model) -> bool:
    """All joints turn about one direction."""
    axes = np.array([joint.axis for joint in model.joints])
    return all(joint.kind == "revolute" for joint in model.joints) and not np.cross(axes, axes[0]).any()


def held_points(model: Model) -> Iterator[Closure]:
    """The closures, each of which holds point_a and point_b together."""
    for closure in model.closures:
        kind = closure.joint.kind if closure.joint else closure.kind
        if kind != "spherical" and not (kind == "revolute" and planar(model)):
            raise ValueError(f'"{closure.name}" is more than two points held together: no conversion of a {kind} closure')
        yield closure


# Pinocchio -------------------------------------------------------------------------------------------------------------------


class Pinocchio:
    """A model with its constraints and workspace; states are in Pinocchio's order."""

    def __init__(self, model: Model):
        self.ours, self.model = model, pin.Model()
        self.model.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        number = {-1: 0}
        for i in peers.outward(model):
            place = pin.SE3(np.eye(3), np.array(model.position[i]))
            number[i] = self.model.addJoint(
                number[model.parents[i]], _pinocchio_joint(model.joints[i]), place, model.joint_names[i]
            )
            inertia = pin.Inertia(float(model.mass[i]), np.array(model.center[i]), np.array(model.inertia[i]))
            self.model.appendBodyToJoint(number[i], inertia, pin.SE3.Identity())
        self.constraints = pin.StdVec_RigidConstraintModel()
        for closure in held_points(model):
            ends = [(closure.body_a, closure.point_a), (closure.body_b, closure.point_b)]
            places = [x for body, point in ends for x in (number[body], pin.SE3(np.eye(3), np.array(point)))]
            frame = pin.ReferenceFrame.LOCAL
            self.constraints.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *places, frame))
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for constraint in self.constraints:
            self.constraint_data.append(constraint.createData())
        self.data = self.model.createData()
        self.order = peers.pinocchio_order(model, self.model)

    def states(self, q: Array, v: Array, tau: Array) -> list[tuple[Array, Array, Array]]:
        return [peers.pinocchio_state(self.ours, self.model, *state) for state in zip(q, v, tau, strict=True)]

    def dense(self) -> Callable[[Array, Array, Array], Array]:
        """constraintDynamics: sparse Cholesky of the whole, which fills in as the loops chain up."""
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)
        settings = DENSE["planar" if planar(self.ours) else "independent"]
        given = self.constraints, self.constraint_data, pin.ProximalSettings(*settings)
        return lambda q, v, tau: pin.constraintDynamics(self.model, self.data, q, v, tau, *given)

    def linear(self, settings: str) -> Callable[[Array, Array, Array], Array]:
        """LCABA: linear in the number of loops, with constraints softened by mu."""
        pin.computeJointMinimalOrdering(self.model, self.data, self.constraints)
        given = self.constraints, self.constraint_data, pin.ProximalSettings(*LINEAR[settings])
        return lambda q, v, tau: pin.lcaba(self.model, self.data, q, v, tau, *given)

    def tree(self) -> dict[str, Callable[..., Any]]:
        """The model without its loops, from Python and in Pinocchio's own loop: the difference is what a call costs."""
        pool = pin.ModelPool(self.model, 1)
        return {
            "call": lambda q, v, tau: pin.aba(self.model, self.data, q, v, tau),
            "inside": lambda Q, V, T, out: pin.abaInParallel(1, pool, Q, V, T, out),
        }


def _pinocchio_joint(joint: Any) -> Any:
    if joint.kind == "universal":
        return pin.JointModelUniversal(np.array(joint.axis), np.array(joint.axis2))
    if joint.kind != "revolute":
        raise ValueError(f"no conversion of a {joint.kind} joint to Pinocchio")
    if 1.0 in joint.axis:
        return (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)[joint.axis.index(1.0)]()
    return pin.JointModelRevoluteUnaligned(np.array(joint.axis))


# MuJoCo ----------------------------------------------------------------------------------------------------------------------


def to_mujoco(model: Model) -> Any:
    """A mujoco.MjModel with joints of the same names, and a connect constraint for each closure."""
    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity
    bodies = {-1: spec.worldbody}
    for i in peers.outward(model):
        bodies[i] = body = bodies[model.parents[i]].add_body(name=model.body_names[i], pos=model.position[i])
        J = model.inertia[i]
        body.mass, body.ipos, body.explicitinertial = float(model.mass[i]), model.center[i], True
        body.fullinertia = [*np.diag(J), J[0, 1], J[0, 2], J[1, 2]]
        for k, axis in enumerate(_axes(model.joints[i])):
            name = model.joint_names[i] + ("_second" if k else "")
            body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
    for closure in held_points(model):
        names = [model.body_names[i] if i >= 0 else "world" for i in (closure.body_a, closure.body_b)]
        held = spec.add_equality(name=closure.name, type=mujoco.mjtEq.mjEQ_CONNECT, name1=names[0], name2=names[1])
        held.objtype = mujoco.mjtObj.mjOBJ_BODY
        held.data[:3] = closure.point_a
    return spec.compile()


def _axes(joint: Any) -> list[Any]:
    if joint.kind not in ("revolute", "universal"):
        raise ValueError(f"no conversion of a {joint.kind} joint to MuJoCo")
    return [joint.axis] if joint.kind == "revolute" else [joint.axis, joint.axis2]


class MuJoCo:
    """A model with its workspace, at one state."""

    def __init__(self, model: Model, q: Array, v: Array, tau: Array):
        self.ours, self.model = model, to_mujoco(model)
        self.data = mujoco.MjData(self.model)
        state = peers.mujoco_state(model, self.model, q, v, tau)
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = state

    def acceleration(self) -> Array:
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)[peers.mujoco_order(self.ours, self.model)]

    def forward(self) -> Callable[[int], None]:
        """mj_forward so many times, called from a loop in machine code so that Python takes no part."""
        library = ctypes.CDLL(str(next(Path(mujoco.__file__).parent.glob("libmujoco*"))))
        entry = ctypes.cast(library.mj_forward, ctypes.c_void_p).value
        code = jit.load_object(jit.compile_text(_LOOP.format(entry=entry)))
        loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.address("loop"))
        keep = self, code, library

        def call(repeats: int) -> None:
            loop(keep[0].model._address, keep[0].data._address, repeats)

        return call


_LOOP = """
define void @loop(ptr %m, ptr %d, i64 %count) {{
entry:
  br label %top
top:
  %k = phi i64 [0, %entry], [%next, %top]
  call void inttoptr (i64 {entry} to ptr)(ptr %m, ptr %d)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %top, label %done
done:
  ret void
}}
"""
