"""simulate: a model, an integrator, and the Run that comes out.

The steps are taken in machine code (compiled.py), which calls efforts and inputs that are Python functions (control.py), or by
scipy's implicit methods (stiff/bdf.py); all of them leave an Outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import Given
from ..defaults import TOLERANCE
from ..dynamics.dynamics import Dynamics, Reference
from ..dynamics.evaluation import OPTIMISED
from ..errors import DynamicsError, StateError, warn
from ..extremes import in_our_errors
from ..integrate import METHODS
from ..kernels.stopwatch import Stopwatch, compiling
from ..model import Model
from ..model.parameters.overshoot import overshooting
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
from .control import Control, Function, Loads, TabledInputs, with_tables
from .events import Event, EventInputs, Watcher
from .finished import finished, judge, settings_of_loads, settings_of_loops, settings_of_run, warn_of_passages
from .loops.midpoint import closes_by_itself
from .loops.passing import PASSING_METHODS, Passing
from .loops.row_choice import KeptRows
from .loops.treatment import loops_of
from .one_run import OneRun
from .reach import warn_of_moved_start
from .stiff.bdf import STIFF_METHODS
from .stiff.stiffness import MANY, MANY_IN_PYTHON, Stiffness, remedy
from .system import Outcome

if TYPE_CHECKING:
    from ..design import Design
    from ..results import Run

Array = NDArray[np.float64]


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
    loads = _loads(model, tau, inputs)
    times = times_of(model, duration, step)
    if method in PASSING_METHODS or (method in METHODS and not METHODS[method].adaptive):
        must_be_few(method, times, max_step, int(max_steps))
    formulation = formulation_for(method, model, formulation, loads.control is not None)
    options: dict[str, Any] = {"reference": reference, "rank_tolerance": rank_tolerance, "baumgarte": baumgarte}
    options |= {"variant": variant, "dependents": dependents, "fictitious": fictitious, "design": design}
    with compiling():
        dynamics = Dynamics(model, formulation, optimisation=OPTIMISED if method in STIFF_METHODS else 0, **options)

    start = _start(dynamics, loads, q, v, after, passing=method in PASSING_METHODS or loops.switch)
    times = float(start["t"]) + times
    _look_ahead(model, loads, times)
    begins = _stopped_by(after, float(start["t"])) if q is None and v is None else ()
    watcher = _watcher(dynamics, start, method, events, loads.control, begins)
    many = MANY if loads.control is None and not events else MANY_IN_PYTHON
    stiffness = Stiffness(model.name, method, remedy(), many, switches=method == AUTO)
    horizon = Horizon(float(times[0]), float(times[-1]), int(max_steps))
    one_run = OneRun(method, (rtol, atol, max_step), loads.control, watcher, progress, stiffness, horizon)

    kept = KeptRows(dynamics, one_run, loops)
    outcome = _integrated(one_run, kept, start, times)
    warn_of_passages(outcome, one_run.methods[-1][1], loops)

    settings = settings_of_run(one_run, dynamics, times, outcome) | settings_of_loads(model, start, given=tau is not None)
    if model.closures:
        settings |= settings_of_loops(kept, dynamics, times, outcome) | {"projection": projection, "variant": variant}
        settings |= {
            name: None if given is None else list(given)
            for name, given in (("dependents", dependents), ("fictitious", fictitious))
        }
    run = finished(kept.stretches(outcome.times), outcome, start, loads.control, settings, watch)
    run.crossings = tuple(watcher.crossings) if watcher is not None else ()
    judge(run, dynamics, outcome, loops)
    return run


@dataclass(frozen=True)
class _Loads:
    """The loads of a run besides the model's own forces: efforts and inputs, constant or functions; what is called for them."""

    tau: Any
    inputs: Any
    tables: TabledInputs | None
    control: Control | None


def _loads(model: Model, tau: Any, inputs: Any) -> _Loads:
    """Inputs with tables become a function, which also has the loads of bearings; names that are not inputs are refused."""
    inputs = with_tables(model, inputs)
    named_inputs(model, None if callable(inputs) else inputs)
    tables = inputs if isinstance(inputs, TabledInputs) else None
    inputs = Loads(model, tau, inputs) if model.bearings else inputs
    functions = {name: given if callable(given) else None for name, given in (("tau", tau), ("inputs", inputs))}
    return _Loads(tau, inputs, tables, Control(model, functions) if any(functions.values()) else None)


def _start(dynamics: Dynamics, loads: _Loads, q: Given, v: Given, after: Run | None, *, passing: bool) -> dict[str, Array]:
    """The first state, with efforts and inputs there, on the closures."""
    if isinstance(loads.inputs, Loads):
        loads.inputs.dynamics = dynamics
    tau, u = (None if callable(x) else x for x in (loads.tau, loads.inputs))
    start = starting_state(dynamics, after, {"q": q, "v": v, "tau": tau, "u": u}, passing=passing)
    if dynamics.model.closures and q is None and after is None:
        warn_of_moved_start(dynamics.model, start)
    return start


def _look_ahead(model: Model, loads: _Loads, times: Array) -> None:
    """Warns of what is known before the first step: curves that overshoot, jumps, tables that end early."""
    for text in (*overshooting(model), *jumping(model, float(times[0]), float(times[-1]))):
        warn(text)
    if loads.tables is not None:
        loads.tables.must_cover(float(times[0]), float(times[-1]))


def _integrated(one_run: OneRun, kept: KeptRows, start: dict[str, Array], times: Array) -> Outcome:
    """The run. Of closed loops, equations are chosen again on the way, and singular positions passed if that is asked for."""
    dynamics, loops = kept.dynamics, kept.loops
    model, method = dynamics.model, one_run.method
    own = method not in PASSING_METHODS and not closes_by_itself(method, model) and dynamics.planned.variant is None
    whole = kept if model.closures and loops.project and own else kept.unchanged
    if loops.switch and model.closures and own and one_run.control is None:
        return Passing(dynamics, whole, one_run.limits, one_run.watcher)(start, times)
    return whole(start, times)


def _stopped_by(after: Run | None, first_time: float) -> tuple[str, ...]:
    """Names of events at the very end of the run before."""
    return () if after is None else tuple(c.event for c in after.crossings if c.time == first_time)


def _watcher(
    dynamics: Dynamics,
    start: dict[str, Array],
    method: str,
    events: Sequence[Event],
    control: Control | None,
    begins: Sequence[str],
) -> Watcher | None:
    """The watcher of the events; an event that a method cannot watch is refused."""
    if control is not None and method != AUTO and method not in METHODS:
        raise no_functions(method)
    if control is not None:
        _warn_slower(control)
    model = dynamics.model
    if dynamics.planned.variant is not None and (events or control is not None):
        raise StateError("runs by a variant in Python watch no events and take no functions or tables: leave out variant")
    if model.stictions and (method in PASSING_METHODS or closes_by_itself(method, model)):
        held = model.elements[model.stictions[0]].name
        raise StateError(f"{method} does not support friction that holds ({held!r}): use another method, or smooth friction")
    around = EventInputs(dynamics, start["tau"], start["u"], None if control is None else control.at_samples)
    return Watcher(around, events, begins, float(start["t"])) if events else None


def _warn_slower(control: Control) -> None:
    what = "tau or inputs are Python functions" if control.asks_functions else "inputs are tables over time"
    if isinstance(control.functions.get("inputs"), Loads):
        names = ", ".join(e.name for e in control.model.bearings)
        warn(f"the load of friction {names} is found by iteration at every evaluation, in Python: the run takes long")
        return
    slower = "they are called from machine code at every evaluation, which makes the run slower"
    warn(f"{what}: {slower}")
