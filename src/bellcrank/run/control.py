"""Efforts and inputs that are Python functions of t, q, v: controllers, experiments.

Machine code calls them before every evaluation of the equations of motion (machine.steps.stepper).
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import StateError
from ..machine.steps.trajectory import Trajectory
from ..model import Model
from ..wording import counted

Array = NDArray[np.float64]
Function = Callable[[float, Array, Array], Any]


class Control:
    """The functions of a run, by what they give: "tau" or "inputs"."""

    def __init__(self, model: Model, functions: Mapping[str, Function | None]):
        self.model = model
        self.functions = {name: function for name, function in functions.items() if function is not None}
        self._names = {"tau": model.v_names, "inputs": model.inputs}

    def at(self, t: float, q: Array, v: Array) -> dict[str, Array]:
        """What the functions give, each an array of the right size, or an error that says what it must return.

        They see copies of q and v, which they may keep or change.
        """
        q, v = q.copy(), v.copy()
        return {name: self._ask(name, t, q, v) for name in self.functions}

    def _ask(self, name: str, t: float, q: Array, v: Array) -> Array:
        names, given = self._names[name], self.functions[name](t, q, v)
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

    def at_samples(self, times: Array, q: Array, v: Array) -> dict[str, Array]:
        """The same at many states, a row for each."""
        rows = [self.at(*state) for state in zip(times.tolist(), q, v, strict=True)]
        return {name: np.array([row[name] for row in rows]).reshape(len(rows), -1) for name in self.functions}

    def applied(self, dynamics: Dynamics, start: dict[str, Array]) -> dict[str, Array]:
        """A start with what the functions give there, and the accelerations that follow."""
        t, q, v = float(start["t"]), start["q"], start["v"]
        found = self.at(t, q, v)
        tau, u = found.get("tau", start["tau"]), found.get("inputs", start["u"])
        a = dynamics.acceleration(q[None], v[None], tau, t=t, inputs=u)[0]
        return start | {"tau": tau, "u": u, "a": a}

    def attach(self, trajectory: Trajectory) -> None:
        """Let the trajectory ask at every evaluation."""
        arrays, v_start = trajectory.arrays, trajectory.layout.v_start
        q, v = arrays["asked"][: self.model.nq], arrays["asked"][v_start : v_start + self.model.nv]
        into = {"tau": arrays["tau"][: self.model.nv], "inputs": arrays["u"][: len(self.model.inputs)]}

        def answer() -> None:
            for name, value in self.at(float(arrays["clock"][0]), q, v).items():
                into[name][:] = value

        trajectory.ask(answer)
