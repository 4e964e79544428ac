"""The frozen model: one row per joint and the body that it carries, in the order of the model file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..joints import Joint
from .verify import verify

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Model:
    """A mechanism as arrays (SI), all axes parallel to the world's in the design position.

    field        shape     meaning
    parents      n         row of the parent body, -1 = ground; a parent may come later than its child
    position     (n,3)     joint point minus the parent body's origin (ground's is the world's); zero for a free joint
    mass         (n,)
    center       (n,3)     centre of mass minus the body's origin, which is at its inboard joint's point
    inertia      (n,3,3)   about the centre of mass
    armature     (nv,)     added to the diagonal of the mass matrix
    gravity      (3,)
    initial_q    (nq,)     start; quaternions w, x, y, z of unit length
    initial_v    (nv,)
    duration     s         None: the caller of ``simulate`` must say
    step         s         interval of the samples; None: the caller's choice

    Arrays are copied and read-only. Whatever is impossible is listed in one ModelError.
    """

    name: str
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    parents: tuple[int, ...]
    joints: tuple[Joint, ...]
    position: Array
    mass: Array
    center: Array
    inertia: Array
    armature: Array
    gravity: Array
    initial_q: Array
    initial_v: Array
    duration: float | None = None
    step: float | None = None

    def __post_init__(self) -> None:
        for field in ("joint_names", "body_names", "parents", "joints"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        for field, array in verify(self).items():
            array.setflags(write=False)
            object.__setattr__(self, field, array)

    def __repr__(self) -> str:
        return f'Model("{self.name}": {self.n} bodies, nq = {self.nq}, nv = {self.nv})'

    @property
    def n(self) -> int:
        """Number of joints, and of the bodies that they carry."""
        return len(self.joints)

    @cached_property
    def nq(self) -> int:
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        return sum(joint.nv for joint in self.joints)

    @cached_property
    def q_index(self) -> Index:
        """First entry of each joint in q; shape (n,)."""
        return _starts([joint.nq for joint in self.joints])

    @cached_property
    def v_index(self) -> Index:
        """First entry of each joint in v; shape (n,)."""
        return _starts([joint.nv for joint in self.joints])

    @cached_property
    def q_names(self) -> tuple[str, ...]:
        """``shoulder`` for a joint of one coordinate, ``base.x`` for one of several."""
        return _entries(self.joint_names, [joint.q_names for joint in self.joints])

    @cached_property
    def v_names(self) -> tuple[str, ...]:
        return _entries(self.joint_names, [joint.v_names for joint in self.joints])

    @cached_property
    def neutral_q(self) -> Array:
        """Every joint at zero: the design position, except that a free body's origin is at its parent's."""
        q = np.array([x for joint in self.joints for x in joint.neutral], dtype=float)
        q.setflags(write=False)
        return q


def _starts(counts: list[int]) -> Index:
    starts = np.cumsum([0, *counts[:-1]]).astype(np.intp)
    starts.setflags(write=False)
    return starts


def _entries(joint_names: tuple[str, ...], suffixes: list[tuple[str, ...]]) -> tuple[str, ...]:
    pairs = zip(joint_names, suffixes, strict=True)
    return tuple(f"{name}.{suffix}" if suffix else name for name, of_joint in pairs for suffix in of_joint)
