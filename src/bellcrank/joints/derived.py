"""Properties that follow from the class of a joint, found by evaluating it on numbers: nothing here lists kinds of joints.

S   directions at rest, (nv, 6): turns about x, y, z, then slides along them, in the joint's axes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..constraints import Equation, Frame, Given, Law
from ..numbers import Number
from ..spatial import Matrix, Vector
from ..spatial.vector import ZERO
from .base import Joint, JointData

Array = NDArray[np.float64]

P = ParamSpec("P")
T = TypeVar("T")


def once(function: Callable[P, T]) -> Callable[P, T]:
    """Evaluated once for each class; functools.cache for types that are not known to be hashable."""
    return cast(Callable[P, T], cache(function))


PITCH = 0.3  # m/rad, where any will do
SOMEWHERE = (0.37, -0.61, 0.83, 0.29, -0.47, 0.71)  # coordinates, where any will do
SAME = 1e-12
# A rotation that no joint makes or keeps: its axis is along no coordinate axis.
GENERAL = Matrix(Vector(0.36, 0.48, -0.8), Vector(-0.8, 0.6, 0.0), Vector(0.48, 0.64, 0.6))


def pose(joint: type[Joint], q: Sequence[Number], data: JointData) -> tuple[Array, Array]:
    """R (3, 3) and p (3,) of the child in the joint's axes on the parent; of any number."""
    slide, turns = joint.motion(q, data)
    R = Matrix.identity()
    for turn in turns:
        R = turn.columns(R)
    return np.array([list(row) for row in R]), np.array(list(slide))


@once
def freedoms(joint: type[Joint], pitch: float = PITCH) -> Array:
    """S."""
    return np.array([[*S.w, *S.v] for S in joint.directions(joint.neutral, JointData(pitch=pitch))]).reshape(-1, 6)


@once
def held_places(joint: type[Joint]) -> tuple[int, ...]:
    """Forces along x, y, z (0, 1, 2) and moments (3, 4, 5) that the joint carries: those that none of its efforts is."""
    efforts = [[*E.f, *E.n] for E in joint.efforts(joint.neutral, JointData(pitch=PITCH))]
    return tuple(k for k in range(6) if not any(effort[k] for effort in efforts))


@once
def turns_about_axis_only(joint: type[Joint]) -> bool:
    """Whether the joint turns about no other direction than its axis; also where it does not turn at all."""
    return not freedoms(joint)[:, :2].any()


@once
def slides_along_axis(joint: type[Joint]) -> bool:
    return bool(freedoms(joint)[:, 5].any())


@once
def looks_like(joint: type[Joint]) -> tuple[str, Array]:
    """The simple joint that moves nearly so in a picture, and its direction in the joint's axes: what it slides along, or else
    turns about."""
    turns, slides = (part[part.any(axis=1)] for part in (freedoms(joint)[:, :3], freedoms(joint)[:, 3:]))
    Z = np.array([0.0, 0.0, 1.0])
    if len(slides) == 1:
        along = slides[0] / np.linalg.norm(slides[0])
        about = len(turns) == 1 and not np.cross(turns[0], along).any()
        return "cylindrical" if about else "prismatic", along
    if len(slides) == 2:
        return "planar", np.cross(*slides) / np.linalg.norm(np.cross(*slides))
    if len(turns) == 1:
        return "revolute", turns[0] / np.linalg.norm(turns[0])
    return "spherical" if len(turns) else "fixed", Z


@once
def moves_in_a_plane(joint: type[Joint]) -> bool:
    """Whether there is a plane in which all of its directions lie: turns across it, slides along it."""
    turns, slides = freedoms(joint)[:, :3], freedoms(joint)[:, 3:]
    if not turns.any():
        return bool(np.linalg.matrix_rank(slides) <= 2) if len(slides) else True
    normal = turns[np.abs(turns).max(axis=1).argmax()]
    return not np.cross(turns, normal).any() and not (slides @ normal).any()


def equations(joint: type[Joint], world: Matrix) -> list[Equation]:
    """The closing equations of a joint between two frames that are apart and askew, both at rest."""
    i = Frame(Matrix.identity(), ZERO, ZERO, ZERO)
    j = Frame(GENERAL, Vector(0.7, -0.4, 0.9), ZERO, ZERO)
    return joint.closing(i, j, Given(world, Law(0.0), PITCH))


@once
def turning_equations(joint: type[Joint]) -> tuple[bool, ...]:
    """For each closing equation, whether it is about angles alone: it then transmits no force."""
    return tuple(not any(equation.on_j.f) for equation in equations(joint, Matrix.identity()))


@once
def equations_along_given_axes(joint: type[Joint]) -> tuple[int, ...]:
    """The closing equations that change with the axes that they are given."""
    pairs = zip(equations(joint, Matrix.identity()), equations(joint, GENERAL), strict=True)
    return tuple(k for k, (one, other) in enumerate(pairs) if one != other)


@once
def is_reversed_by_its_axis(joint: type[Joint]) -> bool:
    """Whether the same joint about the reversed axis is its inverse, X(q)^-1 = D X(q) D with D a half turn about x."""
    D = np.array([1.0, -1.0, -1.0])
    R, p = pose(joint, SOMEWHERE[: joint.nq], JointData(pitch=PITCH))
    turned = np.abs(R.T - D[:, None] * R * D).max() + np.abs(-R.T @ p - D * p).max()
    return bool(joint.quaternion is None and not joint.needs_axis2 and turned < SAME)


@once
def reversed_in_a_mirror(joint: type[Joint]) -> tuple[str, ...] | None:
    """Axes that a mirrored joint has not only mirrored but reversed, so that equal q give mirrored poses; None: no choice does.

    In axes of which x is mirrored and z is, each perhaps reversed, the mirrored pose is D R D, D p with D = (x, -x z, z).
    """
    if not joint.has_axis:
        return () if joint.nv == 0 or joint.quaternion is not None else None
    q = SOMEWHERE[: joint.nq]
    (R, p), (R_image, p_image) = (pose(joint, q, JointData(pitch=pitch)) for pitch in (PITCH, -PITCH))
    for z, x in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        D = np.array([x, -x * z, z])
        if np.abs(D[:, None] * R * D - R_image).max() + np.abs(D * p - p_image).max() < SAME:
            return tuple(
                name for name, sign in (("axis", z), ("axis2", x)) if sign < 0 and (name == "axis" or joint.needs_axis2)
            )
    return None
