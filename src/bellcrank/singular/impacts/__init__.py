"""Velocities that jump onto the closures, as in a plastic impact."""
