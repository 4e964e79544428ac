"""What outputs are, of a run with its derivatives: at times, at events, over time.

At an event, g(q, v, t, p) = value, its time moves with the design, and what is taken there moves along:

    dt = -dg/g',   d(x at the event) = dx + x' dt

The largest value of a smooth x is where x' = 0, so that a change of that time does not matter: d max = dx there. Integrals are
sums over Gauss' three points in every interval of the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import StateError
from ..model import Model
from ..model.parameters.expressions import derived
from ..numbers import Dual
from ..run import Event
from .history import History, is_state
from .outcome import Found
from .output_names import Output

if TYPE_CHECKING:
    from ..results import Run

Array = NDArray[np.float64]

GAUSS = (np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)]), np.array([5.0, 8.0, 5.0]) / 18)
INTEGRALS, EXTREMES = ("rms", "mean", "integral"), ("max", "min")
TOGETHER = 1e-9  # of an interval of the samples: times that are the same


@dataclass(frozen=True)
class Moments:
    """Times at which a run is looked at: samples, and what outputs need besides."""

    times: Array
    on_grid: NDArray[np.intp]
    nodes: NDArray[np.intp]  # of Gauss' rule
    weights: Array
    events: dict[str, int] = field(default_factory=dict)  # where the first crossing is

    def place(self, time: float) -> int:
        return int(np.argmin(np.abs(self.times - time)))


def moments(dyn: Dynamics, wanted: Sequence[Output], grid: Array, first: Run | None) -> Moments:
    """``first``: a run without derivatives, where events or extremes are asked for."""
    lengths = np.diff(grid)
    nodes = (grid[:-1, None] + lengths[:, None] * GAUSS[0]).ravel()
    weights = (lengths[:, None] * GAUSS[1]).ravel()
    if not any(output.taken in INTEGRALS for output in wanted):
        nodes, weights = nodes[:0], weights[:0]
    crossings: dict[str, float] = {}
    for crossing in () if first is None else first.crossings:
        crossings.setdefault(crossing.event, crossing.time)
    extremes = [_near_extreme(dyn, output, first) for output in wanted if first is not None and output.taken in EXTREMES]
    at = [output.time for output in wanted if output.time is not None]
    close = TOGETHER * float(lengths.min())
    times = grid
    for extra in (nodes, np.array([*crossings.values(), *extremes, *at])):
        apart = np.array([np.abs(times - x).min() > close for x in extra], dtype=bool)
        times = np.unique(np.concatenate([times, extra[apart] if len(extra) else extra]))

    def places(wanted_times: Array) -> NDArray[np.intp]:
        return np.array([np.argmin(np.abs(times - x)) for x in wanted_times], dtype=np.intp)

    events = {name: int(np.argmin(np.abs(times - x))) for name, x in crossings.items()}
    return Moments(times, places(grid), places(nodes), weights, events)


def _near_extreme(dyn: Dynamics, output: Output, run: Run) -> float:
    """When the largest value is taken, by a parabola through the largest sample and its neighbours."""
    t, x = run.values("time"), _plain(dyn, output, run)
    x = -x if output.taken == "min" else x
    k = int(np.nanargmax(x))
    if k in (0, len(t) - 1):
        return float(t[k])
    h = float(t[k] - t[k - 1])
    bend = x[k - 1] - 2 * x[k] + x[k + 1]
    return float(t[k] + 0.5 * h * (x[k - 1] - x[k + 1]) / bend) if bend < 0 else float(t[k])


def _plain(dyn: Dynamics, output: Output, run: Run) -> Array:
    """Values of an output's formula at the samples of a run."""
    program = derived(output.of)
    state = {name: run.values(name) for name in ("q", "v", "a")}
    columns = dyn.measures(**state, t=run.values("time"), names=list(program.names))
    return np.array([float(program.run(dict(zip(program.names, row, strict=True)))) for row in columns])


class _Series:
    """Formulas over measures at all moments: values, derivatives by parameters, rates."""

    def __init__(self, wanted: Sequence[Output], history: History, more: Sequence[str]):
        names = list(dict.fromkeys([*(name for output in wanted for name in output.measures), *more]))
        self.place = {name: k for k, name in enumerate(names)}
        self.count = history.dq.shape[-1]
        if names:
            self.values, self.along, self.rates, self.units = history.measured(names)

    def of(self, text: str) -> tuple[Array, Array, Array]:
        """(T,), (T, parameters), (T,)"""
        program = derived(text)
        if program.names == (text,) or list(program.names) == [text]:
            k = self.place[text]
            return self.values[:, k], self.along[:, k], self.rates[:, k]
        columns = [self.place[name] for name in program.names]
        rows = []
        for value, along, rate in zip(self.values, self.along, self.rates, strict=True):
            given = {name: Dual(value[k], (*along[k], rate[k])) for name, k in zip(program.names, columns, strict=True)}
            x = program.run(given)
            rows.append([x.value, *x.tangents] if isinstance(x, Dual) else [x] + [0.0] * (self.count + 1))
        found = np.array(rows, dtype=float)
        return found[:, 0], found[:, 1:-1], found[:, -1]

    def unit(self, text: str) -> str:
        return self.units[self.place[text]] if text in self.place else ""


def taken(model: Model, wanted: Sequence[Output], events: Sequence[Event], history: History, when: Moments) -> dict[str, Found]:
    watched = {event.title: str(event.of) for event in events}
    needed = {output.event for output in wanted if output.event}
    of_measures = [watched[name] for name in needed if not is_state(model, watched[name])]
    series = _Series(wanted, history, of_measures)
    return {output.name: _taken(model, output, series, history, when, watched) for output in wanted}


def _taken(model: Model, output: Output, series: _Series, history: History, when: Moments, watched: dict[str, str]) -> Found:
    if output.taken in ("event", "event_time"):
        k, moved = _event(model, output, series, history, when, watched)
        if output.taken == "event_time":
            return Found(np.array(when.times[k]), moved, "s", float(when.times[k]))
        value, along, rate = series.of(output.of)
        if not np.isfinite(rate[k]):
            raise StateError(f"output {output.name!r}: reactions at an event have no derivative here; take them at a time")
        return Found(np.array(value[k]), along[k] + rate[k] * moved, series.unit(output.of), float(when.times[k]))
    value, along, _ = series.of(output.of)
    unit = series.unit(output.of)
    if output.taken == "series":
        return Found(value[when.on_grid], along[when.on_grid], unit, None)
    if output.taken == "at":
        assert output.time is not None
        k = when.place(output.time)
        return Found(np.array(value[k]), along[k], unit, float(when.times[k]))
    if output.taken in EXTREMES:
        k = int(np.argmax(value if output.taken == "max" else -value))
        return Found(np.array(value[k]), along[k], unit, float(when.times[k]))
    return _over_time(output, value[when.nodes], along[when.nodes], when, unit)


def _over_time(output: Output, value: Array, along: Array, when: Moments, unit: str) -> Found:
    weights, span = when.weights, float(when.weights.sum())
    if output.taken == "integral":
        return Found(np.array(weights @ value), weights @ along, f"{unit} s".strip(), None)
    if output.taken == "mean":
        return Found(np.array(weights @ value / span), weights @ along / span, unit, None)
    rms = np.sqrt(weights @ value**2 / span)
    slope = (weights * value) @ along / span
    return Found(np.array(rms), slope / rms if rms > 0 else np.full(along.shape[1], np.nan), unit, None)


def _event(
    model: Model, output: Output, series: _Series, history: History, when: Moments, watched: dict[str, str]
) -> tuple[int, Array]:
    """Where the event is, and how its time moves with the parameters."""
    if output.event not in when.events:
        raise StateError(f"output {output.name!r}: the event {output.event!r} does not happen in this run")
    k, of = when.events[output.event], watched[output.event]
    if is_state(model, of):
        along, rate = history.along_state(of, k), history.rate_of_state(of, k)
    else:
        _, alongs, rates = series.of(of)
        along, rate = alongs[k], float(rates[k])
    if not abs(rate) > 0:
        raise StateError(f"the event {output.event!r} is touched, not crossed: its time has no derivative")
    return k, -along / rate
