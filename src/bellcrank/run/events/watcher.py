"""Looks at every step of a run for events.

A run with events holds after every step that the error control accepted, or that a method of fixed step has taken. All
crossings of a watched quantity in the step are found on its dense output (roots.py), and narrowed down to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError
from ...extremes import is_finite_number
from ...model.spec.problems import brief
from ...results.crossing import Crossing
from .event import Event, EventInputs, watched
from .roots import crossings

Array = NDArray[np.float64]
Inside = Callable[[Array], tuple[Array, Array]]  # rows of q and v at places of a step, 0 to 1


def must_be_events(events: Sequence[Event]) -> Sequence[Event]:
    if not isinstance(events, Iterable) or not all(isinstance(event, Event) for event in events):
        raise StateError(f"events must be a list of Event; it is {events!r}")
    return list(events)


class Watcher:
    """``on_value``: names of events that ended the run before this one, at the time and in the state at which it begins."""

    def __init__(self, around: EventInputs, events: Sequence[Event], on_value: Collection[str] = (), first_time: float = 0.0):
        for event in must_be_events(events):
            if not is_finite_number(event.value):
                raise StateError(f"event {event.of!r}: its value must be a finite number; it is {brief(event.value)}")
            if event.direction not in ("up", "down", "both") or event.then not in ("stop", "mark"):
                raise StateError(f"event {event.title!r}: direction is up, down or both, and then is stop or mark")
        self.events = list(events)
        self.around, self.functions = around, [watched(around, event) for event in events]
        self.on_value, self.first_time = on_value, first_time
        self.crossings: list[Crossing] = []
        self.stopped: Crossing | None = None

    def look(self, t: float, h: float, inside: Inside) -> Crossing | None:
        """Note what happens in a step from t to t + h; returns the crossing at which the run is to stop, if there is one."""
        self.forget_after(t)
        found = []
        for event, function in zip(self.events, self.functions, strict=True):

            def quantity(x: Array, event: Event = event, function: Callable[..., Array] = function) -> Array:
                return np.asarray(function(t + x * h, *inside(x))) - event.value

            up, down = event.direction != "down", event.direction != "up"
            begins = t == self.first_time and event.title in self.on_value
            found += [(x, event) for x in crossings(quantity, up=up, down=down, on_value=begins)]
        for x, event in sorted(found, key=lambda pair: pair[0]):
            q, v = inside(np.array([x]))
            crossing = Crossing(event.title, t + x * h, q[0], v[0])
            self.crossings.append(crossing)
            if event.then == "stop":
                return crossing
        return None

    def forget_after(self, t: float) -> None:
        """A step that went over a singular position was taken back after it had been looked at."""
        self.crossings = [crossing for crossing in self.crossings if crossing.time <= t]
        if self.stopped is not None and self.stopped.time > t:
            self.stopped = None
