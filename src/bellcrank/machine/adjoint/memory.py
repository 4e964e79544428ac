"""The memory of the backward pass of a run: every number and array declared once, with its size.

NUMBERS    sizes, known before
ARRAYS     of every method; ``log``, ``seeds``, ``weights`` and ``samples`` are the host's own, given with each piece of the run
EQUATIONS  besides, of implicit methods (implicit.py)
TURNING    besides, where quaternions turn with the steps (turning.py)
ROWS       besides, of the midpoint rule for closed loops (closed.py)

back() is given an array of 64-bit words: the numbers, then the addresses of these arrays, of those of kernels, of outputs
(``out:``) and of adjoints (``bar:``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...plan import Plan
from ..calls.memory import aligned
from ..steps.implicit.kept_rows import count_of_rows, is_closed_midpoint
from ..steps.layout import VECTOR, Layout
from ..steps.programs import DIRECTIONS, takes_momenta

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sizes:
    """Counts that sizes follow from; ``halved``: positions change by their velocities alone, so that slopes of v are enough."""

    plan: Plan
    method: RungeKutta
    layout: Layout
    halved: bool

    @property
    def state(self) -> int:
        return self.layout.w_start

    @property
    def parts(self) -> int:
        return len(self.method.parts)

    @property
    def stages(self) -> int:
        """The number of stages of a part, with those that only dense output needs."""
        return len(tableau(self.method)[1])

    @property
    def unknowns(self) -> int:
        """Unknowns of a stage in the linear equations for the adjoints of all slopes of a part."""
        return self.plan.model.nv if self.halved else self.plan.model.nq + self.plan.model.nv

    @property
    def packed(self) -> int:
        return len(self.method.c) * self.unknowns

    @property
    def rows(self) -> int:
        """Equations of closures that the midpoint rule for closed loops holds."""
        return count_of_rows(self.plan) if is_closed_midpoint(self.plan, self.method) else 0

    @property
    def order(self) -> int:
        return self.packed + self.rows

    @property
    def stride(self) -> int:
        return _padded(self.order)

    @property
    def rows_stride(self) -> int:
        return _padded(self.rows)


def sizes_of(plan: Plan, called: dict[str, Program], method: RungeKutta, plain_rates: bool) -> Sizes:
    return Sizes(plan, method, Layout(plan, called, method, 1, 0), plain_rates and not takes_momenta(called))


def _padded(count: int) -> int:
    return -(-count // VECTOR) * VECTOR


Size = Callable[[Sizes], int]
NUMBERS: dict[str, Size] = {
    "n": lambda s: s.plan.n,
    "nv": lambda s: s.plan.model.nv,
    "nq": lambda s: s.plan.model.nq,
    "state": lambda s: s.state,
    "v_start": lambda s: s.layout.v_start,
    "log_row": lambda s: s.layout.log_row,
    "plain_stages": lambda s: len(s.method.b),
    "all_stages": lambda s: s.stages,
    "quaternion_count": lambda s: len(s.layout.quaternions),
    "order": lambda s: s.order,
    "stride": lambda s: s.stride,
    "row_chunks": lambda s: s.stride // VECTOR,
    "unknowns": lambda s: s.unknowns,
    "packed": lambda s: s.packed,
    "kept_count": lambda s: s.rows,
    "rows_stride": lambda s: s.rows_stride,
    "rows_chunks": lambda s: s.rows_stride // VECTOR,
}


@dataclass(frozen=True)
class BackArray:
    """An array of the backward pass. Without a size it is the host's own; ``fill`` gives its first entries, else zeros."""

    size: Size | None = None
    integers: bool = False
    fill: Callable[[Sizes], NDArray[Any]] | None = None


_STATE = BackArray(lambda s: s.state)
_STAGES = BackArray(lambda s: s.stages * s.parts * s.state)
_GIVEN = BackArray()
ARRAYS: dict[str, BackArray] = {
    **dict.fromkeys(("log", "seeds", "weights"), _GIVEN),
    "samples": BackArray(integers=True),
    "A": BackArray(lambda s: s.stages**2, fill=lambda s: tableau(s.method)[0].ravel()),
    "b": BackArray(lambda s: s.stages, fill=lambda s: np.array(s.method.b)),
    "c": BackArray(lambda s: s.stages, fill=lambda s: tableau(s.method)[1]),
    **dict.fromkeys(("lam", "bar", "moved", "seed", "unused", "v_bar"), _STATE),
    **dict.fromkeys(("unsettled", "settled"), _STATE),  # momenta before closures' shares are taken away; velocities then
    **dict.fromkeys(("Y", "k", "k_bar", "velocities"), _STAGES),
    "clocks": BackArray(lambda s: s.stages * s.parts),
    "ends": BackArray(lambda s: 5 * s.stages * s.parts + 1, integers=True),
    "quaternions": BackArray(lambda s: len(s.layout.quaternions) + 1, integers=True, fill=lambda s: s.layout.quaternions),
    "tau": BackArray(lambda s: s.plan.model.nv),
    "u": BackArray(lambda s: s.plan.model.input_width),
    **dict.fromkeys(("tape", "limit"), _GIVEN),
}
EQUATIONS: dict[str, BackArray] = {
    **dict.fromkeys(("matrix", "below"), BackArray(lambda s: s.order * s.stride)),
    **dict.fromkeys(("diagonal", "right"), BackArray(lambda s: s.stride)),
    "pivots": BackArray(lambda s: s.stride, integers=True),
    "stage_bars": BackArray(lambda s: s.stages * s.state),
    "part_states": BackArray(lambda s: s.parts * s.state),
    "seed_q": BackArray(lambda s: s.plan.model.nq * DIRECTIONS),
    **dict.fromkeys(("seed_v", "v_tangents"), BackArray(lambda s: s.plan.model.nv * DIRECTIONS)),
}
TURNING: dict[str, BackArray] = {
    "turning": BackArray(lambda s: s.layout.turning.size, integers=True, fill=lambda s: s.layout.turning),
    "step": BackArray(lambda s: s.parts),
    **dict.fromkeys(("Y_bar", "y_bar", "unit", "column", "unused_state"), _STATE),
}
ROWS: dict[str, BackArray] = {
    **dict.fromkeys(("rows_at_start", "rows_at_end", "responses"), BackArray(lambda s: s.parts * s.rows * s.plan.model.nv)),
    **dict.fromkeys(("pushed", "moved_states", "end_velocities"), BackArray(lambda s: s.parts * s.state)),
    **dict.fromkeys(("rows_matrix", "rows_below"), BackArray(lambda s: s.rows * s.rows_stride)),
    **dict.fromkeys(("rows_diagonal", "rows_right"), BackArray(lambda s: s.rows_stride)),
    "rows_pivots": BackArray(lambda s: s.rows_stride, integers=True),
    "kept_places": BackArray(lambda s: s.rows + 1, integers=True),
    **dict.fromkeys(("no_momenta", "at_rest", "new_bar"), _STATE),
    **dict.fromkeys(("starts_clock", "ends_clock"), BackArray(lambda s: s.parts)),
}


def made(declared: Mapping[str, BackArray], sizes: Sizes) -> dict[str, NDArray[Any]]:
    """The arrays themselves, but for those that the host gives."""
    found: dict[str, NDArray[Any]] = {}
    for name, array in declared.items():
        if array.size is not None:
            size = max(1, array.size(sizes))
            found[name] = np.zeros(size, dtype=np.int64) if array.integers else aligned(size)
            first = () if array.fill is None else array.fill(sizes)
            found[name][: len(first)] = first
    return found


def tableau(method: RungeKutta) -> tuple[Array, Array]:
    """All stages as rows of a square matrix, and their times: that at the end, and those of dense output, come last."""
    rows = [*zip(method.c, method.A, strict=True)]
    if method.adaptive and not method.implicit:
        rows += [(1.0, method.b), *method.extra]
    A = np.zeros((len(rows), len(rows)))
    for i, (_, row) in enumerate(rows):
        A[i, : len(row)] = row
    return A, np.array([c for c, _ in rows])
