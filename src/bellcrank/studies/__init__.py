"""Studies of a design: derivatives of runs with respect to its parameters."""

from .forward import sensitivity
from .gradients import check_gradients
from .outcome import Sensitivity

__all__ = ["Sensitivity", "check_gradients", "sensitivity"]
