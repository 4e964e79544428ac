"""What an event watches: a coordinate, a velocity, a measure, or a function."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError
from ...model import Model

Array = NDArray[np.float64]
Watch = Callable[[float, Array, Array], float]

Rows = Callable[[Array, Array, Array], Array]  # of times and rows of q and v


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


def watched(model: Model, event: Event) -> Rows:
    """The quantity of an event, at several states."""
    if not isinstance(event.of, str):
        function = event.of
        return lambda t, q, v: np.array([float(function(*state)) for state in zip(t.tolist(), q, v, strict=True)])
    if event.of in model.q_names:
        k = model.q_names.index(event.of)
        return lambda t, q, v: q[:, k]
    from ...results.labels import Labels

    velocities: dict[str, int] = {f"{name}.v" if "." not in name else name: k for k, name in enumerate(model.v_names)}
    velocities |= {f"{name}.v": k for k, name in enumerate(model.v_names)}
    if event.of in velocities:
        k = velocities[event.of]
        return lambda t, q, v: v[:, k]
    measures = Labels.of(model).measures
    if event.of in measures:
        return _measure(model, measures.index(event.of))
    near = difflib.get_close_matches(event.of, [*model.q_names, *velocities, *measures], n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise StateError(f"an event watches {event.of!r}, which is no coordinate, velocity or measure of {model.name!r}{hint}")


def _measure(model: Model, column: int) -> Rows:
    """A measure, as a run of these samples has it."""
    from ...results import Run

    def values(t: Array, q: Array, v: Array) -> Array:
        samples = Run(model, t, q, v, np.zeros((len(t), model.nv)), {})
        return np.asarray(samples.values("measures")[:, column])

    return values
