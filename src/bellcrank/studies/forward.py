"""sensitivity: derivatives of a run by the parameters of a design, integrated with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import Given
from ..defaults import TOLERANCE
from ..design import Design
from ..dynamics.dynamics import Dynamics
from ..errors import DynamicsError, NoAdjointError, StateError
from ..extremes import in_our_errors
from ..integrate import METHODS
from ..kernels.stopwatch import compiling
from ..model import Model
from ..model.parameters.parameters import is_number
from ..results.labels import Labels
from ..run import Event, simulate
from ..run.arguments import AUTO, formulation_for, must_be_known, must_be_positive, sample_times, span, starting_state
from ..run.control import refuse_loads
from ..run.events import must_be_events
from ..run.loops.midpoint import closes_by_itself
from ..run.loops.treatment import loops_of
from .accuracy import doubt_derivatives
from .adjoint.backward import Backward
from .adjoint.choice import MEMORY, taken_backward
from .checking.kinks import warn_of_kinks
from .history import History, ScaledDesign, ended_early, integrate
from .jumps.forces import may_jump, must_be_cut, warn_of_integrals, warn_of_missed
from .jumps.passages import passages
from .jumps.timed import timed_jumps
from .outcome import OutputValue, Sensitivity
from .output_names import Output, parsed
from .peaks import Peaks
from .starting import first_tangents
from .taking import INTEGRALS, Moments, moments, taken

Array = NDArray[np.float64]

FORWARD = (AUTO, *METHODS)
MODES = ("auto", "forward", "adjoint")


@in_our_errors(DynamicsError)
def sensitivity(
    model: Model,
    design: Design,
    outputs: Sequence[str] = (),
    duration: float | None = None,
    *,
    step: float | None = None,
    method: str = AUTO,
    formulation: str = "auto",
    rtol: float = TOLERANCE,
    atol: float = TOLERANCE,
    max_step: float | None = None,
    control: str = "state",
    tau: ArrayLike | None = None,
    inputs: ArrayLike | Mapping[str, float] | None = None,
    q: Given = None,
    v: Given = None,
    events: Sequence[Event] = (),
    projection: str = "minimum_norm",
    rank_tolerance: float | None = None,
    mode: str = "auto",
    memory: float = MEMORY,
    progress: Callable[[float], None] | None = None,
) -> Sensitivity:
    """Derivatives of a run, and of outputs of it, by parameters of the model: exact, integrated with the state.

    outputs     measures, with what is taken of them in time: "tip.x", "tip.x@end", "tip.x@t=0.5", "max(abs(hub.az))", "min(x)",
                "rms(...)", "mean(...)", "integral(...)", "tip.x@lift_off", "lift_off.time" for an event of that name
    duration, step, tau, inputs, q, v, projection, rank_tolerance   as for simulate
    method      "auto", "dopri5", "dop853", "rk4", "radau", "implicit_midpoint", "midpoint4", and for trees "gauss4", as for
                simulate: derivatives are taken along by the same steps. Of an implicit method the equations of its stages are
                differentiated, not the iterations that solve them
    control     "state": steps follow the errors of the state, and an AccuracyWarning says where those of the derivatives,
                which are estimated all the same, are much larger; "all": steps follow both, each parameter measured by its
                own size
    events      of which outputs may speak, by their names; all are followed to the end of the run
    mode        "forward": derivatives are integrated with the run, which costs a part of a run for every parameter; "adjoint":
                for every output there is one backward pass, which costs a few runs, however many parameters there are;
                "auto": the one of the two that costs less (settings["mode"] of the result says which)
    memory      MB that the steps of a run may take for the backward pass; beyond that they are taken again, which
                costs one run more

    What the model's file gives of the start is kept, and the rest of it follows the design as the assembly of the loops does.
    At a singular position of the loops derivatives end, and a SimulationError says where.
    """
    _must_be_possible(method, control, mode, progress)
    _must_be_constant(tau=tau, inputs=inputs)
    events = _marked(events)
    refuse_loads(model, "sensitivity")
    must_be_positive(rtol=rtol, atol=atol, max_step=max_step, memory=memory)
    whole, interval = span(model, duration, step)
    wanted = parsed(outputs, [event.title for event in events], whole)
    formulation = formulation_for(method, model, formulation, functions=False)
    with compiling():
        dynamics = design.dynamics(formulation, rank_tolerance)
    if model.stictions:
        raise StateError("friction that holds has no derivatives: use smooth friction, with a velocity instead of a stiffness")
    given = {"q": q, "v": v, "tau": tau, "u": inputs}
    how: dict[str, Any] = {"method": method, "rtol": rtol, "atol": atol, "max_step": max_step, "formulation": formulation}
    how |= {"projection": projection, "rank_tolerance": rank_tolerance, "design": design, "step": interval}
    first = _first_run(model, wanted, events, given, whole, how)
    grid = sample_times(whole, interval)
    study = _Study(dynamics, ScaledDesign.of(design), given, method, (rtol, atol, max_step), projection, control == "all")
    over_time = any(output.taken in INTEGRALS for output in wanted)
    cuts = timed_jumps(design, float(grid[0]), float(grid[-1])) if over_time else []
    passed = passages(study.backward(memory), grid, progress) if must_be_cut(model, wanted) else []
    when = moments(wanted, grid, first, study.peaks(first), cuts, passed)
    settings = study.settings | {"duration": whole, "step": interval}
    jumping = dynamics.canonical and may_jump(model)
    if taken_backward(mode, wanted, len(design.names), control, jumping_momenta=jumping):
        backward = study.backward(memory)
        try:
            history, found = backward.run_and_back(wanted, events, when, progress)
            warn_of_integrals(model, wanted)
            warn_of_missed(model, backward.missed)
            return _result(model, design, found, history, when, settings | {"mode": "adjoint"})
        except NoAdjointError:
            if mode == "adjoint":
                raise
    warn_of_integrals(model, wanted)
    history = study.run(when.times, progress)
    warn_of_missed(model, history.outcome.counts["uncut"])
    doubt_derivatives(model.name, design.names, history.outcome.missed, history.outcome.counts["steps"], rtol)
    found = taken(model, wanted, events, history, when)
    return _result(model, design, found, history, when, settings | {"mode": "forward"})


def _must_be_possible(method: str, control: str, mode: str, progress: object) -> None:
    must_be_known(method)
    if method not in FORWARD:
        raise StateError(f"derivatives are integrated by {', '.join(FORWARD)}, not by {method!r}")
    for name, value, known in (("control", control, ("state", "all")), ("mode", mode, MODES)):
        if value not in known:
            raise StateError(f"{name} is {value!r}: use one of {', '.join(known)}")
    if progress is not None and not callable(progress):
        raise StateError(f"progress must be a function of the part that is done; it is {progress!r}")


def _must_be_constant(**given: Any) -> None:
    for name, value in given.items():
        if callable(value) or (isinstance(value, Mapping) and not all(map(is_number, value.values()))):
            raise StateError(
                f"{name} of runs with derivatives are constant. Write what changes in time into the model, as a force or motor "
                "with a formula over t or a table."
            )


def _marked(events: Sequence[Event]) -> list[Event]:
    """The events, each of which marks its time; those that have no derivative are refused."""
    found = [replace(event, then="mark") for event in must_be_events(events)]
    titles = [event.title for event in found]
    for event in found:
        if not isinstance(event.of, str):
            raise StateError(f"event {event.title!r} watches a function of Python, which has no derivative: name a measure")
        if titles.count(event.title) > 1:
            raise StateError(f"several events are called {event.title!r}: give each a name of its own")
    return found


def _first_run(
    model: Model, wanted: Sequence[Output], events: Sequence[Event], given: dict[str, Any], duration: float, how: dict[str, Any]
) -> Any:
    """A run without derivatives, where it has to be known first when something happens; else None."""
    if not events and not any(output.taken in ("max", "min") for output in wanted):
        return None
    more = {"tau": given["tau"], "inputs": given["u"], "q": given["q"], "v": given["v"]}
    return simulate(model, duration, events=events, **how, **more)


@dataclass(frozen=True)
class _Study:
    dynamics: Dynamics
    scaled: ScaledDesign
    given: dict[str, Any]
    method: str
    limits: tuple[float, float, float | None]
    projection: str
    control: bool

    def run(self, times: Array, progress: Callable[[float], None] | None) -> History:
        dynamics, scaled = self.dynamics, self.scaled
        start = starting_state(dynamics, None, self.given)
        if not start["v"].any():
            warn_of_kinks(dynamics, start["q"], float(start["t"]))
        written = scaled.design.tangents(scaled.design.start, dynamics.plan)
        written = {name: x * scaled.size for name, x in written.items()}
        dq, dv = first_tangents(dynamics, start, self.given, scaled.changes(dynamics.plan), written)
        begun = start | {"dq": dq, "dv": dv}
        loops = loops_of(self.projection, "stop")
        if closes_by_itself(self.method, dynamics.model):
            loops = loops._replace(project=False)
        found = integrate(dynamics, scaled, begun, times, self.method, self.limits, loops, self.control, progress)
        if found.outcome.problem is not None:
            raise ended_early(dynamics.model, found.outcome.problem)
        return found

    def backward(self, memory: float) -> Backward:
        return Backward(self.dynamics, self.scaled.design, self.given, self.method, self.limits, self.projection, memory)

    def peaks(self, run: Any) -> Peaks | None:
        """The peaks of the run without derivatives."""
        if run is None:
            return None
        start = starting_state(self.dynamics, None, self.given)
        return Peaks(self.dynamics, run, start, self.limits, loops_of(self.projection, "stop"))

    @property
    def settings(self) -> dict[str, Any]:
        rtol, atol, max_step = self.limits
        adaptive = self.method == AUTO or METHODS[self.method].adaptive
        return {
            "method": self.method,
            "formulation": self.dynamics.formulation.partition(":")[0],
            "rtol": rtol if adaptive else None,
            "atol": atol if adaptive else None,
            "max_step": max_step,
            "control": "all" if self.control else "state",
        }


def _result(
    model: Model,
    design: Design,
    found: dict[str, OutputValue],
    history: History,
    when: Moments,
    settings: dict[str, Any],
) -> Sensitivity:
    grid, along = when.on_grid, history.outcome.dq is not None
    labels, outcome = Labels.of(model), history.outcome
    return Sensitivity(
        model=model.name,
        parameters=design.names,
        parameter_units=design.units,
        at=np.array(design.start),
        time=when.times[grid],
        coordinates=labels.coordinates,
        coordinate_units=labels.coordinate_units,
        dofs=labels.dofs,
        dof_units=labels.dof_units,
        q_values=outcome.q[grid],
        v_values=outcome.v[grid],
        dq_values=history.dq[grid] if along else None,
        dv_values=history.dv[grid] if along else None,
        found=found,
        settings=settings | outcome.counts,
    )
