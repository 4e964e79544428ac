"""Gradients of outputs of a run by its adjoint, at a price that does not depend on the number of parameters."""
