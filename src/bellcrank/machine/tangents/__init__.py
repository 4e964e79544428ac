"""Derivatives in machine code: programs on dual numbers, the data of a design, tangents of a state in a time loop."""
