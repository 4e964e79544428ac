"""simulate: a model, an integrator, and the Run that comes out.

The steps are taken in machine code (compiled.py), which calls efforts and inputs that are Python functions (control.py), or by
scipy's implicit methods (stiff.py); all of them leave an Outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import Given
from ..defaults import TOLERANCE
from ..dynamics.dynamics import Dynamics, Reference
from ..dynamics.evaluation import OPTIMISED
from ..errors import DynamicsError, Interrupted, SimulationError, StateError, warn
from ..extremes import in_our_errors
from ..integrate import METHODS
from ..kernels.stopwatch import Stopwatch, compiling
from ..model import Model
from ..model.manifold import unit_quaternions
from ..model.parameters.overshoot import overshooting
from ..wording import argument
from .arguments import (
    AUTO,
    formulation_for,
    must_be_known,
    must_be_positive,
    named_inputs,
    no_functions,
    starting_state,
    times_of,
)
from .checks.horizon import MOST_STEPS, Horizon, must_be_few
from .checks.jumps import jumping
from .checks.trust import doubt_energy, with_missing
from .compiled import Limits, in_machine_code
from .control import Control, Function, Loads, TabledInputs, with_tables
from .events import Event, Surroundings, Watcher
from .joining import State, from_last, interrupted, joined, on_grid, still_to_come, stopped_by_singularity
from .loops.midpoint import closes_by_itself
from .loops.passing import PASSING_METHODS, Passing, integrate_passing
from .loops.row_choice import KeptRows, Stretches, open_beyond
from .loops.treatment import Loops, freedom_along, loops_of
from .loops.undetermined import tell as tell_undetermined
from .loops.undetermined import undetermined
from .loops.variants import Limits as VariantLimits
from .loops.variants import integrate_variant
from .reach import tell_moved_start, with_reach
from .stiff.bdf import STIFF_METHODS, integrate_stiff
from .stiff.stiffness import MANY, MANY_IN_PYTHON, Stiffness, remedy
from .system import Outcome

if TYPE_CHECKING:
    from ..design import Design
    from ..results import Run

Array = NDArray[np.float64]

_TOLD = 8  # times of singular configurations in a message


@in_our_errors(DynamicsError)
def simulate(
    model: Model,
    duration: float | None = None,
    *,
    step: float | None = None,
    method: str = AUTO,
    formulation: str = "auto",
    reference: Reference | None = None,
    rtol: float = TOLERANCE,
    atol: float = TOLERANCE,
    max_step: float | None = None,
    max_steps: int = MOST_STEPS,
    tau: ArrayLike | Function | None = None,
    inputs: ArrayLike | Mapping[str, Any] | Function | None = None,
    q: Given = None,
    v: Given = None,
    after: Run | None = None,
    events: Sequence[Event] = (),
    projection: str = "minimum_norm",
    baumgarte: tuple[float, float] | None = None,
    rank_tolerance: float | None = None,
    variant: str | None = None,
    dependents: Sequence[str] | None = None,
    fictitious: Sequence[str] | None = None,
    on_singular: str = "stop",
    design: Design | None = None,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Simulate a model over time.

    duration   seconds; the model's own if not given
    step       interval of the samples in seconds; the model's own, or a hundredth of the duration
    method     "auto" is "dopri5", and "radau" from the time at which the run is found to be stiff (see the summary);
               "dopri5" and "dop853" adapt their step to rtol and atol; "radau" (Radau IIA of order 5, with exact Jacobians)
               does so for stiff models, and "bdf" is scipy's; "rk4" takes steps of at most max_step (default: the interval);
               "rattle" and "reaction_taylor" (Huang) take closed loops through singular configurations, by steps of max_step;
               "implicit_midpoint" (order 2), "midpoint4" and "gauss4" (order 4) integrate q and p and keep the structure of
               Hamilton's equations: no trend in the energy over any time; steps of max_step. Closed loops: the first two
    max_steps  largest number of steps: a run that would need many times more is stopped as soon as that is clear
    tau        joint efforts (nv,) besides the model's forces: constant, or a function of t, q, v, called at every evaluation
    inputs     values of the model's inputs: constant, in order or by name, or a function of t, q, v; of those by name each may
               also be a table over time (between its rows straight lines): a pair (times, values), or a CSV file
    q, v       start, instead of the model's: values by name, which are kept while the others follow, or whole arrays. Arrays
               that do not satisfy the closed loops are changed, and a warning says what was changed and by how much; what
               differs in them from the model's own start is kept where the loops allow it
    after      a run to be continued, from its last state and time
    events     to be detected; ``run.crossings`` lists those that occurred
    design     a bc.Design whose model this is. With ``moved = design.moved(p)``, ``simulate(moved.base, design=moved)`` is
               the run of other values of its parameters, for which nothing is planned or compiled again
    progress   is called with the completed fraction from time to time

    For models with closed loops:

    projection      after each step back onto the closures: "minimum_norm", "mass" (least kinetic energy), "none" (they drift)
    baumgarte       alpha, beta (1/s): Baumgarte's stabilisation, without a projection or besides it
    rank_tolerance  what counts as redundant: see compile
    variant         of formulation "coordinate_reduction": "block" (compiled), or Critchley & Anderson's own, in Python and
                    slow: "rcr", "acs" with ``dependents`` (names of coordinates), "gcl" with ``fictitious`` (two bodies),
                    "body"; a run ends where its dependent coordinates are no longer independent of each other
    on_singular     at a singular configuration: "stop"; "pass" it with rattle and continue; or "warn" and continue

    A run that cannot continue raises SimulationError, whose ``run`` holds the results until then.
    """
    watch = Stopwatch()
    must_be_known(method)
    must_be_positive(rtol=rtol, atol=atol, max_step=max_step, max_steps=max_steps)
    loops = loops_of(projection, on_singular)
    inputs, tables = _inputs(model, tau, inputs)
    times = times_of(model, duration, step)
    if method in PASSING_METHODS or (method in METHODS and not METHODS[method].adaptive):
        must_be_few(method, times, max_step, int(max_steps))
    control = _control(model, tau, inputs)
    formulation = formulation_for(method, model, formulation, control is not None)
    options: dict[str, Any] = {"reference": reference, "rank_tolerance": rank_tolerance, "baumgarte": baumgarte}
    options |= {"variant": variant, "dependents": dependents, "fictitious": fictitious, "design": design}
    with compiling():
        dynamics = Dynamics(model, formulation, optimisation=OPTIMISED if method in STIFF_METHODS else 0, **options)
    if isinstance(inputs, Loads):
        inputs.dynamics = dynamics
    given = {"q": q, "v": v, "tau": None if callable(tau) else tau, "u": None if callable(inputs) else inputs}
    start = starting_state(dynamics, after, given, passing=method in PASSING_METHODS or loops.switch)
    if model.closures and q is None and after is None:
        tell_moved_start(model, start)
    times = float(start["t"]) + times
    for text in (*overshooting(model), *jumping(model, float(times[0]), float(times[-1]))):
        warn(text)
    horizon = Horizon(float(times[0]), float(times[-1]), int(max_steps))
    if tables is not None:
        tables.must_cover(float(times[0]), float(times[-1]))
    begins = _stopped_by(after, float(start["t"])) if q is None and v is None else ()
    around = Surroundings(dynamics, start["tau"], start["u"], None if control is None else control.at_samples)
    watcher = _watcher(around, method, events, control, begins, float(start["t"]))
    many = MANY if control is None and not events else MANY_IN_PYTHON
    stiffness = Stiffness(model.name, method, remedy(), many, switches=method == AUTO)
    one_run = _OneRun(method, (rtol, atol, max_step), control, watcher, progress, stiffness, horizon)
    kept = KeptRows(dynamics, one_run, loops)
    own = method not in PASSING_METHODS and not closes_by_itself(method, model) and dynamics.planned.variant is None
    whole = kept if model.closures and loops.project and own else kept.unchanged
    through = loops.switch and model.closures and own and control is None
    outcome = Passing(dynamics, whole, one_run.limits, watcher)(start, times) if through else whole(start, times)
    settings = _settings(one_run, dynamics, times, outcome) | {
        "tau": start["tau"].tolist() if tau is not None else None,
        "inputs": start["u"][: len(model.inputs)].tolist() if model.inputs else None,
    }
    if model.closures:
        settings |= _settings_of_loops(kept, dynamics, times, outcome) | {"projection": projection}
        settings |= {"variant": variant, "dependents": None if dependents is None else list(dependents)}
        settings |= {"fictitious": None if fictitious is None else list(fictitious)}
    _tell_passages(outcome, one_run.methods[-1][1], loops)
    run = _finish(kept.stretches(outcome.times), outcome, start, control, settings, watch)
    run.crossings = tuple(watcher.crossings) if watcher is not None else ()
    if model.closures and loops.project:
        _doubt_open_loops(run, dynamics)
    doubt_energy(run, outcome.lost)
    problem = with_missing(run, outcome.problem)
    if problem is not None:
        kind = Interrupted if run.interrupted else SimulationError
        raise kind(f"model {model.name!r} {with_reach(dynamics, run, problem)}", run)
    return run


def _inputs(model: Model, tau: Any, inputs: Any) -> tuple[Any, TabledInputs | None]:
    """Inputs with tables as a function and the loads of bearings, and the tables; names that are no inputs are refused."""
    inputs = with_tables(model, inputs)
    named_inputs(model, None if callable(inputs) else inputs)
    tables = inputs if isinstance(inputs, TabledInputs) else None
    return Loads(model, tau, inputs) if model.bearings else inputs, tables


def _control(model: Model, tau: Any, inputs: Any) -> Control | None:
    """The functions among efforts and inputs, if there are some."""
    functions = {name: given if callable(given) else None for name, given in (("tau", tau), ("inputs", inputs))}
    return Control(model, functions) if any(functions.values()) else None


def _stopped_by(after: Run | None, first_time: float) -> tuple[str, ...]:
    """Names of events at the very end of the run before."""
    return () if after is None else tuple(c.event for c in after.crossings if c.time == first_time)


def _watcher(
    around: Surroundings,
    method: str,
    events: Sequence[Event],
    control: Control | None,
    begins: Sequence[str],
    first_time: float,
) -> Watcher | None:
    """What looks for the events; what a method cannot do is refused."""
    if control is not None and method != AUTO and method not in METHODS:
        raise no_functions(method)
    if control is not None:
        _tell_slower(control)
    model = around.dynamics.model
    if around.dynamics.planned.variant is not None and (events or control is not None):
        raise StateError("runs by a variant in Python watch no events and take no functions or tables: leave out variant")
    if model.stictions and (method in PASSING_METHODS or closes_by_itself(method, model)):
        held = model.elements[model.stictions[0]].name
        raise StateError(f"{method} does not support friction that holds ({held!r}): use another method, or smooth friction")
    return Watcher(around, events, begins, first_time) if events else None


def _tell_slower(control: Control) -> None:
    what = "tau or inputs are Python functions" if control.asks_functions else "inputs are tables over time"
    if isinstance(control.functions.get("inputs"), Loads):
        names = ", ".join(e.name for e in control.model.bearings)
        warn(f"the load of friction {names} is found by iteration at every evaluation, in Python: the run takes long")
        return
    slower = "they are called from machine code at every evaluation, which makes the run slower"
    warn(f"{what}: {slower}")


@dataclass
class _OneRun:
    """A run, or a stretch of it, by a method."""

    method: str
    limits: Limits
    control: Control | None
    watcher: Watcher | None
    progress: Callable[[float], None] | None
    stiffness: Stiffness
    horizon: Horizon
    methods: list[tuple[float, str]] = field(default_factory=list)  # since when, and which: those that took the run on

    def __call__(self, by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
        method, (rtol, atol, max_step) = self.method, self.limits
        if self.watcher is not None:
            self.watcher.around.dynamics = by
        if not self.methods:
            self.methods.append((float(first["t"]), "dopri5" if method == AUTO else method))
        if by.planned.variant is not None:
            limits = VariantLimits(rtol, atol, max_step)
            outcome = integrate_variant(by, method, first, until, limits, self.progress, how, self.horizon)
            return _on_closures(by, outcome) if how.project else outcome
        if closes_by_itself(method, by.model):
            outcome = self._compiled(by, first, until, how._replace(project=False))
            self.horizon.stretch_done(outcome.counts)
            return outcome
        if method in PASSING_METHODS:
            return integrate_passing(by, method, first, until, max_step, self.progress, self.watcher)
        if method in STIFF_METHODS:
            outcome = integrate_stiff(
                by, method, first, until, rtol, atol, max_step, self.progress, how, self.watcher, self.horizon
            )
        else:
            outcome = self._compiled(by, first, until, how)
        self.horizon.stretch_done(outcome.counts)
        return _on_closures(by, outcome) if by.model.closures and how.project else outcome

    def _compiled(self, by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
        """In machine code; where the run shows itself stiff, and the method was not chosen, radau goes on from there."""
        rtol, atol, max_step = self.limits
        if self.control is not None and self.control.asks_functions:  # they may be active for a short while only
            max_step = max_step or float(until[1] - until[0])
        scheme, limits = METHODS[self.methods[-1][1]], (rtol, atol, max_step)
        stiffness = None if scheme.implicit else self.stiffness
        given = (self.watcher, self.progress, how, stiffness, self.control, self.horizon)
        outcome = in_machine_code(by, scheme, first, until, limits, *given)
        if stiffness is None or stiffness.left_at is None:
            return outcome
        self.methods.append((stiffness.left_at, "radau"))
        outcome = on_grid(outcome, until)
        later = still_to_come(outcome, until)
        if outcome.problem is not None or not len(later):
            return outcome
        try:
            rest = self._compiled(by, from_last(by, first, outcome), np.append(outcome.times[-1], later), how)
        except KeyboardInterrupt:
            return interrupted(outcome)
        return joined(outcome, rest, np.isin(outcome.times, until))


def _settings(run: _OneRun, dynamics: Dynamics, times: Array, outcome: Outcome) -> dict[str, Any]:
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


def _settings_of_loops(kept: KeptRows, dynamics: Dynamics, times: Array, outcome: Outcome) -> dict[str, Any]:
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
    """What took the run on from when on."""
    names = [_formulation(dynamics) for _, dynamics in kept.stretches(np.zeros(0))]
    times = [first, *(change.time for change in kept.changes)]
    return [[t, name] for k, (t, name) in enumerate(zip(times, names, strict=True)) if k == 0 or name != names[k - 1]]


def _doubt_open_loops(run: Run, dynamics: Dynamics) -> None:
    """A run whose loops are open in spite of all says so."""
    worst = float(np.nanmax(np.abs(run.values("closure")), initial=0.0))
    if worst > open_beyond(dynamics):
        warn(
            f"the closed loops of {run.labels.model!r} are open by up to {worst:.3g} m (or rad): equations that seemed "
            f"redundant at the start are not. Start elsewhere, use {argument('formulation', 'multipliers')}, or a tighter "
            f"{argument('rank_tolerance')}."
        )


def _tell_passages(outcome: Outcome, method: str, loops: Loops) -> None:
    """A run that went on beyond singular configurations tells their times, unless its method is made for that."""
    passed = outcome.passages[:-1] if stopped_by_singularity(outcome) else outcome.passages
    if not passed or method in PASSING_METHODS:
        return
    times = [f"{passage.time:.4g}" for passage in passed[:_TOLD]]
    more = f" and {len(passed) - _TOLD} more, which are in the run's settings" if len(passed) > _TOLD else ""
    listed = times[0] if len(times) == 1 else f"{', '.join(times[:-1])}{',' if more else ' and'} {times[-1]}"
    closures = ", ".join(repr(name) for name in dict.fromkeys(passage.closure for passage in passed))
    how = "rattle passed it" if loops.switch else f"{method} continued through it; check which branch the motion took"
    what = "configuration" if len(passed) == 1 else "configurations"
    warn(f"singular {what} at t = {listed} s{more}, in the loop through {closures}: {how}")


def _on_closures(dynamics: Dynamics, outcome: Outcome) -> Outcome:
    """Samples between steps come from interpolation, which is off by the tolerance; the first one was there before."""
    if len(outcome.times) == 1:
        return outcome
    q, v = dynamics.projected(outcome.q[1:], outcome.v[1:], t=outcome.times[1:], steps=2)
    q = unit_quaternions(dynamics.model, np.vstack([outcome.q[:1], q]))
    return outcome._replace(q=q, v=np.vstack([outcome.v[:1], v]))


def _finish(
    stretches: Stretches,
    outcome: Outcome,
    start: dict[str, Array],
    control: Control | None,
    settings: dict[str, Any],
    watch: Stopwatch,
) -> Run:
    """What was computed as a Run: with accelerations, and the works by their sources."""
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
        tell_undetermined(dynamics.model.name, found, numbers=bool(np.isfinite(a).all()))
    return run
