"""Outputs of many runs, from samples: measures at all times, and what is taken of them.

Times are those of the sensitivities (studies.taking): the samples, Gauss' points where something is integrated, and times that
outputs name. The largest value is that of a parabola through the largest sample and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...dynamics.quantities.loops import multipliers
from ...dynamics.quantities.measures import Measuring, measure_units, measuring
from ...errors import StateError
from ...model import Model
from ..output_names import Output
from ..taking import EXTREMES, INTEGRALS, TOGETHER, Moments

if TYPE_CHECKING:
    from ...results import Run

Array = NDArray[np.float64]


def name_of(formula: str) -> str:
    """What the machine code of measures calls a formula, or a measure alone."""
    text = formula.strip()
    return text if text.replace(".", "").replace("_", "").isalnum() else f"={text}"


class NotInLanes(Exception):
    """Something that runs have to be taken one at a time for."""


class Measured:
    """The measures that outputs need, for lanes of designs."""

    def __init__(self, dynamics: Dynamics, outputs: Sequence[Output]):
        self.dynamics = dynamics
        self.names = list(dict.fromkeys(name_of(output.of) for output in outputs if output.of))
        self.code: Measuring | None = measuring(dynamics, self.names) if self.names else None
        if self.code is not None and self.code.pushed and _redundant(dynamics):
            raise NotInLanes("loops with redundant equations: their reactions are those of least norm, found state by state")

    @property
    def unit(self) -> dict[str, str]:
        return dict(zip(self.names, self.code.units if self.code else (), strict=True))

    def columns(self, rows: dict[str, Array], at: Callable[[], Dynamics], p: Array, every: int) -> dict[str, Array]:
        """By name (states,); ``rows``: q, v, tau, u and t, (states, ...); ``p``: designs, each of ``every`` states, and ``at``
        their dynamics."""
        code = self.code
        if code is None:
            return {}
        given: dict[str, Any] = {name: rows[name] for name in ("q", "v", "tau")}
        t, inputs = rows["t"][:, 0], rows["u"]
        if code.moving:
            given["a"] = at().evaluate(self.dynamics.program, given, t, inputs) if self.dynamics.model.nv else rows["v"]
        if code.pushed:
            given["lambda"] = multipliers(at(), rows["q"], rows["v"], rows["tau"], t=t, inputs=inputs)
        design = self.dynamics.planned.design
        assert design is not None
        evaluation = code.evaluation.in_lanes().at_designs(design.rows(p, code.evaluation.plan)[0], every)
        arrays = {name: given[name] for name in code.program.inputs if name in given}
        found = evaluation.evaluate(code.program, arrays, t, inputs)[:, code.columns]
        return dict(zip(self.names, np.ascontiguousarray(found.T), strict=True))


def _redundant(dynamics: Dynamics) -> bool:
    nodes = dynamics.plan.nodes
    return nodes is not None and nodes.rank < dynamics.equations


def looked_at(outputs: Sequence[Output], when: Moments) -> NDArray[np.intp]:
    """Which of the times the outputs are taken from."""
    if any(output.taken in ("series", *EXTREMES) for output in outputs):
        return np.arange(len(when.times))
    nodes = when.nodes if any(output.taken in INTEGRALS for output in outputs) else when.nodes[:0]
    at = [when.place(output.time) for output in outputs if output.time is not None]
    return np.union1d(nodes, np.array(at, dtype=np.intp))


def only(when: Moments, places: NDArray[np.intp]) -> Moments:
    """At these of the times alone."""
    grid, nodes = (np.isin(x, places) for x in (when.on_grid, when.nodes))
    on_grid, of_nodes = (np.searchsorted(places, x) for x in (when.on_grid[grid], when.nodes[nodes]))
    return Moments(when.times[places], on_grid, of_nodes, when.weights[nodes])


def taken_of(output: Output, x: Array, when: Moments) -> Array:
    """Of each run, (runs,) or (runs, samples); ``x`` (runs, times)."""
    if output.taken == "series":
        return x[:, when.on_grid]
    if output.taken == "at":
        assert output.time is not None
        return x[:, when.place(output.time)]
    if output.taken in EXTREMES:
        sign = 1.0 if output.taken == "max" else -1.0
        return sign * _largest(when.times, sign * x)
    span, inside = float(when.weights.sum()), np.take(x, when.nodes, axis=1)
    if output.taken == "rms":
        return np.sqrt(_weighted(inside**2, when.weights) / span)
    return _weighted(inside, when.weights) / (span if output.taken == "mean" else 1.0)


def _weighted(x: Array, weights: Array) -> Array:
    """Sums over each row in one order, however many rows there are: numpy.einsum takes a single row in another."""
    return np.asarray(np.sum(np.ascontiguousarray(x) * weights, axis=1))


def _largest(t: Array, x: Array) -> Array:
    """The top of the parabola through the largest sample and its neighbours; at an end, or at a corner, the sample."""
    if x.shape[1] < 3:
        return np.asarray(x.max(axis=1))
    k = np.argmax(np.where(np.isfinite(x), x, -np.inf), axis=1)
    inner = np.clip(k, 1, x.shape[1] - 2)
    rows = np.arange(len(x))
    a, b, c = x[rows, inner - 1], x[rows, inner], x[rows, inner + 1]
    left, right = t[inner - 1] - t[inner], t[inner + 1] - t[inner]
    with np.errstate(all="ignore"):
        slope_left, slope_right = (a - b) / left, (c - b) / right
        bend = (slope_right - slope_left) / (right - left)
        slope = slope_left - bend * left
        top = b - slope**2 / (4 * bend)
        near = (bend < 0) & (k == inner) & (np.abs(slope / (2 * bend)) <= np.maximum(-left, right))
    found = np.where(near, top, x[rows, k])
    return np.where(np.isfinite(x).all(axis=1), found, np.nan)


def units_of_outputs(model: Model, outputs: Mapping[str, Output]) -> dict[str, str]:
    """Units of outputs by their names; "" where one is not known."""
    measures = {name: name_of(output.of) for name, output in outputs.items() if output.of}
    names = list(dict.fromkeys(measures.values()))
    known = dict(zip(names, measure_units(Dynamics(model, optimisation=0), names) if names else (), strict=True))
    found = {}
    for name, output in outputs.items():
        unit = "s" if output.taken == "event_time" else known[measures[name]]
        found[name] = f"{unit} s".strip() if output.taken == "integral" else unit
    return found


def between_samples(output: Output, times: Array) -> bool:
    """Whether it is taken at a time at which there is no sample."""
    return output.time is not None and _sample_at(times, output.time) is None


def _sample_at(times: Array, time: float) -> int | None:
    k = int(np.argmin(np.abs(times - time)))
    return k if abs(times[k] - time) <= TOGETHER * (times[1] - times[0] if len(times) > 1 else 1.0) else None


class OfRun:
    """The same of one run, which may have been ended by an event: integrals by Simpson's rule over its samples.

    ``times``: of the samples that were asked for. ``until``: makes the same run ended at a time between two of them, whose last
    sample has all that acts there, inputs and friction included.
    """

    def __init__(self, run: Run, times: Array, until: Callable[[float], Run]):
        self.run, self.times, self.until = run, times, until
        self.when = samples_only(run.values("time"))

    def values(self, outputs: Mapping[str, Output], arrived: bool) -> dict[str, Any]:
        """Raises StateError for an event that does not happen, or a time that is not reached."""
        found: dict[str, Any] = {}
        for name, output in outputs.items():
            if output.event:
                found[name] = self._at_event(output)
            elif output.taken == "series":
                found[name] = self.on_grid(self._measured(self.run, output))
            elif output.taken == "at" and arrived:
                found[name] = self._at(output, self._time(output))
            elif arrived and len(self.when.times) > 1:
                found[name] = taken_of(output, self._measured(self.run, output)[None], self.when)[0]
        return found

    def on_grid(self, x: Array) -> Array:
        """Samples at the times that were asked for, not numbers where the run did not come so far; its end may lie between."""
        t, found = self.when.times, np.full((len(self.times), *x.shape[1:]), np.nan)
        reached = len(t) - (_sample_at(self.times, t[-1]) is None)
        found[:reached] = x[:reached]
        return found

    def _measured(self, run: Run, output: Output) -> Array:
        return np.asarray(run.measure(name_of(output.of)).values, dtype=np.float64).reshape(len(run.values("time")))

    def _time(self, output: Output) -> float:
        """At which it is taken; "@end" is where the run ended."""
        assert output.time is not None
        last = float(self.when.times[-1])
        if output.name.rpartition("@")[2].strip() == "end":
            return last
        if output.time > last and _sample_at(self.when.times, output.time) is None:
            raise StateError(f"output {output.name!r}: an event ended this run before, at t = {last:.9g} s")
        return output.time

    def _at(self, output: Output, time: float) -> float:
        sample = _sample_at(self.when.times, time)
        if sample is None:
            return float(self._measured(self.until(time), output)[-1])
        return float(self._measured(self.run, output)[sample])

    def _at_event(self, output: Output) -> float:
        crossing = next((x for x in self.run.crossings if x.event == output.event), None)
        if crossing is None:
            raise StateError(f"output {output.name!r}: the event {output.event!r} does not happen in this run")
        time = float(crossing.time)
        return time if output.taken == "event_time" else self._at(output, time)


def samples_only(times: Array) -> Moments:
    """Where nothing is known between samples: integrals by Simpson's rule.

    It takes pairs of equal intervals. An odd one that is left over, and a shorter one at the end, is integrated along the
    parabola through its ends and the sample before it.
    """
    lengths = np.diff(times)
    equal = np.isclose(lengths, lengths[:1], rtol=1e-9, atol=0.0)
    paired = int(np.argmin(equal)) if not equal.all() else len(lengths)
    paired -= paired % 2
    weights = np.zeros(len(times))
    for first, factor in ((0, 1.0), (1, 4.0), (2, 1.0)):  # of pairs of intervals
        weights[first : paired + first - 1 : 2] += factor * lengths[:1] / 3 if paired else 0.0
    for k in range(paired, len(lengths)):
        h = lengths[k]
        if k == 0:
            weights[:2] += h / 2
            continue
        g = lengths[k - 1]
        along = (-(h**2) / (6 * g * (g + h)), (h + 3 * g) / (6 * g), (2 * h + 3 * g) / (6 * (g + h)))
        weights[k - 1 : k + 2] += h * np.array(along)
    places = np.arange(len(times))
    return Moments(times, places, places, weights)
