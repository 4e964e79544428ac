"""What can be asked of a compiled model: planning, evaluation of programs, and Dynamics."""

from .dynamics import Dynamics, compile

__all__ = ["Dynamics", "compile"]
