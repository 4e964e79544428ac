"""How a run treats closed loops."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import StateError

PROJECTIONS = ("minimum_norm", "mass", "none")
ON_SINGULAR = ("stop", "pass", "warn")


class Loops(NamedTuple):
    """Projection after each step, in a metric; at a singular configuration go on, or switch to a method that passes it."""

    project: bool = True
    go_on: bool = False
    switch: bool = False
    metric: str = "minimum_norm"


NO_LOOPS = Loops()


def loops_of(projection: str, on_singular: str) -> Loops:
    for name, value, known in (("projection", projection, PROJECTIONS), ("on_singular", on_singular, ON_SINGULAR)):
        if value not in known:
            raise StateError(f"{name} is {value!r}: use one of {', '.join(known)}")
    return Loops(
        projection != "none", on_singular == "warn", on_singular == "pass", "mass" if projection == "mass" else "minimum_norm"
    )
