"""Runs through singular positions: RATTLE with solves of least norm, and impacts onto the closures."""

from .extrapolation import Extrapolation, Interval, Tolerance
from .impacts.impulse import Impulse, impulse
from .outcome import Impact, Momentum, Passage, Passed, Reactions, Report
from .rattle import integrate_rattle

__all__ = [
    "Extrapolation",
    "Impact",
    "Impulse",
    "Interval",
    "Momentum",
    "Passage",
    "Passed",
    "Reactions",
    "Report",
    "Tolerance",
    "impulse",
    "integrate_rattle",
]
