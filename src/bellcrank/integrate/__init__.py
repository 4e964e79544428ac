"""Integrators, one method a file: coefficients, order, citation. A new one is a new file and a line in METHODS."""

from .dop853 import DOP853
from .dopri5 import DOPRI5
from .rk4 import RK4
from .runge_kutta import RungeKutta

METHODS: dict[str, RungeKutta] = {"rk4": RK4, "dopri5": DOPRI5, "dop853": DOP853}

__all__ = ["DOP853", "DOPRI5", "METHODS", "RK4", "RungeKutta"]
