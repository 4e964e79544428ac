"""What a simulation leaves behind: labelled arrays, files, a summary and pictures.

quantities.py  the table of arrays that a run has: their dimensions, units and meaning
labels.py      names and units of a model's coordinates, joints and bodies
run.py         Run: the arrays, labelled on demand
derived.py     energy, momentum, reactions and poses, from the states
summary.py     the few numbers that say how a run went
files.py       NetCDF, there and back
plots.py       the default figure
"""

from .files import load_run
from .run import Run
from .summary import Summary

__all__ = ["Run", "Summary", "load_run"]
