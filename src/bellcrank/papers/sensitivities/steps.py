"""Errors of finite differences over their step, beside a complex step, whose error does not depend on it.

A difference with the step h is off by truncation, of order h (forward) or h^2 (central), and by rounding, of order eps/h: there
is a best step, which nobody knows beforehand, and even that loses a half or a third of the digits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...design import Design
from ...dynamics.dynamics import Dynamics

Array = NDArray[np.float64]

STEPS = 10.0 ** np.arange(-1.0, -15.0, -1.0)


class StepStudy(NamedTuple):
    """Largest errors of d(acceleration), as parts of the largest derivative by the same parameter, (steps, parameters) each;
    ``steps`` are parts of the parameters."""

    parameters: tuple[str, ...]
    steps: Array
    forward: Array
    central: Array

    def best(self) -> dict[str, tuple[float, float]]:
        """For each parameter the step for which central differences are least off, and how much that is."""
        places = np.argmin(self.central, axis=0)
        return {
            name: (float(self.steps[k]), float(self.central[k, i]))
            for i, (name, k) in enumerate(zip(self.parameters, places, strict=True))
        }

    def __str__(self) -> str:
        lines = ["step      " + "".join(f"{name:>30}" for name in self.parameters)]
        for k, step in enumerate(self.steps):
            cells = "".join(f"{f:15.1e}{c:15.1e}" for f, c in zip(self.forward[k], self.central[k], strict=True))
            lines.append(f"{step:<10.0e}{cells}")
        return "\n".join([*lines, "(forward, central)"])


def study_steps(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, *, steps: ArrayLike = STEPS) -> StepStudy:
    """Differences of the acceleration at a state by the parameters of the design that the dynamics was compiled for."""
    design: Any = dynamics.planned.design
    assert isinstance(design, Design)
    exact, a = dynamics.sensitivity(q, v).da, dynamics.acceleration(q, v)
    sizes, parts = np.where(design.start == 0, 1.0, np.abs(design.start)), np.atleast_1d(np.asarray(steps, dtype=float))
    scale = np.abs(exact).max(axis=0)
    forward, central = (np.zeros((len(parts), len(sizes))) for _ in range(2))
    for k, part in enumerate(parts):
        for i, size in enumerate(sizes):
            h = part * size * np.eye(len(sizes))[i]
            ahead, behind = dynamics.acceleration(q, v, p=np.array([design.start + h, design.start - h]))
            forward[k, i] = np.abs((ahead - a) / (part * size) - exact[:, i]).max() / scale[i]
            central[k, i] = np.abs((ahead - behind) / (2 * part * size) - exact[:, i]).max() / scale[i]
    return StepStudy(design.names, parts, forward, central)
