"""Our models in other engines: Pinocchio and MuJoCo, with states and accelerations carried over.

             quaternion   v of a free joint                        fixed joint
Bellcrank    w x y z      linear, angular; both in body axes       a joint without coordinates
Pinocchio    x y z w      the same                                 merged into the body that carries it
MuJoCo       w x y z      linear in world axes, angular in body's  a body without a joint

MuJoCo knows free joints on ground only, and its linear velocity in other axes makes armature there another mechanism.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.model import Model

Array = NDArray[np.float64]
XYZW = [1, 2, 3, 0]


def rotation(q: Array) -> Array:
    """From body to world axes, of the quaternion w, x, y, z."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def outward(model: Model) -> list[int]:
    """Bodies so that parents come before their children, depth first as both engines number them."""
    children: list[list[int]] = [[] for _ in range(model.n + 1)]
    for i, parent in enumerate(model.parents):
        children[parent].append(i)  # ground is the last list
    order: list[int] = []
    todo = children[-1][::-1]
    while todo:
        order.append(todo.pop())
        todo.extend(children[order[-1]][::-1])
    return order


# Pinocchio ------------------------------------------------------------------------------------------------------------


def to_pinocchio(model: Model) -> Any:
    """A pinocchio.Model with joints of the same names, and frames parallel to ours."""
    import pinocchio as pin

    result = pin.Model()
    result.name = model.name
    result.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
    carrier: dict[int, tuple[int, Array]] = {-1: (0, np.zeros(3))}  # joint that carries a body, and the body's origin there
    for i in outward(model):
        joint, name = model.joints[i], model.joint_names[i]
        parent, origin = carrier[model.parents[i]]
        at = origin + model.position[i]
        if joint.kind == "fixed":
            carrier[i] = parent, at
        else:
            placement = pin.SE3(np.eye(3), at)
            carrier[i] = result.addJoint(parent, _pinocchio_joint(joint), placement, name), np.zeros(3)
        identity, shift = carrier[i]
        if identity > 0:  # what is fixed to ground never moves
            inertia = pin.Inertia(float(model.mass[i]), np.array(model.center[i]), np.array(model.inertia[i]))
            result.appendBodyToJoint(identity, inertia, pin.SE3(np.eye(3), shift))
    result.armature = to_pinocchio_order(model, result, model.armature)
    return result


def _pinocchio_joint(joint: Any) -> Any:
    import pinocchio as pin

    aligned = {
        "revolute": (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
        "prismatic": (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ),
    }
    general = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}
    if joint.kind in aligned:
        axis = np.array(joint.axis)
        if 1.0 in joint.axis:
            return aligned[joint.kind][joint.axis.index(1.0)]()
        return general[joint.kind](axis)
    if joint.kind == "spherical":
        return pin.JointModelSpherical()
    if joint.kind == "free":
        return pin.JointModelFreeFlyer()
    raise ValueError(f"no conversion of a {joint.kind} joint to Pinocchio")


def pinocchio_order(model: Model, pin_model: Any) -> NDArray[np.intp]:
    """Where our degrees of freedom are in Pinocchio's: ours = theirs[order]."""
    order = np.zeros(model.nv, dtype=np.intp)
    for joint, name, start in zip(model.joints, model.joint_names, model.v_index, strict=True):
        if joint.nv:
            first = pin_model.joints[pin_model.getJointId(name)].idx_v
            order[start : start + joint.nv] = first + np.arange(joint.nv)
    return order


def to_pinocchio_order(model: Model, pin_model: Any, x: Array) -> Array:
    result = np.zeros(model.nv)
    result[pinocchio_order(model, pin_model)] = x
    return result


def pinocchio_state(model: Model, pin_model: Any, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array]:
    """q, v, tau in Pinocchio's order."""
    result = np.zeros(pin_model.nq)
    for joint, name, start in zip(model.joints, model.joint_names, model.q_index, strict=True):
        if joint.nq:
            first = pin_model.joints[pin_model.getJointId(name)].idx_q
            x = np.array(q[start : start + joint.nq])
            if joint.quaternion is not None:
                turn = x[joint.quaternion :].copy()
                x[joint.quaternion :] = turn[XYZW]
            result[first : first + joint.nq] = x
    return result, to_pinocchio_order(model, pin_model, v), to_pinocchio_order(model, pin_model, tau)


def pinocchio_acceleration(model: Model, pin_model: Any, q: Array, v: Array, tau: Array) -> Array:
    """pin.aba at one of our states, in our order."""
    import pinocchio as pin

    a = pin.aba(pin_model, pin_model.createData(), *pinocchio_state(model, pin_model, q, v, tau))
    return np.asarray(a)[pinocchio_order(model, pin_model)]


# MuJoCo ---------------------------------------------------------------------------------------------------------------


def to_mujoco(model: Model) -> Any:
    """A mujoco.MjModel with joints and bodies of the same names."""
    import mujoco

    result = mujoco.MjModel.from_xml_string(mujoco_text(model))
    order = mujoco_order(model, result)
    result.dof_armature[order] = model.armature  # a ball joint of MJCF has only one for its three
    return result


def mujoco_text(model: Model) -> str:
    """MJCF; numbers with all their digits."""
    children: list[list[int]] = [[] for _ in range(model.n + 1)]
    for i, parent in enumerate(model.parents):
        children[parent].append(i)
    lines = [
        f'<mujoco model="{model.name}">',
        '<compiler angle="radian" inertiafromgeom="false" autolimits="false"/>',
        f'<option gravity="{_text(model.gravity)}"><flag contact="disable"/></option>',
        "<worldbody>",
    ]
    todo: list[int | None] = list(reversed(children[-1]))
    while todo:  # None closes a body
        i = todo.pop()
        if i is None:
            lines.append("</body>")
        else:
            lines += _mujoco_body(model, i)
            todo += [None, *reversed(children[i])]
    return "\n".join([*lines, "</worldbody>", "</mujoco>"])


def _mujoco_body(model: Model, i: int) -> list[str]:
    kinds = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free", "fixed": ""}
    joint, start = model.joints[i], model.v_index[i]
    if joint.kind not in kinds:
        raise ValueError(f"no conversion of a {joint.kind} joint to MuJoCo")
    if joint.kind == "free" and (model.parents[i] >= 0 or model.armature[start : start + 6].any()):
        raise ValueError(f"MuJoCo has free joints on ground only, without armature: {model.joint_names[i]!r}")
    J = model.inertia[i]
    off_diagonal = [J[0, 1], J[0, 2], J[1, 2]]
    inertia = (
        f'fullinertia="{_text([*np.diag(J), *off_diagonal])}"' if any(off_diagonal) else f'diaginertia="{_text(np.diag(J))}"'
    )
    lines = [
        f'<body name="{model.body_names[i]}" pos="{_text(model.position[i])}">',
        f'<inertial pos="{_text(model.center[i])}" mass="{float(model.mass[i])!r}" {inertia}/>',
    ]
    if joint.kind != "fixed":
        axis = f' axis="{_text(joint.axis)}"' if joint.axis is not None else ""
        lines.append(f'<joint name="{model.joint_names[i]}" type="{kinds[joint.kind]}"{axis}/>')
    return lines


def _text(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def mujoco_order(model: Model, mj_model: Any) -> NDArray[np.intp]:
    """Where our degrees of freedom are in MuJoCo's: ours = theirs[order]."""
    order = np.zeros(model.nv, dtype=np.intp)
    for joint, name, start in zip(model.joints, model.joint_names, model.v_index, strict=True):
        if joint.nv:
            first = int(mj_model.joint(name).dofadr[0])
            order[start : start + joint.nv] = first + np.arange(joint.nv)
    return order


def _free_joints(model: Model) -> list[tuple[int, int]]:
    """First entries in q and v."""
    return [(int(model.q_index[i]), int(model.v_index[i])) for i, joint in enumerate(model.joints) if joint.kind == "free"]


def mujoco_state(model: Model, mj_model: Any, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array]:
    """qpos, qvel and qfrc_applied."""
    v, tau = np.array(v, dtype=float), np.array(tau, dtype=float)
    for iq, iv in _free_joints(model):
        R = rotation(q[iq + 3 : iq + 7])
        v[iv : iv + 3], tau[iv : iv + 3] = R @ v[iv : iv + 3], R @ tau[iv : iv + 3]
    qpos, qvel, force = np.zeros(mj_model.nq), np.zeros(mj_model.nv), np.zeros(mj_model.nv)
    for joint, name, start in zip(model.joints, model.joint_names, model.q_index, strict=True):
        if joint.nq:
            first = int(mj_model.joint(name).qposadr[0])
            qpos[first : first + joint.nq] = q[start : start + joint.nq]
    order = mujoco_order(model, mj_model)
    qvel[order], force[order] = v, tau
    return qpos, qvel, force


def from_mujoco_acceleration(model: Model, mj_model: Any, q: Array, v: Array, qacc: Array) -> Array:
    """Our dv/dt from MuJoCo's: the linear velocity of a free joint turns with the body, a = R^T acc - w x v."""
    a = np.array(qacc, dtype=float)[mujoco_order(model, mj_model)]
    for iq, iv in _free_joints(model):
        linear, w = np.array(v[iv : iv + 3]), np.array(v[iv + 3 : iv + 6])
        a[iv : iv + 3] = rotation(q[iq + 3 : iq + 7]).T @ a[iv : iv + 3] - np.cross(w, linear)
    return a


def mujoco_acceleration(model: Model, mj_model: Any, q: Array, v: Array, tau: Array) -> Array:
    """mj_forward at one of our states, in our order and axes."""
    import mujoco

    data = mujoco.MjData(mj_model)
    data.qpos, data.qvel, data.qfrc_applied = mujoco_state(model, mj_model, q, v, tau)
    mujoco.mj_forward(mj_model, data)
    return from_mujoco_acceleration(model, mj_model, q, v, data.qacc)
