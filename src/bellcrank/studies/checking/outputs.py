"""check_gradients of outputs of a run or of an analysis: exact derivatives beside central differences, by two steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...design import Design
from ...model import Model
from ..asking import sensitivity
from .differences import finite_differences


class OutputRow(NamedTuple):
    """Of one output and one parameter: the largest derivative, the largest difference from it as a part of that, and the
    same for a step ten times as large: where truncation rules, it is a hundred times as far off."""

    output: str
    parameter: str
    derivative: float
    difference: float
    longer: float


class OutputCheck(NamedTuple):
    """A table, a row for each output and parameter; printed by print()."""

    model: str
    analysis: str
    step: float
    rows: tuple[OutputRow, ...]

    @property
    def worst(self) -> float:
        """The largest difference, by the better of the two steps."""
        return max((min(row.difference, row.longer) for row in self.rows), default=0.0)

    def __str__(self) -> str:
        first = max([len("output"), *(len(row.output) for row in self.rows)])
        second = max([len("parameter"), *(len(row.parameter) for row in self.rows)])
        steps = f"{f'step {self.step:.0e}':>12}  {f'step {10 * self.step:.0e}':>12}"
        lines = [f"{self.model}: derivatives of {self.analysis}, off from differences by"]
        lines.append(f"  {'output':{first}}  {'parameter':{second}}  {'largest':>11}  {steps}")
        lines += [
            f"  {row.output:{first}}  {row.parameter:{second}}  {row.derivative:11.4g}"
            f"  {row.difference:12.1e}  {row.longer:12.1e}"
            for row in self.rows
        ]
        return "\n".join(lines)


def check_outputs(
    model: Model, design: Design, outputs: Sequence[str], duration: float | None, step: float, **options: Any
) -> OutputCheck:
    found = sensitivity(model, design, outputs, duration, **options)
    others = [finite_differences(model, design, outputs, duration, relative_step=h, **options) for h in (step, 10 * step)]
    rows = []
    for name in outputs:
        exact, *differences = (np.atleast_2d(np.asarray(x.d(name))) for x in (found, *others))
        size = np.abs(exact).max(axis=0)
        scale = np.where(size > 0, size, 1.0)
        off = [np.abs(other - exact).max(axis=0) / scale for other in differences]
        rows += [OutputRow(name, p, size[k], off[0][k], off[1][k]) for k, p in enumerate(design.names)]
    return OutputCheck(model.name, found.analysis, step, tuple(rows))
