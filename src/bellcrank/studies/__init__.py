"""Studies of a design: derivatives of runs with respect to its parameters, and study files."""

from .forward import sensitivity
from .gradients import check_gradients
from .outcome import Sensitivity
from .study import Study, load_study

__all__ = ["Sensitivity", "Study", "check_gradients", "load_study", "sensitivity"]
