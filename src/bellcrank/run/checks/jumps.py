"""A warning before the run where a prescribed motion jumps, in its coordinate or in its velocity.

A velocity that jumps takes an impulse, which the equations of motion do not have: what is carried would go on as it was.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...machine.steps.cuts.known import known_times
from ...model import Model
from ...model.motion import Law

Array = NDArray[np.float64]

NEAR = 1e-7  # of the time span: how far from a time its two sides are looked at
LEAST = 1e-3  # of the largest change or slope of a law: what is less is its curvature or rounding


def jumping(model: Model, first: float, last: float) -> Iterator[str]:
    """A sentence for each law that jumps in a span of time."""
    laws = [(name, law) for name, law in _laws(model) if any(term.kind in ("formula", "table") for term in law.terms)]
    times = known_times(model, first, last) if laws and last > first else np.zeros(0)
    for name, law in laws if len(times) else ():
        near, span = NEAR * (last - first), np.linspace(first, last, 1025)
        x = [_value(law, times + k * near) for k in (-2, -1, 1, 2)]
        before, after = (x[1] - x[0]) / near, (x[3] - x[2]) / near
        along = _value(law, span)
        for what, change, largest in (
            ("coordinate", x[2] - x[1], np.nanmax(np.abs(along - along[0]), initial=0.0)),
            ("velocity", after - before, np.nanmax(np.abs(np.diff(along) / np.diff(span)), initial=0.0)),
        ):
            found = np.flatnonzero(np.abs(change) > LEAST * largest)
            if len(found):
                at = int(found[0])
                yield (
                    f"the {what} of the prescribed motion of {name!r} jumps by {change[at]:.4g} at t = {times[at]:.4g} s, and "
                    "the impulse of that is not simulated: let it change smoothly, with smoothstep or a cubic table"
                )
                break


def _laws(model: Model) -> Iterator[tuple[str, Law]]:
    closures = ((closure.name, closure.motion) for closure in model.closures)
    for name, motion in (*zip(model.joint_names, model.motions, strict=False), *closures):
        yield from ((name, law) for law in (motion.laws if motion else ()))


def _value(law: Law, t: Array) -> Array:
    """The value of the formulas and tables among its terms, since the others are smooth; NaN beyond the end of a table."""
    total = np.zeros(len(t))
    with np.errstate(all="ignore"):
        for term in law.terms:
            if term.kind == "formula":
                total = total + np.broadcast_to(np.asarray(term.of_time(t), dtype=float), t.shape)
            elif term.table is not None:
                total = total + term.table(t)
    return total
