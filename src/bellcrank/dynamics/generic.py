"""Generic configurations on the closures, where the number of independent equations is found: not singular by chance.

A mechanism may start, or be drawn, in a singular position (a linkage drawn flat), where some of its equations are dependent
that are independent everywhere else. From the start random walks follow the motions that the closures leave free, and so stay
on the branch on which the mechanism works: on another one an over-constrained mechanism may have another rank.

Newton's method with Levenberg and Marquardt's damping brings a configuration back onto the closures,

    dx = -G^T (G G^T + mu 1)^-1 e,     mu = |e|^2,

which is quadratic also where rows of G are dependent, and depends on no basis that a library chooses. Equations and
coordinates are without units: in typical lengths, and rad.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from ..model.manifold import unit_quaternions
from ..plan.closures import row_scales
from ..plan.row_selection import comparable_rows, slides
from ..spatial.rank import LENIENT

if TYPE_CHECKING:
    from .evaluation import Evaluation

Array = NDArray[np.float64]

CLOSED, ROUNDING = 1e-12, 1e-16  # rad, or typical lengths: as good as is needed, and as can be
_TIMES = (0.0, 0.37, 1.3)  # s: at which driven mechanisms are looked at
_ROUNDS = 4  # of walks, at each time
_STEPS, _REACH = 4, 0.25  # of a walk; how far its fastest coordinate goes in a step
_FREE = 1e-4  # squared part of an equation below which a walk counts it as absent: branches part at singular positions
_MOST_NEWTON = 40
_LEAST_DAMPING = 1e-14
_SPARSE = 300  # equations from which on matrices are sparse


def configurations(dynamics: Evaluation, q: Array) -> Iterator[tuple[Array, float]]:
    """Configurations on the closures and their times: near q, and at the ends of walks from there."""
    rng = np.random.default_rng(0)
    times = _TIMES if dynamics.plan.loads.time_dependent else _TIMES[:1]
    for t in times:
        near = closed(dynamics, q, t)
        if near is not None:
            yield near, t
        for way in _ways(dynamics.model, rng):
            start = near if near is not None else closed(dynamics, _moved(dynamics, q, way), t)
            if start is not None:
                yield _walked(dynamics, start, t, way), t


def _ways(model: Model, rng: np.random.Generator) -> Iterator[Array]:
    """Random displacements without units: equal for all joints that are roughly alike, for those alike, and for none, in turn.

    Where a long chain of equal loops is drawn flat, loops that move off by themselves fold up and leave others flat; moved
    alike, all of them leave the singular position.
    """
    for _ in range(_ROUNDS):
        for alike in _alike(model):
            yield rng.standard_normal(int(alike.max(initial=0)) + 1)[alike]


def _alike(model: Model) -> Iterator[NDArray[np.int64]]:
    """Numbers for the degrees of freedom, equal for joints with like places in the mechanism; from coarse to fine."""
    ends = Counter((end, k) for closure in model.closures for k, end in enumerate((closure.body_a, closure.body_b)))
    carried = Counter(model.parents)
    roughly = [(model.joints[i].kind, model.parents[i] < 0, carried[i] > 0) for i in range(model.n)]
    places = [(*place, carried[i], ends[i, 0], ends[i, 1]) for i, place in enumerate(roughly)]
    moving = [(i, k) for i, joint in enumerate(model.joints) if not model.driven[i] for k in range(joint.nv)]
    for kinds in (roughly, places, range(model.n)):
        numbers: dict[object, int] = {}
        yield np.array([numbers.setdefault((kinds[i], k), len(numbers)) for i, k in moving], dtype=np.int64)


def _walked(dynamics: Evaluation, q: Array, t: float, way: Array) -> Array:
    """The end of a walk: a few steps along the free motions, always in the direction of the step before."""
    for _ in range(_STEPS):
        way = _free_part(comparable_rows(dynamics, q, t), way)
        fastest = float(np.abs(way).max(initial=0.0))
        if fastest < np.sqrt(_FREE):
            break  # nothing moves
        way = way / fastest
        further = closed(dynamics, _moved(dynamics, q, _REACH * way), t)
        if further is None:
            break
        q = further
    return q


def closed(dynamics: Evaluation, q: Array, t: float) -> Array | None:
    """The nearest configuration on the closures, as well as doubles and redundant equations can have it; or None."""
    still, last = np.zeros(dynamics.model.nv), np.inf
    scales = row_scales(dynamics.model, dynamics.plan.length) / dynamics.plan.length
    for _ in range(_MOST_NEWTON):
        error = scales * dynamics.closure(q[None], still[None], t=t)[0][0]
        size = float(np.abs(error).max(initial=0.0))
        if size < ROUNDING or last / 2 < size < CLOSED:
            return q
        if not np.isfinite(size):
            return None
        last = size
        G = comparable_rows(dynamics, q, t)
        q = _moved(dynamics, q, -_least(G, error, max(min(size, 1.0) ** 2, _LEAST_DAMPING)))
    return q if last < LENIENT * dynamics.plan.tolerance else None  # what redundant equations leave open


def _moved(dynamics: Evaluation, q: Array, way: Array) -> Array:
    """q, moved by a displacement without units."""
    v = way * dynamics.plan.length ** slides(dynamics.model)
    return unit_quaternions(dynamics.model, (q + dynamics.rates(q, v))[None])[0]


def _free_part(G: Array, way: Array) -> Array:
    """The part of a displacement that the equations allow; equations that hardly constrain it do not count."""
    return way - _least(G, G @ way, _FREE)


def _least(G: Array, right: Array, damping: float) -> Array:
    """G^T (G G^T + mu 1)^-1 right; mu is given as a part of the largest entry."""
    if len(G) < _SPARSE:
        square = G @ G.T
        square[np.diag_indices_from(square)] += damping * square.max(initial=1e-300)
        return G.T @ np.linalg.solve(square, right)
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.linalg import splu

    few = csr_array(G)
    normal = few @ few.T
    return few.T @ splu((normal + damping * normal.max() * eye_array(len(G))).tocsc()).solve(right)
