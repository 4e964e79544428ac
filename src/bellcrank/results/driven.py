"""Laws of prescribed motions over arrays of times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..model import Law


def law_values(law: Law, t: np.ndarray) -> np.ndarray:
    """A law over time; not a number outside a table, unless the table is held there."""
    if law.kind == "sum":
        return np.sum([law_values(part, t) for part in law.parts], axis=0)
    if law.kind == "polynomial":
        return np.polynomial.polynomial.polyval(t, law.values)
    if law.kind == "sine":
        offset, amplitude, frequency, phase = law.values
        return offset + amplitude * np.sin(2 * np.pi * frequency * t + phase)
    from scipy.interpolate import CubicSpline

    assert law.table is not None
    x = np.asarray(law.table.x)
    held = np.clip(t, x[0], x[-1])
    values = CubicSpline(x, law.table.y, bc_type="natural")(held)
    return values if law.table.outside == "clamp" else np.where(held == t, values, np.nan)
