"""Derivatives of analyses other than runs: a driven mechanism, a position of rest, modes, the efforts of a motion.

All of these are solutions x of equations F(x, p) = 0, and their derivatives follow from the implicit function theorem,
F_x dx = -F_p. F_x and F_p come from dual numbers in machine code; what was iterated to find x is not differentiated.
"""
