"""Actuators of an MJCF model: each is an input by its name, and what its law is on its joint (forces.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...model.element import MOST_TERMS
from ...model.spec.elements import ForceSpec, MotorSpec
from ...model.spec.items import GROUND
from ...model.spec.problems import names
from ..exchange.imported import Array, ImportedParts, matrix_of, triple
from .forces import BALL, FREE, HINGE, MOVES, SLIDE, TURNS, Named, actuators, add_damper, add_spring, at_zero, fixed_terms

if TYPE_CHECKING:
    from .reader import Compiled

JOINT, IN_PARENT, TENDON, SITE = 0, 1, 3, 4  # mjtTrn


def add_actuators(compiled: Compiled, assembly: ImportedParts, joints: dict[int, Named]) -> None:
    m = compiled.m
    limited: dict[str, list[str]] = {"controls": [], "forces": []}
    for i in range(actuators(m)):
        name = compiled.name("actuator", i)
        reason = _why_not(compiled, i) or _add(compiled, assembly, joints, i, name)
        if reason:
            assembly.unsimulated.append(f'actuator "{name}": {reason}')
            continue
        if int(m.actuator_trntype[i]) not in (0, 1) and float(compiled.array("actuator_armature", i).sum()):
            assembly.unsimulated.append(f'the armature of actuator "{name}", which is not on a joint')
        if _limited(compiled, "actuator_ctrllimited", i) and not compiled.disabled("clampctrl"):
            limited["controls"].append(name)
        if _limited(compiled, "actuator_forcelimited", i):
            limited["forces"].append(name)
    for what, which in limited.items():
        if which:
            assembly.unsimulated.append(f"limits of the {what} of actuators {names(which, 4)}")


def _limited(compiled: Compiled, array: str, i: int) -> bool:
    return bool(compiled.array(array, i).any())


def _why_not(compiled: Compiled, i: int) -> str | None:
    """The property of an actuator that has no counterpart here."""
    m, mj = compiled.m, compiled.mujoco
    if int(m.opt.disableactuator) >> int(m.actuator_group[i]) & 1 and 0 <= int(m.actuator_group[i]) < 31:
        return "its group is switched off"
    if (compiled.array("actuator_plugin", i) >= 0).any():
        return "its law is that of a plugin"
    if int(m.actuator_dyntype[i]) != int(mj.mjtDyn.mjDYN_NONE):
        return "it has a state of its own (an integrator, filter or muscle)"
    gain, bias = int(m.actuator_gaintype[i]), int(m.actuator_biastype[i])
    affine_gain = gain == int(mj.mjtGain.mjGAIN_AFFINE) and not m.actuator_gainprm[i, 1:3].any()
    if gain != int(mj.mjtGain.mjGAIN_FIXED) and not affine_gain:
        return "its gain depends on the state"
    if bias not in (int(mj.mjtBias.mjBIAS_NONE), int(mj.mjtBias.mjBIAS_AFFINE)):
        return "its bias is not linear"
    if int(m.actuator_trntype[i]) not in (JOINT, IN_PARENT, TENDON, SITE):
        return "it acts neither on a joint, nor on a fixed tendon, nor on a site"
    if compiled.array("actuator_delay", i).any():
        return "it has a delay"
    if compiled.array("actuator_dampingpoly", i).any():
        return "its damping is not linear"
    return None


def _add(compiled: Compiled, assembly: ImportedParts, joints: dict[int, Named], i: int, name: str) -> str | None:
    """Adds the input and the elements, or says why not."""
    m = compiled.m
    gain = float(m.actuator_gainprm[i, 0])
    b0, b1, b2 = m.actuator_biasprm[i, :3].tolist() if int(m.actuator_biastype[i]) else (0.0, 0.0, 0.0)
    b2 -= float(compiled.array("actuator_damping", i).sum())
    if b1 > 0 or b2 > 0:
        return "its spring or damping is negative"
    if int(m.actuator_trntype[i]) == SITE and not gain:
        return _constant_force(compiled, assembly, i, name, b0) if not (b1 or b2) else "its bias depends on the state"
    where = _joints(compiled, joints, i)
    if isinstance(where, str):
        return where
    if (b1 or b2) and (len(where) > MOST_TERMS or any(joints[j].kind not in (SLIDE, HINGE) for j, _, _ in where)):
        return "its spring or damping acts on a ball, or on too many joints"
    given = assembly.names.take(name, "input") if gain else ""
    assembly.inputs += [given] if gain else []
    for k, (j, coordinate, factor) in enumerate(where):
        end = f"_{k + 1}" if len(where) > 1 else ""
        if gain:
            effort = gain * factor
            assembly.add(MotorSpec, f"{name}_motor{end}", joints[j].name, input=given, gain=effort, coordinate=coordinate)
        if b0 and not b1:
            assembly.add(MotorSpec, f"{name}_bias{end}", joints[j].name, factor * b0, coordinate=coordinate)
    terms = {joints[j].name: factor for j, _, factor in where}
    if b1:
        zero = at_zero(compiled, {j: factor for j, _, factor in where})
        add_spring(assembly, f"{name}_spring", terms, -b1, -zero, b0)
    if b2:
        add_damper(assembly, f"{name}_damping", terms, -b2)
    return None


Directions = list[tuple[int, str | None, float]]  # joint, coordinate, and the effort there for a unit of force


def _joints(compiled: Compiled, joints: dict[int, Named], i: int) -> Directions | str:
    m = compiled.m
    gear, target = m.actuator_gear[i], int(m.actuator_trnid[i, 0])
    if int(m.actuator_trntype[i]) == TENDON:
        terms = fixed_terms(compiled, target)
        if terms is None:
            return "its tendon is not fixed to joints"
        return [(j, None, float(gear[0]) * c) for j, c in terms.items()]
    if int(m.actuator_trntype[i]) == SITE:
        return _on_site(compiled, joints, i)
    kind = joints[target].kind
    if kind in (SLIDE, HINGE):
        return [(target, None, float(gear[0]))]
    if int(m.actuator_trntype[i]) == IN_PARENT:
        return "its torque keeps its direction in the parent of a ball"
    turn = gear[:3] if kind == BALL else gear[3:6]
    if kind == FREE and gear[:3].any():
        return "its force keeps its direction in the world"
    about = compiled.R[joints[target].body + 1] @ turn
    return [(target, coordinate, float(x)) for coordinate, x in zip(TURNS, about, strict=True) if abs(x) > 1e-15]


def _wrench(compiled: Compiled, i: int) -> tuple[int, Array, Array, Array, bool]:
    """The wrench of an actuator on a site: body, point, force and moment for a unit, and whether they keep their direction."""
    m, gear = compiled.m, compiled.m.actuator_gear[i]
    site, relative = int(m.actuator_trnid[i, 0]), int(m.actuator_trnid[i, 1])
    body = int(m.site_bodyid[site])
    about = site if relative < 0 else relative
    axes = compiled.R[int(m.site_bodyid[about])] @ matrix_of(m.site_quat[about])
    return body, compiled.R[body] @ m.site_pos[site], axes @ gear[:3], axes @ gear[3:6], relative >= 0


def _constant_force(compiled: Compiled, assembly: ImportedParts, i: int, name: str, unit: float) -> str | None:
    """An actuator that only has a bias: a constant force at its site."""
    relative = int(compiled.m.actuator_trnid[i, 1])
    if relative >= 0 and compiled.m.body_weldid[int(compiled.m.site_bodyid[relative])] != 0:
        return "its force keeps its direction in a moving body"
    body, point, force, moment, world = _wrench(compiled, i)
    if assembly.body(body - 1) == GROUND:
        return "it acts on the ground"
    acting = assembly.place(body - 1, point), triple(unit * force), triple(unit * moment)
    assembly.add(ForceSpec, name, assembly.body(body - 1), *acting, "world" if world else "body")
    return None


def _on_site(compiled: Compiled, joints: dict[int, Named], i: int) -> Directions | str:
    """A thruster: a force fixed to a free body, or to one on a ball on ground, is constant along their own v."""
    m = compiled.m
    body, point, force, moment, world = _wrench(compiled, i)
    while body and not m.body_jntnum[body]:  # fixed to the body that carries it
        point, body = point + compiled.p[body], int(m.body_parentid[body])
    j = int(m.body_jntadr[body]) if body else -1
    on_ground = body > 0 and int(m.body_weldid[int(m.body_parentid[body])]) == 0
    if world or not on_ground or m.body_jntnum[body] != 1 or joints[j].kind not in (FREE, BALL):
        return "its force is not fixed to a body that is free, or on a ball on ground"
    point = point - (0.0 if joints[j].kind == FREE else compiled.R[body] @ m.jnt_pos[j])
    turning = moment + np.cross(point, force)
    parts = [*zip(TURNS, turning, strict=True), *(zip(MOVES, force, strict=True) if joints[j].kind == FREE else ())]
    return [(j, coordinate, float(x)) for coordinate, x in parts if abs(x) > 1e-15]
