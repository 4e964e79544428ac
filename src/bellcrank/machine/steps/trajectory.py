"""A run in machine code, seen from the host: the buffers that advance() works on, and what they say."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...model import Model
from ...plan import Plan
from ...plan.turns import turn_weights
from ..arrays import width
from ..kernel import aligned, bound_arrays, obtain, structure_key
from .adaptive import write_stepper
from .quaternions import unit_quaternions
from .stepper import COUNTS, MINIMUM_NORM, REALS, WIDE, programs, row_width, stepper_words
from .turning import TURNING

Array = NDArray[np.float64]


def _padded(size: int) -> int:
    return -(-size // WIDE) * WIDE


def turning_joints(model: Model, v_start: int) -> NDArray[np.int64]:
    """Places of quaternion joints in a state, in the order of turning.TURNING."""
    rows = []
    for joint, q, v, driven in zip(model.joints, model.q_index, model.v_index, model.driven, strict=True):
        if joint.quaternion is not None and not driven:
            placed = joint.nv == 6
            spin = v_start + v + (3 if placed else 0)
            rows.append([q + joint.quaternion, spin, q if placed else -1, v_start + v if placed else -1])
    return np.array(rows or [[0] * len(TURNING)], dtype=np.int64)


class Trajectory:
    """One state on its way through time; ``advance`` goes on until the end, a failure or the given number of steps."""

    def __init__(
        self,
        plan: Plan,
        program: Program,
        method: RungeKutta,
        start: dict[str, Array],
        times: Array,
        first_time: float = 0.0,
        metric: str = MINIMUM_NORM,
    ):
        """``start`` has q, v (or momenta, if the program takes them), tau and, for a model with inputs, u."""
        model = plan.model
        self.plan, self.method, self.times = plan, method, np.array(times)
        key = ("stepper", program.name, method.name, metric, *structure_key(plan))
        self.code = obtain(key, lambda: write_stepper(plan, program, method, metric))
        self.called = programs(plan, program, metric)
        self.elements = len(model.elements)
        self.drives = sum(joint.nv for joint, driven in zip(model.joints, model.driven, strict=True) if driven)
        self.closings = len(model.closures) if plan.loads.closing.driven else 0
        self.works = self.elements + self.drives + self.closings + 1
        self.v_start = _padded(model.nq)
        self.w_start = self.v_start + _padded(model.nv)
        self.padded = self.w_start + _padded(self.works)
        self.row_width = row_width(plan)
        self.stages = method.stages
        self.y = aligned(self.padded)
        self.y[: model.nq], self.y[self.v_start : self.v_start + model.nv] = start["q"], start["v"]
        self.k = aligned((self.stages + len(method.extra)) * self.padded)
        self.new, self.reach = aligned(self.padded), aligned(self.padded)
        self.out = aligned(max(1, len(times)) * self.padded)
        self.reals, self.counts = np.zeros(len(REALS)), np.zeros(len(COUNTS), dtype=np.int64)
        self.set_count("samples", len(times))
        self.set_real("t", first_time)
        self.set_real("pivot", np.inf)
        self.set_real("stiff_time", np.inf)
        self.tried = 0  # steps of the last call, accepted or not
        self._words = self._bind(start)
        address = self.code.library.address("advance")
        self._advance = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)

    def _bind(self, start: dict[str, Array]) -> NDArray[np.int64]:
        plan, model, code = self.plan, self.plan.model, self.code
        pairs = zip(model.joints, model.q_index, model.driven, strict=True)
        places = [at + joint.quaternion for joint, at, driven in pairs if joint.quaternion is not None and not driven]
        numbers: dict[str, int] = {"n": plan.n, "nv": model.nv, "size": max(1, model.nq + model.nv)}
        numbers |= {"vectors": self.padded // WIDE, "controlled": self.w_start // WIDE, "padded": self.padded}
        numbers |= {"v_start": self.v_start, "w_start": self.w_start, "quaternion_count": len(places)}
        numbers |= {"elements": self.elements, "drives": self.drives, "works": self.works, "given": int(np.any(start["tau"]))}
        rows = plan.loads.closing.rows
        numbers |= {"closings": self.closings, "m": rows, "nq": model.nq, "width": self.row_width}
        efforts = aligned(_padded(model.nv) or WIDE)
        efforts[: model.nv] = start["tau"]
        self._arrays: dict[str, Any] = bound_arrays(plan, code, 1) | {
            "other_work": aligned(plan.n * code.facts.work_row),
            "other_messages": aligned(max(1, plan.messages) * code.facts.message_row),
            "y": self.y,
            "new": self.new,
            "aside": aligned(self.padded),
            "k": self.k,
            "tau": efforts,
            "u": np.ascontiguousarray(start.get("u", np.zeros(1)) if model.inputs else np.zeros(1)),
            "clock": np.zeros(1),
            "times": self.times,
            "out": self.out,
            "sampled": np.zeros(1, dtype=np.int64),  # counted by lane only
            "reals": self.reals,
            "counts": self.counts,
            "quaternions": np.array(places or [0], dtype=np.int64),
            "turning": turning_joints(model, self.v_start),
            "origin": aligned(self.padded),
            "reach": self.reach,
            "before": aligned(_padded(rows * (self.row_width + 1)) + self.padded),
        }
        for program in self.called.values():
            for name in program.outputs:
                self._arrays[f"buffer:{name}"] = aligned(max(WIDE, _padded(width(plan, program, name))))
        numbers |= {name: array.ctypes.data for name, array in self._arrays.items()}
        return np.array([numbers.get(word, 0) for word in stepper_words(self.called)], dtype=np.int64)

    def advance(self, budget: int) -> None:
        before = self.count("steps") + self.count("rejected")
        self.set_count("budget", budget)
        self._advance(self._words.ctypes.data)
        self.tried = self.count("steps") + self.count("rejected") - before

    @property
    def held(self) -> bool:
        """Whether a good step waits for the host to look at it (``watched`` runs only); the next advance releases it."""
        return self.count("held") == 1

    def held_step(self, derivative: Callable[[float, Array, Array], Array]) -> Callable[[float], tuple[Array, Array]]:
        """q and v anywhere in the held step: a function of 0 (its start) to 1, by dense output."""
        model, t, h = self.plan.model, self.real("t"), self.real("h")
        places = [*range(model.nq), *range(self.v_start, self.v_start + model.nv)]
        y = self.y[places]
        stages = [self.k[j * self.padded : (j + 1) * self.padded][places] for j in range(self.stages)]
        for j, (c, row) in enumerate(self.method.extra, start=self.stages):
            at = y + h * sum(weight * k for weight, k in zip(row, stages, strict=False))
            stages.append(derivative(t + c * h, at[: model.nq], at[model.nq :]))
            self.k[j * self.padded : (j + 1) * self.padded][places] = stages[-1]
        dense, powers = np.array(self.method.dense), np.arange(1, len(self.method.dense[0]) + 1)

        def inside(x: float) -> tuple[Array, Array]:
            state = y + h * ((dense @ x**powers) @ np.array(stages))
            return unit_quaternions(model, state[None, : model.nq])[0], state[model.nq :]

        return inside

    def end_inside(self, time: float) -> None:
        """End the run inside the held step: its samples until then are still taken, and the end is the last of them."""
        count = int(np.searchsorted(self.times, time))
        self.times[count] = time
        self.set_count("samples", count + 1)
        self.set_count("watched", 0)
        while self.count("status") == 0 and self.count("sample") <= count:  # releases the step, takes its samples
            self.advance(1)
        if self.count("status") == 0:
            self.set_real("t", time)

    def count(self, name: str) -> int:
        return int(self.counts[COUNTS.index(name)])

    def limit_turns(self) -> None:
        """Steps in which coordinates of loops move further than one may are divided."""
        model = self.plan.model
        self.reach[: model.nq] = turn_weights(model, float(self.plan.length))

    def set_count(self, name: str, value: int) -> None:
        self.counts[COUNTS.index(name)] = value

    def real(self, name: str) -> float:
        return float(self.reals[REALS.index(name)])

    def set_real(self, name: str, value: float) -> None:
        self.reals[REALS.index(name)] = value

    def start(self, qdot: Array, slopes: Array, powers: Array) -> None:
        """Slopes at the start, for a method that reuses its last stage, or that starts its iterations from the last stages."""
        rows = self.k.reshape(-1, self.padded)[: self.stages]
        rows[:, self.w_start : self.w_start + len(powers)] = powers
        rows[:, : len(qdot)] = qdot
        rows[:, self.v_start : self.v_start + len(slopes)] = slopes

    def samples(self) -> tuple[Array, Array, Array]:
        """Times, q and v of the samples so far; quaternions between steps are made unit."""
        model, count = self.plan.model, self.count("sample")
        rows = self.out[: count * self.padded].reshape(count, self.padded)
        q, v = rows[:, : model.nq].copy(), rows[:, self.v_start : self.v_start + model.nv].copy()
        return self.times[:count], unit_quaternions(model, q), v

    def works_done(self) -> Array:
        """Works of the force elements, of the drives and of the given efforts, at the samples so far."""
        rows = self.out[: self.count("sample") * self.padded].reshape(-1, self.padded)
        return rows[:, self.w_start : self.w_start + self.works].copy()

    def state(self) -> tuple[Array, Array]:
        """q and v at the last accepted step."""
        model = self.plan.model
        return self.y[: model.nq].copy(), self.y[self.v_start : self.v_start + model.nv].copy()

    @property
    def stiff(self) -> bool:
        """Whether steps have become short for stability alone (machine.steps.stiffness)."""
        return bool(np.isfinite(self.real("stiff_time")))

    def fastest(self) -> str:
        """Name of the velocity whose rate the last two stages of a step, both at its end, disagree about most."""
        model = self.plan.model
        last, before = (self.k[(self.stages - j) * self.padded :][self.v_start : self.v_start + model.nv] for j in (1, 2))
        return str(model.v_names[int(np.argmax(np.abs(last - before)))])

    def worst(self) -> str:
        """Name of the coordinate that spoiled the last step: the first that is not finite, or has the largest error."""
        model = self.plan.model
        speed = "p" if "p" in self.called["kernel"].inputs else "v"
        names = [*(f"q of {name}" for name in model.q_names), *(f"{speed} of {name}" for name in model.v_names)]
        places = [*range(model.nq), *range(self.v_start, self.v_start + model.nv)]
        stages = self.k[: self.stages * self.padded].reshape(self.stages, self.padded)[:, places]
        bad = np.flatnonzero(~np.isfinite(stages).all(axis=0) | ~np.isfinite(self.new[places]))
        if len(bad):
            return names[bad[0]]
        weights = np.array(self.method.error or self.method.b)
        return names[int(np.argmax(np.abs(weights @ stages[: len(weights)])))]
