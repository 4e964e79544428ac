"""Integrators, one method a file: coefficients, order, citation. A new one is a new file and a line in METHODS."""

from .dopri5 import DOPRI5
from .rk4 import RK4
from .runge_kutta import RungeKutta

METHODS: dict[str, RungeKutta] = {"rk4": RK4, "dopri5": DOPRI5}

__all__ = ["DOPRI5", "METHODS", "RK4", "RungeKutta"]
