"""What an event watches: a coordinate, a velocity, a measure, or a function."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...errors import StateError
from ...model.measures.paths import built_in, path_names

Array = NDArray[np.float64]
Watch = Callable[[float, Array, Array], float]

Rows = Callable[[Array, Array, Array], Array]  # of times and rows of q and v


@dataclass(frozen=True)
class Event:
    """An event: ``of`` crosses ``value``.

    of         name of a coordinate ("elbow"), of a velocity ("elbow.v", "base.vx"), of a measure ("tip.x"), a path that every
               model has ("elbow.force", "energy.kinetic"), a formula over these ("=tip.x - 2*elbow"), or a function of t, q, v
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


@dataclass
class EventInputs:
    """The arguments of measures besides the state: the model in machine code, and the efforts and inputs of the run.

    given(t, q, v) has "tau" and "inputs" at several states, where they are functions.
    """

    dynamics: Dynamics
    tau: Array
    inputs: Array
    given: Callable[[Array, Array, Array], dict[str, Array]] | None = None

    def measure(self, name: str, t: Array, q: Array, v: Array) -> Array:
        acting = {"tau": self.tau, "inputs": self.inputs}
        if self.given is not None:
            acting |= self.given(t, q, v)
        return np.asarray(self.dynamics.measures(q, v, acting["tau"], t=t, inputs=acting["inputs"], names=[name])[:, 0])


def watched(around: EventInputs, event: Event) -> Rows:
    """The quantity of an event, at several states."""
    model = around.dynamics.model
    if not isinstance(event.of, str):
        function = event.of
        return lambda t, q, v: np.array([float(function(*state)) for state in zip(t.tolist(), q, v, strict=True)])
    if event.of in model.q_names:
        k = model.q_names.index(event.of)
        return lambda t, q, v: q[:, k]
    velocities: dict[str, int] = {f"{name}.v" if "." not in name else name: k for k, name in enumerate(model.v_names)}
    velocities |= {f"{name}.v": k for k, name in enumerate(model.v_names)}
    if event.of in velocities:
        k = velocities[event.of]
        return lambda t, q, v: v[:, k]
    name = event.of
    if name.startswith("=") or name in model.measure_names or built_in(model, name) is not None:
        around.dynamics.measure_units([name])  # a formula that cannot be evaluated says so before the run
        return lambda t, q, v: around.measure(name, t, q, v)
    near = difflib.get_close_matches(name, [*model.q_names, *velocities, *model.measure_names, *path_names(model)], n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise StateError(f"an event watches {name!r}, which is not a coordinate, velocity or measure of {model.name!r}{hint}")
