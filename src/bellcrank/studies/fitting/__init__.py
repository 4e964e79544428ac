"""Parameters from measured curves."""

from .fit import fit
from .fitted import Fitted
from .problem import FitProblem

__all__ = ["FitProblem", "Fitted", "fit"]
