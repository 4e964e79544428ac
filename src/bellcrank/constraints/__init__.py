"""The equations that close loops, between two bodies: Kang & Yoon's basic constraints, and joints composed of them."""

from .basic import Equation, Frame, Law, d1, d2, s, ss
from .closing import TIES, Given, X, Y, Z, axes_parallel, point_on_axis, points_meet

__all__ = [
    "TIES",
    "Equation",
    "Frame",
    "Given",
    "Law",
    "X",
    "Y",
    "Z",
    "axes_parallel",
    "d1",
    "d2",
    "point_on_axis",
    "points_meet",
    "s",
    "ss",
]
