"""Many runs of one model, four at a time in machine code, on all cores."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...plan import Plan
from ...plan.turns import turn_weights
from ..arrays import width
from ..kernel import aligned, bound_arrays, obtain, structure_key, workers
from .lanes import LANE_REALS, lane_programs, write_lane_stepper
from .quaternions import unit_quaternions
from .stepper import COUNTS, WIDE, row_width, stepper_words

Array = NDArray[np.float64]

_STEPS_PER_CALL = 5_000
_LOOK_SECONDS = 0.1  # between looks at runs that go on


class Progress(NamedTuple):
    """Of a run that goes on and is stiff: which, since when, its fastest rate, and where it is."""

    run: int
    stiff_time: float
    rate: float
    t: float
    h: float
    end: float


class LaneResult(NamedTuple):
    """Samples (B, samples, nq) and (B, samples, nv), and of each run: samples taken, status, time reached, steps, rejected,
    when it was stiff first (infinite if it never was), and its fastest rate then."""

    q: Array
    v: Array
    sampled: NDArray[np.int64]
    status: NDArray[np.int64]
    time: Array
    steps: NDArray[np.int64]
    rejected: NDArray[np.int64]
    stiff_time: Array
    rate: Array


def run_lanes(
    plan: Plan,
    program: Program,
    method: RungeKutta,
    start: dict[str, Array],
    slopes: dict[str, Array],
    times: Array,
    reals: dict[str, Any],
    *,
    pass_singular: bool = False,
    meanwhile: Callable[[list[Progress]], None] = lambda found: None,
) -> LaneResult:
    """Runs from states ``start`` (q, v, tau, u by run) and their ``slopes`` (qdot, a); ``reals``: h, rtol, atol, longest.

    ``meanwhile`` is told now and then which runs are stiff.
    """
    count = len(start["q"])
    key = ("lanes", program.name, method.name, *structure_key(plan))
    code = obtain(key, lambda: write_lane_stepper(plan, program, method))
    blocks = [np.minimum(np.arange(first, first + WIDE), count - 1) for first in range(0, count, WIDE)]

    begun: list[_Block] = []

    def one(rows: NDArray[np.int64]) -> _Block:
        block = _Block(plan, program, method, code, times, rows, start, slopes, reals)
        block.counts[COUNTS.index("pass_singular")] = int(pass_singular)
        begun.append(block)
        block.run()
        return block

    jobs = [workers().submit(one, rows) for rows in blocks]
    while wait(jobs, timeout=_LOOK_SECONDS).not_done:
        meanwhile([found for block in list(begun) for found in block.stiff_runs()])
    done = [job.result() for job in jobs]
    model = plan.model
    samples = np.concatenate([block.samples() for block in done])[:count]
    lanes = {
        name: np.concatenate([block.lane(name) for block in done])[:count]
        for name in ("status", "t", "steps", "rejected", "stiff_time", "rate")
    }
    flat = unit_quaternions(model, samples[:, :, : model.nq].reshape(count * len(times), model.nq))
    return LaneResult(
        q=flat.reshape(count, len(times), model.nq),
        v=samples[:, :, model.nq :],
        sampled=np.concatenate([block.sampled for block in done])[:count],
        status=lanes["status"].astype(np.int64),
        time=lanes["t"],
        steps=lanes["steps"].astype(np.int64),
        rejected=lanes["rejected"].astype(np.int64),
        stiff_time=lanes["stiff_time"],
        rate=lanes["rate"],
    )


class _Block:
    """Four runs: their buffers, and the words that bind the machine code to them."""

    def __init__(
        self,
        plan: Plan,
        program: Program,
        method: RungeKutta,
        code: Any,
        times: Array,
        rows: NDArray[np.int64],
        start: dict[str, Array],
        slopes: dict[str, Array],
        reals: dict[str, Any],
    ):
        model = plan.model
        size = model.nq + model.nv
        called = lane_programs(plan, program)
        stages = method.stages + len(method.extra)
        self.times, self.size, self.rows = np.ascontiguousarray(times), size, rows
        self.reals, self.counts = aligned(len(LANE_REALS) * WIDE), np.zeros(len(COUNTS), dtype=np.int64)
        self.counts[COUNTS.index("samples")] = len(times)
        self.sampled = np.zeros(WIDE, dtype=np.int64)
        self.out = np.full(WIDE * max(1, len(times)) * size, np.nan)
        for name, value in (reals | {"end": times[-1], "grow": 10.0, "stiff_time": np.inf}).items():
            self.lane(name)[:] = np.broadcast_to(value, (len(start["q"]),))[rows] if np.ndim(value) else value
        places = [
            at + joint.quaternion
            for joint, at, driven in zip(model.joints, model.q_index, model.driven, strict=True)
            if joint.quaternion is not None and not driven
        ]
        reach = np.append(turn_weights(model, float(plan.length)), np.zeros(model.nv))
        y = _lanes(np.hstack([start["q"][rows], start["v"][rows]]))
        k = aligned(stages * size * WIDE)
        k[: size * WIDE] = _lanes(np.hstack([slopes["qdot"][rows], slopes["a"][rows]]))[: size * WIDE]
        self.arrays: dict[str, Any] = bound_arrays(plan, code, WIDE) | {
            "other_work": aligned(plan.n * code.facts.work_row * WIDE),
            "other_messages": aligned(max(1, plan.messages) * code.facts.message_row * WIDE),
            "y": y,
            "new": aligned(size * WIDE),
            "aside": aligned(size * WIDE),
            "k": k,
            "tau": _lanes(start["tau"][rows]),
            "u": _lanes(start["u"][rows]),
            "clock": aligned(WIDE),
            "times": self.times,
            "out": self.out,
            "sampled": self.sampled,
            "reals": self.reals,
            "counts": self.counts,
            "quaternions": np.array(places or [0], dtype=np.int64),
            "turning": np.zeros(1, dtype=np.int64),
            "origin": aligned(WIDE),
            "reach": _lanes(np.tile(reach, (WIDE, 1))),
            "before": aligned(max(1, plan.loads.closing.rows * (row_width(plan) + 1)) * WIDE),
        }
        for each_program in called.values():
            for name in each_program.outputs:
                self.arrays[f"buffer:{name}"] = aligned(max(1, width(plan, each_program, name)) * WIDE)
        numbers: dict[str, int] = {"n": plan.n, "nv": model.nv, "size": max(1, size), "vectors": size, "controlled": size}
        numbers |= {"v_start": model.nq * WIDE, "w_start": size * WIDE, "padded": size * WIDE}
        numbers |= {"quaternion_count": len(places), "elements": 0, "drives": 0, "works": 1, "given": 0}
        numbers |= {"closings": 0, "m": plan.loads.closing.rows, "nq": model.nq, "width": row_width(plan)}
        numbers |= {name: array.ctypes.data for name, array in self.arrays.items()}
        self.words = np.array([numbers.get(word, 0) for word in stepper_words(called)], dtype=np.int64)
        self.advance = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.library.address("advance"))

    def lane(self, name: str) -> Array:
        """A number of each of the four runs."""
        at = LANE_REALS.index(name) * WIDE
        return self.reals[at : at + WIDE]

    def run(self) -> None:
        while ((self.lane("t") < self.lane("end")) & (self.lane("status") == 0)).any():
            self.counts[COUNTS.index("budget")] = _STEPS_PER_CALL
            self.advance(self.words.ctypes.data)

    def stiff_runs(self) -> list[Progress]:
        lanes = (self.lane(name).tolist() for name in ("stiff_time", "rate", "t", "h", "end"))
        found = [Progress(int(run), *lane) for run, *lane in zip(self.rows, *lanes, strict=True)]
        return [run for run in found if run.stiff_time < run.end and run.t < run.end]

    def samples(self) -> Array:
        return self.out.reshape(WIDE, len(self.times), self.size)


def _lanes(rows: Array) -> Array:
    """Four rows of numbers, laid out number by number."""
    flat = aligned(max(1, rows.shape[1]) * WIDE)
    flat[: rows.size] = rows.T.ravel()
    return flat
