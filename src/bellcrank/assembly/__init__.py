"""Assembly: from an approximate start to positions and velocities that all closed loops agree with.

solution.py   assemble, and what it gives back
first.py      the first state of a run
start.py      what is asked: the start, and coordinates that are held
loops.py      the equations in comparable units; held coordinates
least.py      the smallest change that satisfies equations, redundant ones too
newton.py     closing the loops from near
path.py       moving held coordinates while the loops stay closed; toggles
failure.py, words.py   why it cannot be, in the names of the model
"""

from .first import start_run
from .solution import Assembly, assemble, initial_assembly
from .start import Given

__all__ = ["Assembly", "Given", "assemble", "initial_assembly", "start_run"]
