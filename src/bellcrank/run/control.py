"""Efforts and inputs that are functions of t, q, v: Python functions (controllers, experiments), and tables over time.

Machine code calls them before every evaluation of the equations of motion (machine.steps.stepper). Inputs by name may be
numbers, or tables over time, which are joined by straight lines.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import DynamicsError, StateError
from ..machine.steps.trajectory import Trajectory
from ..model import Element, Model
from ..results import read_column
from ..wording import argument, counted
from .arguments import named_inputs

Array = NDArray[np.float64]
Function = Callable[[float, Array, Array], Any]


LOADED = 1e-13  # of the largest load: how far iterations may still change one
MOST_ITERATIONS = 60


class Loads:
    """Inputs of a run with friction that grows with the load of its joint: the loads are found at every evaluation.

    Accelerations and reactions are those of the friction that the reactions give. Friction is proportional to the loads R, and
    reactions f are linear in efforts, so that a few states that differ in their loads alone say all about them:

        f_j = f_j(0) + sum of R_k (f_j(s e_k) - f_j(0))/s,    R_j = |f_j|

    which is solved by iteration from the loads of the evaluation before.
    """

    dynamics: Dynamics  # set when the model has been compiled

    def __init__(self, model: Model, tau: Any, inputs: Any):
        self.tau, self.inputs = tau, inputs if callable(inputs) else named_inputs(model, inputs)
        self.own = len(model.inputs) - len(model.bearings)
        self.names = [f"{joint_name(model, e)}.{axis}" for e in model.bearings for axis in ("fx", "fy", "fz")]
        self.loads = np.zeros(len(model.bearings))

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        given = self.inputs(t, q, v) if callable(self.inputs) else self.inputs
        u = np.zeros(self.own) if given is None else np.asarray(given, dtype=np.float64)
        tau = self.tau(t, q, v) if callable(self.tau) else self.tau
        free, by_load = self._reactions(t, q, v, tau, u[: self.own])
        for _ in range(MOST_ITERATIONS):
            before = self.loads
            self.loads = np.linalg.norm(free + self.loads @ by_load, axis=1)
            if np.abs(self.loads - before).max() <= LOADED * max(1.0, np.abs(self.loads).max()):
                return np.concatenate([u[: self.own], self.loads])
        names = ", ".join(e.name for e in self.dynamics.model.bearings)
        self.loads = np.zeros_like(self.loads)
        raise DynamicsError(
            f"friction {names} has no solution for the load at t = {t:g} s: every reaction makes it larger. With this "
            "coefficient the joint jams; give a smaller coefficient or radius"
        )

    def _reactions(self, t: float, q: Array, v: Array, tau: Any, u: Array) -> tuple[Array, Array]:
        """f(0) (bearings, 3), and what a newton of each load adds to it, (bearings, loads, 3)."""
        count = len(self.loads)
        size = max(1.0, float(self.loads.max(initial=0.0)))
        given = np.zeros((count + 1, self.own + count))
        given[:, : self.own], given[1:, self.own :] = u, size * np.eye(count)
        rows = np.tile(q, (count + 1, 1)), np.tile(v, (count + 1, 1))
        efforts = None if tau is None else np.tile(tau, (count + 1, 1))
        a = self.dynamics.acceleration(*rows, efforts, t=t, inputs=given)
        if not np.isfinite(a).all():
            self.dynamics.acceleration(q, v, tau, t=t, inputs=given[0])  # says why
        f = self.dynamics.measures(*rows, efforts, t=t, inputs=given, a=a, names=self.names).reshape(count + 1, count, 3)
        return f[0], ((f[1:] - f[0]) / size).transpose(1, 0, 2)


def joint_name(model: Model, element: Element) -> str:
    return model.closures[element.closure].name if element.closure >= 0 else model.joint_names[element.joint]


def refuse_loads(model: Model, what: str) -> None:
    """Refuses friction that grows with the load of its joint, where nothing finds the loads."""
    if model.bearings:
        raise StateError(
            f"{what} does not find the load of friction {model.bearings[0].name!r}: simulate does, or give it an effort in "
            "place of its coefficient"
        )


class Control:
    """The functions of a run, by what they give: "tau" or "inputs"."""

    def __init__(self, model: Model, functions: Mapping[str, Function | None]):
        self.model = model
        self.functions = {name: function for name, function in functions.items() if function is not None}
        self._names = {"tau": model.v_names, "inputs": model.inputs}

    def at(self, t: float, q: Array, v: Array) -> dict[str, Array]:
        """The values of the functions, each an array of the right size, or an error that says what it must return.

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

    @property
    def asks_functions(self) -> bool:
        """Whether there are others than tables."""
        return any(not isinstance(function, TabledInputs) for function in self.functions.values())

    def known_times(self) -> list[float]:
        """Times at which a table has a corner."""
        tabled = self.functions.get("inputs")
        return tabled.known_times() if isinstance(tabled, TabledInputs) else []

    def at_samples(self, times: Array, q: Array, v: Array) -> dict[str, Array]:
        """Efforts and inputs at many states, a row for each."""
        rows = [self.at(*state) for state in zip(times.tolist(), q, v, strict=True)]
        return {name: np.array([row[name] for row in rows]).reshape(len(rows), -1) for name in self.functions}

    def applied(self, dynamics: Dynamics, start: dict[str, Array]) -> dict[str, Array]:
        """A start with what the functions give there, and the accelerations that follow."""
        t, q, v = float(start["t"]), start["q"], start["v"]
        found = self.at(t, q, v)
        tau, u = found.get("tau", start["tau"]), start["u"].copy()
        u[: len(self.model.inputs)] = found.get("inputs", u[: len(self.model.inputs)])
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


class TabledInputs:
    """Inputs of which some are tables over time, as a function of t, q, v."""

    def __init__(self, model: Model, given: Mapping[str, Any]) -> None:
        named_inputs(model, given)  # refuses names that are not inputs
        self.names = model.inputs
        self.tables = {name: _table(name, value) for name, value in given.items()}

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        return np.array([np.interp(t, *self.tables[name]) if name in self.tables else 0.0 for name in self.names])

    def known_times(self) -> list[float]:
        return [float(t) for times, _ in self.tables.values() for t in times if np.isfinite(t)]

    def must_cover(self, first: float, last: float) -> None:
        """A table is not continued beyond its ends."""
        for name, (times, _) in self.tables.items():
            if times[0] > first or times[-1] < last:
                raise StateError(
                    f"the table of input {name!r} goes from {times[0]:g} to {times[-1]:g} s, the run from {first:g} to "
                    f"{last:g} s: give it more rows, or the run another {argument('duration')}"
                )


def with_tables(model: Model, given: Any) -> Any:
    """The given inputs; a mapping with tables becomes a function of time."""
    if isinstance(given, Mapping) and not all(map(_is_number, given.values())):
        return TabledInputs(model, given)
    return given


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) or (isinstance(value, np.ndarray) and value.ndim == 0)


def _table(name: str, value: Any) -> tuple[Array, Array]:
    if _is_number(value):
        return np.array([-np.inf, np.inf]), np.full(2, float(value))
    columns = read_column(Path(value), name) if isinstance(value, str | PathLike) else value
    try:
        times, values = (np.array(column, dtype=np.float64) for column in columns)
    except (TypeError, ValueError):
        raise StateError(f"input {name!r}: give a number, a pair (times, values), or a CSV file; it is {value!r}") from None
    if times.ndim != 1 or times.shape != values.shape or len(times) < 2 or not np.isfinite([times, values]).all():
        raise StateError(f"input {name!r}: times and values must be two or more finite numbers, as many of each")
    if not (np.diff(times) > 0).all():
        raise StateError(f"input {name!r}: its times must increase; {times[np.argmin(np.diff(times)) + 1]:g} s does not")
    return times, values
