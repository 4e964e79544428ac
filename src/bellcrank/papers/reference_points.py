"""Multiplications that the instant global origin saves, counted densely as Kang & Yoon count them.

Source: Kang & Yoon, section 5, as resolved in EQUATIONS 1. About the origin B1 is the identity, so that what a body adds to its
parent needs no shift. About the centroid a shift by r takes the following products with r~, each entry of which that is not
zero by structure counts; nothing else folds:

    r~^T Q                             6        forces, (29)
    B1^T M B1                         48        D r~, B r~, and six entries of the symmetric r~ (B^T + D r~)
    B2^T M B1                        6 n        n rows
    B1 Y'                              6        accelerations, (30)
    Phi B1                           6 m        m rows of the constraint Jacobian
    M and Q about the origin         -24        which the centroid does not need

They are counted here by a number that counts. The sum is 36 + 6 n + 6 m for each body, 108 for n = 3 and m = 9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..numbers import CountingGraph, Number

Three = Sequence[Number]


class Saving(NamedTuple):
    """Multiplications that one item takes about the centroid and not about the origin."""

    item: str
    multiplications: int


def dense_savings(n: int, m: int) -> tuple[Saving, ...]:
    """For each body with a joint of n degrees of freedom and m related constraints; the last row is what is lost."""
    return (
        Saving("forces, r~^T Q", _counted(_force)),
        Saving("inertia, B1^T M B1", _counted(_inertia)),
        Saving("coupling, B2^T M B1", n * _counted(_force)),
        Saving("accelerations, B1 Y'", _counted(_force)),
        Saving("constraints, Phi B1", m * _counted(_force)),
        Saving("building M and Q about the origin", -_counted(_at_origin)),
    )


def _counted(compute: Callable[[CountingGraph], Sequence[Number]]) -> int:
    graph = CountingGraph()
    return graph.count(compute(graph)).multiplications


def _cross(a: Three, b: Three) -> list[Number]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _force(graph: CountingGraph) -> list[Number]:
    """One row, or one six-vector, shifted: a cross product with r."""
    return _cross(graph.inputs(3), graph.inputs(3))


def _inertia(graph: CountingGraph) -> list[Number]:
    """[A B; B^T D] shifted: B' = B + D r~, A' = A + B r~ + r~ (B^T + D r~), of which six entries are needed."""
    r, D, B = graph.inputs(3), [graph.inputs(3) for _ in range(3)], [graph.inputs(3) for _ in range(3)]
    moved = [_cross(row, r) for row in D]
    turned = [_cross(row, r) for row in B]
    both = [[moved[i][j] + B[j][i] for j in range(3)] for i in range(3)]
    columns = [_cross(r, [both[i][j] for i in range(3)]) for j in range(3)]
    upper = [columns[j][i] + turned[i][j] for i in range(3) for j in range(i, 3)]
    lower = [turned[i][j] for i in range(3) for j in range(i)]
    return [*upper, *lower, *(x for row in moved for x in row)]


def _at_origin(graph: CountingGraph) -> list[Number]:
    """m x~, m x~ x~ (symmetric), m x'~ w and x~ (F + m x'~ w)."""
    mass, x, xdot, w, F = graph.input(), *(graph.inputs(3) for _ in range(4))
    first = [mass * entry for entry in x]
    second = [first[i] * x[j] for i in range(3) for j in range(i, 3)]
    gained = _cross([mass * entry for entry in xdot], w)
    force = [f + g for f, g in zip(F, gained, strict=True)]
    return [*first, *second, *_cross(x, force)]
