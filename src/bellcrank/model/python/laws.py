"""Laws of motion in the forms in which people write them in Python.

2.5                             it stays there
{"rate": 2.0, "start": 0.1}     the keys of a model file
rate(2.0) + sine(0.3, 2.0)      laws, and sums of them
"=0.3*sin(2*t)"                 a formula of the time
lambda t: 0.3 * sin(2 * t)      a function of the time, which is recorded (functions.py)
(times, values), or rows        a table: a natural cubic spline goes through it
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import ModelError
from ..parameters.expressions import Formula
from ..spec import laws
from ..spec.fields import fields_of
from ..spec.problems import brief, names
from ..spec.values import make
from .functions import Function

BY_KEY = {fields_of(cls)[0].key: cls for cls in laws.LAW_SPECS}
WAYS = 'Give a law such as rate(2.0), {"rate": 2.0}, a formula "=sin(t)", a function of t, or (times, values).'


def law(value: Any) -> laws.LawSpec:
    """The law that is meant; raises ModelError."""
    if isinstance(value, laws.LawSpec):
        return value
    if isinstance(value, Mapping):
        return _from_keys(value)
    if isinstance(value, str | Formula) or callable(value):
        given = value.formula if isinstance(value, Function) else Function(value).formula if callable(value) else value
        found: laws.LawSpec = make(laws.FormulaLaw, formula=given)
        return found
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return make(laws.PolynomialLaw, polynomial=(value,))
    return _from_array(value)


def _from_keys(value: Mapping[str, Any]) -> laws.LawSpec:
    own = [key for key in BY_KEY if key in value]
    if len(own) != 1:
        raise ModelError(f"{brief(dict(value))} is not a law. Give one of {', '.join(BY_KEY)}.")
    cls = BY_KEY[own[0]]
    known = {field.key: field.attribute for field in fields_of(cls)}
    unknown = [str(key) for key in value if key not in known]
    if unknown:
        raise ModelError(f"{brief(dict(value))} has {names(unknown)}. With {own[0]} there may be {', '.join(known)}.")
    given = {known[key]: x for key, x in value.items()}
    if cls is laws.SumLaw:
        given["sum"] = tuple(law(part) for part in given["sum"])
    made: laws.LawSpec = make(cls, **given)
    return made


def _from_array(value: Any) -> laws.LawSpec:
    """A pair of times and values, or rows of both."""
    try:
        pair = isinstance(value, tuple) and len(value) == 2
        rows = np.array(np.broadcast_arrays(*value), dtype=float).T if pair else np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{brief(value)} is not a law. {WAYS}") from None
    if rows.ndim != 2 or rows.shape[1] != 2 or len(rows) < 2:
        raise ModelError(f"an array of shape {rows.shape} is not a law. Give two or more rows of time and value.")
    return make(laws.TableLaw, table=[tuple(row) for row in rows.tolist()])
