"""Values and derivatives of outputs, taken from a run with its derivatives: at times, at events, over time.

At an event, g(q, v, t, p) = value, its time moves with the design, and what is taken there moves along:

    dt = -dg/g',   d(x at the event) = dx + x' dt

The largest value of a smooth x is where x' = 0 (peaks), so that a change of that time does not matter: d max = dx there.
Integrals are sums over Gauss' three points in every interval of the samples, which are cut at times T(p) where a force jumps,
be they known beforehand (jumps.timed) or those of passages (jumps.passing):

    d integral(x) = integral(dx) + (x- - x+) dT
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import MissedEventError, StateError
from ..model import Model
from ..model.parameters.expressions import derived
from ..numbers import Dual
from ..run import Event
from .history import History, is_state
from .jumps.passing import PLACES, Passage, by_passages
from .jumps.timed import TimedJump
from .outcome import OutputValue
from .output_names import Output
from .peaks import Peaks
from .regular import quietly, root_mean_square

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
    jumps: Sequence[tuple[int, TimedJump]] = ()  # at which integrals are cut
    passages: Sequence[NDArray[np.intp]] = ()  # samples beside those at which they are cut

    def place(self, time: float) -> int:
        return int(np.argmin(np.abs(self.times - time)))


def moments(
    wanted: Sequence[Output],
    grid: Array,
    first: Run | None = None,
    peaks: Peaks | None = None,
    jumps: Sequence[TimedJump] = (),
    passages: Sequence[Passage] = (),
    cuts: Sequence[float] | Array = (),
) -> Moments:
    """``first``: a run without derivatives, where events or extremes are asked for; ``peaks``: its extremes.

    ``jumps``, ``passages``, ``cuts``: times inside the run at which integrals are cut.
    """
    close = TOGETHER * float(np.diff(grid).min())
    known = _with(grid, [*(jump.time for jump in jumps), *cuts], close)
    edges = _with(known, [passage.time for passage in passages], close)
    lengths = np.diff(edges)
    nodes = (edges[:-1, None] + lengths[:, None] * GAUSS[0]).ravel()
    weights = (lengths[:, None] * GAUSS[1]).ravel()
    if not any(output.taken in INTEGRALS for output in wanted):
        nodes, weights = nodes[:0], weights[:0]
    crossings: dict[str, float] = {}
    for crossing in () if first is None else first.crossings:
        crossings.setdefault(crossing.event, crossing.time)
    extremes = [peaks.time_of(output) for output in wanted if peaks is not None and output.taken in EXTREMES]
    at = [output.time for output in wanted if output.time is not None]
    beside = np.array([passage.beside for passage in passages]).reshape(-1, len(PLACES))
    times = np.union1d(_with(known, nodes, close), beside)
    times = _with(times, [*crossings.values(), *extremes, *at], close)

    def places(wanted_times: Array) -> NDArray[np.intp]:
        return _nearest(times, np.asarray(wanted_times))

    events = {name: int(np.argmin(np.abs(times - x))) for name, x in crossings.items()}
    moved = [(int(np.argmin(np.abs(times - jump.time))), jump) for jump in jumps]
    return Moments(times, places(grid), places(nodes), weights, events, moved, [places(row) for row in beside])


def _with(times: Array, more: Sequence[float] | Array, close: float) -> Array:
    """Times and those that are not close to one of them."""
    added = np.asarray(more, dtype=np.float64)
    apart = added[np.abs(times[_nearest(times, added)] - added) > close]
    return np.unique(np.concatenate([times, apart]))


def _nearest(times: Array, wanted: Array) -> NDArray[np.intp]:
    """For each wanted time the place of the nearest of ``times``, which are in order."""
    after = np.clip(np.searchsorted(times, wanted), 1, max(1, len(times) - 1))
    return np.asarray(after - (wanted - times[after - 1] <= times[after] - wanted), dtype=np.intp)


class _Series:
    """Formulas over measures at all moments: values, derivatives by parameters, rates."""

    def __init__(self, wanted: Sequence[Output], history: History, more: Sequence[str]):
        names = list(dict.fromkeys([*(name for output in wanted for name in output.measures), *more]))
        self.place = {name: k for k, name in enumerate(names)}
        self.count = history.dq.shape[-1]
        if names:
            self.values, self.along, self.units = history.measured(names)
            at_events = bool(more) or any(output.taken == "event" for output in wanted)
            self.rates = history.rates(names) if at_events else np.full(self.values.shape, np.nan)

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
            with quietly():
                x = program.run(given)
            rows.append([x.value, *x.tangents] if isinstance(x, Dual) else [x] + [0.0] * (self.count + 1))
        found = np.array(rows, dtype=float)
        return found[:, 0], found[:, 1:-1], found[:, -1]

    def unit(self, text: str) -> str:
        return self.units[self.place[text]] if text in self.place else ""


def taken(
    model: Model, wanted: Sequence[Output], events: Sequence[Event], history: History, when: Moments
) -> dict[str, OutputValue]:
    watched = {event.title: str(event.of) for event in events}
    needed = {output.event for output in wanted if output.event}
    of_measures = [watched[name] for name in needed if not is_state(model, watched[name])]
    series = _Series(wanted, history, of_measures)
    return {output.name: _taken(model, output, series, history, when, watched) for output in wanted}


def _taken(
    model: Model, output: Output, series: _Series, history: History, when: Moments, watched: dict[str, str]
) -> OutputValue:
    if output.taken in ("event", "event_time"):
        k, moved = _event(model, output, series, history, when, watched)
        if output.taken == "event_time":
            return OutputValue(np.array(when.times[k]), moved, "s", float(when.times[k]))
        value, along, rate = series.of(output.of)
        if not np.isfinite(rate[k]):
            raise StateError(f"output {output.name!r}: reactions at an event have no derivative here; take them at a time")
        return OutputValue(np.array(value[k]), along[k] + rate[k] * moved, series.unit(output.of), float(when.times[k]))
    value, along, _ = series.of(output.of)
    unit = series.unit(output.of)
    if output.taken == "series":
        return OutputValue(value[when.on_grid], along[when.on_grid], unit, None)
    if output.taken == "at":
        assert output.time is not None
        k = when.place(output.time)
        return OutputValue(np.array(value[k]), along[k], unit, float(when.times[k]))
    if output.taken in EXTREMES:
        k = int(np.argmax(value if output.taken == "max" else -value))
        return OutputValue(np.array(value[k]), along[k], unit, float(when.times[k]))
    found = _over_time(output, value[when.nodes], along[when.nodes], when, unit)
    moved = by_moved_times(output, float(found.value), history, when)
    for places, weights in by_passages(value, history, when.passages, steps_of(output, float(found.value), when)):
        moved = moved + np.einsum("kv,kvp->p", weights, history.dv[places])
    return found._replace(along=found.along + moved)


def steps_of(output: Output, value: float, when: Moments) -> Callable[[float, float], float]:
    """What an integral changes by as a time moves at which its integrand jumps, from ``left`` to ``right``."""
    span = 1.0 if output.taken == "integral" else float(when.weights.sum())

    def step(left: float, right: float) -> float:
        if output.taken == "rms":
            return (left**2 - right**2) / (2 * value * span) if value else 0.0
        return (left - right) / span

    return step


def by_moved_times(output: Output, value: float, history: History, when: Moments) -> Array:
    """What integrals gain as the known times move at which their integrand jumps, (parameters,)."""
    found, program, step = np.zeros(len(history.sizes)), derived(output.of), steps_of(output, value, when)
    names = list(program.names)
    for k, jump in when.jumps:
        left, right = (float(program.run(dict(zip(names, row, strict=True)))) for row in history.sides(names, k))
        found += step(left, right) * jump.along
    return found


def _over_time(output: Output, value: Array, along: Array, when: Moments, unit: str) -> OutputValue:
    weights, span = when.weights, float(when.weights.sum())
    if output.taken == "integral":
        return OutputValue(np.array(weights @ value), weights @ along, f"{unit} s".strip(), None)
    if output.taken == "mean":
        return OutputValue(np.array(weights @ value / span), weights @ along / span, unit, None)
    rms, slopes = root_mean_square(output.name, weights / span, value, along)
    return OutputValue(rms, slopes, unit, None)


def _event(
    model: Model, output: Output, series: _Series, history: History, when: Moments, watched: dict[str, str]
) -> tuple[int, Array]:
    """Where the event is, and how its time moves with the parameters."""
    if output.event not in when.events:
        raise MissedEventError(f"output {output.name!r}: the event {output.event!r} does not happen in this run")
    k, of = when.events[output.event], watched[output.event]
    if is_state(model, of):
        along, rate = history.along_state(of, k), history.rate_of_state(of, k)
    else:
        _, alongs, rates = series.of(of)
        along, rate = alongs[k], float(rates[k])
    if not abs(rate) > 0:
        raise MissedEventError(f"the event {output.event!r} is touched, not crossed: its time has no derivative")
    return k, -along / rate
