"""Studies of a design: derivatives of runs and analyses with respect to its parameters, study files, optimisation, fits."""

from .asking import sensitivity
from .checking.differences import finite_differences
from .checking.gradients import check_gradients
from .fitting import Fitted, fit
from .optimisation import Optimum, Problem, optimize
from .outcome import Sensitivity
from .reporting.files import load_sensitivity
from .study import Study, load_study
from .sweeps import SweepResult, load_sweep, sweep

__all__ = [
    "Fitted",
    "Optimum",
    "Problem",
    "Sensitivity",
    "Study",
    "SweepResult",
    "check_gradients",
    "finite_differences",
    "fit",
    "load_sensitivity",
    "load_study",
    "load_sweep",
    "optimize",
    "sensitivity",
    "sweep",
]
