"""Forces of an MJCF model: springs, damping, friction and actuators of joints and tendons, gravity compensation.

MuJoCo's actuator with transmission length l = gear q and the law  force = g0 u + b0 + b1 l + b2 l'  is on its joint

    effort = gear g0 u + gear b0 + gear^2 b1 q + gear^2 b2 v        a motor with an input, a spring, a damper
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...model.element import MOST_TERMS
from ...model.spec.elements import (
    BushingSpec,
    ForceSpec,
    FrictionSpec,
    JointDamper,
    JointSpring,
    LineSpring,
    SumDamper,
    SumSpring,
)
from ...model.spec.items import GROUND, Attachment
from ..exchange.imported import Array, ImportedParts, square, triple

if TYPE_CHECKING:
    from .reader import Compiled

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
TURNS = ("wx", "wy", "wz")
MOVES = ("vx", "vy", "vz")


def actuators(m: Any) -> int:
    return int(getattr(m, "nactuator", m.nu))


class Named(NamedTuple):
    """A joint of the compiled model with what it is called here."""

    name: str
    body: int  # in the list of bodies, where the world is left out
    kind: int


def named_joints(compiled: Compiled, assembly: ImportedParts) -> dict[int, Named]:
    m = compiled.m
    found = {}
    for b, joints in enumerate(assembly.joint_names):
        for n, name in enumerate(joints if assembly.theirs[b].moves else []):
            j = int(m.body_jntadr[b + 1]) + n
            found[j] = Named(name, b, int(m.jnt_type[j]))
    return found


def add_forces(compiled: Compiled, assembly: ImportedParts) -> None:
    joints = named_joints(compiled, assembly)
    for j, named in joints.items():
        _passive(compiled, assembly, j, named)
    for i in range(compiled.m.ntendon):
        _tendon(compiled, assembly, joints, i)
    if not compiled.disabled("actuation"):
        from .actuators import add_actuators

        add_actuators(compiled, assembly, joints)
    for b in range(1, compiled.m.nbody):
        _weight(compiled, assembly, b)


def _coordinates(kind: int) -> tuple[str | None, ...]:
    return {FREE: (*MOVES, *TURNS), BALL: TURNS}.get(kind, (None,))


def _passive(compiled: Compiled, assembly: ImportedParts, j: int, named: Named) -> None:
    """Spring, damping and friction of a joint."""
    m, at = compiled.m, int(compiled.m.jnt_dofadr[j])
    stiffness, damping = float(m.jnt_stiffness[j]), float(m.dof_damping[at])
    if stiffness and not compiled.disabled("spring"):
        _spring(compiled, assembly, j, named, stiffness)
    friction = float(m.dof_frictionloss[at])
    for coordinate in _coordinates(named.kind):
        end = f"_{coordinate}" if coordinate else ""
        if damping and not compiled.disabled("damper"):
            assembly.add(JointDamper, f"{named.name}_damping{end}", named.name, damping, coordinate)
        if friction and not compiled.disabled("frictionloss"):
            assembly.add(FrictionSpec, f"{named.name}_friction{end}", named.name, friction, coordinate=coordinate)
    odd = {"jnt_stiffnesspoly": j, "jnt_springyield": j, "dof_dampingpoly": at}
    for array, row in odd.items():
        if compiled.array(array, row).any():
            assembly.unsimulated.append(f'{array.partition("_")[2]} of joint "{named.name}"')
    if named.kind == FREE and m.dof_armature[at]:
        _free_armature(compiled, assembly, j, named)


def _spring(compiled: Compiled, assembly: ImportedParts, j: int, named: Named, stiffness: float) -> None:
    """The spring of a joint: on a coordinate, or on the turn of a ball; a free joint also has one that pulls its body back."""
    m, q, name = compiled.m, int(compiled.m.jnt_qposadr[j]), f"{named.name}_spring"
    if named.kind in (SLIDE, HINGE):
        rest = float(m.qpos_spring[q] - m.qpos0[q])
        assembly.add(JointSpring, name, named.name, stiffness, rest)
        return
    turn = "turn" if named.kind == FREE else None
    assembly.add(JointSpring, name, named.name, stiffness, coordinate=turn)
    if named.kind == FREE:
        place = assembly.place(named.body, np.zeros(3))
        assembly.add(BushingSpec, f"{named.name}_pull", GROUND, assembly.body(named.body), place, (stiffness,) * 3)


def _free_armature(compiled: Compiled, assembly: ImportedParts, j: int, named: Named) -> None:
    """Armature along the directions of a free body in world axes is a mass at its origin that has no weight."""
    armature = float(compiled.m.dof_armature[int(compiled.m.jnt_dofadr[j])])
    body = assembly.theirs[named.body]
    total = body.mass + armature
    center = body.mass * body.center / total
    for m, c in ((body.mass, body.center), (armature, np.zeros(3))):
        d = c - center
        body.J = body.J + m * (d @ d * np.eye(3) - np.outer(d, d))
    body.mass, body.center = total, center
    gravity = np.zeros(3) if compiled.disabled("gravity") else np.array(compiled.m.opt.gravity)
    _push(assembly, f"{named.name}_armature", named.body, np.zeros(3), -armature * gravity)
    assembly.remarks.append(f'the armature of the free joint "{named.name}" is a mass of {armature:g} kg without weight')


def _weight(compiled: Compiled, assembly: ImportedParts, b: int) -> None:
    """Gravity compensation: a constant force at the centre of mass."""
    m = compiled.m
    share = float(compiled.array("body_gravcomp", b).sum())
    if share and not compiled.disabled("gravity") and assembly.carrier[b - 1] >= 0:
        force = -share * float(m.body_mass[b]) * np.array(m.opt.gravity)
        _push(assembly, f"{compiled.name('body', b)}_gravcomp", b - 1, compiled.R[b] @ m.body_ipos[b], force)


def _push(assembly: ImportedParts, name: str, body: int, point: Array, force: Array) -> None:
    if force.any():
        assembly.add(ForceSpec, name, assembly.body(body), assembly.place(body, point), triple(force))


# --- tendons


def fixed_terms(compiled: Compiled, i: int) -> dict[int, float] | None:
    """Joints and coefficients of a fixed tendon; None for a spatial one."""
    m = compiled.m
    rows = range(int(m.tendon_adr[i]), int(m.tendon_adr[i] + m.tendon_num[i]))
    if any(int(m.wrap_type[w]) != int(compiled.mujoco.mjtWrap.mjWRAP_JOINT) for w in rows):
        return None
    terms: dict[int, float] = {}
    for w in rows:
        j = int(m.wrap_objid[w])
        terms[j] = terms.get(j, 0.0) + float(m.wrap_prm[w])
    return {j: c for j, c in terms.items() if c}


def _tendon(compiled: Compiled, assembly: ImportedParts, joints: dict[int, Named], i: int) -> None:
    m, name = compiled.m, compiled.name("tendon", i)
    stiffness = 0.0 if compiled.disabled("spring") else float(m.tendon_stiffness[i])
    damping = 0.0 if compiled.disabled("damper") else float(m.tendon_damping[i])
    low, high = m.tendon_lengthspring[i].tolist()
    for array in ("tendon_frictionloss", "tendon_armature", "tendon_stiffnesspoly", "tendon_dampingpoly", "tendon_springyield"):
        if compiled.array(array, i).any():
            assembly.unsimulated.append(f'{array.partition("_")[2]} of tendon "{name}"')
    if m.tendon_limited[i] and not compiled.disabled("limit"):
        assembly.unsimulated.append(f'limits of tendon "{name}"')
    terms = fixed_terms(compiled, i)
    if not (stiffness or damping) or terms == {}:
        return
    if stiffness and low != high:
        assembly.unsimulated.append(f'tendon "{name}": its spring is slack between {low:g} and {high:g}')
    elif terms is not None and 0 < len(terms) <= MOST_TERMS:
        named = {joints[j].name: c for j, c in terms.items()}
        _on_joints(assembly, name, named, stiffness, damping, low - at_zero(compiled, terms))
    elif terms is None and _on_one_body(compiled, assembly, i):
        assembly.remarks.append(f'tendon "{name}" has both ends on one body, and does nothing')
    elif terms is None and between_sites(compiled, i) is not None:
        ends = [at_site(compiled, assembly, site) for site in between_sites(compiled, i) or ()]
        assembly.add(LineSpring, name, *ends, stiffness, damping, low if stiffness else 0.0, noun="tendon")
    else:
        what = f"of more than {MOST_TERMS} joints" if terms is not None else "that wraps around objects"
        assembly.unsimulated.append(f'the spring or damping of tendon "{name}" {what}')


def _on_joints(
    assembly: ImportedParts, name: str, terms: dict[str, float], stiffness: float, damping: float, rest: float
) -> None:
    """A spring and a damper on the sum of factor * q."""
    if stiffness:
        add_spring(assembly, f"{name}_spring", terms, stiffness, rest)
    if damping:
        add_damper(assembly, f"{name}_damping", terms, damping)


def add_spring(
    assembly: ImportedParts, name: str, terms: dict[str, float], stiffness: float, rest: float, preload: float = 0.0
) -> None:
    """force = preload - stiffness (s - rest) along s = sum of factor * q; on one joint a spring of its own."""
    if len(terms) > 1:
        assembly.add(SumSpring, name, tuple(terms), tuple(terms.values()), stiffness, rest, preload)
        return
    ((joint, factor),) = terms.items()
    assembly.add(JointSpring, name, joint, stiffness * square(factor), rest / factor, factor * preload)


def add_damper(assembly: ImportedParts, name: str, terms: dict[str, float], damping: float) -> None:
    if len(terms) > 1:
        assembly.add(SumDamper, name, tuple(terms), tuple(terms.values()), damping)
        return
    ((joint, factor),) = terms.items()
    assembly.add(JointDamper, name, joint, damping * square(factor))


def at_zero(compiled: Compiled, terms: dict[int, float]) -> float:
    """Sum of factor * qpos0: the length of a fixed tendon in the design position."""
    return sum(factor * float(compiled.m.qpos0[int(compiled.m.jnt_qposadr[j])]) for j, factor in terms.items())


def between_sites(compiled: Compiled, i: int) -> tuple[int, int] | None:
    """The sites of a straight tendon on two different bodies."""
    m, site = compiled.m, int(compiled.mujoco.mjtWrap.mjWRAP_SITE)
    rows = list(range(int(m.tendon_adr[i]), int(m.tendon_adr[i] + m.tendon_num[i])))
    if len(rows) != 2 or any(int(m.wrap_type[w]) != site for w in rows):
        return None
    a, b = (int(m.wrap_objid[w]) for w in rows)
    return a, b


def _on_one_body(compiled: Compiled, assembly: ImportedParts, i: int) -> bool:
    sites = between_sites(compiled, i)
    return sites is not None and len({assembly.body(int(compiled.m.site_bodyid[site]) - 1) for site in sites}) == 1


def at_site(compiled: Compiled, assembly: ImportedParts, site: int) -> Attachment:
    body = int(compiled.m.site_bodyid[site])
    point = compiled.R[body] @ compiled.m.site_pos[site]
    return Attachment(assembly.body(body - 1), assembly.place(body - 1, point))
