"""Studies of a design: derivatives of runs and analyses with respect to its parameters, study files, optimisation, fits."""

from .asking import sensitivity
from .checking.differences import finite_differences
from .checking.gradients import check_gradients
from .fitting import Fitted, fit
from .optimisation import Optimum, Problem, optimize
from .outcome import Sensitivity
from .study import Study, load_study

__all__ = [
    "Fitted",
    "Optimum",
    "Problem",
    "Sensitivity",
    "Study",
    "check_gradients",
    "finite_differences",
    "fit",
    "load_study",
    "optimize",
    "sensitivity",
]
