"""Inspection of a model before it runs: its parts, and what is unusual about it.

report.py    the parts of a model, as rows
remarks.py   what is unusual, each kind a function
loops/       closed loops: freedom, redundancy, singular positions
stiffness.py the fastest vibration and decay that the force elements allow
"""

from .loops.mobility import LoopReport
from .report import Report, check

__all__ = ["LoopReport", "Report", "check"]
