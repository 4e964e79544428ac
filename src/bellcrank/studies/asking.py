"""sensitivity: one call for the derivatives of runs and of analyses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ..design import Design
from ..errors import DynamicsError, StateError, interrupts_pass, warn
from ..extremes import in_our_errors
from ..model import Model
from ..wording import did_you_mean
from . import forward
from .implicit.results import of_drive, of_equilibrium, of_inverse_motion, of_modes
from .outcome import Sensitivity
from .regular import must_be_numbers

ANALYSES: dict[str, Callable[..., Sensitivity]] = {
    "run": forward.sensitivity,
    "drive": of_drive,
    "equilibrium": of_equilibrium,
    "modes": of_modes,
    "inverse_motion": of_inverse_motion,
}


@in_our_errors(DynamicsError)
def sensitivity(
    model: Model,
    parameters: Sequence[str] | Design,
    outputs: Sequence[str] = (),
    duration: float | None = None,
    *,
    analysis: str = "run",
    **options: Any,
) -> Sensitivity:
    """Exact derivatives of a run, or of an analysis, and of outputs of it, by parameters of the model.

    parameters  paths of what may change ("parameters.crank_length", "arm.mass"; model.parameters lists them), or a Design
    outputs     measures, paths that every model has, and formulas over them, with what is taken of them

    analysis    "run" (unless given): a simulation of ``duration``, whose derivatives are integrated with the state. Outputs
                may be "tip.x", "tip.x@end", "tip.x@t=0.5", "max(abs(hub.az))", "rms(...)", "integral(...)", "tip.x@event"

                step, tau, inputs, q, v, projection, rank_tolerance   as for simulate
                method        "dopri5", "dop853", "rk4", ...: derivatives are taken along by the same steps
                formulation, rtol, atol, max_step
                control       "state", or "all": steps follow the errors of the derivatives too
                events        of which outputs may speak, by their names
                mode          "forward", "adjoint" (many parameters, few outputs), or "auto": what costs less of the two
                memory        MB for the recorded steps of the adjoint method
                progress      called with the part that is done

                "drive": an input through its range, with the options of bc.drive: coordinate, values (or times), speed,
                acceleration, hold, q, t, states. Outputs may be "tip.x", "tip.x@end", "tip.x@crank=0.5", "max(tip.x)" ...

                "equilibrium": a position of rest, with the options of bc.equilibrium: q0, tau, inputs, t, seek, max_iterations

                "modes": about the equilibrium, with tau, inputs, t. Outputs are "frequency", "natural_frequency", "damping",
                "time_constant", "real", "imag" of all modes, or "mode1.frequency" as the table of bc.modes counts them

                "inverse_motion": what a motion takes, with the options of bc.inverse_motion: motion, times, inputs, actuated.
                Outputs are also "crank_pivot.effort" and "crank_pivot.power"

    Of an analysis the converged solution is differentiated, by the implicit function theorem.
    """
    if not isinstance(analysis, str) or analysis not in ANALYSES:
        raise StateError(
            f"there is no analysis {analysis!r}{did_you_mean(analysis, ANALYSES)}: use one of {', '.join(ANALYSES)}"
        )
    if duration is not None and analysis != "run":
        raise StateError(f"a duration is for runs; the analysis {analysis!r} has none")
    design = parameters if isinstance(parameters, Design) else Design(model, parameters)
    if design.base is not model:
        raise StateError("the design is of another model: give the model that the design was made of, design.base")
    for remark in design.remarks:
        warn(remark)
    more = {"duration": duration} if analysis == "run" else {}
    return _called(ANALYSES[analysis], analysis, model, design, outputs, options, **more)


@cache
def _options(by: Callable[..., Sensitivity]) -> dict[str, inspect.Parameter]:
    return {name: x for name, x in inspect.signature(by).parameters.items() if x.kind is x.KEYWORD_ONLY}


def _called(
    by: Callable[..., Sensitivity], analysis: str, model: Model, design: Any, outputs: Sequence[str], options: Any, **more: Any
) -> Sensitivity:
    taken_by_name = _options(by)
    known = list(taken_by_name)
    for name in options:
        if name not in known:
            hint = did_you_mean(name, known)
            raise StateError(f"the analysis {analysis!r} takes no {name!r}{hint}: it takes {', '.join(known)}")
    missing = [name for name, x in taken_by_name.items() if x.default is x.empty and name not in {**more, **options}]
    if missing:
        raise StateError(
            f"the analysis {analysis!r} needs {' and '.join(map(repr, missing))}: give it as bc.{analysis} takes it"
        )
    with interrupts_pass():
        found = by(model, design, outputs, **more, **options)
    if analysis != "modes":  # whose time constants may be infinite
        must_be_numbers(found)
    return found
