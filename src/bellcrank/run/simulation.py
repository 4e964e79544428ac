"""simulate: a model, an integrator, and the Run that comes out.

The steps are taken in machine code (machine.py), by scipy's implicit methods (stiff.py), or in Python where efforts or inputs
are Python functions (plain.py); all of them leave an Outcome.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import Given
from ..defaults import TOLERANCE
from ..dynamics.dynamics import Dynamics, Reference
from ..errors import BellcrankWarning, SimulationError, StateError
from ..integrate import METHODS
from ..kernels.stopwatch import Stopwatch, compiling
from ..machine.steps.quaternions import unit_quaternions
from ..model import Model
from ..wording import argument
from .arguments import formulation_for, must_be_known, must_be_positive, sample_times, span, starting_state
from .compiled import Limits, accelerating, first_step, in_machine_code, watcher_of
from .events import Event
from .inputs import TabledInputs, with_tables
from .joining import State, stopped_by_singularity
from .loops.passing import PASSING_METHODS, Passing, integrate_passing
from .loops.row_choice import KeptRows, Stretches, open_beyond
from .loops.treatment import Loops, freedom_along, loops_of
from .loops.undetermined import tell as tell_undetermined
from .loops.undetermined import undetermined
from .plain import Control, Controlled, integrate_plainly
from .reach import at_end_of_reach, moved_from_drawing
from .stiff import STIFF_METHODS, integrate_stiff
from .stiffness import MANY, MANY_IN_PYTHON, Stiffness, remedy
from .system import Outcome, energy_scale

if TYPE_CHECKING:
    from ..results import Run

Array = NDArray[np.float64]

_TOLD = 8  # times of singular configurations in a message


def simulate(
    model: Model,
    duration: float | None = None,
    *,
    step: float | None = None,
    method: str = "dopri5",
    formulation: str = "auto",
    reference: Reference | None = None,
    rtol: float = TOLERANCE,
    atol: float = TOLERANCE,
    max_step: float | None = None,
    tau: ArrayLike | Control | None = None,
    inputs: ArrayLike | Mapping[str, Any] | Control | None = None,
    q: Given = None,
    v: Given = None,
    after: Run | None = None,
    events: Sequence[Event] = (),
    projection: str = "minimum_norm",
    baumgarte: tuple[float, float] | None = None,
    rank_tolerance: float | None = None,
    on_singular: str = "stop",
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Run a model through time.

    duration   seconds; the model's own if not given
    step       interval of the samples in seconds; the model's own, or a hundredth of the duration
    method     "dopri5" and "dop853" adapt their step to rtol and atol; "rk4" takes steps of at most max_step (default: the
               interval); "radau" and "bdf" are scipy's implicit methods, with exact Jacobians, for stiff models; "rattle"
               and "reaction_taylor" (Huang) take closed loops through singular configurations, by steps of max_step;
               "implicit_midpoint" (order 2), "midpoint4" and "gauss4" (order 4) integrate q and p and keep the structure of
               Hamilton's equations: no trend in the energy over any time; steps of max_step, for trees
    tau        joint efforts (nv,) besides the model's forces: constant, or a function of t, q, v (in Python, and slower)
    inputs     values of the model's inputs: constant, in order or by name, or a function of t, q, v; of those by name each may
               also be a table over time (between its rows straight lines): a pair (times, values), or a CSV file
    q, v       start, instead of the model's: values by name, which are kept while the others follow, or whole arrays. Arrays
               that do not satisfy the closed loops are changed, and a warning says what was changed and by how much; what
               differs in them from the model's own start is kept where the loops allow it
    after      a run to go on from: its last state and time
    events     what to watch for (methods that adapt their step); ``run.crossings`` says what happened
    progress   is told the fraction done, now and then

    For models with closed loops:

    projection      after each step back onto the closures: "minimum_norm", "mass" (least kinetic energy), "none" (they drift)
    baumgarte       alpha, beta (1/s): Baumgarte's stabilisation, without a projection or besides it
    rank_tolerance  what counts as redundant: see compile
    on_singular     at a singular configuration "stop", or "pass" it by going on with rattle, or "warn" and go on

    A run that cannot go on raises SimulationError; what was computed until then is its ``run``.
    """
    watch = Stopwatch()
    must_be_known(method)
    must_be_positive(rtol=rtol, atol=atol, max_step=max_step)
    loops = loops_of(projection, on_singular)
    inputs = with_tables(model, inputs)
    functions = {"tau": tau if callable(tau) else None, "inputs": inputs if callable(inputs) else None}
    formulation = formulation_for(method, model, formulation, bool(any(functions.values())))
    options: dict[str, Any] = {"reference": reference, "rank_tolerance": rank_tolerance, "baumgarte": baumgarte}
    in_python = method in STIFF_METHODS or any(functions.values())  # where every step asks for accelerations
    with compiling():
        dynamics = Dynamics(model, formulation, quick=not in_python, **options)
    given = {"q": q, "v": v, "tau": None if callable(tau) else tau, "u": None if callable(inputs) else inputs}
    start = starting_state(dynamics, after, given, passing=method in PASSING_METHODS or loops.switch)
    if model.closures and q is None and after is None:
        _tell_moved_start(model, start)
    times = float(start["t"]) + sample_times(*span(model, duration, step))
    if isinstance(inputs, TabledInputs):
        inputs.must_cover(float(times[0]), float(times[-1]))
    watcher = None
    if method in PASSING_METHODS:
        _refuse_events(events, method)
        _refuse_functions(functions, method)
    elif in_python:
        _refuse_events(events, "stiff methods" if method in STIFF_METHODS else "runs with functions or tables")
        _prepare_functions(functions, method)
    else:
        watcher = watcher_of(model, METHODS[method], events)

    functional = any(functions.values())
    advice = remedy(events=bool(events), functions=functional)
    stiffness = Stiffness(model.name, method, advice, MANY_IN_PYTHON if functional or events else MANY)

    def one_run(by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
        if method in PASSING_METHODS:
            return integrate_passing(by, method, first, until, max_step, progress)
        if any(functions.values()):
            outcome = _in_python(by, method, first, until, functions, (rtol, atol, max_step), progress, how, stiffness)
        elif method in STIFF_METHODS:
            outcome = integrate_stiff(by, method, first, until, rtol, atol, max_step, progress, how)
        else:
            limits = rtol, atol, max_step
            outcome = in_machine_code(by, METHODS[method], first, until, limits, watcher, progress, how, stiffness)
        return _on_closures(by, outcome) if model.closures and loops.project else outcome

    kept = KeptRows(dynamics, one_run, loops)
    whole = kept if model.closures and loops.project and method not in PASSING_METHODS else kept.unchanged
    through = loops.switch and model.closures and method not in PASSING_METHODS and not any(functions.values())
    outcome = Passing(dynamics, whole, (rtol, atol, max_step), watcher)(start, times) if through else whole(start, times)
    stretches = kept.stretches(outcome.times)
    adaptive = method in STIFF_METHODS or (method in METHODS and METHODS[method].adaptive)
    settings: dict[str, Any] = {
        "formulation": _formulation(dynamics),
        "reference": dynamics.formulation.partition(":")[2] or None,
        "method": method,
        "duration": float(times[-1] - times[0]),
        "step": float(times[1] - times[0]),
        "rtol": rtol if adaptive else None,
        "atol": atol if adaptive else None,
        "max_step": max_step,
        **outcome.counts,
        "stiff": None if stiffness.found is None else list(stiffness.found[:3]),
        "tau": start["tau"].tolist() if tau is not None else None,
        "inputs": start["u"].tolist() if model.inputs else None,
    }
    if model.closures:
        settings |= {
            "dof": freedom_along(dynamics, outcome.times, outcome.q),
            "rank_tolerance": dynamics.plan.tolerance,
            "projection": projection,
            "passages": [list(p) for p in outcome.passages],
            "row_changes": [list(change) for change in kept.changes],
            "formulations": _formulations(kept, float(times[0])),
        }
    _tell_passages(outcome, method, loops)
    run = _finish(stretches, outcome, start, functions, settings, watch)
    if model.closures:
        found = undetermined(stretches, outcome, run.values("a"))
        run.settings["undetermined"] = [list(sample) for sample in found]
        tell_undetermined(model.name, found, numbers=bool(np.isfinite(run.values("a")).all()))
    run.crossings = tuple(watcher.crossings) if watcher is not None else ()
    if model.closures and loops.project:
        _doubt_open_loops(run, dynamics)
    if outcome.problem is not None:
        raise SimulationError(f"model {model.name!r} {_with_reach(dynamics, run, outcome.problem)}", run)
    return run


def _tell_moved_start(model: Model, start: State) -> None:
    moved = moved_from_drawing(model, start["q"], float(start["t"]))
    if moved:
        warnings.warn(f"model {model.name!r}: {moved}.", BellcrankWarning, stacklevel=3)


def _with_reach(dynamics: Dynamics, run: Run, problem: str) -> str:
    """What stopped a run: a drive that is at the end of its reach is the reason, whatever else was noticed."""
    if not len(run.values("time")):
        return problem
    last = run.final_state()
    ended = at_end_of_reach(dynamics, last.q, last.t)
    when = problem.partition(": ")[0]
    return f"{when}: {ended}. What was computed until then is kept." if ended else problem


def _formulation(dynamics: Dynamics) -> str:
    return dynamics.formulation.partition(":")[0]


def _formulations(kept: KeptRows, first: float) -> list[list[float | str]]:
    """What took the run on from when on."""
    names = [_formulation(dynamics) for _, dynamics in kept.stretches(np.zeros(0))]
    times = [first, *(change.time for change in kept.changes)]
    return [[t, name] for k, (t, name) in enumerate(zip(times, names, strict=True)) if k == 0 or name != names[k - 1]]


def _prepare_functions(functions: dict[str, Any], method: str) -> None:
    if not any(functions.values()):
        return
    if method in STIFF_METHODS:
        _refuse_functions(functions, method)
    tables = functions["tau"] is None and isinstance(functions["inputs"], TabledInputs)
    what = "inputs are tables over time" if tables else "tau or inputs are Python functions"
    slower = "the time loop runs in Python, much slower than in machine code"
    warnings.warn(f"{what}: {slower}", BellcrankWarning, stacklevel=3)


def _in_python(
    dynamics: Dynamics,
    method: str,
    start: State,
    times: Array,
    functions: dict[str, Any],
    limits: Limits,
    progress: Callable[[float], None] | None,
    loops: Loops,
    stiffness: Stiffness,
) -> Outcome:
    """The loop in Python, where efforts or inputs are Python functions."""
    rtol, atol, max_step = limits
    scheme = METHODS[method]
    system = Controlled(dynamics, start, functions["tau"], functions["inputs"], loops)
    slope = system.slope(float(times[0]), np.concatenate([start["q"], start["v"], np.zeros(system.works)]))
    first = float(times[1] - times[0])
    if scheme.adaptive:
        start = start | {"tau": system.tau, "u": system.u}
        state = np.concatenate([start["q"], start["v"]])
        rates = partial(accelerating, dynamics, start)
        at, size = float(start["t"]), system.state
        first = first_step(rates, at, state, slope[:size], dynamics.model.nq, scheme.order, rtol, atol)
    longest = max_step or float(times[1] - times[0])  # a function may be active for a short while only
    energy = energy_scale(dynamics, start)
    return integrate_plainly(system, scheme, start, times, first, rtol, atol, longest, energy, progress, stiffness)


def _doubt_open_loops(run: Run, dynamics: Dynamics) -> None:
    """A run whose loops are open in spite of all says so."""
    worst = float(np.nanmax(np.abs(run.values("closure")), initial=0.0))
    if worst > open_beyond(dynamics):
        warnings.warn(
            f"the closed loops of {run.labels.model!r} are open by up to {worst:.3g} m (or rad): equations that seemed "
            f"redundant at the start are not. Start elsewhere, use {argument('formulation', 'multipliers')}, or a tighter "
            f"{argument('rank_tolerance')}.",
            BellcrankWarning,
            stacklevel=4,
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
    how = "rattle took it through" if loops.switch else f"{method} went on through it; check which branch it took"
    what = "configuration" if len(passed) == 1 else "configurations"
    warnings.warn(
        f"singular {what} at t = {listed} s{more}, in the loop through {closures}: {how}", BellcrankWarning, stacklevel=4
    )


def _refuse_functions(functions: dict[str, Any], method: str) -> None:
    if any(functions.values()):
        raise StateError(f"tau and inputs as functions or tables go with dopri5, dop853 and rk4, not with {method}")


def _on_closures(dynamics: Dynamics, outcome: Outcome) -> Outcome:
    """Samples between steps come from interpolation, which is off by the tolerance; the first one was there before."""
    if len(outcome.times) == 1:
        return outcome
    q, v = dynamics.projected(outcome.q[1:], outcome.v[1:], t=outcome.times[1:], steps=2)
    q = unit_quaternions(dynamics.model, np.vstack([outcome.q[:1], q]))
    return outcome._replace(q=q, v=np.vstack([outcome.v[:1], v]))


def _refuse_events(events: Sequence[Event], what: str) -> None:
    if events:
        raise StateError(f"events are watched by dopri5 and dop853 in machine code; {what} cannot watch them yet")


def _finish(
    stretches: Stretches,
    outcome: Outcome,
    start: dict[str, Array],
    functions: dict[str, Any],
    settings: dict[str, Any],
    watch: Stopwatch,
) -> Run:
    """What was computed as a Run: with accelerations, and the works by their sources."""
    from ..results import Run, parts_of, work_by_source

    t, q, v, works, dynamics = outcome.times, outcome.q, outcome.v, outcome.works, stretches[0][1]
    derived: dict[str, Array] = {}
    tau, u = start["tau"], start["u"]
    if functions["tau"] is not None:
        tau = np.array([functions["tau"](*state) for state in zip(t.tolist(), q, v, strict=True)]).reshape(len(t), -1)
        derived["tau"] = tau
    if functions["inputs"] is not None:
        u = np.array([functions["inputs"](*state) for state in zip(t.tolist(), q, v, strict=True)]).reshape(len(t), -1)
        derived["inputs"] = u
    tau, u = (np.broadcast_to(x, (len(t), x.shape[-1])) for x in (tau, u))
    a = np.empty_like(v)
    for part, by in parts_of(stretches, len(t)):
        a[part] = by.acceleration(q[part], v[part], tau[part], t=t[part], inputs=u[part])
    count, order = len(dynamics.model.elements), dynamics.frames.drive_order
    elements, drives, closings, given = np.split(works, [count, count + len(order), works.shape[1] - 1], axis=1)
    parts = (elements, dynamics.frames.drives(drives), closings, given if settings["tau"] is not None else given[:, :0])
    derived["work"] = work_by_source(dynamics.model, *parts)
    settings |= watch.times()
    return Run(dynamics.model, t, q, v, a, settings, outcome.problem, derived=derived, stretches=stretches)
