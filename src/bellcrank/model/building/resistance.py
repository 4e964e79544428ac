"""Whether mass resists every motion of the last joints. Where nothing does, the acceleration would be 0/0 at every state."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...joints import Joint
from ...joints.base import JointData
from ...numbers.variable import value_of, values_of
from ..manifold import cross_matrix
from ..order import outward_order

if TYPE_CHECKING:
    from ..model import Model

Array = NDArray[np.float64]

TINY = 1e-13  # of what the same mass would give in its stiffest direction: rounding only


class Unresisted(NamedTuple):
    """A joint, whether it carries no mass at all, what it carries, and its armature."""

    joint: int
    massless: bool
    felt: Array
    armature: Sequence[float]

    def ways(self, joint: Joint, q: Sequence[float]) -> Array:
        """Combinations of its velocities that move no inertia at q, (nv, .)."""
        if self.massless:
            return np.eye(joint.nv)[:, np.equal(self.armature, 0)]
        return _idle(self.felt, joint, self.armature, q)


def unresisted(
    parents: Sequence[int],
    joints: Sequence[Joint],
    position: Array,
    mass: Array,
    center: Array,
    inertia: Array,
    armature: Sequence[Sequence[float]],
    driven: Sequence[bool] = (),
    tied: Collection[int] = (),
) -> Iterator[Unresisted]:
    """Joints whose own block of the mass matrix, S^T I S + armature, is singular in every configuration.

    That is known for joints that carry no mass at all (True), and for those beyond which nothing moves, since I is then
    constant in the body (False). ``armature`` has one sequence per joint. A driven joint needs no mass to move. Bodies that
    are ``tied`` by closures may be resisted by what is at the other end, and so may all that carries them.
    """
    held = [i in tied for i in range(len(joints))]
    last, heavy = [True] * len(joints), list((mass > 0) | inertia.any(axis=(1, 2)))
    felt = _spatial_inertia(mass, center, inertia)
    for i in reversed(outward_order(parents)):
        nv, parent = joints[i].nv, parents[i]
        if (driven and driven[i]) or held[i]:
            pass
        elif nv and not heavy[i] and not all(armature[i]):
            yield Unresisted(i, True, felt[i], armature[i])
        elif nv and heavy[i] and last[i] and _is_idle(felt[i], joints[i], armature[i]):
            yield Unresisted(i, False, felt[i], armature[i])
        if parent >= 0:
            held[parent] |= held[i]
            heavy[parent] |= heavy[i]
            last[parent] &= last[i] and nv == 0
            if nv == 0:
                shift = _shift(position[i])
                felt[parent] += shift.T @ felt[i] @ shift


def _spatial_inertia(mass: Array, center: Array, inertia: Array) -> Array:
    """(n,6,6) about the bodies' origins, angular first: [[I + m c~ c~^T, m c~], [m c~^T, m]]."""
    c = cross_matrix(center)
    m = mass[:, None, None]
    top = np.concatenate([inertia + m * (c @ c.transpose(0, 2, 1)), m * c], axis=2)
    bottom = np.concatenate([m * c.transpose(0, 2, 1), m * np.eye(3)], axis=2)
    return np.concatenate([top, bottom], axis=1)


def _shift(offset: Array) -> Array:
    """Motion at a point from the motion at the origin, the point at ``offset``: v' = v - offset x w."""
    shift = np.eye(6)
    shift[3:, :3] = -cross_matrix(offset)
    return shift


def _is_idle(felt: Array, joint: Joint, armature: Sequence[float]) -> bool:
    """At two positions, since the directions of some joints move."""
    positions = [joint.neutral] + ([[x + 0.5 for x in joint.neutral]] if joint.quaternion is None else [])
    return all(_idle(felt, joint, armature, q).size for q in positions)


def _idle(felt: Array, joint: Joint, armature: Sequence[float], q: Sequence[float]) -> Array:
    """Columns: what S^T I S + armature does not resist."""
    S = _directions(joint, q)
    D = S.T @ felt @ S + np.diag(armature)
    stiffest = np.repeat([np.trace(felt[:3, :3]), felt[5, 5]], 3)
    bound = (S**2).T @ stiffest
    alone = np.diag(D) <= TINY * bound
    scale = np.sqrt(np.where(alone, 1.0, np.diag(D)))
    values, ways = np.linalg.eigh(np.where(np.outer(~alone, ~alone), D / np.outer(scale, scale), np.diag(~alone)))
    return np.asarray((ways / scale[:, None])[:, values <= TINY])


def _directions(joint: Joint, q: Sequence[float]) -> Array:
    """S (6,nv) in axes parallel to the world's; the joint gives it with its own axis on z, and the second on x."""
    data = JointData(pitch=0.0 if joint.pitch is None else value_of(joint.pitch))
    S = np.array([[*motion.w, *motion.v] for motion in joint.directions(q, data)], dtype=float).T
    turn = (
        np.eye(3)
        if joint.axis is None
        else frame(values_of(joint.axis), None if joint.axis2 is None else values_of(joint.axis2))
    )
    return np.vstack([turn @ S[:3], turn @ S[3:]])


def frame(z: Array, along_x: Sequence[float] | Array | None = None) -> Array:
    """Three orthonormal columns, the last one given, and the first if it matters."""
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))]) if along_x is None else np.array(along_x, dtype=float)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def unresisted_with_open_loops(model: Model) -> list[Unresisted]:
    """Joints of the tree that move no inertia in some direction, whatever closures may tie them to."""
    turned = np.linalg.eigvalsh(_spatial_inertia(model.mass, model.center, model.inertia)[:, :3, :3])
    if ((model.mass > 0) & (turned[:, 0] > 10 * TINY * turned[:, 2])).all():
        return []  # every body resists every motion
    armature, at = [], 0
    for joint, driven in zip(model.joints, model.driven, strict=True):
        size = 0 if driven else joint.nv
        armature.append(model.armature[at : at + size].tolist())
        at += size
    arrays = model.position, model.mass, model.center, model.inertia
    return list(unresisted(model.parents, model.joints, *arrays, armature, model.driven.tolist()))
