"""Adjoints of recorded kernels: from the adjoints of their outputs to those of everything that they read."""
