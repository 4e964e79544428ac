"""The time loop: runs of a model, in machine code or by scipy's implicit methods, one or many at a time.

simulation.py  simulate: plans, starts, runs, and judges what came out
arguments.py   what was asked for, checked
one_run.py     a run, or a stretch of it, by the method that was asked for
compiled.py    a run in machine code, from the host's side; first_step.py before its first step
control.py     efforts and inputs that are Python functions, or tables over time
system.py      the equations in first order, and what a loop leaves behind
joining.py     runs in several parts
finished.py    what was computed, as a Run
many.py        many runs, four to a vector unit
reach.py       prescribed lengths that move the start, or come to the end of their reach
"""

from ..results.crossing import Crossing
from .events import Event
from .many import simulate_many
from .simulation import simulate

__all__ = ["Crossing", "Event", "simulate", "simulate_many"]
