"""Events: something crosses a value during a run, which marks the time or stops the run.

A run with events holds after every step that the error control accepted. Where the watched quantity has changed sides, its
crossing is found inside the step, on the dense output, by bisection down to rounding.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import StateError
from .model import Model

Array = NDArray[np.float64]
Watch = Callable[[float, Array, Array], float]

_HALVINGS = 60


@dataclass(frozen=True)
class Event:
    """``of`` crosses ``value``.

    of         name of a coordinate ("elbow"), of a velocity ("elbow.v", "base.vx"), or a function of t, q, v
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


@dataclass(frozen=True)
class Crossing:
    """An event that happened."""

    event: str
    time: float
    q: Array
    v: Array


class Watcher:
    """Looks at the steps of a run."""

    def __init__(self, model: Model, events: Sequence[Event]):
        for event in events:
            if event.direction not in ("up", "down", "both") or event.then not in ("stop", "mark"):
                raise StateError(f"event {event.title!r}: direction is up, down or both, and then is stop or mark")
        self.events = list(events)
        self.functions = [_function(model, event) for event in events]
        self.crossings: list[Crossing] = []
        self.stopped: Crossing | None = None

    def look(self, t: float, h: float, inside: Callable[[float], tuple[Array, Array]]) -> Crossing | None:
        """Note what happens in a step from t to t + h; returns the crossing at which the run is to stop, if there is one."""
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


def _crossing(event: Event, at: Callable[[float], float]) -> float | None:
    """Where in the step, 0 to 1, the quantity crosses its value in the wanted direction; just after it, to rounding."""
    before, after = at(0.0) - event.value, at(1.0) - event.value
    up, down = before < 0 <= after, before > 0 >= after
    if not ((up and event.direction != "down") or (down and event.direction != "up")):
        return None
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if (at(middle) - event.value < 0) == (before < 0) and at(middle) != event.value:
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
    velocities: dict[str, int] = {f"{name}.v" if "." not in name else name: k for k, name in enumerate(model.v_names)}
    velocities |= {f"{name}.v": k for k, name in enumerate(model.v_names)}
    if event.of in velocities:
        k = velocities[event.of]
        return lambda t, q, v: float(v[k])
    known: list[Any] = [*model.q_names, *velocities]
    near = difflib.get_close_matches(event.of, known, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise StateError(f"an event watches {event.of!r}, which is no coordinate or velocity of {model.name!r}{hint}")
