"""What closes a loop, as equations between two bodies: Kang & Yoon's basic constraints, and joints composed of them."""

from .basic import Equation, Frame, Law, d1, d2, s, ss
from .closing import CLOSING, Given, closing_equations

__all__ = ["CLOSING", "Equation", "Frame", "Given", "Law", "closing_equations", "d1", "d2", "s", "ss"]
