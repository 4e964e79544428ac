"""Kinematic analysis: an input moved through its range, everything that follows, and where it cannot go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...assembly import assemble
from ...assembly.loops import HeldCoordinates, Loops
from ...errors import AssemblyError, Interrupted, StateError
from ...extremes import in_our_errors
from ...model import Model
from ...results.labels import Labels
from ...run.reach import at_end_of_reach
from ...wording import argument, counted, did_you_mean
from ..recut import carried_over, completed, joint_of, near_turns, recut
from ..report import listed, table
from ..state import compiled, increasing
from .along import measured_along
from .change_points import Change
from .kinematics import End, MovingState, along_values, freedom_left, frozen, over_times
from .own_states import held_states

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure
    from rich.console import Group

Array = NDArray[np.float64]

TIME = "time"
SAME = 1e-6  # rad or m between change points that are one


@dataclass(frozen=True)
class Limit:
    """Where the input cannot go on: at a ``toggle`` the mechanism turns back, else nothing was found beyond; ``why``."""

    value: float
    toggle: bool
    q: Array
    why: str = ""


@dataclass(frozen=True, eq=False)
class Drive:
    """A mechanism at k values of its input.

    input             name of the coordinate, or "time"
    values            (k,)            of those that were asked for, those that were reached
    q, v, a           (k, nq), (k, nv), (k, nv)   for the speed and acceleration of the input that were given
    transmission      (k,)            the input's part of the motion, lengths over the typical length: 0 at a toggle
    error             (k,)            largest error of the closures, m
    limits            where the input cannot go on, at most one below and one above
    missing           values that were asked for and not reached
    change_points     values at which the loops lose rank and branches meet: the mechanism could continue in more than one way
    held              coordinates that stay where they are; of a tree, all but the input
    t                 s, at which the model's own drivers stand still, unless the input is the time
    given             the other arguments of drive, with which plot finds the values between; empty if it was interrupted
    """

    model: Model
    input: str
    values: Array
    q: Array
    v: Array
    a: Array
    transmission: Array
    error: Array
    limits: tuple[Limit, ...]
    missing: Array
    change_points: tuple[float, ...] = ()
    held: tuple[str, ...] = ()
    t: float = 0.0
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def measure(self, *names: str) -> Array:
        """Any measures over the values, (k,) of one name, else (k, columns): of the model by name, those that every model has
        by path, "hinge.fx", or formulas, "=..."; all of the model unless given.

        Those that depend on forces take the effort that moves the input, and those that hold what is held.
        """
        found = measured_along(self.model, self, names or self.model.measure_names)
        return found[:, 0] if len(names) == 1 else found

    @cached_property
    def measures(self) -> Array:
        """All measures of the model (k, columns), as model.measure_names has them."""
        return self.measure()

    @property
    def toggles(self) -> tuple[float, ...]:
        """Values of the input at which the mechanism turns back."""
        return tuple(limit.value for limit in self.limits if limit.toggle)

    @property
    def unit(self) -> str:
        if self.input == TIME:
            return "s"
        labels = Labels.of(self.model)
        units = zip(labels.coordinates + labels.closing, labels.coordinate_units + labels.closing_units, strict=True)
        return dict(units)[self.input]

    @property
    def data(self) -> xr.Dataset:
        """Everything as labelled arrays over the input."""
        import xarray as xr

        labels = Labels.of(self.model)
        arrays: dict[str, Any] = {
            "q": (("input", "coordinate"), self.q, {"long_name": "joint coordinates"}),
            "v": (("input", "dof"), self.v, {"long_name": "joint velocities"}),
            "a": (("input", "dof"), self.a, {"long_name": "joint accelerations"}),
            "transmission": (("input",), self.transmission, {"long_name": "the input's part of the motion", "units": "1"}),
            "closure": (("input",), self.error, {"long_name": "largest error of the closures", "units": "m"}),
        }
        coords: dict[str, Any] = {
            "input": ("input", self.values, {"long_name": self.input, "units": self.unit}),
            "coordinate": ("coordinate", np.array(labels.coordinates, dtype=object)),
            "q_unit": ("coordinate", np.array(labels.coordinate_units, dtype=object)),
            "dof": ("dof", np.array(labels.dofs, dtype=object)),
            "v_unit": ("dof", np.array(labels.dof_units, dtype=object)),
        }
        if self.model.measures:
            arrays["measures"] = (("input", "measure"), self.measures, {"long_name": "measures of the model"})
            coords["measure"] = ("measure", np.array(labels.measures, dtype=object))
            coords["measures_unit"] = ("measure", np.array(labels.measure_units, dtype=object))
        return xr.Dataset(arrays, coords=coords, attrs={"model": self.model.name})

    def of(self, name: str) -> Array:
        """One coordinate over the values, by its name."""
        return np.asarray(self.q[:, _place(self.model, name)])

    def plot(self, path: str | Path | None = None, *, keep: bool = False) -> Figure:
        """Smooth curves of coordinates, velocities and accelerations over the input, with dead centres and change points.

        The mechanism is driven once more at 201 values or more, up to the dead centres, however few values it was asked for.
        """
        from ...results.plots import save_figure
        from .drive_plot import draw_drive, smoothed

        figure = draw_drive(smoothed(self))
        if path is not None:
            save_figure(figure, Path(path), keep=keep)
        return figure

    def lines(self) -> list[str]:
        """Lines of text: the range, and where it ends."""
        reached = "none of the values"
        if len(self.values):
            ends = " to ".join(dict.fromkeys(f"{x:.6g}" for x in (self.values[0], self.values[-1])))
            reached = f"{counted(len(self.values), 'value')}, {ends} {self.unit}"
        lines = [f"{self.model.name}: {self.input!r} driven through {reached}"]
        if self.held:
            lines.append(f"held where {'it starts' if len(self.held) == 1 else 'they start'}: {listed(self.held)}")
        for limit in self.limits:
            what = "toggle, the mechanism turns back" if limit.toggle else "no configuration was found beyond"
            lines.append(f"at {self.input!r} = {limit.value:.9g} {self.unit}: {what}{limit.why and f' ({limit.why})'}")
        for value in self.change_points:
            what = "change point, branches meet and the mechanism could continue in more than one way"
            lines.append(f"at {self.input!r} = {value:.9g} {self.unit}: {what}")
        if len(self.missing):
            lines.append(f"{counted(len(self.missing), 'value')} out of reach")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __rich__(self) -> Group:
        names = [*self.model.q_names, *self.model.measure_names]
        values = zip(self.values, np.hstack([self.q, self.measures]), self.transmission, strict=True)
        rows = [[f"{x:.6g}", *(f"{y:.6g}" for y in row), f"{share:.3g}"] for x, row, share in values]
        headings = (f"{self.input} ({self.unit})", *names, "transmission")
        return table("\n".join(self.lines()), headings, rows, right=range(len(headings)))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {
            "model": self.model.name,
            "input": self.input,
            "values": self.values.tolist(),
            "q": dict(zip(self.model.q_names, self.q.T.tolist(), strict=True)),
            "v": dict(zip(self.model.v_names, self.v.T.tolist(), strict=True)),
            "a": dict(zip(self.model.v_names, self.a.T.tolist(), strict=True)),
            "measures": dict(zip(self.model.measure_names, self.measures.T.tolist(), strict=True)),
            "transmission": self.transmission.tolist(),
            "closure": self.error.tolist(),
            "limits": [{"value": limit.value, "toggle": limit.toggle, "why": limit.why} for limit in self.limits],
            "missing": self.missing.tolist(),
            "change_points": list(self.change_points),
            "held": list(self.held),
        }


@in_our_errors(AssemblyError)
def drive(
    model: Model,
    coordinate: str | None = None,
    values: ArrayLike | None = None,
    *,
    times: ArrayLike | None = None,
    speed: float = 1.0,
    acceleration: float = 0.0,
    hold: Iterable[str] | str = (),
    q: ArrayLike | None = None,
    t: float = 0.0,
    states: Mapping[str, float] | None = None,
) -> Drive:
    """Positions, velocities and accelerations of a mechanism whose input is moved through a range.

    coordinate     the input, one of model.q_names, or of a joint that closes a loop (model.closing_names), through increasing
                   or decreasing ``values``: from where the mechanism is assembled, upward and downward as far as it goes. The
                   model's own drivers stand still as they are at ``t``. The other coordinates of a tree stay where they start
    times          instead of a coordinate: the mechanism as its own drivers move it, at increasing times
    speed, acceleration   of the input; unit speed gives the velocity ratios
    hold           coordinates that stay where they are, of mechanisms with more than one degree of freedom
    q              approximate start, as for assemble
    states         by name, the values at which user-defined states are held; those of the model's start unless given

    What lies beyond a toggle is not reached: ``limits`` says where the input cannot go on, ``missing`` which values are left.
    A change point is passed on the branch that goes straight on, and is listed in ``change_points``. Interrupted, it ends with
    a SimulationError whose ``run`` holds what was found.
    """
    if (coordinate is None) == (times is None) or (values is None) != (coordinate is None):
        raise StateError("give a coordinate and its values, or the times at which the model's own drivers are evaluated")
    own = held_states(model, states)
    given: dict[str, Any] = {"q": q}
    if coordinate is None:
        found = _over_times(model, increasing("times", times), q)
    else:
        hold = (hold,) if isinstance(hold, str) else tuple(hold)
        given |= {"speed": speed, "acceleration": acceleration, "hold": hold, "t": t}
        found = _through_values(model, coordinate, values, **given)
    found.v[:, list(model.state_places)] = own
    return replace(found, given=given | {"states": dict(states or {})})


def _through_values(
    model: Model,
    coordinate: str,
    values: ArrayLike | None,
    *,
    speed: float,
    acceleration: float,
    hold: tuple[str, ...],
    q: ArrayLike | None,
    t: float,
) -> Drive:
    try:
        wanted = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        raise StateError("values must be a list of finite numbers") from None
    upward = _monotonic(wanted)
    if coordinate in model.closing_names:
        return _of_closing_joint(model, coordinate, wanted, speed=speed, acceleration=acceleration, hold=hold, q=q, t=t)
    place = _place(model, coordinate)
    rates = [np.where(_velocity(model, coordinate), x, 0.0) for x in (speed, acceleration)]
    if not model.closures:
        return _of_tree(model, coordinate, wanted, rates, _held(model, coordinate, hold), q, t)
    still = frozen(model, t)
    dyn = compiled(still)
    start = assemble(compiled(model), q, np.zeros(model.nv), t=t).q  # nothing moves yet
    loops, held = Loops(dyn), _held(model, coordinate, hold)
    left = freedom_left(loops, start, held, 0.0)
    if left:
        others = [name for name in model.q_names if name not in held.names]
        raise StateError(
            f"model {model.name!r} has {left} degree{'s' if left > 1 else ''} of freedom besides {coordinate!r}: "
            f"hold as many coordinates ({argument('hold')}) of {listed(others)}"
        )
    above = _collect(along_values(loops, start, held, place, upward[upward >= start[place]], *rates))
    lower = () if above.interrupted else along_values(loops, start, held, place, upward[upward < start[place]][::-1], *rates)
    below = _collect(lower)
    states, limits = below.states[::-1] + above.states, [*below.ends, *above.ends]
    if wanted[-1] < wanted[0]:
        states, limits = states[::-1], limits[::-1]
    found = _result(model, loops, coordinate, wanted, states, limits, t=0.0)
    changes = _distinct([*below.changes, *above.changes], decreasing=bool(wanted[-1] < wanted[0]))
    result = replace(found, change_points=changes, held=tuple(name for name in held.names if name != coordinate), t=t)
    return _whole(result, above.interrupted or below.interrupted)


def _distinct(values: list[float], *, decreasing: bool) -> tuple[float, ...]:
    """The change points in the order of the input, each once; the one at the start is seen from both sides."""
    ordered = sorted(values, reverse=decreasing)
    return tuple(x for k, x in enumerate(ordered) if k == 0 or abs(x - ordered[k - 1]) > SAME)


def _of_tree(
    model: Model, coordinate: str, wanted: Array, rates: list[Array], held: HeldCoordinates, q: ArrayLike | None, t: float
) -> Drive:
    """Without loops nothing follows from the input: everything else stays where it starts."""
    loops = Loops(compiled(model))
    start = assemble(loops.dynamics, q, np.zeros(model.nv), t=t).q
    place = _place(model, coordinate)
    v, a = rates
    states = [MovingState(float(x), np.where(np.arange(model.nq) == place, x, start), v, a, 1.0) for x in wanted]
    found = _result(model, loops, coordinate, wanted, states, [], t=t)
    return replace(found, held=tuple(name for name in model.q_names if name != coordinate), t=t)


def _of_closing_joint(model: Model, coordinate: str, wanted: Array, **given: Any) -> Drive:
    """The drive in a model that is cut elsewhere, where the joint has coordinates, in the coordinates of this model."""
    hold = [given["hold"]] if isinstance(given["hold"], str) else list(given["hold"])
    other = recut(model, {joint_of(model, name) for name in (coordinate, *hold)})
    t, loops = given["t"], Loops(compiled(frozen(model, given["t"])))
    start = assemble(compiled(model), given["q"], np.zeros(model.nv), t=t).q
    there = carried_over(loops.dynamics, start, other, 0.0)
    found = _through_values(other, coordinate, wanted, **given | {"q": there, "hold": hold})
    theirs = compiled(frozen(other, t))

    def back(q: Array) -> Array:
        return near_turns(model, carried_over(theirs, q, model, 0.0), start, set(other.q_names))

    q = back(found.q)
    v, a = _completed(loops, found, q)
    limits = tuple(replace(limit, q=back(limit.q)) for limit in found.limits)
    error = np.array([loops.worst(x, 0.0) for x in q])
    return replace(found, model=model, q=q, v=v, a=a, limits=limits, error=error)


def _completed(loops: Loops, found: Drive, q: Array) -> tuple[Array, Array]:
    """Velocities and accelerations of joints that have none there, from the equations that close the loops."""
    names, v, a = loops.model.v_names, [], []
    for at, rates, seconds in zip(q, found.v, found.a, strict=True):
        G = loops.G(at, 0.0)
        known = [dict(zip(found.model.v_names, x.tolist(), strict=True)) for x in (rates, seconds)]
        v.append(completed(G, np.zeros(len(G)), known[0], names))
        gamma = loops.dynamics.closure_bias(at, v[-1]) * loops.rows
        a.append(completed(G, gamma, known[1], names))
    return np.array(v).reshape(-1, len(names)), np.array(a).reshape(-1, len(names))


def _over_times(model: Model, times: Array, q: ArrayLike | None) -> Drive:
    dyn = compiled(model)
    loops = Loops(dyn)
    start = assemble(dyn, q, np.zeros(model.nv), t=float(times[0])).q
    left = freedom_left(loops, start, HeldCoordinates.none(model), float(times[0]))
    if left:
        raise StateError(
            f"model {model.name!r} has {left} degree{'s' if left > 1 else ''} of freedom that no driver moves: drive "
            "a coordinate, or simulate it"
        )
    way = _collect(over_times(loops, start, times, 1e-10 * loops.length))
    found = _result(model, loops, TIME, times, way.states, way.ends, t=None)
    ends = tuple(replace(limit, why=at_end_of_reach(dyn, limit.q, limit.value)) for limit in found.limits)
    return _whole(replace(found, limits=ends, change_points=_distinct(way.changes, decreasing=False)), way.interrupted)


class _Course(NamedTuple):
    """States, ends, the values of change points, and whether the user interrupted the search."""

    states: list[MovingState]
    ends: list[End]
    changes: list[float]
    interrupted: bool


def _collect(found: Iterable[MovingState | End | Change]) -> _Course:
    way = _Course([], [], [], False)
    try:
        for x in found:
            if isinstance(x, Change):
                way.changes.append(x.at)
            elif isinstance(x, End):
                way.ends.append(x)
            else:
                way.states.append(x)
    except KeyboardInterrupt:
        return way._replace(interrupted=True)
    return way


def _whole(result: Drive, interrupted: bool) -> Drive:
    if interrupted:
        count = counted(len(result.values), "value")
        raise Interrupted(f"interrupted after {count} of {result.input!r}; what was found is kept in .run", result)
    return result


def _result(
    model: Model, loops: Loops, name: str, wanted: Array, states: list[MovingState], ends: list[End], t: float | None
) -> Drive:
    reached = np.array([state.at for state in states])
    return Drive(
        model=model,
        input=name,
        values=reached,
        q=np.array([state.q for state in states]).reshape(-1, model.nq),
        v=np.array([state.v for state in states]).reshape(-1, model.nv),
        a=np.array([state.a for state in states]).reshape(-1, model.nv),
        transmission=np.array([state.transmission for state in states]),
        error=np.array([loops.worst(state.q, state.at if t is None else t) for state in states]),
        limits=tuple(Limit(end.at, end.toggle, end.q) for end in ends),
        missing=wanted[~np.isin(wanted, reached)],
    )


def _place(model: Model, name: str) -> int:
    if name not in model.q_names:
        known = (*model.q_names, *model.closing_names)
        raise StateError(f"there is no coordinate {name!r}{did_you_mean(name, known)}: use one of {listed(known)}")
    return model.q_names.index(name)


def _held(model: Model, coordinate: str, hold: Iterable[str] | str) -> HeldCoordinates:
    names = [hold] if isinstance(hold, str) else list(hold)
    for name in names:
        _place(model, name)
    held = HeldCoordinates.of(model, {coordinate, *names})
    if not _velocity(model, coordinate).any():
        raise StateError(f"{coordinate!r} is part of a quaternion or of a free body's position: drive an angle or a slide")
    return held


def _velocity(model: Model, coordinate: str) -> NDArray[np.bool_]:
    """Where the velocity of a coordinate is in v."""
    return np.array([name == coordinate for name in model.v_names], dtype=bool)


def _monotonic(values: Array) -> Array:
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise StateError("values must be a list of finite numbers")
    steps = np.diff(values)
    if not ((steps > 0).all() or (steps < 0).all()):
        raise StateError("values must increase or decrease monotonically")
    return values if len(values) < 2 or steps[0] > 0 else values[::-1]
