"""The Gauss method with two stages: symplectic and symmetric, of order four."""

from math import sqrt

from .runge_kutta import RungeKutta

_D = sqrt(3) / 6

GAUSS4 = RungeKutta(
    name="gauss4",
    order=4,
    citation="J. Kuntzmann, 1961; J. C. Butcher, Implicit Runge-Kutta processes, Math. Comp. 18 (1964)",
    c=(1 / 2 - _D, 1 / 2 + _D),
    A=((1 / 4, 1 / 4 - _D), (1 / 4 + _D, 1 / 4)),
    b=(1 / 2, 1 / 2),
)
