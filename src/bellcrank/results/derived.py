"""Quantities that follow from the states of a run: energy, momentum, reactions, poses, forces, measures.

They need machine code of the model, which lies above results/ in the order of the folders. The imports of ``bellcrank``
below are the one exception to that order; they happen when a quantity is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..model import Model

Arrays = dict[str, np.ndarray]
Values = Callable[[str], np.ndarray]
Stretches = list[tuple[int, Any]]  # the first sample of each, and the model in machine code as it was used from there on


@dataclass(frozen=True)
class Samples:
    """Samples of a run, and its model in machine code as they were computed with."""

    model: Model
    values: Values
    dynamics: Any
    tau: Any  # efforts that the user gave, or None

    @property
    def time(self) -> dict[str, Any]:
        return {"t": self.values("time")}

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the user, and the anchors of friction that holds."""
        if not self.model.input_width:
            return {"inputs": None}
        return {"inputs": np.hstack([self.values("inputs"), self.values("anchors")[:, list(self.model.stictions)]])}


def compiled(model: Model, settings: Mapping[str, Any], time: np.ndarray, q: np.ndarray) -> Stretches:
    """The model in machine code, as the run had it; where the run chose its equations again, so does this."""
    import bellcrank

    options = {name: settings[name] for name in ("reference", "rank_tolerance") if settings.get(name) is not None}
    stretches = [(0, bellcrank.compile(model, formulation=settings.get("formulation", "auto"), optimisation=0, **options))]
    for at, to in settings.get("row_changes") or ():
        first, last = int(np.searchsorted(time, at, side="right")), stretches[-1][1]
        if first < len(time):
            stretches.append((first, last.by_multipliers() if to == "multipliers" else last.replanned(q[first], time[first])))
    return stretches


def parts_of(stretches: Stretches, count: int, first: int = 0) -> Iterator[tuple[slice, Any]]:
    """The parts of ``count`` samples that belong to each stretch; stretches without samples are left out."""
    starts = [begin for begin, _ in stretches]
    for begin, end, (_, dynamics) in zip(starts, [*starts[1:], count], stretches, strict=True):
        if max(begin, first) < end:
            yield slice(max(begin, first), end), dynamics


def sweep(compute: Callable[[Samples], Arrays], model: Model, values: Values, stretches: Stretches, tau: Any) -> Arrays:
    """A quantity, and what comes with it, stretch by stretch."""
    count, found = len(values("time")), []
    for part, dynamics in list(parts_of(stretches, count)) or [(slice(0), stretches[0][1])]:
        own = tau[part] if np.ndim(tau) == 2 else tau
        found.append(compute(Samples(model, lambda what, part=part: values(what)[part], dynamics, own)))  # type: ignore[misc]
    if len(found) == 1:
        return found[0]
    return {key: np.concatenate([each[key] for each in found]) for key in found[0]}


def version() -> str:
    """Version of the program, for the files it writes."""
    import bellcrank

    return str(bellcrank.__version__)


def _energy(at: Samples) -> Arrays:
    kinetic, potential = at.dynamics.energy(at.values("q"), at.values("v"), **at.time)
    return {"kinetic": kinetic, "potential": potential}


def _momentum(at: Samples) -> Arrays:
    linear, angular = at.dynamics.momentum(at.values("q"), at.values("v"), **at.time)
    return {"linear": linear, "angular": angular}


def _reactions(at: Samples) -> Arrays:
    q, v, tau = at.values("q"), at.values("v"), at.tau
    if not at.model.closures:
        wrenches = at.dynamics.reactions(q, v, at.values("a"), tau=tau, **at.time, **at.inputs)
        return {"reactions": wrenches[:, : at.model.body_count]}
    multipliers = at.dynamics.multipliers(q, v, tau, **at.time, **at.inputs)
    tree = at.dynamics.reactions(q, v, at.values("a"), multipliers=multipliers, **at.time, **at.inputs)
    tree = tree[:, : at.model.body_count]
    return {"reactions": np.concatenate([tree, at.dynamics.closure_wrenches(q, v, multipliers, **at.time)], axis=1)}


def _closure(at: Samples) -> Arrays:
    error, rate = at.dynamics.closure(at.values("q"), at.values("v"), **at.time)
    return {"closure": error, "closure_rate": rate}


def _closure_second(at: Samples) -> Arrays:
    q, v = at.values("q"), at.values("v")
    moved, driven = (at.dynamics.closure(q, x, **at.time)[1] for x in (at.values("a"), np.zeros_like(v)))  # G a without G
    return {"closure_second": moved - driven - at.dynamics.closure_bias(q, v, **at.time)}


def _poses(at: Samples) -> Arrays:
    positions, rotations = at.dynamics.poses(at.values("q"), **at.time)
    bodies = at.model.body_count
    return {"positions": positions[:, :bodies], "rotations": rotations[:, :bodies]}


def _elements(at: Samples) -> Arrays:
    storage, _, forces = at.dynamics.elements(at.values("q"), at.values("v"), **at.time, **at.inputs)
    count = at.model.force_count
    return {"storage": storage[:, :count], "forces": forces[:, :count]}


def _drives(at: Samples) -> Arrays:
    q, v, a = (at.values(name) for name in ("q", "v", "a"))
    return {"drives": drive_efforts(at.dynamics, q, v, a, tau=at.tau, **at.time, **at.inputs)}


def drive_efforts(dynamics: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray, *, tau: Any, **given: Any) -> np.ndarray:
    """Efforts that keep prescribed motions going, in the order of Labels.drives: of joints, then of what closes loops."""
    model = dynamics.model
    parts = [dynamics.drive_efforts(q, v, a, tau=tau, **given)] if model.driven.any() else []
    if any(closure.motion is not None for closure in model.closures):
        parts.append(dynamics.closure_efforts(q, v, tau, **given))
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*q.shape[:-1], 0))


def measured(at: Samples, names: Sequence[str] | None = None) -> Arrays:
    """Measures of some names, those of the model unless given."""
    q, v, a = (at.values(name) for name in ("q", "v", "a"))
    return {"measures": at.dynamics.measures(q, v, at.tau, a=a, names=names, **at.time, **at.inputs)}


SWEEPS: dict[str, Callable[[Samples], Arrays]] = {
    **dict.fromkeys(("kinetic", "potential"), _energy),
    **dict.fromkeys(("linear", "angular"), _momentum),
    **dict.fromkeys(("positions", "rotations"), _poses),
    **dict.fromkeys(("storage", "forces"), _elements),
    **dict.fromkeys(("closure", "closure_rate"), _closure),
    "closure_second": _closure_second,
    "closing": lambda at: {"closing": at.dynamics.closing_coordinates(at.values("q"), **at.time)},
    "reactions": _reactions,
    "drives": _drives,
    "measures": measured,
}


def _balance(values: Values) -> np.ndarray:
    """The change in energy that the works do not explain."""
    total = values("total")
    return total - total[:1] - values("work").sum(axis=1)


SUMS: dict[str, Callable[[Values], np.ndarray]] = {
    "stored": lambda values: values("storage").sum(axis=1),
    "total": lambda values: values("kinetic") + values("potential") + values("stored"),
    "balance": _balance,
}
