"""check_gradients: derivatives of the acceleration by a design, beside differences and a complex step.

The complex step runs the same recursion in Python on complex numbers, where a step of 1e-30 has no error of truncation and none
of cancellation; differences compile nothing anew, since a design is data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...design import Design
from ...dynamics.dynamics import Dynamics
from ...errors import StateError
from ...extremes import in_our_errors
from ...machine.in_python import InPython
from ...model import Model
from ...run.arguments import must_be_positive
from .complex_step import STEP, complex_data
from .outputs import OutputCheck, check_outputs

Array = NDArray[np.float64]

NOTHING = 1e-9  # of the acceleration, for a change by all of a parameter: derivatives that are nothing but rounding


class GradientRow(NamedTuple):
    """The check of one parameter: the largest differences, as parts of the largest derivative by it."""

    parameter: str
    derivative: float  # the largest entry of d(acceleration)
    complex_step: float
    difference: float
    step: float  # of the difference, in units of the parameter


class GradientCheck(NamedTuple):
    """A table, a row for each parameter; printed by print()."""

    model: str
    formulation: str
    rows: tuple[GradientRow, ...]

    @property
    def worst(self) -> float:
        """The largest difference from the complex step."""
        return max((row.complex_step for row in self.rows), default=0.0)

    def __str__(self) -> str:
        width = max([len("parameter"), *(len(row.parameter) for row in self.rows)])
        lines = [f"{self.model}: d(acceleration) by {self.formulation}, off by"]
        lines.append(f"  {'parameter':{width}}  {'largest':>11}  {'complex step':>12}  {'difference':>10}  {'with step':>9}")
        lines += [
            f"  {row.parameter:{width}}  {row.derivative:11.4g}  {row.complex_step:12.1e}  {row.difference:10.1e}"
            f"  {row.step:9.1e}"
            for row in self.rows
        ]
        return "\n".join(lines)


@in_our_errors(StateError)
def check_gradients(
    model: Model,
    parameters: Sequence[str] | Design,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    formulation: str = "auto",
    step: float = 1e-6,
    outputs: Sequence[str] | None = None,
    duration: float | None = None,
    **options: Any,
) -> GradientCheck | OutputCheck:
    """Compare exact derivatives with those found in other ways; the result prints the differences.

    Without ``outputs`` those of the acceleration at a state, the model's start unless given, beside a complex step of the
    recursion in Python and central differences; with them those of a run or of an analysis, beside differences by two steps.

    step       of central differences, as a part of each parameter (of 1, where that is zero)
    outputs, duration, and other options   as for sensitivity
    """
    must_be_positive(step=step)
    design = parameters if isinstance(parameters, Design) else Design(model, parameters)
    if outputs is not None:
        given = {"q": q, "v": v, "tau": tau, "t": t or None, "formulation": None if formulation == "auto" else formulation}
        return check_outputs(
            model, design, outputs, duration, step, **{name: x for name, x in given.items() if x is not None}, **options
        )
    if options or duration is not None:
        raise StateError("a duration and options of sensitivity are for outputs: name some, outputs=[...]")
    dyn = Dynamics(model, formulation, design=design, optimisation=0)
    state: dict[str, Any] = {"q": model.initial_q if q is None else q, "v": model.initial_v if v is None else v, "tau": tau}
    rows, _ = dyn.checked(state)
    t = float(dyn.time_rows(t, 1)[0, 0])
    found = dyn.sensitivity(**state, t=t)
    da, a = found.da, float(np.abs(found.a).max(initial=0.0))
    exact = _complex_steps(dyn, design, rows, t)
    table = []
    for k, name in enumerate(design.names):
        h = step * (abs(design.start[k]) or 1.0)
        moved = design.start + h * np.outer([1.0, -1.0], np.eye(len(design.names))[k])
        pair = dyn.acceleration(rows["q"], rows["v"], rows["tau"], t=t, p=moved)
        difference = (pair[0] - pair[1]) / (2 * h)
        size = max(float(np.abs(exact[:, k]).max(initial=0.0)), NOTHING * a / (abs(design.start[k]) or 1.0)) or 1.0
        first, second = (float(np.abs(da[:, k] - x).max(initial=0.0)) / size for x in (exact[:, k], difference))
        table.append(GradientRow(name, float(np.abs(da[:, k]).max(initial=0.0)), first, second, h))
    return GradientCheck(model.name, dyn.formulation.partition(":")[0], tuple(table))


def _complex_steps(dyn: Dynamics, design: Design, rows: dict[str, Array], t: float) -> Array:
    """(nv, parameters), one evaluation in Python for each."""
    inputs: dict[str, Any] = {name: list(x[0].astype(complex)) for name, x in rows.items()}
    inputs |= {"t": [t], "u": [0.0] * len(dyn.model.inputs)}
    columns = []
    for data in complex_data(dyn.plan, design):
        found = InPython(dyn.plan, dyn.program, inputs, data).run()["a"]
        columns.append(np.imag(np.array(found, dtype=complex)) / STEP)
    return np.array(columns).reshape(len(design.names), dyn.model.nv).T
