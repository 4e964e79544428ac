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
    if law.kind == "formula":
        return np.broadcast_to(np.asarray(law.of_time(t), dtype=float), np.shape(t))
    assert law.table is not None
    return np.asarray(law.table(t))
