"""Many runs at once: the same model from different starts, under different efforts or inputs, or in different designs.

Runs share the lanes of a vector unit, each with its own time and step, and the cores share these groups (machine.steps.lanes).
A run that fails does not disturb the others, and the result does not depend on the number of cores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import Given
from ..defaults import TOLERANCE
from ..dynamics.dynamics import Reference
from ..errors import DynamicsError, Interrupted, warn
from ..extremes import in_our_errors
from ..kernels.stopwatch import Stopwatch
from ..machine.steps.declared import INTERRUPTED
from ..model import Model
from ..model.parameters.overshoot import overshooting
from ..wording import counted
from .arguments import AUTO
from .checks.horizon import MOST_STEPS
from .checks.jumps import jumping
from .checks.size import must_fit
from .control import refuse_loads
from .lanes.designs import chosen_designs
from .lanes.samples import Samples
from .lanes.starts import First
from .lanes.study import ManyRuns

if TYPE_CHECKING:
    from ..design import Design
    from ..results import Runs

Array = NDArray[np.float64]


@in_our_errors(DynamicsError)
def simulate_many(
    model: Model,
    duration: float | None = None,
    *,
    q: Given = None,
    v: Given = None,
    tau: ArrayLike | None = None,
    inputs: ArrayLike | Mapping[str, float] | None = None,
    step: float | None = None,
    method: str = AUTO,
    formulation: str = "auto",
    reference: Reference | None = None,
    rtol: float = TOLERANCE,
    atol: float = TOLERANCE,
    max_step: float | None = None,
    max_steps: int = MOST_STEPS,
    rank_tolerance: float | None = None,
    on_singular: str = "stop",
    parameters: Mapping[str, ArrayLike] | None = None,
    design: Design | None = None,
    p: ArrayLike | None = None,
) -> Runs:
    """Runs from rows of q (B, nq), v (B, nv), under rows of tau (B, nv) and inputs; what is given once holds for all.

    ``parameters`` of the model by their paths (model.parameters lists them), with a value for each run, give every run a design
    of its own: {"arm.mass": [1.0, 1.2, 1.4]}. Or give a ``design`` and rows ``p`` (B, parameters). Nothing is compiled again,
    and a run starts as the model of its design does. An impossible design, or one whose loops cannot be closed, does not start.

    q and v may be given by name as well, each a number or one for each run: the named values are kept, and the others follow.
    Every run starts as ``simulate`` would start it, with its loops closed. Rows that do not satisfy the loops are changed, and
    a warning states by how much; a run whose loops cannot be closed does not start.

    With closed loops every state is projected onto the closures after each step; a run that meets a singular configuration
    stops there, or continues with on_singular = "warn".

    A single run that fails raises nothing: ``runs.status`` and ``runs.messages`` give the reasons. A run may take ``max_steps``
    steps, and one that would need many times more is stopped as soon as that is clear. Interrupted, there is a SimulationError;
    what was computed until then is its ``run``.
    """
    refuse_loads(model, "simulate_many")
    watch = Stopwatch()
    options: dict[str, Any] = {"formulation": formulation, "reference": reference, "rank_tolerance": rank_tolerance}
    limits: dict[str, Any] = {"rtol": rtol, "atol": atol, "max_step": max_step, "max_steps": max_steps}
    chosen = chosen_designs(model, parameters, design, p)
    study = ManyRuns(model, duration, step, method, on_singular, limits, options, None if chosen is None else chosen[0])
    for text in (*overshooting(model), *jumping(model, float(study.times[0]), float(study.times[-1]))):
        warn(text)
    first = study.starts({"q": q, "v": v, "tau": tau, "u": inputs}, None if chosen is None else chosen[1])
    must_fit(model, len(study.times), len(first.problems))
    found = study.run(first)
    runs = _runs(study, first, found, watch.times())
    if (found.status == INTERRUPTED).any():
        done = counted(int((found.status == 0).sum()), "run")
        raise Interrupted(f"model {model.name!r}: interrupted when {done} of {len(runs)} had arrived", runs)
    return runs


def _runs(study: ManyRuns, first: First, found: Samples, clock: dict[str, float]) -> Runs:
    model, method, times = study.model, study.method, study.times
    settings = {"formulation": study.dynamics.formulation.partition(":")[0], "method": method, "duration": float(times[-1])}
    settings |= {"step": float(times[1] - times[0]), "rtol": study.limits["rtol"], "atol": study.limits["atol"], **clock}
    from ..results import Runs

    messages = study.messages(first, found)
    return Runs(
        model, times, found.q, found.v, found.a, found.status, found.reached, messages, settings, _PerRun(study, first, found)
    )


class _PerRun(Sequence[Mapping[str, Any]]):
    """The settings of each run, made when they are asked for."""

    def __init__(self, study: ManyRuns, first: First, found: Samples):
        self.method, self.inputs = study.method, len(study.model.inputs)
        self.names = () if study.design is None else study.design.names
        self.tau, self.u, self.p = first.state["tau"], first.state["u"], first.p
        self.steps, self.rejected, self.switched = found.steps, found.rejected, found.switched
        self.stiff_time, self.rate = found.stiff_time, found.rate

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, i: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, i: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        settings: dict[str, Any] = {"steps": int(self.steps[i]), "rejected": int(self.rejected[i]), "tau": self.tau[i].tolist()}
        settings["inputs"] = self.u[i, : self.inputs].tolist() if self.inputs else None
        stiff = float(self.stiff_time[i]), float(self.rate[i])
        settings["stiff"] = [*stiff, None] if np.isfinite(stiff[0]) else None
        settings["methods"] = _methods(self.method, float(self.switched[i]))
        if self.p is not None:
            settings["parameters"] = dict(zip(self.names, self.p[i].tolist(), strict=True))
        return settings


def _methods(method: str, switched: float) -> list[list[float | str]]:
    """The methods of a run, with the times from which they were used."""
    first: list[list[float | str]] = [[0.0, "dopri5" if method == AUTO else method]]
    return [*first, [switched, "radau"]] if np.isfinite(switched) else first
