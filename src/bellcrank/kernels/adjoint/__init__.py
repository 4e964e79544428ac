"""Recorded kernels run backward: from the adjoints of their outputs to those of everything that they read."""
