"""The memory of a run in machine code: every number and array declared once, with its size and its first value.

NUMBERS    sizes and places, known before the run
REALS      numbers that change, one for each lane (or one): the host sets and reads them by name
COUNTS     integers that change, shared by all lanes
RUN_ARRAYS arrays

The machine code is given ``bound``, an array of 64-bit words: the numbers, then the addresses of all arrays, in the order of
``words``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ..arrays import ARRAYS, OF_NODES, VARIABLE
from .cuts.corners import NEVER
from .cuts.roots import NO_ROOT, STATE
from .implicit.kept_rows import scales_of_rows
from .layout import Layout

# status of a run
RUNNING, NOT_FINITE, COLLAPSED, SINGULAR, NOT_SOLVED = 0, 1, 2, 3, 4
INTERRUPTED = 6  # 5 is run.lanes.samples.NOT_ASSEMBLED
LEFT = 7  # a run that is stiff, left to another method
ENDLESS = 8  # its end is out of reach

_CUTS = ("corner", "latest", "earliest", "full", "cut", "left", "piece")  # see cuts/
_OPENINGS = ("opening_low", "opening_high", "approached", "approaches", "opened")
_STEP = ("t", "h", "end", "until", "rtol", "atol", "longest", "grow", "error", "energy", "status", "steps", "rejected")
_FASTEST = ("speed", "fastest_time")  # sum of the squares of v (or p), and when
_CLOSING = ("turn", "met", "seen", "near", "go_on", "pivot", "pivot_time", "singular", "singular_row", "singular_time")
STIFFNESS = ("suspicions", "calm", "unseen", "rate", "stiff_time")  # stiff_time is infinite until the run is stiff
_LOOP = ("budget", "evaluations", "samples", "substep", "substeps", "watched", "paused", "project", "newton", "iterations")
_NEWTON = (
    "jacobian",
    "factored",
    "factored_too",
    "solving",
    "passes",
    "theta",
    "eta",
    "norm",
    "rate_before",
    "shorten",
    "by_newton",
)  # see implicit/
FRESH, OLD, TO_RENEW = 0.0, 1.0, 2.0  # "jacobian": of this step, of one before, to be taken again
_ALONG = ("along", "along_passes", "along_change", "jumped", "usual", "rate_of_gap")  # see tangents/
_BEFORE = ("tried", "h_before", "h_accepted", "error_accepted", "change", "change_before")
_IMPLICIT = (*_NEWTON, *_ALONG, *_BEFORE)
REALS = {name: k for k, name in enumerate((*_STEP, *_FASTEST, *_CUTS, *_OPENINGS, *_CLOSING, *STIFFNESS, *_IMPLICIT))}
_COUNTED = ("tick", "parameter", "uncut", "logged", "cuts", "jacobians", "factorizations")
COUNTS = {name: k for k, name in enumerate((*_LOOP, *_COUNTED))}
FIRST = {
    "pivot": np.inf,
    "stiff_time": np.inf,
    "cut": NO_ROOT,
    "approached": -NEVER,
    "opened": -NEVER,
    "jacobian": TO_RENEW,
    "eta": 1.0,
}
"""REALS that do not begin as zero."""

Size = Callable[[Layout], int]


@dataclass(frozen=True)
class RunArray:
    """An array of a run; ``fill`` gives its first entries, if it does not begin with zeros."""

    size: Size
    fill: Callable[[Layout], NDArray[Any]] | None = None
    integers: bool = False


def _doubles(size: Size, fill: Callable[[Layout], NDArray[Any]] | None = None) -> RunArray:
    return RunArray(size, fill)


def _integers(size: Size, fill: Callable[[Layout], NDArray[Any]] | None = None) -> RunArray:
    return RunArray(size, fill, integers=True)


def _size_of(name: str) -> Size:
    return lambda s: ARRAYS[name].size(s.counts)


def _step_of(name: str) -> Size:
    """The distance from one chunk of tangents of some data to the next, in doubles."""
    return lambda s: ARRAYS[name].size(s.counts) * s.tangents


def _moves(s: Layout) -> NDArray[Any]:
    moves = np.ones(s.model.nv)
    moves[list(s.model.state_places)] = 0.0
    return np.concatenate([np.zeros(s.v_start), np.repeat(moves, s.lanes)])


def _of_rows(size: Size, fill: Callable[[Layout], NDArray[Any]] | None = None) -> RunArray:
    """An array that only the midpoint rule for closed loops has (implicit/closed_rows.py)."""
    return RunArray(
        lambda s: size(s) if s.closed_midpoint else 0, lambda s: fill(s) if fill and s.closed_midpoint else np.zeros(0)
    )


NUMBERS: dict[str, Size] = {
    "n": lambda s: s.plan.n,
    "nv": lambda s: s.model.nv,
    "nq": lambda s: s.model.nq,
    "size": lambda s: max(1, s.model.nq + s.model.nv),
    "v_start": lambda s: s.v_start,
    "v_place": lambda s: s.v_place,
    "w_start": lambda s: s.w_start,
    "t_start": lambda s: s.t_start,
    "tangent_chunks": lambda s: s.tangent_chunks,
    "tangent_block": lambda s: s.tangent_block,
    "parameters": lambda s: s.parameters,
    "state": lambda s: s.state,
    "controlled": lambda s: s.w_start // s.vector,  # vectors of q and v
    "works_end": lambda s: s.t_start // s.vector,
    "vectors": lambda s: s.state // s.vector,
    "elements": lambda s: s.works[0],
    "drives": lambda s: s.works[1],
    "closings": lambda s: s.works[2],
    "works": lambda s: sum(s.works) + 1,
    "given": lambda s: 0,  # whether efforts are given, whose work is to be known
    "quaternion_count": lambda s: len(s.quaternions),
    "scalar_count": lambda s: s.scalars.size // 2,
    "m": lambda s: s.plan.loads.closing.rows,
    "watched_rows": lambda s: s.watched_rows,
    "row_width": lambda s: s.row_width,
    "surfaces": lambda s: len(s.surfaces.places),
    "anchors": lambda s: len(s.anchors.places),
    "anchor_start": lambda s: s.anchor_start // s.lanes,
    "gate_layers": lambda s: len(s.gates),
    "openings": lambda s: s.plan.loads.openings,
    "inputs": lambda s: s.model.input_width,
    "order": lambda s: s.order,
    "stride": lambda s: s.padded(s.order) // s.lanes,  # numbers from row to row of a matrix
    "row_chunks": lambda s: s.padded(s.order) // s.vector,  # of a row
    "row": lambda s: s.padded(s.order),  # doubles of a row
    "matrix": lambda s: s.order * s.padded(s.order),  # and of a matrix
    "kept_count": lambda s: s.kept_rows,  # equations of closed loops, and sizes of their matrix (implicit/closed_rows.py)
    "rows_stride": lambda s: s.padded(s.kept_rows),
    "rows_chunks": lambda s: s.padded(s.kept_rows) // s.vector,
    "log_row": lambda s: s.log_row,
    "log_capacity": lambda s: s.log,
    "kept_row_width": lambda s: s.kept_row_width,
    "control": lambda s: 0,  # a function that is called before every evaluation, and its argument: see Stepper.ask
    "controller": lambda s: 0,
    "control_all": lambda s: 0,  # whether errors of tangents are controlled too
}
DESIGN_DATA = (*VARIABLE, *OF_NODES)
NUMBERS |= {f"size:{name}": _size_of(name) for name in DESIGN_DATA}
NUMBERS |= {f"step:{name}": _step_of(name) for name, array in ARRAYS.items() if array.kind == "tangent"}
RUN_ARRAYS: dict[str, RunArray] = {
    "log": _doubles(lambda s: s.log * s.log_row),
    "y": _doubles(lambda s: s.state),
    "new": _doubles(lambda s: s.state),
    "aside": _doubles(lambda s: s.state),
    "origin": _doubles(lambda s: s.state),
    "asked": _doubles(lambda s: s.state),
    "reach": _doubles(lambda s: s.state),
    "moves": _doubles(lambda s: s.state, _moves),  # 1 for speeds, 0 for user-defined states
    "fastest": _doubles(lambda s: s.state),  # the state with the largest speeds so far
    "moved": _doubles(lambda s: s.padded(max(s.model.nq, s.model.nv)) if s.tangents else 0),
    "moving": _doubles(lambda s: max(s.model.nq, s.model.nv) * s.tangents),
    "still": _doubles(lambda s: s.model.nq * s.tangents),
    "unsettled": _doubles(lambda s: s.padded(s.model.nv) if s.tangents else 0),  # momenta before a projection
    "surface_tangents": _doubles(lambda s: len(s.surfaces.places) * s.tangent_chunks * s.tangents),  # of the limits
    "passage_times": _doubles(lambda s: s.tangent_chunks * s.tangents),  # see tangents/jumps.py
    "way_q": _doubles(lambda s: s.model.nq * s.way),
    "way_v": _doubles(lambda s: s.model.nv * s.way),
    "way_t": _doubles(lambda s: s.way),
    "tangent_error": _doubles(
        lambda s: s.tangent_chunks * s.tangents
    ),  # of the last step, over its tolerance, for each parameter
    "tangent_errors": _doubles(lambda s: s.tangent_chunks * s.tangents),  # and added up over the accepted steps
    "k": _doubles(lambda s: (s.method.stages + len(s.method.extra)) * s.state),
    "tau": _doubles(lambda s: s.padded(s.model.nv)),
    "u": _doubles(lambda s: s.padded(s.model.input_width)),
    "clock": _doubles(lambda s: s.padded(1)),
    "reals": _doubles(lambda s: s.padded(len(REALS))),
    "before": _doubles(lambda s: s.padded(s.watched_rows * (s.row_width + 1))),
    "times": _doubles(lambda s: s.samples + 1),  # and one that does not come
    "grid": _doubles(lambda s: s.grid),  # ends of steps of a fixed length in lanes, free of the rounding of sums
    "corners": _doubles(lambda s: (s.corners + 1) * s.lanes),  # of each lane times at which steps end, and NEVER
    "anchor_reach": _doubles(lambda s: len(s.anchors.reach) * s.lanes, lambda s: np.repeat(s.anchors.reach, s.lanes)),
    "surface_limits": _doubles(lambda s: len(s.surfaces.limits) * s.lanes, lambda s: np.repeat(s.surfaces.limits, s.lanes)),
    "gates": _doubles(lambda s: s.gates.size, lambda s: s.gates.ravel()),
    "opening_start": _doubles(lambda s: s.padded(s.plan.loads.openings)),
    "opening_middle": _doubles(lambda s: s.padded(s.plan.loads.openings)),
    "polynomial": _doubles(lambda s: s.padded(s.method.degree + 1 + STATE)),
    "out": _doubles(lambda s: (s.samples + 1) * s.state),
    "residuals": _doubles(lambda s: s.stage_rows),
    "tangents": _doubles(lambda s: s.stage_rows),
    "modes": _doubles(lambda s: s.stage_rows),
    "accepted": _doubles(lambda s: s.stage_rows),  # slopes of the last step
    "linearised": _doubles(lambda s: s.state),  # where the Jacobian was taken
    "by_position": _doubles(lambda s: s.order * s.padded(s.order)),
    "by_velocity": _doubles(lambda s: s.order * s.padded(s.order)),
    "by_both": _doubles(lambda s: s.order * s.padded(s.order)),
    "upper": _doubles(lambda s: s.matrices * s.order * s.padded(s.order)),
    "below": _doubles(lambda s: s.matrices * s.order * s.padded(s.order)),
    "diagonal": _doubles(lambda s: s.matrices * s.padded(s.order)),
    "right": _doubles(lambda s: 2 * s.padded(s.order)),
    "unit": _doubles(lambda s: s.padded(s.model.nv)),
    "seed_q": _doubles(lambda s: s.seeds(s.model.nq)),
    "seed_v": _doubles(lambda s: s.seeds(s.model.nv)),
    "lane_q": _doubles(lambda s: s.of_a_lane(s.model.nq)),
    "lane_v": _doubles(lambda s: s.of_a_lane(s.model.nv)),
    "lane_tau": _doubles(lambda s: s.of_a_lane(s.model.nv)),
    "lane_u": _doubles(lambda s: s.of_a_lane(s.model.input_width)),
    "lane_t": _doubles(lambda s: s.of_a_lane(1)),
    "pushed": _of_rows(lambda s: s.state),
    "pushes_along": _doubles(lambda s: s.kept_rows * s.tangent_chunks * s.tangents),  # see tangents/closed.py
    "rows_along": _of_rows(lambda s: s.model.nv * s.tangent_chunks * s.tangents),
    "parts": _doubles(lambda s: len(s.method.parts), lambda s: np.array(s.method.parts)),  # of a step that is composed
    "parts_before": _doubles(lambda s: len(s.method.parts), lambda s: np.cumsum(s.method.parts) - s.method.parts),
    "rows_at_start": _of_rows(lambda s: s.kept_rows * s.kept_row_width),
    "rows_at_end": _of_rows(lambda s: s.kept_rows * s.kept_row_width),
    "responses": _of_rows(lambda s: s.kept_rows * s.kept_row_width),
    "pushes": _of_rows(lambda s: s.kept_rows),
    "second_pushes": _of_rows(lambda s: s.kept_rows),
    "rows_upper": _of_rows(lambda s: s.kept_rows * s.padded(s.kept_rows)),
    "rows_below": _of_rows(lambda s: s.kept_rows * s.padded(s.kept_rows)),
    "rows_diagonal": _of_rows(lambda s: s.padded(s.kept_rows)),
    "rows_right": _of_rows(lambda s: s.padded(s.kept_rows)),
    "row_scale": _of_rows(lambda s: s.plan.loads.closing.rows + 1, lambda s: scales_of_rows(s.plan)),
    "candidates": _of_rows(lambda s: s.plan.loads.closing.rows * s.kept_row_width),
    "at_rest": _of_rows(lambda s: s.kept_row_width),
    "no_momenta": _of_rows(lambda s: s.kept_row_width),
    "rest": _of_rows(lambda s: s.kept_row_width),
    "rest_at_start": _of_rows(lambda s: s.kept_row_width),
    "rest_at_end": _of_rows(lambda s: s.kept_row_width),
    "kept_rows": _integers(lambda s: s.kept_rows),
    "counts": _integers(lambda s: len(COUNTS)),
    "sampled": _integers(lambda s: s.lanes),  # samples taken so far
    "corner": _integers(lambda s: s.lanes),  # corners passed so far
    "surface_places": _integers(lambda s: len(s.surfaces.places), lambda s: s.surface_places),
    "anchor_places": _integers(lambda s: len(s.anchors.places), lambda s: s.anchors.places),
    "anchor_inputs": _integers(lambda s: len(s.anchors.inputs), lambda s: s.anchors.inputs),
    "quaternions": _integers(lambda s: len(s.quaternions), lambda s: s.quaternions),
    "turning": _integers(lambda s: s.turning.size, lambda s: s.turning),
    "scalars": _integers(lambda s: s.scalars.size, lambda s: s.scalars),
    "pivots": _integers(lambda s: s.matrices * s.padded(s.order)),  # the order of the rows of factored matrices
    "rows_pivots": _integers(lambda s: s.padded(s.kept_rows)),
}
_OTHERS = ("other_work", "other_messages")  # workspace of kernels besides the first, which keeps its own from step to step


def words(called: dict[str, Program]) -> list[str]:
    """The names in ``bound``, in order; rates go into the state's own arrays, other outputs into buffers."""
    kept = ("qdot", "pdot")
    outputs = [name for program in called.values() for name in program.outputs if program.tangents or name not in kept]
    tangent = [f"tangent:{name}" for name in (*own_buffers(), *DESIGN_DATA)] if "tangent" in called else []
    return [*NUMBERS, *ARRAYS, *_OTHERS, *tangent, *RUN_ARRAYS, *dict.fromkeys(f"buffer:{name}" for name in outputs)]


def own_buffers() -> list[str]:
    """Buffers that a kernel writes besides its outputs; that of the tangents has all of them to itself."""
    return [name for name, array in ARRAYS.items() if array.kind == "buffer"]
