"""What a model says about where its equations of motion are not smooth.

times     knots and ends of tables over time: of efforts, of prescribed motions of joints and of closures
surfaces  limits of stops on coordinates of the tree: a coordinate, and the value at which the force begins
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....model import Model
from ....model.motion import PrescribedMotion
from ....model.parameters.tables import Table

Array = NDArray[np.float64]

SAME = 1e-12  # of the later of two times


class Surfaces(NamedTuple):
    """q[place] = limit"""

    places: NDArray[np.int64]
    limits: Array

    def gates(self, nq: int, never: float) -> Array:
        """The same as layers (count, 2, nq) of two limits for each coordinate, ``never`` where there is none."""
        found = [self.limits[self.places == place] for place in range(nq)]
        layers = np.full((max((len(limits) + 1) // 2 for limits in found) if found else 0, 2, nq), never)
        for place, limits in enumerate(found):
            for k, limit in enumerate(limits):
                layers[k // 2, k % 2, place] = limit
        return layers


def known_times(model: Model, first: float, last: float, others: Iterable[float] = ()) -> Array:
    """Times inside a run at which its steps have to end, in order; ``others`` are those of what is given to the run."""
    knots = [x for table in _tables(model) for x in _knots(table, first, last)]
    found = np.unique([*knots, *others])
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


def _tables(model: Model) -> Iterator[Table]:
    """Those over time."""
    yield from (e.table for e in model.elements if e.kind == "joint_effort" and e.table is not None)
    motions: list[PrescribedMotion | None] = [*model.motions, *(closure.motion for closure in model.closures)]
    for motion in motions:
        for law in () if motion is None else motion.laws:
            yield from (term.table for term in law.terms if term.table is not None)


def known_surfaces(model: Model) -> Surfaces:
    """Those of stops; a driven joint has no coordinate."""
    stops = [e for e in model.elements if e.kind == "joint_stop" and e.joint >= 0 and not model.driven[e.joint]]
    found = [(int(model.q_index[e.joint]) + e.dof, e.values[name]) for e in stops for name in ("lower", "upper")]
    found = sorted({(place, limit) for place, limit in found if np.isfinite(limit)})
    return Surfaces(np.array([place for place, _ in found], dtype=np.int64), np.array([limit for _, limit in found]))
