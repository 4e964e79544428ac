"""Assembly: from an approximate start to positions and velocities that all closed loops agree with.

solution.py   assemble, and what it gives back
first.py      the first state of a run: the model's own, or from what its caller gives
many/         the first states of many runs, all at once
start.py      what is asked: the start, and coordinates that are held
loops.py      the equations in comparable units; held coordinates
minimum_norm.py   the smallest change that satisfies equations, redundant ones too
newton.py     closing the loops from near
path.py       moving held coordinates while the loops stay closed; toggles
failure.py, words.py   why it cannot be, in the names of the model
"""

from .first import initial_assembly, own_assembly, start_run
from .many.rows import FirstStates, start_rows, wanted
from .solution import Assembly, assemble
from .start import Given, given_values

__all__ = [
    "Assembly",
    "FirstStates",
    "Given",
    "assemble",
    "given_values",
    "initial_assembly",
    "own_assembly",
    "start_rows",
    "start_run",
    "wanted",
]
