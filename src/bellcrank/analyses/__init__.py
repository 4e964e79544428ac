"""Analyses of a model other than runs through time.

resting.py      positions of rest, and whether they are stable      search.py, stiffness.py
linear.py       A, B, C, D about a state
vibration.py    frequencies, damping and shapes of small motions
motions/        an input through its range; efforts, powers and reactions of a given motion
response/       steady oscillations: frequency responses, spectra
state.py        arguments, checked
report.py       tables for people
"""

from .linear import StateSpace, linearize
from .motions.driving import Drive, drive
from .motions.inverse import inverse_motion
from .response.frequency import FrequencyResponse, frequency_response
from .response.spectra import SpectrumResponse, road_spectrum
from .resting import Equilibrium, equilibrium
from .vibration import Mode, Modes, modes

__all__ = [
    "Drive",
    "Equilibrium",
    "FrequencyResponse",
    "Mode",
    "Modes",
    "SpectrumResponse",
    "StateSpace",
    "drive",
    "equilibrium",
    "frequency_response",
    "inverse_motion",
    "linearize",
    "modes",
    "road_spectrum",
]
