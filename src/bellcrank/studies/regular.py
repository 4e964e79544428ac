"""Outputs that have no derivative: formulas that are not numbers there, and root mean squares of what is zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import DynamicsError, warn
from .outcome import OutputValue, Sensitivity

Array = NDArray[np.float64]


def quietly() -> np.errstate:
    """For formulas whose values may be no numbers, which ``must_be_numbers`` says."""
    return np.errstate(all="ignore")


def root_mean_square(name: str, weights: Array, value: Array, along: Array) -> tuple[Array, Array]:
    """sqrt(sum of w x^2), () and (parameters,), for weights whose sum is 1.

    Where x is zero throughout, it grows with a parameter p as |p| does: it has a kink.
    """
    found = np.sqrt(weights @ value**2)
    if found > 0:
        return found, (weights * value) @ along / found
    slopes = np.sqrt(weights @ along**2)
    if slopes.any():
        warn(f"output {name!r} is zero, where it has a kink: its derivatives are those for parameters that grow.")
    return found, slopes


def must_be_numbers(found: Sensitivity) -> None:
    """Raises DynamicsError for an output that is not a number, or whose derivative is none; of a curve, warns."""
    for name, output in found.found.items():
        wrong = ~np.isfinite(np.column_stack([output.value.reshape(-1, 1), output.along.reshape(output.value.size, -1)]))
        rows = np.flatnonzero(wrong.any(axis=1))
        if not len(rows):
            continue
        what = _what(name, wrong[rows[0], 0], found, output, int(rows[0]))
        if not output.value.ndim:
            raise DynamicsError(f"{what}. Ask for another output.")
        warn(f"{what}: such samples are not a number ({len(rows)} of {len(wrong)}).")


def _what(name: str, value_too: bool, found: Sensitivity, output: OutputValue, row: int) -> str:
    at = found.place(name, row) if output.value.ndim else ""
    if value_too:
        return f"output {name!r} is not a finite number{at}: a logarithm, a root or a division there has no result"
    worst = found.parameters[int(np.flatnonzero(~np.isfinite(output.along.reshape(output.value.size, -1)[row]))[0])]
    return f"output {name!r} has no derivative by {worst!r}{at}: a formula has an infinite slope there, as sqrt(x) at x = 0"
