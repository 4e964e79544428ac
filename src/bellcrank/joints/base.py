"""The interface of a joint: how its coordinates place the child's frame, and in which directions the child may move.

Everything is said in the child's own frame, at its origin. A joint with an axis has it on z: the frames are chosen so
(plan.frames). A joint never names a formulation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ..constraints import Equation, Frame, Given
from ..errors import ModelError
from ..numbers import Number, atan2
from ..numbers.spline import Curve
from ..numbers.variable import as_number, is_finite, length_of, value_of
from ..spatial import Force, Matrix, Motion, PlaneTurn, Vector
from ..spatial.transform import Turn


class JointData(NamedTuple):
    """Numbers that a joint needs besides its coordinates.

    rest_angle, rest_turn  a constant turn about z that the choice of frames may ask for: its angle, and ready made
    pitch                  of a screw, m/rad
    """

    rest_angle: Number = 0.0
    rest_turn: PlaneTurn = PlaneTurn.of("z", 0.0, 1.0)
    pitch: Number = 0.0


NO_DATA = JointData()


Axis = tuple[float, float, float]


class JointMotion(NamedTuple):
    """Pose of the child's frame in the joint's frame on the parent: first slide, then turn."""

    slide: Vector
    turns: tuple[Turn, ...]


class Driven(NamedTuple):
    """A prescribed state: q, v and dv/dt."""

    q: tuple[Number, ...]
    v: tuple[Number, ...]
    a: tuple[Number, ...]


E_X, E_Y, E_Z = Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)
Parts = tuple[tuple[str, str], ...]  # joints of another program, one after the other: type, and axis "x", "y", "z" or ""


@dataclass(frozen=True)
class Joint:
    """A joint of one kind. Its class says what the kind is, and everything else about it follows from that.

    axis    unit vector in the design position; None for a joint without one
    axis2   a second one, perpendicular: the child's axis of a universal joint, the direction of x of a planar one
    pitch   of a screw, m/rad

    A class gives ``kind``, ``q_names``, ``q_units``, ``motion``, ``directions``, ``coordinates`` and ``closing``; also
    ``direction_rates`` where its directions move in the child's axes, and ``efforts`` where they are not orthonormal. The names
    of v are those of q and its units theirs over s, unless the class says otherwise. ``register`` (registry.py) makes it known,
    and refuses a class in which one of these is missing, or does not agree with the others.
    """

    axis: Axis | None = None
    axis2: Axis | None = None
    pitch: float | None = None

    kind: ClassVar[str]
    has_axis: ClassVar[bool] = False
    needs_axis2: ClassVar[bool] = False
    axis2_on_child: ClassVar[bool] = False  # the second axis is fixed to the child, else to the parent
    needs_pitch: ClassVar[bool] = False
    turns_freely: ClassVar[bool] = False  # the child's frame may be turned about z, and slid along it, as is convenient
    plane: ClassVar[bool] = False  # placed on its parent by plane turns, else by a full rotation
    q_names: ClassVar[tuple[str, ...]]
    v_names: ClassVar[tuple[str, ...]]
    q_units: ClassVar[tuple[str, ...]]  # a quaternion's parts have the unit 1
    v_units: ClassVar[tuple[str, ...]]
    neutral: ClassVar[tuple[float, ...]]
    nq: ClassVar[int]
    nv: ClassVar[int]
    quaternion: ClassVar[int | None] = None  # where a quaternion starts in q
    turned: ClassVar[bool] = False  # its pose and directions are those of the parent that the user wrote (turned.py)
    mechanical: ClassVar[bool] = True  # it moves a body; else its v is a number that is integrated (state.py)
    key: ClassVar[str]  # in the registry of all joints: its kind, or "turned" and its kind
    identity: ClassVar[str] = ""  # of a kind from outside the package: what it computes, for the keys of compiled code
    mjcf: ClassVar[Parts | None] = None  # as joints of MuJoCo; None: MJCF has no such joint
    mjcf_loop: ClassVar[str | None] = None  # what closes a loop there: "ball", "hinge" or "weld"; None: nothing does
    urdf: ClassVar[Parts | None] = None  # as joints of URDF, links without mass between them; None: URDF has no such joint

    def __init_subclass__(cls) -> None:
        own = vars(cls)
        if "q_names" in own:
            cls.nq = len(cls.q_names)
            cls.v_names = own.get("v_names", cls.q_names)
            cls.nv = len(cls.v_names)
            cls.v_units = own.get("v_units", tuple(f"{unit}/s" for unit in own.get("q_units", ())))
            cls.neutral = own.get("neutral", (0.0,) * cls.nq)
        kind = getattr(cls, "kind", "")
        cls.key = f"turned {kind}" if cls.turned else kind

    @classmethod
    def of(cls, joint: Joint) -> Joint:
        """A joint that was written from its parent's side, from its child's; only a class that is ``turned`` is asked."""
        return cls(joint.axis, joint.axis2, joint.pitch)

    @classmethod
    def law_names(cls) -> tuple[str, ...]:
        """Names of the laws that drive it: the coordinates, and of a quaternion an angle about an axis of the motion."""
        return cls.q_names if cls.quaternion is None else (*cls.q_names[: cls.quaternion], "angle")

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        """Pose at the coordinates q; only a joint placed by plane turns is asked for a turn at rest."""
        raise NotImplementedError

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        """S: motion of the child for each unit of v.   (the paper's B_2)"""
        raise NotImplementedError

    @classmethod
    def efforts(cls, q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Force, ...]:
        """E: wrench on the child for each unit of effort, S_i . E_j = 1 for i = j, else 0."""
        return tuple(Force(S.w, S.v) for S in cls.directions(q, data))

    @classmethod
    def direction_rates(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        """S': rates of the directions in the child's axes; zero for directions that are fixed there."""
        return (Motion.zero(),) * cls.nv

    @classmethod
    def bias(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> Motion:
        """S' v."""
        bias = Motion.zero()
        for rate, amount in zip(cls.direction_rates(q, v, data), v, strict=True):
            bias = bias + rate * amount
        return bias

    @staticmethod
    def rates(q: Sequence[Number], v: Sequence[Number]) -> tuple[Number, ...]:
        """dq/dt."""
        return tuple(v)

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        """q from the pose of the child in the joint's axes on the parent, angles between -pi and pi; none for quaternions."""
        return ()

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        """6 - nv equations that let frame j, on the child, move against frame i, on the parent, as the joint does."""
        raise NotImplementedError

    @staticmethod
    def driven(laws: Sequence[Curve], axis: Vector) -> Driven:
        """Coordinates, velocities and accelerations of a joint whose motion is prescribed, one law a coordinate.

        Joints with a quaternion turn about ``axis``, which is fixed in parent and child, by the angle of their last law.
        """
        return Driven(tuple(x.value for x in laws), tuple(x.slope for x in laws), tuple(x.bend for x in laws))


def reversed_axis(axis: Axis | None) -> Axis | None:
    return None if axis is None else (0.0 - axis[0], 0.0 - axis[1], 0.0 - axis[2])


def angle_about_z(R: Matrix) -> Number:
    return atan2(R.y.x, R.x.x)


def coordinate_directions(*indices: int) -> tuple[Motion, ...]:
    """Unit motions: 0, 1, 2 turn about x, y, z; 3, 4, 5 shift along them."""
    unit = [[1.0 if j == k else 0.0 for j in range(6)] for k in indices]
    return tuple(Motion(Vector(*u[:3]), Vector(*u[3:])) for u in unit)


def make_joint(kind: str, axis: Any = None, axis2: Any = None, pitch: float | None = None) -> Joint:
    """A joint by the name it has in model files; axes are made unit vectors."""
    from .registry import JOINTS

    if kind not in JOINTS:
        raise ModelError(f"there is no joint type {kind!r}: use one of {', '.join(JOINTS)}")
    cls = JOINTS[kind]
    wanted = {"axis": cls.has_axis, "axis2": cls.needs_axis2, "pitch": cls.needs_pitch}
    for name, value in {"axis": axis, "axis2": axis2, "pitch": pitch}.items():
        if value is not None and not wanted[name]:
            raise ModelError(f"a {kind} joint has no {name}: remove it (it was {value!r})")
        if value is None and wanted[name]:
            needed = "a number in m/rad" if name == "pitch" else "a vector that is not zero"
            raise ModelError(
                f"a {kind} joint needs an {name}, {needed}" if name != "pitch" else f"a {kind} joint needs a pitch, {needed}"
            )
    first = None if axis is None else _unit(kind, "axis", axis)
    second = None if axis2 is None else _unit(kind, "axis2", axis2)
    if first is not None and second is not None:
        second = _perpendicular(kind, first, second)
    if pitch is not None and not is_finite(pitch):
        raise ModelError(f"the pitch of a {kind} joint must be a finite number in m/rad; it is {pitch!r}")
    return cls(first, second, None if pitch is None else as_number(pitch))


def _unit(kind: str, name: str, vector: Any) -> Axis:
    try:
        x, y, z = (as_number(a) for a in vector)
    except (TypeError, ValueError):
        raise ModelError(f"the {name} of a {kind} joint must be three numbers; it is {vector!r}") from None
    length = length_of((x, y, z))
    if not (is_finite(length) and length > 0):
        raise ModelError(f"the {name} of a {kind} joint must be a finite vector that is not zero; it is {vector!r}")
    return x / length, y / length, z / length


def _perpendicular(kind: str, axis: Axis, axis2: Axis) -> Axis:
    """The second axis, with the rounding of its angle to the first removed; a larger deviation is an error."""
    along = sum(a * b for a, b in zip(axis, axis2, strict=True))
    if abs(along) > 1e-6:
        raise ModelError(
            f"the two axes of a {kind} joint must be perpendicular; axis {axis} and axis2 {axis2} meet at "
            f"{math.degrees(math.acos(max(-1.0, min(1.0, value_of(along))))):.6g} degrees"
        )
    return _unit(kind, "axis2", [b - along * a for a, b in zip(axis, axis2, strict=True)])
