"""What a model says about where its equations of motion are not smooth.

times     knots and ends of tables over time: of efforts, of prescribed motions of joints and of closures; kinks of formulas
surfaces  limits of stops on coordinates of the tree: a coordinate, and the value at which the force begins; and rest, v = 0,
          where friction that holds turns round
anchors   of friction that holds: what it holds, and how far its anchor may be away
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....forces.joint_stiction import TINY
from ....model import Model
from ....model.motion import PrescribedMotion
from ....model.parameters.tables import Table
from .kinks import kink_times

Array = NDArray[np.float64]

SAME = 1e-12  # of the later of two times


class Anchors(NamedTuple):
    """For each friction that holds: the coordinate q[place], its input, and the reach within which the anchor stays."""

    places: NDArray[np.int64]
    inputs: NDArray[np.int64]
    reach: Array


class Surfaces(NamedTuple):
    """y[place] = limit, with y = (q, v)"""

    places: NDArray[np.int64]
    limits: Array

    def gates(self, count: int, never: float) -> Array:
        """The limits as layers (layers, 2, count) of two for each number of y, ``never`` where there is none."""
        found = [self.limits[self.places == place] for place in range(count)]
        layers = np.full((max((len(limits) + 1) // 2 for limits in found) if found else 0, 2, count), never)
        for place, limits in enumerate(found):
            for k, limit in enumerate(limits):
                layers[k // 2, k % 2, place] = limit
        return layers


def known_times(model: Model, first: float, last: float, others: Iterable[float] = ()) -> Array:
    """Times inside a run at which its steps have to end, in order; ``others`` are those of what is given to the run."""
    knots = [x for table in time_tables(model) for x in _knots(table, first, last)]
    found = np.unique([*knots, *kink_times(model, first, last), *others])
    found = found[(found > first + SAME * abs(first)) & (found < last - SAME * abs(last))]
    distinct = np.diff(found, prepend=-np.inf) > SAME * np.abs(found)
    return np.asarray(found[distinct], dtype=np.float64)


def _knots(table: Table, first: float, last: float) -> Array:
    """Points of a table over time; those of a periodic one as often as they come."""
    x = np.array(table.x)
    if table.outside != "periodic":
        return x
    period = x[-1] - x[0]
    turns = np.arange(np.floor((first - x[0]) / period), np.ceil((last - x[0]) / period) + 1)
    return (x[:-1] + period * turns[:, None]).ravel()


def time_tables(model: Model) -> Iterator[Table]:
    """Tables over time."""
    yield from (e.table for e in model.elements if e.kind == "joint_effort" and e.table is not None)
    motions: list[PrescribedMotion | None] = [*model.motions, *(closure.motion for closure in model.closures)]
    for motion in motions:
        for law in () if motion is None else motion.laws:
            yield from (term.table for term in law.terms if term.table is not None)


def stop_limits(model: Model) -> list[tuple[int, str, int]]:
    """Limits of stops on coordinates of the tree: which element, which of its values, and the place in q."""
    stops = ((k, e) for k, e in enumerate(model.elements) if e.kind == "joint_stop" and e.joint >= 0)
    return [
        (k, name, int(model.q_index[e.joint]) + e.dof)
        for k, e in stops
        if not model.driven[e.joint]
        for name in ("lower", "upper")
    ]


def known_surfaces(model: Model, *, distinct: bool = True) -> Surfaces:
    """Surfaces of stops and of friction that holds; ``distinct``: equal ones once, in order, else as in ``limits_of``."""
    found = [(place, limit) for place, limit in limits_of(model) if np.isfinite(limit)]
    found = sorted(set(found)) if distinct else found
    return Surfaces(np.array([place for place, _ in found], dtype=np.int64), np.array([limit for _, limit in found]))


def limits_of(model: Model) -> list[tuple[int, Any]]:
    """Places and limits over any number, the infinite ones too; a driven joint has no coordinate."""
    found: list[tuple[int, Any]] = [(place, model.elements[k].values[name]) for k, name, place in stop_limits(model)]
    held = (model.elements[k] for k in model.stictions)
    return found + [(model.nq + int(model.v_index[e.joint]) + e.dof, 0.0) for e in held]


def reaches_of(model: Model) -> list[Any]:
    """For each friction that holds, over any number: how far its anchor may be away."""
    held = [model.elements[k] for k in model.stictions]
    return [e.values["effort"] / e.values["stiffness"] for e in held]


def known_anchors(model: Model) -> Anchors:
    held = [model.elements[k] for k in model.stictions]
    places = [int(model.q_index[e.joint]) + e.dof for e in held]
    inputs = [model.input_of(e) for e in held]
    reach = reaches_of(model)
    return Anchors(np.array(places, dtype=np.int64), np.array(inputs, dtype=np.int64), np.array(reach, dtype=np.float64))


def first_anchors(model: Model, q: Array, v: Array, reach: Array | None = None) -> Array:
    """Anchors at the start of a run (rows of q and v): at rest nothing is stretched; what moves has been sliding.

    ``reach``: of each run, where it is not that of the model.
    """
    held = [model.elements[k] for k in model.stictions]
    speeds = v[..., [int(model.v_index[e.joint]) + e.dof for e in held]]
    anchors = known_anchors(model)
    return _no_zero(q[..., anchors.places] - np.sign(speeds) * (anchors.reach if reach is None else reach))


def drawn_along(anchors: Anchors, q: Array, u: Array) -> Array:
    """Inputs after a step that ended at q: anchors within their reach."""
    u, at = u.copy(), q[anchors.places]
    u[anchors.inputs] = _no_zero(np.clip(u[anchors.inputs], at - anchors.reach, at + anchors.reach))
    return u


def _no_zero(anchors: Array) -> Array:
    """Zero would be no anchor."""
    return np.where(np.abs(anchors) > TINY, anchors, TINY)
