"""The classical method of order four, at a fixed step."""

from .runge_kutta import RungeKutta

RK4 = RungeKutta(
    name="rk4",
    order=4,
    citation="W. Kutta, Beitrag zur naeherungsweisen Integration totaler Differentialgleichungen, 1901",
    c=(0.0, 1 / 2, 1 / 2, 1.0),
    A=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
    b=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
)
