"""One model in several engines: all formulations that apply, and MuJoCo and Pinocchio where they are installed; and through
several integrators.
"""

from .measuring import Comparison, Row, compare
from .methods import MethodComparison, MethodRow, compare_methods

__all__ = ["Comparison", "MethodComparison", "MethodRow", "Row", "compare", "compare_methods"]
