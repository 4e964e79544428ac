"""Checks before, during and after a run: whether it fits into memory, whether its end is in sight, and whether to trust it."""
