"""The kinds of number, behind one door: run f(x1, x2, ...) -> (y1, y2, ...) on columns of inputs.

Results are arrays (outputs, N). ``eps`` is the precision of the kind's arithmetic.
"""

from __future__ import annotations

import numpy as np

from bellcrank.numbers import Dual
from tests.numbers.traced import Traced


class Plain:
    """float, numpy.longdouble or complex, one state after the other."""

    def __init__(self, name, dtype):
        self.name, self.dtype = name, dtype
        self.real = dtype is not complex
        self.eps = float(np.finfo(np.longdouble if dtype is np.longdouble else float).eps)

    def number(self, x):
        return float(x) if self.dtype is float else self.dtype(x)

    def run(self, f, *columns, table=None):
        first = () if table is None else ([self.number(x) for x in table],)
        rows = [f(*first, *[self.number(x) for x in state]) for state in zip(*columns, strict=True)]
        out = np.array(rows).T
        return out.real if self.dtype is complex else out


class Machine:
    """Machine code on ``lanes`` states at once."""

    eps = float(np.finfo(float).eps)
    real = True

    def __init__(self, name, lanes):
        self.name, self.lanes = name, lanes

    def run(self, f, *columns, table=None):
        return Traced(f, len(columns), self.lanes, table)(*columns)


class OfDuals:
    """The values of dual numbers over another kind; ``jacobian`` gives their tangents."""

    def __init__(self, over):
        self.name, self.over, self.eps, self.real = f"dual over {over.name}", over, over.eps, over.real

    def run(self, f, *columns, table=None):
        return self.over.run(self._part(f, table, lambda y, n: [_value(y)]), *columns, table=table)

    def jacobian(self, f, *columns, table=None):
        """(outputs, inputs, N)"""
        flat = self.over.run(self._part(f, table, _tangents), *columns, table=table)
        return flat.reshape(-1, len(columns), flat.shape[-1])

    @staticmethod
    def _part(f, table, part):
        def of(*arguments):
            first, xs = (arguments[:1], arguments[1:]) if table is not None else ((), arguments)
            return [x for y in f(*first, *Dual.seeds(xs)) for x in part(y, len(xs))]

        return of


def _value(y):
    return y.value if isinstance(y, Dual) else y


def _tangents(y, n):
    return list(y.tangents) if isinstance(y, Dual) else [0.0] * n


SIMPLE = [Plain("float", float), Plain("longdouble", np.longdouble), Plain("complex", complex)]
SIMPLE += [Machine("double", 1), Machine("4 x double", 4)]
DUALS = [OfDuals(kind) for kind in SIMPLE]
KINDS = [*SIMPLE, *DUALS]
