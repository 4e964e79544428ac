"""From recursions to runs: the walk as a Python loop or as machine code, the cache of object code, and Dynamics."""

from .dynamics import Dynamics, compile

__all__ = ["Dynamics", "compile"]
