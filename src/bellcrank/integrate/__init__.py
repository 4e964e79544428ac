"""Integrators, one method a file: coefficients, order, citation. A new one is a new file and a line in METHODS."""

from .dop853 import DOP853
from .dopri5 import DOPRI5
from .gauss4 import GAUSS4
from .implicit_midpoint import IMPLICIT_MIDPOINT, MIDPOINT4
from .radau import RADAU
from .rk4 import RK4
from .runge_kutta import RungeKutta

METHODS: dict[str, RungeKutta] = {
    "rk4": RK4,
    "dopri5": DOPRI5,
    "dop853": DOP853,
    "radau": RADAU,
    "implicit_midpoint": IMPLICIT_MIDPOINT,
    "midpoint4": MIDPOINT4,
    "gauss4": GAUSS4,
}

__all__ = ["DOP853", "DOPRI5", "GAUSS4", "IMPLICIT_MIDPOINT", "METHODS", "MIDPOINT4", "RADAU", "RK4", "RungeKutta"]
