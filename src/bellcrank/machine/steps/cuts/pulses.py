"""Times at which formulas that follow from the time alone are smooth and yet change in a much shorter time than before.

exp(-((t - 5)/1e-4)**2) is zero but for a moment that the stages of a long step do not see. Of every operation that can make
something narrow of what is wide, the ranges over intervals of time are halved until it changes by no more than a part of its
largest value in each. Stretches without a change are joined; where a much shorter one follows, steps end at the changes, and
nearer and nearer before and behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....model import Model
from ....model.measures.measure import Measure
from ....model.measures.paths import built_in
from ....model.parameters.expressions import derived
from .ranges import UNKNOWN, Range, apply, as_range

Array = NDArray[np.float64]

NARROWING = ("exp", "**", "/", "atan")
PART = 0.1  # of the largest value: changes by less are none
SHORTER = 32.0  # times as short as what comes before it: steps could miss it
MOST = 1 << 16  # intervals: what needs more of them changes all the time
HALVINGS = 44
AFTER_EACH_OTHER = 64  # changes at which steps end, before their own error shows what goes on


def pulse_times(model: Model, formulas: Iterable[Measure], first: float, last: float) -> Array:
    found: list[Array] = [np.zeros(0)]
    with np.errstate(all="ignore"):
        for formula in formulas:
            for k, whole in enumerate(_narrow(model, formula, np.array([first]), np.array([last]))):
                if whole.known and _changes(whole, 0.0).any():
                    found.append(_short_changes(*_stretches(partial(_narrow_one, model, formula, k), first, last)))
    times = np.concatenate(found)
    return times[(times > first) & (times < last)]


def _narrow(model: Model, formula: Measure, low: Array, high: Array) -> list[Range]:
    """Ranges of the operations that narrow, over intervals of time."""
    own = {measure.name: measure for measure in model.all_measures}
    found: list[Range] = []

    def noted(operation: str, operands: list[Any]) -> Range:
        result = apply(operation, operands)
        if operation in NARROWING:
            wide = [np.broadcast_to(x, low.shape) for x in (result.low, result.high)]
            found.append(Range(wide[0], wide[1], result.known))
        return result

    def named(name: str) -> Range:
        measure = own.get(name)
        if measure is not None and measure.kind == "expression":
            return of(measure)
        path = built_in(model, name) if measure is None else None
        return Range(low, high) if path is not None and path.kind == "time" else UNKNOWN

    def of(measure: Measure) -> Range:
        program, given = derived(measure.expression), dict(measure.values)
        values = given | {name: named(name) for name in program.names if name not in given}
        return as_range(program.run(values, noted, lambda name, operands: UNKNOWN))

    of(formula)
    return found


def _narrow_one(model: Model, formula: Measure, k: int, low: Array, high: Array) -> Range:
    return _narrow(model, formula, low, high)[k]


def _changes(x: Range, largest: float) -> NDArray[np.bool_]:
    return ~(x.high - x.low <= PART * largest)


def _stretches(ranges: Callable[[Array, Array], Range], first: float, last: float) -> tuple[Array, Array]:
    """Beginnings and ends of stretches in which a number does not change; none where they would be too many."""
    low, high, largest = np.array([first]), np.array([last]), 0.0
    done: list[tuple[Array, Array, Range]] = []
    for _ in range(HALVINGS):
        if not 0 < len(low) <= MOST:
            break
        count, middle = len(low), 0.5 * (low + high)
        both = ranges(np.append(low, middle), np.append(high, middle))
        x, values = Range(both.low[:count], both.high[:count]), np.abs(both.low[count:])
        largest = max(largest, float(np.max(values, where=np.isfinite(values), initial=0.0)))
        open_ = _changes(x, largest) & (high - low > 1e-13 * np.abs(high))
        done.append((low[~open_], high[~open_], Range(x.low[~open_], x.high[~open_])))
        low, middle, high = low[open_], middle[open_], high[open_]
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    if len(low) > MOST:
        return np.zeros(0), np.zeros(0)
    starts, ends, lows, highs = (np.concatenate(x) for x in zip(*((a, b, r.low, r.high) for a, b, r in done), strict=True))
    order = np.argsort(starts)
    return _joined(starts[order], ends[order], lows[order], highs[order], PART * largest)


def _joined(starts: Array, ends: Array, lows: Array, highs: Array, change: float) -> tuple[Array, Array]:
    """Beginnings and ends of stretches, as long as their values stay within a change."""
    begins = [0]
    low, high = lows[0], highs[0]
    for k in range(1, len(starts)):
        low, high = min(low, lows[k]), max(high, highs[k])
        if not high - low <= change:
            begins.append(k)
            low, high = lows[k], highs[k]
    return starts[begins], np.append(starts[begins[1:]], ends[-1])


def _short_changes(starts: Array, ends: Array) -> Array:
    """Ends of the short stretches that come after a long one, and times ever nearer before the first and behind the last."""
    found: list[Array] = [np.zeros(0)]
    lengths, k = ends - starts, 1
    while k < len(starts):
        short = lengths[k:] <= lengths[k - 1] / SHORTER
        count = len(short) if short.all() else int(np.argmin(short))
        if count:
            last = k + count - 1
            found += [starts[k : k + min(count, AFTER_EACH_OTHER)], ends[last : last + 1]]
            found += [
                starts[k] - _nearer(lengths[k], lengths[k - 1]),
                ends[last] + _nearer(lengths[last], ends[-1] - ends[last]),
            ]
        k += max(count, 1)
    return np.concatenate(found)


def _nearer(shortest: float, longest: float) -> Array:
    """Distances, each twice the one before it."""
    return np.asarray(shortest * 2.0 ** np.arange(max(0, int(np.log2(max(longest / shortest, 1.0))))))
