"""Studies of a design: derivatives of runs and analyses with respect to its parameters."""

from .asking import sensitivity
from .gradients import check_gradients
from .outcome import Sensitivity

__all__ = ["Sensitivity", "check_gradients", "sensitivity"]
