"""Time steps around a kernel: Runge-Kutta methods, implicit ones, lanes, projection onto the closures."""
