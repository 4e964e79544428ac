"""The first state of a run: the model's own, or one that follows from what the caller gives, by name or as whole arrays.

What is named is kept, and the others follow. Of whole arrays, what differs from the model's own start is kept where the loops
allow it. A warning reports a whole array that had to be changed: what was changed, by how much, and the energy that it took.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import AssemblyError, warn
from ..model import Model
from .loops import CLOSED, Loops
from .minimum_norm import LARGE
from .solution import Assembly, agrees, closed
from .start import Given, Start, own_position, start_of, start_of_run
from .words import unit_of, velocity_unit

Array = NDArray[np.float64]
Unit = Callable[[Model, str], str]

NEWS = 1e-6  # rad or m, and 1/s: what is changed less for the sake of closed loops is not news
MOST = 6  # entries that a warning names


def initial_assembly(model: Model) -> Assembly:
    """A model's own start, at t = 0, in arrays that cannot be written to."""
    large = min(int(model.closure_index[-1]), model.nv) > LARGE
    dynamics = Dynamics(model, "multipliers" if large else "auto", optimisation=0)
    start = start_of(dynamics, None, None, None)
    if large and not _satisfied(Loops(dynamics), start):  # else the blocks need not be planned, which takes long
        dynamics = Dynamics(model, optimisation=0)
    found = closed(dynamics, start, 0.0)
    for array in (found.q, found.v):
        array.setflags(write=False)
    return found


def own_assembly(dynamics: Dynamics) -> Assembly:
    """The model's own start; where it cannot be assembled by the model's own rank tolerance, by that of the dynamics."""
    try:
        return dynamics.model.assembled_start
    except AssemblyError:
        return closed(dynamics, start_of(dynamics, None, None, None), 0.0)


def _satisfied(loops: Loops, start: Start) -> bool:
    """Whether the loops agree with a start as it is, at t = 0."""
    return loops.error(start.q, 0.0) <= CLOSED * loops.length and agrees(loops, start.q, start.v, 0.0)


def start_run(dynamics: Dynamics, q: Given, v: Given, t: float) -> Assembly:
    """The first state of a run, with a warning for whole arrays that had to be changed."""
    found = first_assembly(dynamics, q, v, t)
    moved, changed = (x if _whole(given) else 0 * x for x, given in ((found.moved, q), (found.changed, v)))
    change = Changed(dynamics, found.q, found.v, moved, changed, t)
    if change.any:
        warn(f"model {dynamics.model.name!r}: {change.words}")
    return found.warned()


def first_assembly(dynamics: Dynamics, q: Given, v: Given, t: float) -> Assembly:
    """The state that satisfies the loops at t, of which q or v is given."""
    return closed(dynamics, start_of_run(dynamics, own_position(dynamics.model) if q is None else q, v), t)


def _whole(given: Given) -> bool:
    return given is not None and not isinstance(given, Mapping)


class Changed:
    """The result for whole arrays: the state q, v, and the changes that led to it, zero of what was not given."""

    def __init__(self, dynamics: Dynamics, q: Array, v: Array, moved: Array, changed: Array, t: float) -> None:
        self.dynamics, self.model, self.t = dynamics, dynamics.model, t
        self.q, self.v, self.moved, self.changed = q, v, moved, changed

    @property
    def size(self) -> float:
        return float(max(np.abs(self.moved).max(initial=0.0), np.abs(self.changed).max(initial=0.0)))

    @property
    def any(self) -> bool:
        return self.size > NEWS

    @property
    def words(self) -> str:
        """Names and amounts, the energy that it took, and the remedy."""
        q = self._entries("", self.model.q_names, self.q, self.moved, unit_of)
        v = self._entries("v of ", self.model.v_names, self.v, self.changed, velocity_unit)
        of, names, given = ("q", self.model.q_names, self.q - self.moved)
        if v:
            of, names, given = ("v", self.model.v_names, self.v - self.changed)
        k = int(np.argmax(np.abs(given)))
        example = f"{of}={{{names[k]!r}: {given[k]:.6g}}}"
        return (
            f"the given start does not satisfy the loops and was changed: {', '.join([*q, *v])}. {self._energies()}. "
            f"Give what must be kept by name, as in {example}, and the others follow"
        )

    def _entries(self, what: str, names: Sequence[str], x: Array, change: Array, unit: Unit) -> list[str]:
        """'crank_pivot' from 6 to 17.8 rad/s, the largest changes first."""
        order = [int(k) for k in np.argsort(-np.abs(change), kind="stable") if abs(change[k]) > NEWS]
        texts = [
            f"{what}{names[k]!r} from {x[k] - change[k]:.6g} to {x[k]:.6g} {unit(self.model, names[k])}".rstrip()
            for k in order[:MOST]
        ]
        return [*texts, f"{len(order) - MOST} more"] if len(order) > MOST else texts

    def _energies(self) -> str:
        """The kinetic energy where velocities were changed, and the potential one, springs included, where positions were."""
        before, after = self._energy(self.q - self.moved, self.v - self.changed), self._energy(self.q, self.v)
        asked = zip(("kinetic", "potential"), before, after, (self.changed, self.moved), strict=True)
        texts = [f"{name} energy is {y:.6g} J instead of {x:.6g} J" for name, x, y, change in asked if change.any()]
        return f"Its {' and its '.join(texts)}"

    def _energy(self, q: Array, v: Array) -> tuple[float, float]:
        """Kinetic and potential energy; not a number where a table has ended, since a batch of one does not raise."""
        kinetic, potential = self.dynamics.energy(q[None], v[None], t=self.t)
        stored = self.dynamics.elements(q[None], v[None], t=self.t)[0].sum() if self.model.elements else 0.0
        return float(kinetic[0]), float(potential[0] + stored)
