"""Optimisation of designs by exact gradients."""

from .optimize import optimize
from .optimum import Optimum
from .problem import Problem

__all__ = ["Optimum", "Problem", "optimize"]
