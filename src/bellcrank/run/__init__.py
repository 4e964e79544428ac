"""The time loop: runs of a model, in machine code or by scipy's implicit methods, one or many at a time.

simulation.py  simulate: chooses the loop, makes the Run
arguments.py   what was asked for, checked
first_step.py  a run in machine code before its first step
compiled.py    the run, from the host's side
control.py     efforts and inputs that are Python functions, or tables over time
stiff.py       scipy's implicit methods with exact Jacobians
many.py        many runs, four to a vector unit
events.py      something crosses a value
system.py      the equations in first order, and what a loop leaves behind
"""

from ..results.crossing import Crossing
from .events import Event
from .many import simulate_many
from .simulation import simulate

__all__ = ["Crossing", "Event", "simulate", "simulate_many"]
