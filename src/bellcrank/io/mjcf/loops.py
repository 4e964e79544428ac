"""Equality constraints of an MJCF model: joints that close loops, and couplers. Soft in MuJoCo, they are exact here.

connect   a spherical joint        weld      a fixed joint; with torquescale 0, which lets it turn, a spherical one
joint     y = c0 + c1 x            tendon    the same between the lengths of fixed tendons; of a straight one: a distance
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...model.spec.elements import CouplerSpec, DistanceSpec, PointOnLineSpec, PointOnPlaneSpec
from ...model.spec.items import Attachment
from ...model.spec.spec import InitialSpec, JointSpec
from ..exchange.imported import Array, ImportedParts, matrix_of, quaternion_of, triple
from .forces import HINGE, SLIDE, Named, at_site, between_sites, fixed_terms, named_joints

if TYPE_CHECKING:
    from .reader import Compiled

CLOSED = 1e-9  # m, rad: how far apart the two sides of a closed loop may be at qpos0
LEVER = 1.0  # m
TORQUE_SCALE = 10  # where eq_data of a weld has it
Side = tuple[int, Array, Array]  # body (0 = the world), point from its origin, axes


def add_loops(compiled: Compiled, assembly: ImportedParts) -> None:
    m = compiled.m
    if compiled.disabled("equality") or compiled.disabled("constraint"):
        if m.neq:
            assembly.unsimulated.append(f"{m.neq} equality constraints, which are switched off")
        return
    joints = named_joints(compiled, assembly)
    for i in range(m.neq):
        name = compiled.name("equality", i)
        reason = _add(compiled, assembly, joints, i, name) if m.eq_active0[i] else "it is not active"
        if reason:
            assembly.unsimulated.append(f'equality "{name}": {reason}')


def _add(compiled: Compiled, assembly: ImportedParts, joints: dict[int, Named], i: int, name: str) -> str | None:
    """Adds a constraint, or says why not."""
    kinds, kind = compiled.mujoco.mjtEq, int(compiled.m.eq_type[i])
    if kind in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
        return _close(compiled, assembly, i, name, weld=kind == int(kinds.mjEQ_WELD))
    if kind in (int(kinds.mjEQ_JOINT), int(kinds.mjEQ_TENDON)):
        return _couple(compiled, assembly, joints, i, name, of_tendons=kind == int(kinds.mjEQ_TENDON))
    return "this kind has no counterpart"


# --- loops


def _close(compiled: Compiled, assembly: ImportedParts, i: int, name: str, *, weld: bool) -> str | None:
    """A joint that closes a loop; one that is open at qpos0 keeps its two points, and MuJoCo would pull it shut."""
    (a, point_a, axes_a), (b, point_b, axes_b) = _sides(compiled, i, weld=weld)
    weld = weld and float(compiled.m.eq_data[i, TORQUE_SCALE]) != 0
    parent, child = assembly.body(a - 1), assembly.body(b - 1)
    if parent == child:
        return "it connects a body to itself"
    apart = float(np.linalg.norm(_world(compiled, a) + point_a - _world(compiled, b) - point_b))
    angle = angle_between(axes_a, axes_b) if weld else 0.0
    ours = assembly.names.take(name, "weld" if weld else "connect")
    place, on_child = assembly.place(a - 1, point_a), assembly.place(b - 1, point_b) if apart > CLOSED else None
    kind = "fixed" if weld and angle <= CLOSED else "spherical"
    assembly.closing.append(JointSpec(ours, kind, parent, child, place, cut=True, child_point=on_child))
    if angle > CLOSED:
        _align(assembly, ours, (a, point_a, axes_a), (b, point_b, axes_b))
    gap = [f"{apart * 1e3:.4g} mm apart"] * (apart > CLOSED) + [f"turned by {angle:.4g} rad"] * (angle > CLOSED)
    if gap:
        assembly.remarks.append(
            f'equality "{name}" is open at qpos0: its sides are {" and ".join(gap)}; runs start where it closes (bc.assemble)'
        )
    return None


def _align(assembly: ImportedParts, name: str, first: Side, second: Side) -> None:
    """Of a weld whose sides are turned: besides the point, x of the second lies on x of the first, and y in its x-y plane."""
    (a, point_a, axes_a), (b, point_b, axes_b) = first, second
    start = Attachment(assembly.body(a - 1), assembly.place(a - 1, point_a))
    on_x, on_y = (Attachment(assembly.body(b - 1), assembly.place(b - 1, point_b + LEVER * axes_b[:, k])) for k in (0, 1))
    along, across = triple(axes_a[:, 0]), triple(axes_a[:, 2])
    assembly.add(PointOnLineSpec, f"{name}_x", start, on_x, along, noun="line")
    assembly.add(PointOnPlaneSpec, f"{name}_y", start, on_y, across, 0.0, noun="plane")


def angle_between(A: Array, B: Array) -> float:
    """Angle of the rotation A^T B."""
    w, *rest = quaternion_of(A.T @ B)
    return 2 * math.atan2(math.hypot(*rest), w)


def _sides(compiled: Compiled, i: int, *, weld: bool) -> tuple[Side, Side]:
    """The two sides of a connect or weld."""
    m, data = compiled.m, compiled.m.eq_data[i]
    first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    if int(m.eq_objtype[i]) == int(compiled.mujoco.mjtObj.mjOBJ_SITE):
        return _site(compiled, first), _site(compiled, second)
    Ra, Rb = compiled.R[first], compiled.R[second]
    if not weld:
        return (first, Ra @ data[0:3], Ra), (second, Rb @ data[3:6], Rb)
    anchor, place, turn = data[0:3], data[3:6], matrix_of(data[6:10])  # in body 2; the same point in body 1
    return (first, Ra @ place, Ra @ turn), (second, Rb @ anchor, Rb)


def _site(compiled: Compiled, site: int) -> Side:
    m = compiled.m
    body = int(m.site_bodyid[site])
    R = compiled.R[body]
    return body, R @ m.site_pos[site], R @ matrix_of(m.site_quat[site])


def _world(compiled: Compiled, body: int) -> Array:
    """The origin of a body in the world."""
    total = np.zeros(3)
    while body > 0:
        total, body = total + compiled.p[body], int(compiled.m.body_parentid[body])
    return total


# --- couplers


def _couple(
    compiled: Compiled, assembly: ImportedParts, joints: dict[int, Named], i: int, name: str, *, of_tendons: bool
) -> str | None:
    """y - y0 = c0 + c1 (x - x0) + ..., where 0 means qpos0: in our coordinates without references."""
    m = compiled.m
    c0, c1, *rest = m.eq_data[i, :5].tolist()
    first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    if second >= 0 and any(rest):
        return "its polynomial is not linear"
    straight = between_sites(compiled, first) if of_tendons else None
    if straight is not None and second < 0:
        ends = [at_site(compiled, assembly, site) for site in straight]
        assembly.add(DistanceSpec, name, *ends, float(m.tendon_length0[first]) + c0, noun="distance")
        return None
    sides = [_terms(compiled, k, of_tendons=of_tendons) for k in (first, second) if k >= 0]
    terms: dict[int, float] = {}
    for side, factor in zip(sides, (1.0, -c1), strict=False):
        if side is None:
            return "its tendon wraps around objects"
        for j, c in side.items():
            terms[j] = terms.get(j, 0.0) + factor * c
    if any(joints[j].kind not in (SLIDE, HINGE) for j in terms):
        return "it ties the coordinates of a ball"
    called = {joints[j].name: c for j, c in terms.items() if c}
    assembly.add(CouplerSpec, name, tuple(called), tuple(called.values()), offset=c0 or None)
    if c0 and not m.nkey:
        lead, factor = next(iter(called.items()))
        assembly.initial.append(InitialSpec(lead, (c0 / factor,)))
    return None


def _terms(compiled: Compiled, k: int, *, of_tendons: bool) -> dict[int, float] | None:
    return fixed_terms(compiled, k) if of_tendons else {k: 1.0}
