"""What a simulation leaves behind: labelled arrays, files, a summary and pictures.

quantities.py  the table of arrays that a run has: their dimensions, units and meaning
labels.py      names and units of a model's coordinates, joints, bodies, forces and measures
run.py         Run: the arrays, labelled on demand
derived.py     energy, momentum, reactions, poses and forces, from the states
driven.py      laws of prescribed motions over arrays of times
trust.py       whether the energy adds up, and all numbers are finite
summary.py     the few numbers that say how a run went
files/         NetCDF, written and read; tables of text, and a column of one
plots.py       the default figure
"""

from .derived import parts_of
from .files.columns import read_column
from .files.netcdf import load_run
from .labels import work_by_source
from .run import Run
from .runs import Runs
from .summary import Summary
from .trust import energy_doubt, not_finite

__all__ = ["Run", "Runs", "Summary", "energy_doubt", "load_run", "not_finite", "parts_of", "read_column", "work_by_source"]
