"""A chain of rigid bodies on pins and slides, link by link, with derivatives along one direction.

code     paper        meaning, in the body's own axes, at its mass center                                    unit
x.v x.d  x, dx/dp     a value, and its derivative along a direction of q, qdot and the design together
ST       (S^k C^k)^T  (6, 6) carries accelerations from the parent to the body                               (38), (42)
P        P_k          (6,) motion of the body for a unit of qdot: angular, linear                            (20)
w                     angular velocity                                                                       rad/s
At       A_t          (6,) acceleration without the parts of qddot                                           (35), (36)
I        I_1          (6, 6) inertia                                                                         (21)
F        F_1          (6,) forces: gravity and what velocities bring about                                   (22)-(24)

The equations are those of the paper with its misprints corrected: (23) and (24) are swapped there, (34) and (37) have wrong
arms, and (36) lacks the joint's translation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...design import Design
from ...errors import StateError
from ...model import Model
from ...numbers import Dual, sincos

Array = Any  # of floats, or of numbers of any kind (counting)


class Varied:
    """A value and its derivative, with the product rule: scalars, vectors, matrices."""

    __slots__ = ("d", "v")
    __array_ufunc__ = None

    def __init__(self, v: Array, d: Array | None = None):
        self.v = np.asarray(v)
        self.d = np.zeros(self.v.shape, dtype=self.v.dtype) * 0.0 if d is None else np.asarray(d)

    def __add__(self, other: Any) -> Varied:
        return Varied(self.v + other.v, self.d + other.d) if isinstance(other, Varied) else Varied(self.v + other, self.d)

    __radd__ = __add__

    def __neg__(self) -> Varied:
        return Varied(-self.v, -self.d)

    def __sub__(self, other: Any) -> Varied:
        return self + (-other)

    def __matmul__(self, other: Any) -> Varied:
        if not isinstance(other, Varied):
            return Varied(self.v @ other, self.d @ other)
        return Varied(self.v @ other.v, self.d @ other.v + self.v @ other.d)

    def __mul__(self, other: Any) -> Varied:
        if not isinstance(other, Varied):
            return Varied(self.v * other, self.d * other)
        return Varied(self.v * other.v, self.d * other.v + self.v * other.d)

    __rmul__ = __mul__

    def __getitem__(self, place: Any) -> Varied:
        return Varied(self.v[place], self.d[place])

    @property
    def T(self) -> Varied:
        return Varied(self.v.T, self.d.T)

    @property
    def inverse(self) -> Varied:
        """The inverse of a scalar: d(1/x) = -dx/x^2."""
        inverse = np.asarray(1.0 / self.v)
        return Varied(inverse, -(inverse * np.asarray(inverse * self.d)))


@dataclass(frozen=True)
class Chain:
    """Numbers of n bodies: joint axes (n, 3), whether they slide, joints seen from the parent's joint (n, 3), centers seen from
    the joint (n, 3), masses (n,), inertias about the centers (n, 3, 3), gravity (3,)."""

    slides: tuple[bool, ...]
    axis: Array
    position: Array
    center: Array
    mass: Array
    inertia: Array
    gravity: Array

    def __len__(self) -> int:
        return len(self.slides)


ARRAYS = ("axis", "position", "center", "mass", "inertia", "gravity")


def chain_of(model: Model) -> Chain:
    """The chain of a model that consists of revolute and prismatic joints in a row, without force elements."""
    straight = model.parents == tuple(range(-1, model.n - 1))
    plain = all(joint.kind in ("revolute", "prismatic") for joint in model.joints)
    if not (straight and plain) or model.elements or model.closures or any(model.driven) or np.any(model.armature):
        raise StateError(
            f"model {model.name!r} is not a chain of revolute and prismatic joints alone: the paper's forms are for these; "
            "bc.sensitivity takes all models"
        )
    return Chain(tuple(joint.kind == "prismatic" for joint in model.joints), *_numbers(model))


def _numbers(model: Model) -> tuple[Array, ...]:
    axes = np.array([joint.axis for joint in model.joints])
    return axes, model.position, model.center, model.mass, model.inertia, model.gravity


def slopes_of(design: Design) -> list[dict[str, Array]]:
    """Derivatives of the numbers of a chain by each parameter of a design."""
    tape, over = design.recording.tape, design.recording.model
    arrays = dict(zip(ARRAYS, _numbers(over), strict=True))
    flat = [x for array in arrays.values() for x in np.ravel(np.asarray(array, dtype=object))]
    count = len(design.names)
    seeds = [Dual(x, np.eye(count)[k]) for k, x in enumerate(design.start)]
    found = [x.tangents if isinstance(x, Dual) else [0.0] * count for x in tape.replay(flat, seeds)]
    slopes = []
    for column in np.array(found, dtype=float).T:
        parts = np.split(column, np.cumsum([np.size(array) for array in arrays.values()])[:-1])
        slopes.append({name: part.reshape(np.shape(array)) for (name, array), part in zip(arrays.items(), parts, strict=True)})
    return slopes


@dataclass
class Link:
    """A body of the chain, see above."""

    ST: Varied
    P: Varied
    w: Varied
    At: Varied
    I: Varied  # noqa: E741, as in the paper
    F: Varied
    gravity: Varied


def links(chain: Chain, slope: dict[str, Array] | None, q: Array, v: Array, dq: Array, dv: Array) -> list[Link]:
    """Outward: all of a chain with its derivative along dq, dv and the slope of its numbers."""
    found: list[Link] = []
    for k in range(len(chain)):
        found.append(_link(chain, slope or {}, k, Varied(q[k], dq[k]), Varied(v[k], dv[k]), found[-1] if found else None))
    return found


def _link(chain: Chain, slope: dict[str, Array], k: int, q: Varied, v: Varied, parent: Link | None) -> Link:
    def given(name: str, k: int = k) -> Varied:
        whole = getattr(chain, name)
        return Varied(whole[k], slope[name][k] if name in slope else None)

    none, axis, r = Varied(np.zeros(3)), given("axis"), given("center")
    turn = turned(axis, q).T if not chain.slides[k] else Varied(np.eye(3))  # from the parent's axes to the body's
    s = given("position") - (given("center", k - 1) if k else none)
    slide = axis * q if chain.slides[k] else none
    to_joint = turn @ (s + slide)  # from the parent's center, in the body's axes
    w_parent = turn @ parent.w if parent else none
    w_rel, v_rel = (none, axis * v) if chain.slides[k] else (axis * v, none)
    w = w_parent + w_rel
    alpha = cross(w_parent) @ w_rel
    a = cross(w_parent) @ (cross(w_parent) @ to_joint) + cross(w) @ (cross(w) @ r) - cross(r) @ alpha
    a = a + 2.0 * (cross(w_parent) @ v_rel)
    gamma = to_joint + r
    ST = blocks([[turn, Varied(np.zeros((3, 3)))], [-(cross(gamma) @ turn), turn]])
    At = stacked(alpha, a) + (ST @ parent.At if parent else Varied(np.zeros(6)))
    P = stacked(none, axis) if chain.slides[k] else stacked(axis, -(cross(r) @ axis))
    inertia, m = given("inertia"), given("mass")
    gravity = turn @ (parent.gravity if parent else Varied(chain.gravity, slope.get("gravity")))
    I_1 = blocks([[inertia, Varied(np.zeros((3, 3)))], [Varied(np.zeros((3, 3))), m * np.eye(3)]])
    torque = -(inertia @ At[:3]) - cross(w) @ (inertia @ w)
    return Link(ST, P, w, At, I_1, stacked(torque, m * (gravity - At[3:])), gravity)


def turned(axis: Varied, angle: Varied) -> Varied:
    """1 + sin(angle) E + (1 - cos(angle)) E^2, E = axis x: from the turned axes to those before."""
    s, c = map(np.asarray, sincos(angle.v.item()))
    E = cross(axis)
    by_angle = Varied(s, c * angle.d), Varied(1.0 - c, s * angle.d)
    return Varied(np.eye(3)) + by_angle[0] * E + by_angle[1] * (E @ E)


def cross(x: Varied) -> Varied:
    return Varied(_cross(x.v), _cross(x.d))


def _cross(x: Array) -> Array:
    zero = 0.0
    return np.array([[zero, -x[2], x[1]], [x[2], zero, -x[0]], [-x[1], x[0], zero]])


def stacked(*parts: Varied) -> Varied:
    return Varied(np.concatenate([x.v for x in parts]), np.concatenate([x.d for x in parts]))


def blocks(rows: list[list[Varied]]) -> Varied:
    return Varied(np.block([[x.v for x in row] for row in rows]), np.block([[x.d for x in row] for row in rows]))
