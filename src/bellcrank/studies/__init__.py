"""Studies of a design: derivatives of runs and analyses with respect to its parameters, and study files."""

from .asking import sensitivity
from .checking.differences import finite_differences
from .checking.gradients import check_gradients
from .outcome import Sensitivity
from .study import Study, load_study

__all__ = ["Sensitivity", "Study", "check_gradients", "finite_differences", "load_study", "sensitivity"]
