"""Many runs over a design: points, runs in lanes, a store that they are written to as they come, and what is read of it."""

from .result import SweepResult, load_sweep
from .running import sweep

__all__ = ["SweepResult", "load_sweep", "sweep"]
