"""A motion by its coordinates over time: values, and what follows for v and a, on joints with quaternions too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError
from ...model import Model, Table
from ...model.manifold import quaternion_product, rotated, scalar_coordinates, turning_joints
from ...wording import counted, did_you_mean

Array = NDArray[np.float64]

FINE = 1000  # points of the spline through a function of time; more would only add rounding to the accelerations
FEWEST = 4  # points of a spline that has accelerations


class Course(NamedTuple):
    """Values, rates and second derivatives, (times, columns) each."""

    value: Array
    rate: Array
    second: Array


def course_of(
    model: Model, motion: Mapping[str, Any], times: Array, *, rows_at: Array | None = None, partial: bool = False
) -> Course:
    """All coordinates q with their derivatives, from entries by coordinate or by joint; ``partial``: the others are zero.

    ``rows_at``: the times of the rows of arrays, if they are not ``times``.
    """
    at = times if rows_at is None else rows_at
    columns = _columns(model, motion, partial)
    course = Course(*(np.zeros((len(times), model.nq)) for _ in range(3)))
    for name, places in columns.items():
        for total, part in zip(course, _entry(name, motion[name], len(places), times, at), strict=True):
            total[:, places] = part
    for name, x in zip(model.q_names, course.value.T, strict=True):
        if not np.isfinite(x).all():
            raise StateError(f"the motion of {name!r} is not finite at t = {times[~np.isfinite(x)][0]:.6g} s")
    return course


def state_of(model: Model, course: Course) -> tuple[Array, Array, Array]:
    """q, v and a. Of a quaternion s of any length w = 2 vec(s* s')/|s|^2; of a free body v = R^T x', a = R^T x'' - w x v."""
    in_q, in_v = scalar_coordinates(model)
    q, v, a = course.value.copy(), *(np.zeros((len(course.value), model.nv)) for _ in range(2))
    v[:, in_v], a[:, in_v] = course.rate[:, in_q], course.second[:, in_q]
    for at in turning_joints(model):
        s, rate, second = (x[:, at.quaternion] for x in course)
        square = (s**2).sum(axis=1, keepdims=True)
        if not (square > 1e-12).all():
            joint = model.q_names[at.quaternion.start].rpartition(".")[0]
            raise StateError(f"the quaternion of joint {joint!r} vanishes on the way: give more points of its motion")
        conjugate = s * np.array([1.0, -1.0, -1.0, -1.0])
        w = 2 * quaternion_product(conjugate, rate)[:, 1:] / square
        lengthening = 2 * (s * rate).sum(axis=1, keepdims=True) / square
        v[:, at.angular] = w
        a[:, at.angular] = 2 * quaternion_product(conjugate, second)[:, 1:] / square - lengthening * w
        q[:, at.quaternion] = s / np.sqrt(square)
        if at.free:
            back = conjugate / np.sqrt(square)
            v[:, at.linear] = rotated(back, course.rate[:, at.position])
            turning = np.cross(w, v[:, at.linear])
            a[:, at.linear] = rotated(back, course.second[:, at.position]) - turning
    return q, v, a


def _columns(model: Model, motion: Mapping[str, Any], partial: bool) -> dict[str, list[int]]:
    """Places in q of every entry; all coordinates once, or at most once."""
    if not isinstance(motion, Mapping):
        raise StateError(f"a motion is given by coordinate, as {{'hinge': ...}}; it is {motion!r}")
    known = {name: [k] for k, name in enumerate(model.q_names)}
    for joint, name, start, driven in zip(model.joints, model.joint_names, model.q_index, model.driven, strict=True):
        if joint.nq and not driven:
            known[name] = list(range(start, start + joint.nq))
    for name in motion:
        if name not in known:
            hint = did_you_mean(name, known)
            raise StateError(f"the motion has {name!r}, which is not a free joint or coordinate of {model.name!r}{hint}")
    columns = {name: known[name] for name in motion}
    times_given = np.zeros(model.nq, dtype=int)
    for places in columns.values():
        times_given[places] += 1
    for what, wrong in (("no motion", times_given == 0), ("two motions", times_given > 1)):
        if wrong.any() and not (partial and what == "no motion"):
            names = ", ".join(repr(model.q_names[k]) for k in np.flatnonzero(wrong)[:6])
            raise StateError(f"there is {what} for {names}: give each coordinate one function, table, array or number")
    return columns


def _entry(name: str, given: Any, width: int, times: Array, rows_at: Array) -> Course:
    if isinstance(given, Table):
        return _of_points(name, given.x, given.y, width, times)
    if callable(given):
        return _of_function(name, given, width, times)
    if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1:
        return _of_points(name, given[0], given[1], width, times)
    x = _numbers(name, given)
    if x.shape == ((width,) if width > 1 else ()):
        value = np.tile(x.reshape(1, width), (len(times), 1))
        return Course(value, 0 * value, 0 * value)
    if x.shape[:1] == rows_at.shape:
        return _of_points(name, rows_at, x, width, times)
    raise StateError(
        f"the motion of {name!r} has shape {x.shape}; give {width} number(s), one row for each of the {len(rows_at)} times, "
        "a pair (times, values) or a function of time"
    )


def _numbers(name: str, given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise StateError(f"the motion of {name!r} must be numbers or a function of time; it is {given!r}") from None


def _of_function(name: str, given: Callable[[float], Any], width: int, times: Array) -> Course:
    """A function may give its derivatives, (x, x', x''); else they are those of a quintic spline through many points."""
    first = given(float(times[0]))
    if isinstance(first, tuple) and len(first) == 3:
        rows = [[_numbers(name, part).reshape(-1) for part in given(float(t))] for t in times]
        if any(len(part) != width for row in rows for part in row):
            raise StateError(f"the motion of {name!r} must give (x, x', x'') of {width} number(s) each")
        values = np.array(rows)
        return Course(values[:, 0], values[:, 1], values[:, 2])
    if len(times) < 2:
        raise StateError(f"the motion of {name!r} at one time only: let the function give (x, x', x'')")
    grid = np.linspace(times[0], times[-1], max(FINE, 8 * len(times)))
    return _of_points(name, grid, [given(float(t)) for t in grid], width, times)


def _of_points(name: str, x: Any, y: Any, width: int, times: Array) -> Course:
    from scipy.interpolate import make_interp_spline

    at, values = _numbers(name, x), _numbers(name, y)
    if at.ndim != 1 or values.shape not in ((len(at), width), (len(at),) if width == 1 else ()):
        raise StateError(f"the motion of {name!r} has {at.shape} times and values of shape {values.shape}: they must agree")
    if len(at) < FEWEST:
        raise StateError(f"the motion of {name!r} has {counted(len(at), 'point')}; accelerations need {FEWEST} at least")
    if not (np.diff(at) > 0).all():
        raise StateError(f"the times of the motion of {name!r} must increase")
    beyond = times[(times < at[0]) | (times > at[-1])]
    if len(beyond):
        raise StateError(f"the motion of {name!r} is given from {at[0]:g} to {at[-1]:g} s; t = {beyond[0]:g} s is outside")
    values = values.reshape(len(at), width)
    if width >= 4:  # a quaternion: q and -q are the same, take the nearer one
        values = _continuous(values)
    spline = make_interp_spline(at, values, k=min(5, len(at) - 1))
    return Course(spline(times), spline.derivative(1)(times), spline.derivative(2)(times))


def _continuous(values: Array) -> Array:
    turned = np.cumprod(np.append(1.0, np.where((values[1:, -4:] * values[:-1, -4:]).sum(axis=1) < 0, -1.0, 1.0)))
    return np.hstack([values[:, :-4], turned[:, None] * values[:, -4:]])
