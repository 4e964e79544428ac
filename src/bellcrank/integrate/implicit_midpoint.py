"""The implicit midpoint rule: symplectic and symmetric, of order two; and its composition to order four.

Applied to Hamilton's equations in q and p it keeps every quadratic invariant, and the energy without a trend.
"""

from .runge_kutta import RungeKutta

IMPLICIT_MIDPOINT = RungeKutta(
    name="implicit_midpoint",
    order=2,
    citation="E. Hairer, C. Lubich & G. Wanner, Geometric Numerical Integration, 2006, II.1 and VI.4",
    c=(1 / 2,),
    A=((1 / 2,),),
    b=(1.0,),
    turns=True,
)

_OUTER = 1 / (4 - 4 ** (1 / 3))

MIDPOINT4 = RungeKutta(
    name="midpoint4",
    order=4,
    citation="M. Suzuki, Fractal decomposition of exponential operators, Phys. Lett. A 146 (1990): five midpoint steps",
    c=IMPLICIT_MIDPOINT.c,
    A=IMPLICIT_MIDPOINT.A,
    b=IMPLICIT_MIDPOINT.b,
    parts=(_OUTER, _OUTER, 1 - 4 * _OUTER, _OUTER, _OUTER),
    turns=True,
)
