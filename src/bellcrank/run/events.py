"""Events: something crosses a value during a run, which marks the time or stops the run.

A run with events holds after every step that the error control accepted. The watched quantity is looked at in a few places
of the step; where it has changed sides, its crossing is found on the dense output, by bisection down to rounding. Two
crossings between two of these places cancel and are not seen.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import StateError
from ..model import Model
from ..results.crossing import Crossing

Array = NDArray[np.float64]
Watch = Callable[[float, Array, Array], float]

_HALVINGS = 50
_PLACES = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Event:
    """``of`` crosses ``value``.

    of         name of a coordinate ("elbow"), of a velocity ("elbow.v", "base.vx"), of a measure ("tip.x"; evaluated in Python,
               some milliseconds a step), or a function of t, q, v
    direction  "up", "down" or "both"
    then       "stop" ends the run there, "mark" notes the time and goes on
    """

    of: str | Watch
    value: float = 0.0
    direction: Literal["up", "down", "both"] = "both"
    then: Literal["stop", "mark"] = "stop"
    name: str | None = None

    @property
    def title(self) -> str:
        return self.name or f"{self.of if isinstance(self.of, str) else 'the given function'} crosses {self.value:g}"


class Watcher:
    """Looks at the steps of a run."""

    def __init__(self, model: Model, events: Sequence[Event]):
        if isinstance(events, Event) or not all(isinstance(event, Event) for event in events):
            raise StateError(f"events must be a list of Event; it is {events!r}")
        for event in events:
            if not (isinstance(event.value, int | float) and np.isfinite(event.value)):
                raise StateError(f"event {event.of!r}: its value must be a finite number; it is {event.value!r}")
            if event.direction not in ("up", "down", "both") or event.then not in ("stop", "mark"):
                raise StateError(f"event {event.title!r}: direction is up, down or both, and then is stop or mark")
        self.events = list(events)
        self.functions = [_function(model, event) for event in events]
        self.crossings: list[Crossing] = []
        self.stopped: Crossing | None = None

    def look(self, t: float, h: float, inside: Callable[[float], tuple[Array, Array]]) -> Crossing | None:
        """Note what happens in a step from t to t + h; returns the crossing at which the run is to stop, if there is one."""
        self.forget_after(t)
        found = []
        for event, function in zip(self.events, self.functions, strict=True):
            x = _crossing(event, lambda x, f=function: f(t + x * h, *inside(x)))  # type: ignore[misc]
            if x is not None:
                found.append((x, event))
        for x, event in sorted(found, key=lambda pair: pair[0]):
            crossing = Crossing(event.title, t + x * h, *inside(x))
            self.crossings.append(crossing)
            if event.then == "stop":
                return crossing
        return None

    def forget_after(self, t: float) -> None:
        """A step that went over a singular position was taken back after it had been looked at."""
        self.crossings = [crossing for crossing in self.crossings if crossing.time <= t]
        if self.stopped is not None and self.stopped.time > t:
            self.stopped = None


def _crossing(event: Event, at: Callable[[float], float]) -> float | None:
    """Where in the step, 0 to 1, the quantity first crosses its value in the wanted direction; just after it, to rounding."""
    low, before = 0.0, at(0.0) - event.value
    for high in _PLACES:
        after = at(high) - event.value
        up, down = before < 0 <= after, before > 0 >= after
        if (up and event.direction != "down") or (down and event.direction != "up"):
            return _bisect(lambda x: at(x) - event.value, low, high, before < 0)
        low, before = high, after
    return None


def _bisect(g: Callable[[float], float], low: float, high: float, negative: bool) -> float:
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        value = g(middle)
        if value != 0 and (value < 0) == negative:
            low = middle
        else:
            high = middle
    return high


def _function(model: Model, event: Event) -> Watch:
    if not isinstance(event.of, str):
        return event.of
    if event.of in model.q_names:
        k = model.q_names.index(event.of)
        return lambda t, q, v: float(q[k])
    from ..results.labels import Labels

    velocities: dict[str, int] = {f"{name}.v" if "." not in name else name: k for k, name in enumerate(model.v_names)}
    velocities |= {f"{name}.v": k for k, name in enumerate(model.v_names)}
    if event.of in velocities:
        k = velocities[event.of]
        return lambda t, q, v: float(v[k])
    measures = Labels.of(model).measures
    if event.of in measures:
        return _measure(model, measures.index(event.of))
    near = difflib.get_close_matches(event.of, [*model.q_names, *velocities, *measures], n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise StateError(f"an event watches {event.of!r}, which is no coordinate, velocity or measure of {model.name!r}{hint}")


def _measure(model: Model, column: int) -> Watch:
    """A measure of one state, as a run of one sample has it."""
    from ..results import Run

    def value(t: float, q: Array, v: Array) -> float:
        sample = Run(model, np.array([t]), q[None], v[None], np.zeros((1, model.nv)), {})
        return float(sample.values("measures")[0, column])

    return value
