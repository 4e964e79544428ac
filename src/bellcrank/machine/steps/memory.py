"""Memory of a run in machine code: every number and array of the stepper, declared once.

NUMBERS  sizes and places, known before the run
REALS    numbers that change, one for each lane (or one): the host sets and reads them by name
COUNTS   integers that change, shared by all lanes
DOUBLES, INTEGERS  arrays, with their number of entries

The machine code is given ``bound``, an array of 64-bit words: the numbers, then the addresses of all arrays, in the order of
``words``. A state is y = (q, v, works), or (q, p, works) where the kernel takes momenta. For one state each part is padded to
whole vectors of WIDE numbers; with lanes every number is a vector of these, and there are no works. Anchors of friction that
holds come last.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...model import Model
from ...model.manifold import scalar_coordinates, turning_joints
from ...plan import Plan
from ..arrays import ARRAYS, OF_NODES, VARIABLE, own_data, plan_counts, width
from ..kernel import Code, aligned, bound_arrays
from ..nodes.walk import block_width
from .cuts.corners import NEVER, just_after, just_before
from .cuts.known import Anchors, Surfaces, known_anchors, known_surfaces
from .cuts.roots import NO_ROOT, STATE
from .implicit.kept_rows import ARRAY_SIZES, count_of_rows, is_closed_midpoint, scales_of_rows
from .programs import DIRECTIONS, takes_momenta

Array = NDArray[np.float64]

WIDE = 4
RUNNING, NOT_FINITE, COLLAPSED, SINGULAR, NOT_SOLVED, INTERRUPTED = (
    0,
    1,
    2,
    3,
    4,
    6,
)  # status; 5 is run.lanes.samples.NOT_ASSEMBLED
LEFT = 7  # a run that is stiff, left to another method
ENDLESS = 8  # its end is out of reach

_CUTS = ("corner", "latest", "earliest", "full", "cut", "left", "piece")  # see cuts/
_OPENINGS = ("opening_low", "opening_high", "approached", "approaches", "opened")
_STEP = ("t", "h", "end", "until", "rtol", "atol", "longest", "grow", "error", "energy", "status", "steps", "rejected")
_FASTEST = ("speed", "fastest_time")  # sum of the squares of v (or p), and when
_CLOSING = ("turn", "met", "seen", "near", "go_on", "pivot", "pivot_time", "singular", "singular_row", "singular_time")
STIFFNESS = ("suspicions", "calm", "unseen", "rate", "stiff_time")  # stiff_time is infinite until the run is stiff
_LOOP = ("budget", "evaluations", "samples", "substep", "substeps", "watched", "held", "project", "newton", "iterations")
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
_COUNTED = ("parameter", "uncut", "logged", "cuts", "jacobians", "factorizations")
COUNTS = {name: k for k, name in enumerate((*_LOOP, *_COUNTED))}
TURNING = ("attitude", "spin", "position", "push")  # places in y of g, mu, x, l; the last two are -1 without a position


@dataclass(frozen=True)
class Layout:
    """Sizes of a run's memory."""

    plan: Plan
    called: dict[str, Program]
    method: RungeKutta
    lanes: int
    samples: int
    corners: int = 0
    parameters: int = 0  # by which the state is differentiated
    log: int = 0  # accepted steps that are written down before the host takes them over
    number: Any = np.float64  # a numpy type; other numbers than doubles take their steps in Python
    neighbours: int = WIDE  # numbers of one state that stand in a vector

    @property
    def tangents(self) -> int:
        """Of a chunk."""
        return self.called["kernel"].tangents

    @property
    def way(self) -> int:
        """Tangents of the openings along the motion."""
        return self.called["openings_along"].tangents if "openings_along" in self.called else 0

    @property
    def tangent_chunks(self) -> int:
        return -(-self.parameters // self.tangents) if self.tangents else 0

    @property
    def tangent_block(self) -> int:
        """Doubles of the tangents of a state, of one chunk."""
        return (self.model.nq + self.model.nv) * self.tangents

    @property
    def vector(self) -> int:
        """Doubles of a vector: of the lanes, or of neighbours in one state."""
        return self.lanes if self.lanes > 1 else self.neighbours

    def wide(self, count: int) -> int:
        """Doubles that so many numbers take, in whole vectors."""
        return (count if self.lanes > 1 else -(-count // self.vector)) * self.vector

    @property
    def model(self) -> Model:
        return self.plan.model

    @cached_property
    def counts(self) -> dict[str, int]:
        return plan_counts(self.plan)

    @cached_property
    def works(self) -> tuple[int, int, int]:
        """How many works there are of force elements, drives and driven closures; that of given efforts comes last."""
        model = self.model
        if self.lanes > 1 or self.tangents or self.log:
            return 0, 0, 0
        drives = sum(joint.nv for joint, driven in zip(model.joints, model.driven, strict=True) if driven)
        return len(model.elements), drives, len(model.closures) if self.plan.loads.closing.driven else 0

    @cached_property
    def v_start(self) -> int:
        return self.wide(max(self.model.nq, self.model.nv))  # displacements have the size of v (implicit/newton.py)

    @cached_property
    def w_start(self) -> int:
        return self.v_start + self.wide(self.model.nv)

    @cached_property
    def anchor_start(self) -> int:
        return self.w_start + (self.wide(sum(self.works) + 1) if self.lanes == 1 else 0)

    @cached_property
    def state(self) -> int:
        """Doubles of a state."""
        return self.t_start + self.tangent_chunks * self.tangent_block

    @property
    def t_start(self) -> int:
        return self.anchor_start + self.wide(len(self.anchors.places))

    @property
    def log_row(self) -> int:
        """Doubles that are written down of an accepted step: machine.adjoint.log."""
        slopes = len(self.method.c) * len(self.method.parts) if self.method.implicit else 0
        return WIDE + self.w_start * (1 + slopes) + self.wide(self.kept_rows) * (1 + 2 * len(self.method.parts))

    @cached_property
    def row_width(self) -> int:
        """How many entries the rows of closures have, as the projection leaves them for the watch."""
        return self.model.nv if self.plan.nodes is None else block_width(self.plan)

    @cached_property
    def quaternions(self) -> NDArray[np.int64]:
        """Places of quaternions in q."""
        return np.array([at.quaternion.start for at in turning_joints(self.model)], dtype=np.int64)

    @cached_property
    def anchors(self) -> Anchors:
        return known_anchors(self.model)

    @cached_property
    def surfaces(self) -> Surfaces:
        """Of v only where v is integrated, and not p."""
        places, limits = known_surfaces(self.model, distinct=not self.plan.lane_designs)
        kept = places < (self.model.nq if takes_momenta(self.called) else np.inf)
        return Surfaces(places[kept], limits[kept])

    @cached_property
    def surface_places(self) -> NDArray[np.int64]:
        """Places in a state, where v begins with a vector of its own."""
        places, nq = self.surfaces.places, self.model.nq
        return np.where(places < nq, places, places - nq + self.v_start // self.lanes)

    @cached_property
    def gates(self) -> Array:
        return self.gates_of(np.tile(self.surfaces.limits, (self.lanes, 1)))

    def gates_of(self, limits: Array) -> Array:
        """Limits of each lane (lanes, surfaces) laid out as q and v are: see cuts.surfaces."""
        nq, nv = self.model.nq, self.model.nv
        layers = np.stack([Surfaces(self.surfaces.places, own).gates(nq + nv, NEVER) for own in limits], axis=-1)
        wide = np.full((*layers.shape[:2], self.w_start), NEVER)
        for start, part in ((0, layers[:, :, :nq]), (self.v_start, layers[:, :, nq:])):
            rows = part.reshape(*part.shape[:2], part.shape[2] * self.lanes)
            wide[..., start : start + rows.shape[2]] = rows
        return wide

    @cached_property
    def v_place(self) -> int:
        """Numbers of a state before its speeds."""
        return self.v_start // self.lanes

    def split(self, rows: Array) -> tuple[Array, Array, Array]:
        """q, v and anchors of rows of states of lanes."""
        nq, nv, v = self.model.nq, self.model.nv, self.v_place
        return rows[..., :nq], rows[..., v : v + nv], rows[..., v + nv :]

    @cached_property
    def turning(self) -> NDArray[np.int64]:
        """Places of quaternion joints in a state, in the order of TURNING."""
        rows = [
            [at.quaternion.start, self.v_place + at.angular.start]
            + ([at.position.start, self.v_place + at.linear.start] if at.free else [-1, -1])
            for at in turning_joints(self.model)
        ]
        return np.array(rows, dtype=np.int64).ravel()

    @cached_property
    def scalars(self) -> NDArray[np.int64]:
        """Places in q and in v of the coordinates whose rate is their velocity, in pairs."""
        return np.array(scalar_coordinates(self.model), dtype=np.int64).T.ravel()

    # Newton's method (implicit/newton.py) -------------------------------------------------------------------------

    @cached_property
    def order(self) -> int:
        """Of its matrices: displacements alone, or all of a state with momenta."""
        if not self.method.implicit:
            return 0
        return self.w_start if takes_momenta(self.called) else self.model.nv

    @property
    def closed_midpoint(self) -> bool:
        return is_closed_midpoint(self.plan, self.method)

    @cached_property
    def kept_rows(self) -> int:
        """How many equations of closures the midpoint rule for closed loops holds."""
        return count_of_rows(self.plan) if self.closed_midpoint else 0

    @property
    def held_width(self) -> int:
        """Doubles of a row of G, in whole vectors."""
        return self.wide(self.model.nv) if self.closed_midpoint else 0

    @cached_property
    def matrices(self) -> int:
        """Real ones that are factored; a complex one counts twice. Parts of a step of equal length share them; closed loops
        have one, for the part at hand."""
        parts = 1 if self.closed_midpoint else len(set(self.method.parts))
        return len(self.method.c) * parts if self.method.implicit else 0

    @property
    def stage_rows(self) -> int:
        """Doubles of a state at each stage of an implicit method."""
        return len(self.method.c) * self.state if self.method.implicit else 0

    def seeds(self, count: int) -> int:
        """Doubles of what the kernel of tangents is given along with the state."""
        return count * DIRECTIONS if self.method.implicit else 0

    def of_a_lane(self, count: int) -> int:
        """The same of the state, where it is taken from a lane."""
        return count if self.method.implicit and self.lanes > 1 else 0

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the words of ``bound`` are."""
        return {word: k for k, word in enumerate(words(self.called))}

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: size(self) for name, size in NUMBERS.items()}


Size = Callable[[Layout], int]


def _size_of(name: str) -> Size:
    return lambda s: ARRAYS[name].size(s.counts)


def _step_of(name: str) -> Size:
    """From one chunk of tangents of some data to the next, in doubles."""
    return lambda s: ARRAYS[name].size(s.counts) * s.tangents


def _of_rows(size: Callable[[int, int, int], int], s: Layout) -> int:
    return size(s.kept_rows, s.plan.loads.closing.rows, s.held_width) if s.closed_midpoint else 0


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
    "row_width": lambda s: s.row_width,
    "surfaces": lambda s: len(s.surfaces.places),
    "anchors": lambda s: len(s.anchors.places),
    "anchor_start": lambda s: s.anchor_start // s.lanes,
    "gate_layers": lambda s: len(s.gates),
    "openings": lambda s: s.plan.loads.openings,
    "inputs": lambda s: s.model.input_width,
    "order": lambda s: s.order,
    "stride": lambda s: s.wide(s.order) // s.lanes,  # numbers from row to row of a matrix
    "row_chunks": lambda s: s.wide(s.order) // s.vector,  # of a row
    "row": lambda s: s.wide(s.order),  # doubles of a row
    "matrix": lambda s: s.order * s.wide(s.order),  # and of a matrix
    "kept_count": lambda s: s.kept_rows,  # equations of closed loops, and the same for their matrix (implicit/closed_rows.py)
    "rows_stride": lambda s: s.wide(s.kept_rows),
    "rows_chunks": lambda s: s.wide(s.kept_rows) // s.vector,
    "log_row": lambda s: s.log_row,
    "log_room": lambda s: s.log,
    "held_width": lambda s: s.held_width,
    "control": lambda s: 0,  # a function that is called before every evaluation, and its argument: see Stepper.ask
    "controller": lambda s: 0,
    "control_all": lambda s: 0,  # whether errors of tangents are controlled too
}
DESIGN_DATA = (*VARIABLE, *OF_NODES)
NUMBERS |= {f"size:{name}": _size_of(name) for name in DESIGN_DATA}
NUMBERS |= {f"step:{name}": _step_of(name) for name, array in ARRAYS.items() if array.kind == "tangent"}
DOUBLES: dict[str, Size] = {
    "log": lambda s: s.log * s.log_row,
    "y": lambda s: s.state,
    "new": lambda s: s.state,
    "aside": lambda s: s.state,
    "origin": lambda s: s.state,
    "asked": lambda s: s.state,
    "reach": lambda s: s.state,
    "moves": lambda s: s.state,  # 1 for speeds, 0 for states of the user's own
    "fastest": lambda s: s.state,  # the state with the largest speeds so far
    "moved": lambda s: s.wide(max(s.model.nq, s.model.nv)) if s.tangents else 0,
    "moving": lambda s: max(s.model.nq, s.model.nv) * s.tangents,
    "still": lambda s: s.model.nq * s.tangents,
    "unsettled": lambda s: s.wide(s.model.nv) if s.tangents else 0,  # momenta before a projection
    "surface_tangents": lambda s: len(s.surfaces.places) * s.tangent_chunks * s.tangents,  # of the limits
    "passage_times": lambda s: s.tangent_chunks * s.tangents,  # see tangents/jumps.py
    "way_q": lambda s: s.model.nq * s.way,
    "way_v": lambda s: s.model.nv * s.way,
    "way_t": lambda s: s.way,
    "tangent_error": lambda s: s.tangent_chunks * s.tangents,  # of the last step, over its tolerance, for each parameter
    "tangent_errors": lambda s: s.tangent_chunks * s.tangents,  # and added up over the accepted steps
    "k": lambda s: (s.method.stages + len(s.method.extra)) * s.state,
    "tau": lambda s: s.wide(s.model.nv),
    "u": lambda s: s.wide(s.model.input_width),
    "clock": lambda s: s.wide(1),
    "reals": lambda s: s.wide(len(REALS)),
    "before": lambda s: s.wide(s.plan.loads.closing.rows * (s.row_width + 1)),
    "times": lambda s: s.samples + 1,  # and one that does not come
    "corners": lambda s: (s.corners + 1) * s.lanes,  # of each lane times at which steps end, and NEVER
    "anchor_reach": lambda s: len(s.anchors.reach) * s.lanes,
    "surface_limits": lambda s: len(s.surfaces.limits) * s.lanes,
    "gates": lambda s: s.gates.size,
    "opening_start": lambda s: s.wide(s.plan.loads.openings),
    "opening_middle": lambda s: s.wide(s.plan.loads.openings),
    "polynomial": lambda s: s.wide(s.method.degree + 1 + STATE),
    "out": lambda s: (s.samples + 1) * s.state,
    "residuals": lambda s: s.stage_rows,
    "tangents": lambda s: s.stage_rows,
    "modes": lambda s: s.stage_rows,
    "accepted": lambda s: s.stage_rows,  # slopes of the last step
    "linearised": lambda s: s.state,  # where the Jacobian was taken
    "by_position": lambda s: s.order * s.wide(s.order),
    "by_velocity": lambda s: s.order * s.wide(s.order),
    "by_both": lambda s: s.order * s.wide(s.order),
    "upper": lambda s: s.matrices * s.order * s.wide(s.order),
    "below": lambda s: s.matrices * s.order * s.wide(s.order),
    "diagonal": lambda s: s.matrices * s.wide(s.order),
    "right": lambda s: 2 * s.wide(s.order),
    "unit": lambda s: s.wide(s.model.nv),
    "seed_q": lambda s: s.seeds(s.model.nq),
    "seed_v": lambda s: s.seeds(s.model.nv),
    "lane_q": lambda s: s.of_a_lane(s.model.nq),
    "lane_v": lambda s: s.of_a_lane(s.model.nv),
    "lane_tau": lambda s: s.of_a_lane(s.model.nv),
    "lane_u": lambda s: s.of_a_lane(s.model.input_width),
    "lane_t": lambda s: s.of_a_lane(1),
}
DOUBLES |= dict.fromkeys(("rows_upper", "rows_below"), lambda s: s.kept_rows * s.wide(s.kept_rows))
DOUBLES |= dict.fromkeys(("rows_diagonal", "rows_right"), lambda s: s.wide(s.kept_rows))
DOUBLES["pushed"] = lambda s: s.state if s.closed_midpoint else 0
DOUBLES["pushes_along"] = lambda s: s.kept_rows * s.tangent_chunks * s.tangents  # see tangents/closed.py
DOUBLES["rows_along"] = lambda s: s.model.nv * s.tangent_chunks * s.tangents if s.closed_midpoint else 0
DOUBLES |= dict.fromkeys(("parts", "parts_before"), lambda s: len(s.method.parts))  # of a step that is composed
DOUBLES |= {name: partial(_of_rows, size) for name, size in ARRAY_SIZES.items()}
INTEGERS: dict[str, Size] = {
    "kept_rows": lambda s: s.kept_rows,
    "counts": lambda s: len(COUNTS),
    "sampled": lambda s: s.lanes,  # samples taken so far
    "corner": lambda s: s.lanes,  # corners passed so far
    "surface_places": lambda s: len(s.surfaces.places),
    "anchor_places": lambda s: len(s.anchors.places),
    "anchor_inputs": lambda s: len(s.anchors.inputs),
    "quaternions": lambda s: len(s.quaternions),
    "turning": lambda s: s.turning.size,
    "scalars": lambda s: s.scalars.size,
    "pivots": lambda s: s.matrices * s.wide(s.order),  # the order of the rows of factored matrices
    "rows_pivots": lambda s: s.wide(s.kept_rows),
}
_OTHERS = ("other_work", "other_messages")  # workspace of kernels besides the first, which keeps its own from step to step


def words(called: dict[str, Program]) -> list[str]:
    """What ``bound`` holds, in order; rates go into the state's own arrays, other outputs into buffers."""
    kept = ("qdot", "pdot")
    outputs = [name for program in called.values() for name in program.outputs if program.tangents or name not in kept]
    tangent = [f"tangent:{name}" for name in (*own_buffers(), *DESIGN_DATA)] if "tangent" in called else []
    return [*NUMBERS, *ARRAYS, *_OTHERS, *tangent, *DOUBLES, *INTEGERS, *dict.fromkeys(f"buffer:{name}" for name in outputs)]


def own_buffers() -> list[str]:
    """What a kernel writes into besides its outputs; that of the tangents has all of them to itself."""
    return [name for name, array in ARRAYS.items() if array.kind == "buffer"]


class Memory:
    """The memory of one run, or of one for each lane, bound to machine code."""

    def __init__(self, layout: Layout, code: Code, times: Array, corners: Array, data: Mapping[str, Array] | None = None):
        """``data``: tangents of data, (1, chunks, size, tangents of a chunk), by the names of machine.arrays."""
        plan = layout.plan
        self.layout, self.code = layout, code
        self.arrays = self._arrays_of_kernels()
        self.arrays |= {name: aligned(max(layout.vector, size(layout))) for name, size in DOUBLES.items()}
        self.arrays |= {name: np.zeros(max(1, size(layout)), dtype=np.int64) for name, size in INTEGERS.items()}
        self.arrays |= {name: x for name, x in (data or {}).items() if name in code.arguments}
        for program in layout.called.values():
            for name in program.outputs:
                size = layout.vector * max(1, width(plan, program, name)) * (1 + program.tangents)
                if size > self.arrays.get(f"buffer:{name}", np.zeros(0)).size:
                    self.arrays[f"buffer:{name}"] = aligned(size)
        if layout.number is not np.float64:
            self.arrays = {name: x if x.dtype == np.int64 else x.astype(layout.number) for name, x in self.arrays.items()}
        self.times, self.counts = self.arrays["times"][: len(times)], self.arrays["counts"]
        self.times[:], self.arrays["times"][len(times) :] = times, np.inf
        self.set_count("samples", len(times))
        known: dict[str, NDArray[Any]] = {"quaternions": layout.quaternions, "turning": layout.turning}
        known |= {"scalars": layout.scalars, "surface_places": layout.surface_places, "gates": layout.gates.ravel()}
        known |= {"surface_limits": np.repeat(layout.surfaces.limits, layout.lanes), "anchor_places": layout.anchors.places}
        known |= {"anchor_reach": np.repeat(layout.anchors.reach, layout.lanes), "anchor_inputs": layout.anchors.inputs}
        known |= {"corners": np.tile(np.append(corners, NEVER), layout.lanes)}
        if layout.closed_midpoint:
            parts = np.array(layout.method.parts)
            known |= {"row_scale": scales_of_rows(plan), "parts": parts, "parts_before": np.cumsum(parts) - parts}
        for name, places in known.items():
            self.arrays[name][: len(places)] = places
        moves = np.ones(layout.model.nv)
        moves[list(layout.model.state_places)] = 0.0
        self.put("moves", np.tile(moves, (layout.lanes, 1)), layout.v_start)
        self.resume(0, 0)
        values = {
            "pivot": np.inf,
            "stiff_time": np.inf,
            "cut": NO_ROOT,
            "approached": -NEVER,
            "opened": -NEVER,
            "jacobian": TO_RENEW,
            "eta": 1.0,
        }
        for name, value in values.items():
            self.lane(name)[:] = value
        addresses = {name: array.__array_interface__["data"][0] for name, array in self.arrays.items()}  # as array.ctypes.data
        words_known = layout.numbers | addresses
        self.words = np.array([words_known.get(word, 0) for word in layout.places], dtype=np.int64)
        self._advance: Any = self._bound()

    def _arrays_of_kernels(self) -> dict[str, NDArray[Any]]:
        """What kernels take besides their inputs and outputs."""
        layout, plan, code = self.layout, self.layout.plan, self.code
        arrays = bound_arrays(plan, code, layout.lanes) | {
            "other_work": aligned(plan.n * code.facts.work_row * layout.lanes),
            "other_messages": aligned(max(1, plan.messages) * code.facts.message_row * layout.lanes),
        }
        if "tangent" in layout.called:
            bound = bound_arrays(plan, code, 1)
            arrays |= {f"tangent:{name}": bound[name] for name in (*own_buffers(), *own_data(plan)) if name in bound}
        return arrays

    def _bound(self) -> Any:
        """advance(), of the address of the words."""
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.library.address("advance"))

    def resume(self, sampled: int | NDArray[np.int64], passed: int | NDArray[np.int64]) -> None:
        """Go on behind so many samples and corners, the same in all lanes or for each."""
        self.arrays["sampled"][:] = sampled
        self.arrays["corner"][:] = place = passed + self.first_corners
        following, last = self.arrays["corners"][place], self.arrays["corners"][place - 1]
        values = {"corner": following, "latest": just_before(following)}
        for name, value in (values | {"earliest": np.where(place > self.first_corners, just_after(last), -NEVER)}).items():
            self.lane(name)[:] = value

    @property
    def first_corners(self) -> NDArray[np.int64]:
        """Where the corners of each lane begin."""
        return np.arange(self.layout.lanes) * (self.layout.corners + 1)

    def set_number(self, name: str, value: int) -> None:
        self.words[self.layout.places[name]] = value

    def put(self, array: str, rows: Array, at: int = 0) -> None:
        """Numbers (count,), or those of each lane (lanes, count), into an array, from a place on."""
        self.arrays[array][at : at + rows.size] = rows.T.ravel()

    def start(self, state: tuple[Array, ...], slopes: tuple[Array, ...], given: dict[str, Array]) -> None:
        """q and v (or p), their slopes and perhaps powers, and tau and u; with lanes a row of each.

        All stages are set: a method reuses its last one, or starts its iterations from the last stages.
        """
        starts = (0, self.layout.v_start, self.layout.w_start)
        for rows, at in zip(state, starts, strict=False):
            self.put("y", rows, at)
        for rows, at in zip(slopes, starts, strict=False):
            self.stages[: self.layout.method.stages, at : at + rows.size] = rows.T.ravel()
        for name in ("tau", "u"):
            self.put(name, given[name])
        self.put("y", given["u"][:, self.layout.anchors.inputs], self.layout.anchor_start)

    @property
    def stages(self) -> Array:
        """Slopes at the stages of the last step, a row of each; those that only dense output needs come last."""
        count, size = self.layout.method.stages + len(self.layout.method.extra), self.layout.state
        return self.arrays["k"][: count * size].reshape(count, size)

    def lane(self, name: str) -> Array:
        """A number that changes, of each lane."""
        lanes = self.layout.lanes
        found: Array = self.arrays["reals"][REALS[name] * lanes :][:lanes]
        return found

    def count(self, name: str) -> int:
        return int(self.counts[COUNTS[name]])

    def set_count(self, name: str, value: int) -> None:
        self.counts[COUNTS[name]] = value

    def take_steps(self, budget: int) -> None:
        """Let the machine code take at most so many steps."""
        self.set_count("budget", budget)
        self._advance(self.words.ctypes.data)
