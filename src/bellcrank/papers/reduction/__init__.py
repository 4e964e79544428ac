"""Critchley & Anderson's recursive coordinate reduction in its own variants, in plain numpy: to compare and to teach."""

from .accelerate import accelerate
from .report import Choice, Reduced

__all__ = ["Choice", "Reduced", "accelerate"]
