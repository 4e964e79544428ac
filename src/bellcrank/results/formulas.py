"""Formulas over arrays: the postfix programs of model/parameters/expressions.py, for all samples at a time.

Where a formula has no value, such as the root of a negative number, the sample is not a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from ..model.parameters.expressions import derived

OPERATIONS: dict[str, Callable[..., Any]] = {
    "neg": np.negative,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.float_power,
    **{name: getattr(np, name) for name in ("sqrt", "sin", "cos", "tan", "exp", "log", "abs")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan", "atan2")},
    "deg": np.radians,
    "min": lambda *items: reduce(np.minimum, items),
    "max": lambda *items: reduce(np.maximum, items),
}


def evaluate_formula(text: str, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """The formula over arrays of samples; infinite results become not a number."""
    with np.errstate(all="ignore"):
        found = derived(text).run(values, lambda operation, operands: OPERATIONS[operation](*operands))
    result = np.asarray(found, dtype=float)
    return np.where(np.isfinite(result), result, np.nan)
