"""A compiled model: planning, evaluation of programs, and Dynamics with everything that it computes."""

from .dynamics import Dynamics, compile

__all__ = ["Dynamics", "compile"]
