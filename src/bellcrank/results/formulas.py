"""Formulas over arrays: the postfix programs of model/parameters/expressions.py, for all samples at a time.

Where a formula has no value, such as the root of a negative number, the sample is not a number.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.parameters.expressions import derived


def evaluate_formula(text: str, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """The formula over arrays of samples; infinite results become not a number."""
    with np.errstate(all="ignore"):
        result = np.asarray(derived(text).run(values), dtype=float)
    return np.where(np.isfinite(result), result, np.nan)
