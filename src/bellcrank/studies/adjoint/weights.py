"""How outputs depend on the samples of a run: the weight of every measure, coordinate and velocity at every sample.

To first order an output is a weighted sum of these, d(output) = sum of weight * d(measure at a sample), whatever is taken of it
in time (studies.taking has the formulas): the weights are where the adjoint of a run starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...errors import MissedEventError, NoAdjointError, StateError
from ...model import Model
from ...model.parameters.expressions import derived
from ...numbers import Dual
from ..history import History, is_state, velocity_named
from ..jumps.passing import by_passages
from ..output_names import Output
from ..regular import quietly
from ..taking import EXTREMES, INTEGRALS, Moments, by_moved_times, steps_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WeightedOutput:
    """An output: its value, unit and time (OutputValue), and its weights: of measures (T, columns), of q and v (T, nq + nv)."""

    value: float
    unit: str
    time: float | None
    measures: Array
    states: Array
    moved: Array | float = 0.0  # by parameters, of times that they move (taking.by_moved_times)


class Curves:
    """Measures at all samples, and formulas over them."""

    def __init__(self, wanted: Sequence[Output], history: History, more: Sequence[str]):
        self.names = list(dict.fromkeys([*(name for output in wanted for name in output.measures), *more]))
        self.history = history
        self._place = {name: k for k, name in enumerate(self.names)}
        if self.names:
            self.values, self.units = history.values(self.names)

    @cached_property
    def rates(self) -> Array:
        return self.history.rates(self.names)

    def of(self, text: str) -> Array:
        """(T,)"""
        program = derived(text)
        columns = [self._place[name] for name in program.names]
        if text in self._place:
            return self.values[:, self._place[text]]
        rows = self.values[:, columns]
        with quietly():
            return np.array([float(program.run(dict(zip(program.names, row, strict=True)))) for row in rows])

    def partials(self, text: str, sample: int) -> Array:
        """Derivatives of a formula by all measures, (columns,), at a sample."""
        found = np.zeros(len(self.names))
        if text in self._place:
            found[self._place[text]] = 1.0
            return found
        program, row = derived(text), self.values[sample]
        columns = [self._place[name] for name in program.names]
        unit = np.eye(len(columns))
        given = {name: Dual(row[k], tuple(e)) for name, k, e in zip(program.names, columns, unit, strict=True)}
        with quietly():
            x = program.run(given)
        if isinstance(x, Dual):
            found[columns] = x.tangents
        return found

    def unit(self, text: str) -> str:
        return self.units[self._place[text]] if text in self._place else ""


def weighed(model: Model, output: Output, curves: Curves, when: Moments, watched: dict[str, str]) -> WeightedOutput:
    """The weights of one output; ``watched``: what events watch, by their names."""
    return _Weighing(model, output, curves, when, watched).done()


@dataclass
class _Weighing:
    model: Model
    output: Output
    curves: Curves
    when: Moments
    watched: dict[str, str]

    def __post_init__(self) -> None:
        samples = len(self.when.times)
        self.measures = np.zeros((samples, len(self.curves.names)))
        self.states = np.zeros((samples, self.model.nq + self.model.nv))

    def done(self) -> WeightedOutput:
        value, unit, time = self._event() if self.output.taken in ("event", "event_time") else self._taken()
        moved = self._moved(value) if self.output.taken in INTEGRALS else 0.0
        return WeightedOutput(value, unit, time, self.measures, self.states, moved)

    def _moved(self, value: float) -> Array:
        """What an integral gains as times move: by the parameters; where the state moves them, by that."""
        output, history, when, nq = self.output, self.curves.history, self.when, self.model.nq
        curve = self.curves.of(output.of)
        for places, weights in by_passages(curve, history, when.passages, steps_of(output, value, when)):
            self.states[places, nq:] += weights
        return by_moved_times(output, value, history, when)

    def add(self, text: str, sample: int, weight: float) -> None:
        """Adds the weights of a formula at a sample."""
        self.measures[sample] += weight * self.curves.partials(text, sample)

    def _taken(self) -> tuple[float, str, float | None]:
        output, when = self.output, self.when
        value, unit = self.curves.of(output.of), self.curves.unit(output.of)
        if output.taken not in ("at", *EXTREMES):
            return self._over_time(value[when.nodes], unit)
        if output.taken == "at":
            assert output.time is not None
            k = when.place(output.time)
        else:
            k = int(np.argmax(value if output.taken == "max" else -value))
        self.add(output.of, k, 1.0)
        return float(value[k]), unit, float(when.times[k])

    def _over_time(self, value: Array, unit: str) -> tuple[float, str, None]:
        weights, span, taken = self.when.weights, float(self.when.weights.sum()), self.output.taken
        if taken == "integral":
            found, unit, slopes = float(weights @ value), f"{unit} s".strip(), weights
        elif taken == "mean":
            found, slopes = float(weights @ value / span), weights / span
        else:
            found = float(np.sqrt(weights @ value**2 / span))
            if not found > 0:
                raise NoAdjointError(f"output {self.output.name!r} is zero and has a kink there: the adjoint has no derivative")
            slopes = weights * value / (span * found)
        for k, slope in zip(self.when.nodes, slopes, strict=True):
            self.add(self.output.of, int(k), float(slope))
        return found, unit, None

    def _event(self) -> tuple[float, str, float]:
        """dt = -dg/g', and of what is taken there d(x) = dx + x' dt."""
        output, when = self.output, self.when
        if output.event not in when.events:
            raise MissedEventError(f"output {output.name!r}: the event {output.event!r} does not happen in this run")
        k, of = when.events[output.event], self.watched[output.event]
        rate = self._rate(of, k)
        if not abs(rate) > 0:
            raise MissedEventError(f"the event {output.event!r} is touched, not crossed: its time has no derivative")
        time = float(when.times[k])
        if output.taken == "event_time":
            self._watch(of, k, -1.0 / rate)
            return time, "s", time
        own = self._rate(output.of, k)
        if not np.isfinite(own):
            raise StateError(f"output {output.name!r}: reactions at an event have no derivative here; take them at a time")
        self.add(output.of, k, 1.0)
        self._watch(of, k, -own / rate)
        return float(self.curves.of(output.of)[k]), self.curves.unit(output.of), time

    def _watch(self, of: str, k: int, weight: float) -> None:
        """Adds the weights of the quantity that an event watches."""
        if not is_state(self.model, of):
            self.add(of, k, weight)
            return
        velocity = velocity_named(self.model, of)
        place = self.model.q_names.index(of) if of in self.model.q_names else self.model.nq + (velocity or 0)
        self.states[k, place] += weight

    def _rate(self, of: str, k: int) -> float:
        """The rate of a coordinate, a velocity or a formula at a sample."""
        if is_state(self.model, of):
            return self.curves.history.rate_of_state(of, k)
        partials = self.curves.partials(of, k)
        read = partials != 0  # rates of reactions, which are not known, are asked for where they count
        return float(partials[read] @ self.curves.rates[k, read])
