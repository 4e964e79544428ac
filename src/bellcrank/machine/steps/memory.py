"""Memory of a run in machine code: every number and array of the stepper, declared once.

NUMBERS  sizes and places, known before the run
REALS    numbers that change, one for each lane (or one): the host sets and reads them by name
COUNTS   integers that change, shared by all lanes
DOUBLES, INTEGERS  arrays, with their number of entries

The machine code is given ``bound``, an array of 64-bit words: the numbers, then the addresses of all arrays, in the order of
``words``. A state is y = (q, v, works), or (q, p, works) where the kernel takes momenta. For one state each part is padded to
whole vectors of WIDE numbers; with lanes every number is a vector, and there are no works.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...model import Model
from ...model.manifold import turning_joints
from ...plan import Plan
from ..arrays import ARRAYS, plan_counts, width
from ..kernel import Code, aligned, bound_arrays
from ..nodes.walk import block_width
from .cuts.corners import NEVER, just_before
from .cuts.known import Surfaces, known_surfaces
from .cuts.roots import NO_ROOT, STATE

Array = NDArray[np.float64]

WIDE = 4
RUNNING, NOT_FINITE, COLLAPSED, SINGULAR, NOT_SOLVED, INTERRUPTED = 0, 1, 2, 3, 4, 6  # status; 5 is run.many.NOT_ASSEMBLED

_CUTS = ("corner", "latest", "earliest", "full", "cut", "left", "piece")  # see cuts/
_STEP = ("t", "h", "end", "until", "rtol", "atol", "longest", "grow", "error", "energy", "status", "steps", "rejected")
_CLOSING = ("turn", "met", "seen", "near", "go_on", "pivot", "pivot_time", "singular", "singular_row", "singular_time")
STIFFNESS = ("suspicions", "calm", "rate", "stiff_time")  # stiff_time is infinite until the run is stiff
_LOOP = ("budget", "evaluations", "samples", "substep", "substeps", "watched", "held", "project", "newton", "iterations")
REALS = {name: k for k, name in enumerate((*_STEP, *_CUTS, *_CLOSING, *STIFFNESS, "change", "change_before"))}
COUNTS = {name: k for k, name in enumerate((*_LOOP, "cuts"))}
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

    @property
    def tangents(self) -> int:
        """Of a chunk."""
        return self.called["kernel"].tangents

    @property
    def chunks(self) -> int:
        return -(-self.parameters // self.tangents) if self.tangents else 0

    @property
    def tangent_block(self) -> int:
        """Doubles of the tangents of a state, of one chunk."""
        return (self.model.nq + self.model.nv) * self.tangents

    def wide(self, count: int) -> int:
        """Doubles that so many numbers take, in whole vectors."""
        return (count if self.lanes > 1 else -(-count // WIDE)) * WIDE

    @property
    def model(self) -> Model:
        return self.plan.model

    @cached_property
    def works(self) -> tuple[int, int, int]:
        """How many works there are of force elements, drives and driven closures; that of given efforts comes last."""
        model = self.model
        if self.lanes > 1 or self.tangents:
            return 0, 0, 0
        drives = sum(joint.nv for joint, driven in zip(model.joints, model.driven, strict=True) if driven)
        return len(model.elements), drives, len(model.closures) if self.plan.loads.closing.driven else 0

    @cached_property
    def v_start(self) -> int:
        return self.wide(self.model.nq)

    @cached_property
    def w_start(self) -> int:
        return self.v_start + self.wide(self.model.nv)

    @cached_property
    def t_start(self) -> int:
        return self.w_start + (self.wide(sum(self.works) + 1) if self.lanes == 1 else 0)

    @cached_property
    def state(self) -> int:
        """Doubles of a state."""
        return self.t_start + self.chunks * self.tangent_block

    @cached_property
    def row_width(self) -> int:
        """How many entries the rows of closures have, as the projection leaves them for the watch."""
        return self.model.nv if self.plan.nodes is None else block_width(self.plan)

    @cached_property
    def quaternions(self) -> NDArray[np.int64]:
        """Places of quaternions in q."""
        return np.array([at.quaternion.start for at in turning_joints(self.model)], dtype=np.int64)

    @cached_property
    def surfaces(self) -> Surfaces:
        return known_surfaces(self.model)

    @cached_property
    def gates(self) -> Array:
        """Limits laid out as q is: see cuts.surfaces."""
        layers = self.surfaces.gates(self.model.nq, NEVER)
        wide = np.full((*layers.shape[:2], self.v_start), NEVER)
        rows = np.repeat(layers, self.lanes, axis=2)
        wide[..., : rows.shape[2]] = rows
        return wide

    @cached_property
    def turning(self) -> NDArray[np.int64]:
        """Places of quaternion joints in a state, in the order of TURNING."""
        rows = [
            [at.quaternion.start, self.v_start + at.angular.start]
            + ([at.position.start, self.v_start + at.linear.start] if at.free else [-1, -1])
            for at in turning_joints(self.model)
        ]
        return np.array(rows, dtype=np.int64).ravel()

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the words of ``bound`` are."""
        return {word: k for k, word in enumerate(words(self.called))}

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: size(self) for name, size in NUMBERS.items()}


Size = Callable[[Layout], int]


def _step_of(name: str) -> Size:
    """From one chunk of tangents of some data to the next, in doubles."""
    return lambda s: ARRAYS[name].size(plan_counts(s.plan)) * s.tangents


NUMBERS: dict[str, Size] = {
    "n": lambda s: s.plan.n,
    "nv": lambda s: s.model.nv,
    "nq": lambda s: s.model.nq,
    "size": lambda s: max(1, s.model.nq + s.model.nv),
    "v_start": lambda s: s.v_start,
    "w_start": lambda s: s.w_start,
    "t_start": lambda s: s.t_start,
    "chunks": lambda s: s.chunks,
    "tangent_block": lambda s: s.tangent_block,
    "state": lambda s: s.state,
    "controlled": lambda s: s.w_start // WIDE,  # vectors of q and v
    "works_end": lambda s: s.t_start // WIDE,
    "vectors": lambda s: s.state // WIDE,
    "elements": lambda s: s.works[0],
    "drives": lambda s: s.works[1],
    "closings": lambda s: s.works[2],
    "works": lambda s: sum(s.works) + 1,
    "given": lambda s: 0,  # whether efforts are given, whose work is to be known
    "quaternion_count": lambda s: len(s.quaternions),
    "m": lambda s: s.plan.loads.closing.rows,
    "row_width": lambda s: s.row_width,
    "surfaces": lambda s: len(s.surfaces.places),
    "gate_layers": lambda s: len(s.gates),
    "control": lambda s: 0,  # a function that is called before every evaluation, and its argument: see Stepper.ask
    "controller": lambda s: 0,
    "control_all": lambda s: 0,  # whether errors of tangents are controlled too
}
NUMBERS |= {f"step:{name}": _step_of(name) for name, array in ARRAYS.items() if array.kind == "tangent"}
DOUBLES: dict[str, Size] = {
    "y": lambda s: s.state,
    "new": lambda s: s.state,
    "aside": lambda s: s.state,
    "origin": lambda s: s.state,
    "asked": lambda s: s.state,
    "reach": lambda s: s.state,
    "moved": lambda s: s.wide(max(s.model.nq, s.model.nv)) if s.tangents else 0,
    "moving": lambda s: max(s.model.nq, s.model.nv) * s.tangents,
    "still": lambda s: s.model.nq * s.tangents,
    "k": lambda s: (s.method.stages + len(s.method.extra)) * s.state,
    "tau": lambda s: s.wide(s.model.nv),
    "u": lambda s: s.wide(len(s.model.inputs)),
    "clock": lambda s: s.wide(1),
    "reals": lambda s: s.wide(len(REALS)),
    "before": lambda s: s.wide(s.plan.loads.closing.rows * (s.row_width + 1)),
    "times": lambda s: s.samples,
    "corners": lambda s: s.corners + 1,  # times at which steps end, and NEVER
    "surface_limits": lambda s: len(s.surfaces.limits),
    "gates": lambda s: s.gates.size,
    "polynomial": lambda s: s.wide(s.method.degree + 1 + STATE),
    "out": lambda s: (s.samples + 1) * s.state,
}
INTEGERS: dict[str, Size] = {
    "counts": lambda s: len(COUNTS),
    "sampled": lambda s: s.lanes,  # samples taken so far
    "corner": lambda s: s.lanes,  # corners passed so far
    "surface_places": lambda s: len(s.surfaces.places),
    "quaternions": lambda s: len(s.quaternions),
    "turning": lambda s: s.turning.size,
}
_OTHERS = ("other_work", "other_messages")  # workspace of kernels besides the first, which keeps its own from step to step


def words(called: dict[str, Program]) -> list[str]:
    """What ``bound`` holds, in order; rates go into the state's own arrays, other outputs into buffers."""
    kept = ("qdot", "pdot") if not called["kernel"].tangents else ()
    outputs = [name for program in called.values() for name in program.outputs if name not in kept]
    return [*NUMBERS, *ARRAYS, *_OTHERS, *DOUBLES, *INTEGERS, *dict.fromkeys(f"buffer:{name}" for name in outputs)]


class Memory:
    """The memory of one run, or of one for each lane, bound to machine code."""

    def __init__(self, layout: Layout, code: Code, times: Array, corners: Array, data: Mapping[str, Array] | None = None):
        """``data``: tangents of data, (1, chunks, size, tangents of a chunk), by the names of machine.arrays."""
        plan = layout.plan
        self.layout = layout
        self.arrays: dict[str, NDArray[Any]] = bound_arrays(plan, code, layout.lanes) | {
            "other_work": aligned(plan.n * code.facts.work_row * layout.lanes),
            "other_messages": aligned(max(1, plan.messages) * code.facts.message_row * layout.lanes),
        }
        self.arrays |= {name: aligned(max(WIDE, size(layout))) for name, size in DOUBLES.items()}
        self.arrays |= {name: np.zeros(max(1, size(layout)), dtype=np.int64) for name, size in INTEGERS.items()}
        self.arrays |= {name: x for name, x in (data or {}).items() if name in code.arguments}
        for program in layout.called.values():
            for name in program.outputs:
                size = max(WIDE, layout.wide(width(plan, program, name))) * (1 + program.tangents)
                if size > self.arrays.get(f"buffer:{name}", np.zeros(0)).size:
                    self.arrays[f"buffer:{name}"] = aligned(size)
        self.times, self.counts = self.arrays["times"][: len(times)], self.arrays["counts"]
        self.times[:] = times
        self.set_count("samples", len(times))
        known: dict[str, NDArray[Any]] = {"quaternions": layout.quaternions, "turning": layout.turning}
        known |= {"surface_places": layout.surfaces.places, "surface_limits": layout.surfaces.limits}
        known |= {"corners": np.append(corners, NEVER), "gates": layout.gates.ravel()}
        for name, places in known.items():
            self.arrays[name][: len(places)] = places
        first = self.arrays["corners"][0]
        values = {"pivot": np.inf, "stiff_time": np.inf, "corner": first, "latest": just_before(first), "earliest": -NEVER}
        for name, value in (values | {"cut": NO_ROOT}).items():
            self.lane(name)[:] = value
        addresses = {name: array.__array_interface__["data"][0] for name, array in self.arrays.items()}  # as array.ctypes.data
        words_known = layout.numbers | addresses
        self._words = np.array([words_known.get(word, 0) for word in layout.places], dtype=np.int64)
        self.code = code
        self._advance: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.library.address("advance"))

    def set_number(self, name: str, value: int) -> None:
        self._words[self.layout.places[name]] = value

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
        self._advance(self._words.ctypes.data)
