"""Runs through singular positions: RATTLE with solves of least norm, Huang's reactions, and impacts onto the closures."""

from .impulse import Impulse, impulse
from .outcome import Impact, Momentum, Passage, Passed, Reactions, Report
from .rattle import integrate_rattle
from .taylor import integrate_reaction_taylor

__all__ = [
    "Impact",
    "Impulse",
    "Momentum",
    "Passage",
    "Passed",
    "Reactions",
    "Report",
    "impulse",
    "integrate_rattle",
    "integrate_reaction_taylor",
]
