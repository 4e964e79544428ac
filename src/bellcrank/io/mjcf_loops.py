"""Equality constraints of an MJCF model: joints that close loops, and couplers. Soft in MuJoCo, they are exact here.

connect   a spherical joint        weld      a fixed joint
joint     y = c0 + c1 x            tendon    the same between the lengths of fixed tendons; of a straight one: a distance
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError
from ..model.spec import CouplerSpec, DistanceSpec, InitialSpec, JointSpec
from .imported import Array, Assembly, matrix_of
from .mjcf_forces import HINGE, SLIDE, Named, at_site, between_sites, fixed_terms, named_joints

if TYPE_CHECKING:
    from .mjcf import Compiled

CLOSED = 1e-9  # m, rad: how far apart the two sides of a loop may be at qpos0
Side = tuple[int, Array, Array]  # body (0 = the world), point from its origin, axes


def add_loops(compiled: Compiled, assembly: Assembly, file: str) -> None:
    m = compiled.m
    if compiled.disabled("equality") or compiled.disabled("constraint"):
        if m.neq:
            assembly.unsimulated.append(f"{m.neq} equality constraints, which are switched off")
        return
    joints = named_joints(compiled, assembly)
    for i in range(m.neq):
        name = compiled.name("equality", i)
        reason = _add(compiled, assembly, joints, i, name, file) if m.eq_active0[i] else "it is not active"
        if reason:
            assembly.unsimulated.append(f'equality "{name}": {reason}')


def _add(compiled: Compiled, assembly: Assembly, joints: dict[int, Named], i: int, name: str, file: str) -> str | None:
    """Adds a constraint, or says why not."""
    kinds, kind = compiled.mujoco.mjtEq, int(compiled.m.eq_type[i])
    if kind in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
        return _close(compiled, assembly, i, name, file, weld=kind == int(kinds.mjEQ_WELD))
    if kind in (int(kinds.mjEQ_JOINT), int(kinds.mjEQ_TENDON)):
        return _couple(compiled, assembly, joints, i, name, of_tendons=kind == int(kinds.mjEQ_TENDON))
    return "this kind has no counterpart"


# --- loops


def _close(compiled: Compiled, assembly: Assembly, i: int, name: str, file: str, *, weld: bool) -> str | None:
    first, second = _sides(compiled, i, weld=weld)
    (a, point_a, axes_a), (b, point_b, axes_b) = first, second
    apart = float(np.linalg.norm(_world(compiled, a) + point_a - _world(compiled, b) - point_b))
    turned = float(np.abs(axes_a - axes_b).max()) if weld else 0.0
    if apart > CLOSED or turned > CLOSED:
        what = f"{apart * 1e3:.3g} mm apart" if apart > CLOSED else f"turned by {turned:.3g} rad"
        remedy = "Move them together there; a keyframe may start elsewhere."
        raise ModelError(f'{file}: equality "{name}" does not hold at qpos0: its sides are {what}. {remedy}')
    parent, child = assembly.body(a - 1), assembly.body(b - 1)
    if parent == child:
        return "it ties a body to itself"
    ours = assembly.names.take(name, "weld" if weld else "connect")
    kind = "fixed" if weld else "spherical"
    joint = JointSpec(ours, kind, parent, child, assembly.place(a - 1, point_a), cut=True)
    assembly.closing.append(joint)
    return None


def _sides(compiled: Compiled, i: int, *, weld: bool) -> tuple[Side, Side]:
    """The two sides of a connect or weld."""
    m, data = compiled.m, compiled.m.eq_data[i]
    first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    if int(m.eq_objtype[i]) == int(compiled.mujoco.mjtObj.mjOBJ_SITE):
        return _site(compiled, first), _site(compiled, second)
    Ra, Rb = compiled.R[first], compiled.R[second]
    if not weld:
        return (first, Ra @ data[0:3], Ra), (second, Rb @ data[3:6], Rb)
    anchor, place, turn = data[0:3], data[3:6], matrix_of(data[6:10])
    return (first, Ra @ (place + turn @ anchor), Ra @ turn), (second, Rb @ anchor, Rb)


def _site(compiled: Compiled, site: int) -> Side:
    m = compiled.m
    body = int(m.site_bodyid[site])
    R = compiled.R[body]
    return body, R @ m.site_pos[site], R @ matrix_of(m.site_quat[site])


def _world(compiled: Compiled, body: int) -> Array:
    """Where the origin of a body is."""
    total = np.zeros(3)
    while body > 0:
        total, body = total + compiled.p[body], int(compiled.m.body_parentid[body])
    return total


# --- couplers


def _couple(
    compiled: Compiled, assembly: Assembly, joints: dict[int, Named], i: int, name: str, *, of_tendons: bool
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
        length = float(m.tendon_length0[first]) + c0
        spec = DistanceSpec(assembly.names.take(name, "distance"), ends[0], ends[1], length)
        assembly.constraints.append(spec)
        return None
    sides = [_terms(compiled, k, of_tendons=of_tendons) for k in (first, second) if k >= 0]
    terms: dict[int, float] = {}
    for side, factor in zip(sides, (1.0, -c1), strict=False):
        if side is None:
            return "its tendon winds round things"
        for j, c in side.items():
            terms[j] = terms.get(j, 0.0) + factor * c
    if any(joints[j].kind not in (SLIDE, HINGE) for j in terms):
        return "it ties the coordinates of a ball"
    called = {joints[j].name: c for j, c in terms.items() if c}
    coupler = CouplerSpec(assembly.names.take(name, "coupler"), tuple(called), tuple(called.values()), offset=c0 or None)
    assembly.couplers.append(coupler)
    if c0 and not m.nkey:
        lead, factor = next(iter(called.items()))
        assembly.initial.append(InitialSpec(lead, (c0 / factor,)))
    return None


def _terms(compiled: Compiled, k: int, *, of_tendons: bool) -> dict[int, float] | None:
    return fixed_terms(compiled, k) if of_tendons else {k: 1.0}
