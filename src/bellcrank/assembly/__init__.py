"""Assembly: from an approximate start to positions and velocities that all closed loops agree with.

solution.py   assemble, and what it gives back
start.py      what is asked: the start, and coordinates that are held
loops.py      the equations in comparable units; held coordinates
least.py      the smallest change that satisfies equations, redundant ones too
newton.py     closing the loops from near
path.py       moving held coordinates while the loops stay closed; toggles
failure.py, words.py   why it cannot be, in the names of the model
"""

from .solution import Assembly, assemble

__all__ = ["Assembly", "assemble"]
