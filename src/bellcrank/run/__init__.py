"""The time loop: runs of a model, in machine code, by implicit methods or in Python, one or many at a time.

simulation.py  simulate: chooses the loop, makes the Run
arguments.py   what was asked for, checked
machine.py     a run in machine code, from the host's side
stiff.py       scipy's implicit methods with exact Jacobians
plain.py       the loop in Python, for efforts and inputs that are Python functions
tabled_inputs.py  inputs that are tables over time
many.py        many runs, four to a vector unit
events.py      something crosses a value
system.py      the equations in first order, and what a loop leaves behind
"""

from ..results.crossing import Crossing
from .events import Event
from .many import simulate_many
from .simulation import simulate

__all__ = ["Crossing", "Event", "simulate", "simulate_many"]
