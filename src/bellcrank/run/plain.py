"""The time loop in plain Python, for runs whose efforts or inputs are Python functions: controllers, experiments.

The same methods as in machine code, from the same coefficients; every evaluation calls the user's functions.
"""

from __future__ import annotations

import reprlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import StateError
from ..integrate import RungeKutta
from ..machine.steps.adaptive import DIVIDED
from ..plan.turns import FINE
from ..wording import argument, counted
from .loops.treatment import NO_LOOPS, Loops, doubt_long_steps
from .loops.watch import Watch, watch_from
from .stiffness import HairerTest, Pace, Stiff, Stiffness
from .system import FirstOrder, Outcome, Passage

Array = NDArray[np.float64]
Control = Callable[[float, Array, Array], Any]

_SHRINK, _GROW, _SAFETY = 0.2, 10.0, 0.9


class Controlled(FirstOrder):
    """The equations of motion with efforts and inputs that are functions of t, q, v."""

    def __init__(
        self, dynamics: Dynamics, start: dict[str, Array], tau: Control | None, inputs: Control | None, loops: Loops = NO_LOOPS
    ):
        super().__init__(dynamics, start, loops)
        self.control = {"tau": tau, "inputs": inputs}
        self.names = {"tau": dynamics.model.v_names, "inputs": dynamics.model.inputs}

    def slope(self, t: float, y: Array) -> Array:
        q, v = y[: self.model.nq].copy(), y[self.model.nq : self.state].copy()
        if self.control["tau"] is not None:
            self.tau = self._ask("tau", t, q, v)
        if self.control["inputs"] is not None:
            self.u = self._ask("inputs", t, q, v)
        return super().slope(t, y)

    def _ask(self, name: str, t: float, q: Array, v: Array) -> Array:
        function, names = self.control[name], self.names[name]
        assert function is not None
        given = function(t, q, v)
        try:
            found = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.empty(0)
        if found.shape != (len(names),) or isinstance(given, str | Mapping):
            what = f"an array of shape {found.shape}" if isinstance(given, np.ndarray) else reprlib.repr(given)
            order = f", in the order {', '.join(names[:6])}{', ...' if len(names) > 6 else ''}" if len(names) > 1 else ""
            raise StateError(
                f"the function for {name} returned {what} at t = {t:g} s; it must return "
                f"a list or an array of {counted(len(names), 'number')}{order}"
            )
        return found


def integrate_plainly(
    system: Controlled,
    scheme: RungeKutta,
    start: dict[str, Array],
    times: Array,
    first: float,
    rtol: float,
    atol: float,
    max_step: float | None,
    energy: float,
    progress: Callable[[float], None] | None = None,
    stiffness: Stiffness | None = None,
) -> Outcome:
    """From ``start`` at times[0] to times[-1] with samples at all times; a fixed step is ``first``, cut at the samples.

    A step that comes to a singular position is taken back, unless the run is to go on.
    """
    watch = watch_from(system.dynamics, system.loops, float(times[0]), start["q"])
    y = np.concatenate([start["q"], start["v"], np.zeros(system.works)])
    limits = min(first, max_step or np.inf), max_step or np.inf
    loop = _Loop(system, scheme, rtol, atol, float(times[0]), y, *limits, energy, watch)
    kept, problem = [y], None
    passages: list[Passage] = []
    try:
        while problem is None and len(kept) < len(times):
            until = float(times[-1] if scheme.adaptive else times[len(kept)])
            problem = loop.step(until)
            if stiffness is not None and loop.test.stiff:
                stiffness.notice(loop.stiff(), Pace(loop.t, loop.h, float(times[-1]), loop.cost()))
            met = watch.look(loop.t, loop.y[: system.model.nq]) if watch is not None and problem is None else None
            if met is not None and watch is not None and not system.loops.go_on and scheme.adaptive and loop.turn > FINE:
                watch.forget()
                loop.divide()
                continue
            if met is not None:
                passages.append(met)
                if not system.loops.go_on:
                    loop.take_back()
                    problem = met._replace(time=loop.t).problem(_go_on())
            while problem is None and len(kept) < len(times) and times[len(kept)] <= loop.t:
                kept.append(loop.at(float(times[len(kept)])))
            if progress is not None:
                progress(float((loop.t - times[0]) / (times[-1] - times[0])))
    except KeyboardInterrupt:
        problem = f"interrupted at t = {loop.t:.6g} s"
    if not scheme.adaptive:
        doubt_long_steps(scheme.name, loop.longest_turn)
    reached = times[: len(kept)]
    if problem is not None and loop.t > reached[-1]:
        reached, kept = np.append(reached, loop.t), [*kept, loop.y]
    return Outcome(reached, *system.parts(np.array(kept)), loop.counts, problem, tuple(passages))


class _Loop:
    """One state on its way through time."""

    def __init__(
        self,
        system: Controlled,
        scheme: RungeKutta,
        rtol: float,
        atol: float,
        t: float,
        y: Array,
        h: float,
        longest: float,
        energy: float,
        watch: Watch | None,
    ):
        self.watch, self.turn, self.longest_turn = watch, 0.0, 0.0
        self.system, self.scheme, self.rtol, self.atol, self.longest = system, scheme, rtol, atol, longest
        self.t, self.y, self.h = t, y, h
        self.energy = energy
        self.counts = {"steps": 0, "rejected": 0, "evaluations": 0}
        self.test, self.began = HairerTest(scheme), time.perf_counter()
        self.k = [self.slope(t, y)]

    def slope(self, t: float, y: Array) -> Array:
        self.counts["evaluations"] += 1
        return self.system.slope(t, y)

    def step(self, until: float) -> str | None:
        """One accepted step, not beyond ``until``; what went wrong, or None."""
        grow = _GROW
        while True:
            h = min(self.h, self.longest)
            h = until - self.t if self.t + 1.01 * h >= until else h
            k, new = self._trial(h)
            error = self._error(h, k, new)
            if error <= 1.0:
                break
            self.counts["rejected"] += 1
            grow = 1.0
            self.h = h * (max(_SHRINK, self._factor(error)) if np.isfinite(error) else _SHRINK)
            if self.h <= 4e-15 * max(abs(self.t), 1e-3 * until) or not self.scheme.adaptive:
                return self._problem(error)
        self._before = (self.t, self.y, h, k)
        self.test.look(h, [stage[: self.system.state] for stage in k])
        self.t = until if self.t + h >= until else self.t + h
        self.y = self.system.closed(self.t, self._unit(new))
        self.h = h * min(grow, self._factor(error)) if self.scheme.adaptive else self.h
        reused = self.scheme.adaptive and not self.system.model.closures  # a projection moves the state
        self.k = [k[-1] if reused else self.slope(self.t, self.y)]
        self.counts["steps"] += 1
        return None

    def stiff(self) -> Stiff:
        """What the test has found, at the last step."""
        k, model = self._before[3], self.system.model
        faster = np.abs(k[-1] - k[-2])[model.nq : self.system.state]
        return Stiff(self.t, self.test.rate, str(model.v_names[int(np.argmax(faster))]))

    def cost(self) -> float:
        """Seconds for each step, on the average."""
        return (time.perf_counter() - self.began) / (self.counts["steps"] + self.counts["rejected"])

    def take_back(self) -> None:
        """The last step, with its state."""
        self.t, self.y, _, _ = self._before

    def divide(self) -> None:
        """The last step is taken again in parts, since it went over a singular position."""
        self.t, self.y, h, k = self._before
        self.h, self.k = DIVIDED * h, k[:1]
        self.counts["rejected"] += 1

    def _trial(self, h: float) -> tuple[list[Array], Array]:
        scheme, k = self.scheme, list(self.k)
        for c, row in zip(scheme.c[1:], scheme.A[1:], strict=True):
            k.append(self.slope(self.t + c * h, self.y + h * _sum(row, k)))
        new = self.y + h * _sum(scheme.b, k)
        if scheme.adaptive:
            k.append(self.slope(self.t + h, new))
        return k, new

    def _error(self, h: float, k: list[Array], new: Array) -> float:
        size, nq = self.system.state, self.system.model.nq
        self.turn = 0.0 if self.watch is None else self.watch.turn(self.y[:nq], new[:nq])
        self.longest_turn = max(self.turn, self.longest_turn)
        if self.scheme.error is None:
            return 0.0 if np.isfinite(new[:size]).all() else np.inf
        norms = self._norm(h, k, new, slice(0, size)), self._norm(h, k, new, slice(size, None))
        return max(*norms, self.turn**self.scheme.order)

    def _norm(self, h: float, k: list[Array], new: Array, part: slice) -> float:
        assert self.scheme.error is not None
        energy = self.energy if part.stop is None else 0.0
        scale = self.atol + self.rtol * (np.maximum(np.abs(self.y[part]), np.abs(new[part])) + energy)
        size = len(scale)
        with np.errstate(all="ignore"):
            squares = float(np.sum((h * _sum(self.scheme.error, k)[part] / scale) ** 2))
            if self.scheme.error3 is None:
                return float(np.sqrt(squares / max(1, size)))
            lower = float(np.sum((h * _sum(self.scheme.error3, k)[part] / scale) ** 2))
            return squares / float(np.sqrt((squares + 0.01 * lower + 1e-300) * max(1, size)))

    def _factor(self, error: float) -> float:
        return float(_SAFETY * max(error, 1e-14) ** (-1.0 / self.scheme.order))

    def _unit(self, y: Array) -> Array:
        q, v, works = self.system.parts(y[None])
        return np.concatenate([q[0], v[0], works[0]])

    def at(self, time: float) -> Array:
        """The state at a time inside the last step, by dense output."""
        t, y, h, k = self._before
        if time >= self.t or not self.scheme.dense:
            return self.y
        if len(k) < len(self.scheme.dense):
            for c, row in self.scheme.extra:
                k.append(self.slope(t + c * h, y + h * _sum(row, k)))
        powers = ((time - t) / h) ** np.arange(1, len(self.scheme.dense[0]) + 1)
        return y + h * _sum(tuple(np.array(self.scheme.dense) @ powers), k)

    def _problem(self, error: float) -> str:
        where = f"stopped at t = {self.t:.9g} s: {self.system.worst(self.t, self.y)}"
        if not np.isfinite(error):
            return f"{where} is no longer a finite number. What was computed until then is kept."
        return (
            f"{where} changes too fast, {self.scheme.name} would need a step below {self.h:.2g} s. "
            "A function that jumps is a common reason: smooth it. What was computed until then is kept."
        )


def _go_on() -> str:
    through = f"Take this method through it with {argument('on_singular', 'warn')}"
    return f"{through}; rattle, which passes it well, takes no functions and no tables."


def _sum(weights: tuple[float, ...], k: list[Array]) -> Array:
    total = np.zeros_like(k[0])
    for weight, stage in zip(weights, k, strict=False):
        if weight != 0:
            total = total + weight * stage
    return total
