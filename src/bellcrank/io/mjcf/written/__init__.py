"""The parts of a model that are written as MJCF: loops, forces and servos."""
