"""Exact derivatives at a state, by dual numbers in machine code; Dynamics has these functions as its methods."""

from . import by_design, by_momenta, jacobians, of_measures

__all__ = ["by_design", "by_momenta", "jacobians", "of_measures"]
