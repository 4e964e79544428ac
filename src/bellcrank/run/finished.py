"""What was computed, as a Run: its settings, its accelerations and works, and whether it can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import Interrupted, SimulationError, warn
from ..integrate import METHODS
from ..kernels.stopwatch import Stopwatch
from ..model import Model
from ..wording import argument
from .arguments import (
    AUTO,
)
from .checks.trust import doubt_energy, with_missing
from .control import Control
from .joining import stopped_by_singularity
from .loops.passing import PASSING_METHODS
from .loops.row_choice import KeptRows, Stretches, open_beyond
from .loops.treatment import Loops, freedom_along
from .loops.undetermined import undetermined, warn_of_undetermined
from .one_run import OneRun
from .reach import with_reach
from .stiff.bdf import STIFF_METHODS
from .system import Outcome

if TYPE_CHECKING:
    from ..results import Run

Array = NDArray[np.float64]

_NAMED = 8  # times of singular configurations in a message


def judge(run: Run, dynamics: Dynamics, outcome: Outcome, loops: Loops) -> None:
    """Whether the run can be trusted; SimulationError where it could not go on."""
    if dynamics.model.closures and loops.project:
        _doubt_open_loops(run, dynamics)
    doubt_energy(run, outcome.lost)
    problem = with_missing(run, outcome.problem)
    if problem is not None:
        kind = Interrupted if run.interrupted else SimulationError
        raise kind(f"model {dynamics.model.name!r} {with_reach(dynamics, run, problem)}", run)


def settings_of_run(run: OneRun, dynamics: Dynamics, times: Array, outcome: Outcome) -> dict[str, Any]:
    rtol, atol, max_step = run.limits
    adaptive = run.method in (AUTO, *STIFF_METHODS) or (run.method in METHODS and METHODS[run.method].adaptive)
    return {
        "formulation": _formulation(dynamics),
        "reference": dynamics.formulation.partition(":")[2] or None,
        "method": run.method,
        "methods": [list(change) for change in run.methods],
        "duration": float(times[-1] - times[0]),
        "step": float(times[1] - times[0]),
        "rtol": rtol if adaptive else None,
        "atol": atol if adaptive else None,
        "max_step": max_step,
        "max_steps": run.horizon.max_steps,
        "peak_kinetic": outcome.peak,
        **({"states": list(dynamics.model.state_names)} if dynamics.model.state_places else {}),
        **outcome.counts,
        "stiff": None if run.stiffness.found is None else list(run.stiffness.found[:3]),
    }


def settings_of_loads(model: Model, start: dict[str, Array], *, given: bool) -> dict[str, Any]:
    """``given``: whether the caller gave efforts."""
    inputs = start["u"][: len(model.inputs)].tolist() if model.inputs else None
    return {"tau": start["tau"].tolist() if given else None, "inputs": inputs}


def settings_of_loops(kept: KeptRows, dynamics: Dynamics, times: Array, outcome: Outcome) -> dict[str, Any]:
    return {
        "dof": freedom_along(dynamics, outcome.times, outcome.q),
        "rank_tolerance": dynamics.plan.tolerance,
        "passages": [list(p) for p in outcome.passages],
        "row_changes": [list(change) for change in kept.changes],
        "formulations": _formulations(kept, float(times[0])),
    }


def _formulation(dynamics: Dynamics) -> str:
    return dynamics.formulation.partition(":")[0]


def _formulations(kept: KeptRows, first: float) -> list[list[float | str]]:
    """The formulations that continued the run, with their times."""
    names = [_formulation(dynamics) for _, dynamics in kept.stretches(np.zeros(0))]
    times = [first, *(change.time for change in kept.changes)]
    return [[t, name] for k, (t, name) in enumerate(zip(times, names, strict=True)) if k == 0 or name != names[k - 1]]


def _doubt_open_loops(run: Run, dynamics: Dynamics) -> None:
    """Warns of a run whose loops are open all the same."""
    worst = float(np.nanmax(np.abs(run.values("closure")), initial=0.0))
    if worst > open_beyond(dynamics):
        warn(
            f"the closed loops of {run.labels.model!r} are open by up to {worst:.3g} m (or rad): equations that seemed "
            f"redundant at the start are not. Start elsewhere, use {argument('formulation', 'multipliers')}, or a tighter "
            f"{argument('rank_tolerance')}."
        )


def warn_of_passages(outcome: Outcome, method: str, loops: Loops) -> None:
    """A run that went on beyond singular configurations reports their times, unless its method is made for that."""
    passed = outcome.passages[:-1] if stopped_by_singularity(outcome) else outcome.passages
    if not passed or method in PASSING_METHODS:
        return
    times = [f"{passage.time:.4g}" for passage in passed[:_NAMED]]
    more = f" and {len(passed) - _NAMED} more, which are in the run's settings" if len(passed) > _NAMED else ""
    listed = times[0] if len(times) == 1 else f"{', '.join(times[:-1])}{',' if more else ' and'} {times[-1]}"
    closures = ", ".join(repr(name) for name in dict.fromkeys(passage.closure for passage in passed))
    how = "rattle passed it" if loops.switch else f"{method} continued through it; check which branch the motion took"
    what = "configuration" if len(passed) == 1 else "configurations"
    warn(f"singular {what} at t = {listed} s{more}, in the loop through {closures}: {how}")


def finished(
    stretches: Stretches,
    outcome: Outcome,
    start: dict[str, Array],
    control: Control | None,
    settings: dict[str, Any],
    watch: Stopwatch,
) -> Run:
    """The outcome as a Run: with accelerations, and the works by their sources."""
    from ..results import Run, parts_of, work_by_source

    t, q, v, works, dynamics = outcome.times, outcome.q, outcome.v, outcome.works, stretches[0][1]
    derived = {} if control is None else control.at_samples(t, q, v)
    tau, u = derived.get("tau", start["tau"]), derived.get("inputs", start["u"])
    tau, u = (np.broadcast_to(x, (len(t), x.shape[-1])) for x in (tau, u))
    if outcome.anchors is not None:
        u = np.hstack([u[:, : len(dynamics.model.inputs)], outcome.anchors])
        derived["anchors"] = np.zeros((len(t), dynamics.model.force_count))
        derived["anchors"][:, list(dynamics.model.stictions)] = outcome.anchors
    if outcome.reactions is not None:
        derived["reactions"] = outcome.reactions
    a = np.empty_like(v)
    for part, by in parts_of(stretches, len(t)):
        a[part] = by.acceleration(q[part], v[part], tau[part], t=t[part], inputs=u[part])
    count, order = len(dynamics.model.elements), dynamics.frames.drive_order
    elements, drives, closings, given = np.split(works, [count, count + len(order), works.shape[1] - 1], axis=1)
    parts = (elements, dynamics.frames.drives(drives), closings, given if settings["tau"] is not None else given[:, :0])
    derived["work"] = work_by_source(dynamics.model, *parts)
    settings |= watch.times()
    run = Run(dynamics.model, t, q, v, a, settings, outcome.problem, derived=derived, stretches=stretches)
    if dynamics.model.closures:
        found = undetermined(stretches, outcome, a)
        run.settings["undetermined"] = [list(sample) for sample in found]
        warn_of_undetermined(dynamics.model.name, found, numbers=bool(np.isfinite(a).all()))
    return run
