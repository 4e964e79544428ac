"""An event that happened during a run: which, when, and the state there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Crossing:
    event: str
    time: float
    q: np.ndarray
    v: np.ndarray
