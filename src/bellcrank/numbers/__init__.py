"""The kinds of number that a recursion can run on, and the functions that all of them share.

plain      float, numpy.longdouble, complex       runs, references beyond double precision, complex step
symbol     Symbol on a Graph                      records what is done to it: counting, or writing machine code
counting   a Graph that counts                    the papers' tables of operations
dual       Dual over any of these                 exact derivatives, one value and a vector of tangents
"""

from .counting import CountingGraph, Operations
from .dual import Dual, Rate, SecondRate
from .functions import absolute, atan2, exp, floor, gather, less, log, maximum, minimum, negated, power, select, sincos, sqrt
from .operations import acos, asin, atan, cos, mod, sign, sin, smoothstep, step, tan
from .symbol import Condition, Graph, Number, Symbol, is_constant

__all__ = [
    "Condition",
    "CountingGraph",
    "Dual",
    "Graph",
    "Number",
    "Operations",
    "Rate",
    "SecondRate",
    "Symbol",
    "absolute",
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "exp",
    "floor",
    "gather",
    "is_constant",
    "less",
    "log",
    "maximum",
    "minimum",
    "mod",
    "negated",
    "power",
    "select",
    "sign",
    "sin",
    "sincos",
    "smoothstep",
    "sqrt",
    "step",
    "tan",
]
