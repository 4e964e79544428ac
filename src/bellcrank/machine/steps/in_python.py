"""Steps in Python, on numbers of any numpy type: the words that machine code is written from, run as they stand.

A reference beyond double precision (numpy.longdouble), derivatives of a run by complex steps, and a way to look into a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...kernels.python import Numbers, StepsInPython
from ...plan import Plan
from ..arrays import ARRAYS, width
from ..in_python import InPython
from .cuts.roots import first_root
from .declared import NUMBERS
from .layout import Layout
from .stepper import Stepper, unit_quaternions
from .trajectory import Trajectory, stepper_of

LEFT_BEHIND = ("rows", "left")  # buffers of a kernel that are read after it


class TrajectoryInPython(Trajectory):
    """``number``: a numpy type."""

    neighbours = 1

    def __init__(self, *given: Any, number: Any = np.float64, **options: Any):
        self.number = number
        super().__init__(*given, **options)

    def _code(self, program: Program, layout: Layout, metric: str) -> Any:
        return InterpretedSteps(layout, stepper_of(layout.plan, layout.method))

    def _arrays_of_kernels(self) -> dict[str, NDArray[Any]]:
        counts = self.layout.counts | {"left_row": self.layout.model.nv}
        return {name: np.zeros(max(1, ARRAYS[name].size(counts))) for name in LEFT_BEHIND}

    def _bound(self) -> Callable[[int], None]:
        code: Any = self.code
        stepper, words, places = code.stepper, self.words, self.places
        arrays = {name: Numbers(x) for name, x in self.arrays.items()}

        def advance(address: int) -> None:
            with np.errstate(all="ignore"):
                stepper.advance({name: int(words[places[name]]) for name in NUMBERS} | arrays)

        return advance


class InterpretedSteps:
    """Takes the place of machine.kernel.Code."""

    arguments = LEFT_BEHIND

    def __init__(self, layout: Layout, stepper: type[Stepper]):
        plan, called, method = layout.plan, layout.called, layout.method
        functions: dict[str, Callable[..., None]] = {
            name: _KernelInPython(plan, program, layout.number) for name, program in called.items()
        }
        e = StepsInPython(functions)
        functions["unit_quaternions"] = _function(e, unit_quaternions)
        functions["first_root"] = _function(e, partial(first_root, degree=method.degree))
        self.stepper = stepper(e, plan, called, method, {name: list(LEFT_BEHIND) for name in called})


def _function(e: StepsInPython, body: Callable[..., None]) -> Callable[..., None]:
    return lambda integers, arrays: body(e, *arrays.values(), *integers)


class _KernelInPython:
    def __init__(self, plan: Plan, program: Program, number: Any):
        data = {name: np.asarray(array.fill(plan), number).ravel() for name, array in ARRAYS.items() if _is_data(name)}  # type: ignore[misc]
        inputs: Mapping[str, NDArray[Any]] = {name: np.zeros(width(plan, program, name), number) for name in program.inputs}
        self.program, self.evaluation = program, InPython(plan, program, inputs, data)  # type: ignore[arg-type]

    def __call__(self, integers: Sequence[int], arrays: Mapping[str, Numbers]) -> None:
        values = self.evaluation.walk.e.values
        for name in (*self.program.inputs, *LEFT_BEHIND):
            if name in values:
                values[name][:] = arrays[name].first(len(values[name]))
        self.evaluation.run()
        for name in (*self.program.outputs, *LEFT_BEHIND):
            if name in values:
                arrays[name].first(len(values[name]))[:] = values[name]


def _is_data(name: str) -> bool:
    return ARRAYS[name].fill is not None and not ARRAYS[name].integers
