"""A program on one state in Python, over any kind of number: plain, dual, counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..formulations import Program
from ..kernels.python import PythonExecutor
from ..numbers import Number
from ..plan import Plan
from .arrays import ARRAYS, for_plan, plan_counts, width
from .body import Body
from .walk import Walk

Values = Sequence[Number]

NOTHING = Program("nothing", lambda walk: None, ("q", "v", "tau", "t", "u"), {})


class InPython:
    """``data`` and ``gravity``, if given, take the place of the plan's, by array; they may be of any kind of number."""

    def __init__(self, plan: Plan, program: Program, inputs: Mapping[str, Values], data: Mapping[str, Any] | None = None):
        program = for_plan(program, plan)
        self.plan, self.program = plan, program
        inputs = {"t": [0.0], "u": [0.0] * plan.model.input_width, **inputs}
        values: dict[str, list[Any]] = {
            name: np.asarray(array.fill(plan), dtype=np.int64 if array.integers else float).ravel().tolist()
            for name, array in ARRAYS.items()
            if array.fill is not None and name not in (data or {})
        }
        values |= {name: list(x) for name, x in [*(data or {}).items(), *inputs.items()]}
        counts = plan_counts(plan)
        counts |= {"left_row": counts["nv"], "lower_rows": counts["rows"], "message_row": 1}
        for name, kind in program.outputs.items():
            regular = kind == "node*3"  # what a node says that says nothing
            values[name] = [1.0, 0.0, 0.0] * counts["nodes"] if regular else [0.0] * width(plan, program, name)
        self.walk = Walk(PythonExecutor(counts, values), plan, program)

    def run(self) -> dict[str, list[Number]]:
        """Outputs of the program, flat; scratch ones left out."""
        self.walk.run()
        return {name: self.values(name) for name in self.program.outputs if name not in self.program.scratch}

    def values(self, array: str) -> list[Number]:
        """All numbers of an array, as they are now."""
        numbers: list[Number] = self.walk.array(array).values
        return numbers

    def body(self, i: int) -> Body:
        """The i-th body of the walk, with what steps have kept on it."""
        return Body(self.plan.signature(i), self.walk, i)

    def row(self, r: int, field: str) -> Number:
        """A field of an equation of the closures."""
        return self.walk.array("rows")[r, field]

    def kept(self, i: int, name: str) -> Any:
        """What a step has kept on the i-th body of the walk; None if it has not."""
        record = self.walk.workspaces[self.plan.signature(i)]
        return record.values.get((i, name))


def run_plain(program: Program, plan: Plan, dtype: Any = float, **inputs: Values) -> dict[str, list[Number]]:
    """One evaluation on plain numbers of a numpy type: float, numpy.longdouble, complex."""
    given = {name: list(np.asarray(x, dtype=dtype)) for name, x in inputs.items()}
    names = () if dtype is float else ("data", "gravity", "node_body_data")
    data = {name: list(np.asarray(ARRAYS[name].fill(plan), dtype=dtype).ravel()) for name in names}  # type: ignore[misc]
    return InPython(plan, program, given, data).run()
