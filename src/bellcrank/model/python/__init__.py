"""What users write in Python: functions that are recorded as formulas, and laws of motion in several forms."""

from .functions import Function
from .laws import law

__all__ = ["Function", "law"]
