"""The data of a design with a complex step along each of its parameters.

A step of 1e-30 has no error of truncation, and none of cancellation: the imaginary part is the derivative to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...design import Design
from ...machine.arrays import ARRAYS, VARIABLE
from ...machine.tangents.data import design_data, design_tangents, from_chunks
from ...plan import Plan

Array = NDArray[np.float64]

STEP = 1e-30


def complex_data(plan: Plan, design: Design) -> Iterator[dict[str, list[Any]]]:
    """For each parameter, the arrays of a plan as machine.in_python takes them."""
    plain: dict[str, Array] = {}
    for name in VARIABLE:
        fill = ARRAYS[name].fill
        assert fill is not None
        plain[name] = np.asarray(fill(plan), dtype=np.float64)
    count = len(design.names)
    values = design_data(plan, {name: x for name, x in plain.items() if x.size})
    tangents = design_tangents(plan, design.tangents(design.start, plan), count)
    for k in range(count):
        yield {name: list(x[0] + 1j * STEP * _column(tangents, name, k, x.shape[1], count)) for name, x in values.items()}


def _column(tangents: dict[str, Array], name: str, k: int, size: int, count: int) -> Array:
    chunks = tangents.get(f"d_{name}")
    if chunks is None:
        return np.zeros(size)
    padded = np.concatenate([np.zeros((*chunks.shape[:3], 1)), chunks], axis=3)
    return from_chunks(padded, count)[1][0, :, k]
