"""assemble: from an approximate start to positions and velocities that all loops agree with."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import AssemblyError, StateError, warn
from ..extremes import in_our_errors
from ..model import Model
from ..spatial.rank import LENIENT
from . import failure
from .loops import CLOSED, HeldCoordinates, Loops
from .minimum_norm import CLEAR, smallest_change
from .newton import TIDY, Closed, Weight, close, metric
from .path import CoordinatePath, Lost, Point, Toggle, follow, reach
from .start import Given, Start, design, own_position, start_of
from .words import length_words, unit_of, velocity_unit

Array = NDArray[np.float64]

FLOWING = 1e-9  # of the velocities
EXACT = 1e-14  # of the velocities: with rates of closures below it nothing can be improved
ROUNDING = 1e-12  # 1/s: rates of closures, as a part of the model's length, that are nothing but rounding
TURNING = 10.0  # bodies turn with the sum of the rates of the joints that carry them
AS_GOOD = 2.0  # times the errors that remain with nothing held: then what is held is not in the way
SLIGHT = 0.05  # rad, or part of the typical length: how far values that the model's file gives may be off


@dataclass(frozen=True, eq=False)
class Assembly:
    """A state in which every loop is closed.

    q, v              (nq,), (nv,)
    moved, changed    (nq,), (nv,)   how far from the given ones
    held              names of coordinates that kept their values
    error, rate       m, m/s         largest errors of the closures that are left, angles times the typical length
    before            m              the largest error of the given start
    notes             what the caller should know
    """

    model: Model
    q: Array
    v: Array
    moved: Array
    changed: Array
    held: tuple[str, ...]
    error: float
    rate: float
    before: float
    notes: tuple[str, ...] = ()

    @property
    def report(self) -> str:
        """How far each coordinate was moved, and how velocities were changed where there are any."""
        to = "rounding" if self.error < ROUNDING else length_words(self.error)
        before = "as they were" if self.before < ROUNDING else f"the start was {length_words(self.before)} off"
        closed = f"loops closed to {to} ({before})"
        lines = [f"{self.model.name}: {closed if self.model.closures else 'no closed loops'}"]
        for name, x, dx in zip(self.model.q_names, self.q, self.moved, strict=True):
            how = "held" if name in self.held else f"moved by {dx:+.6g}" if abs(dx) > 1e-12 else "not moved"
            lines.append(f"  {name}: {x:.9g} {unit_of(self.model, name)}".rstrip() + f", {how}")
        for name, x, dx in zip(self.model.v_names, self.v, self.changed, strict=True):
            if abs(x) > 1e-12 or abs(dx) > 1e-12:
                how = f"changed by {dx:+.6g}" if abs(dx) > 1e-12 else "not changed"
                lines.append(f"  v of {name}: {x:.9g} {velocity_unit(self.model, name)}, {how}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def __str__(self) -> str:
        return self.report

    def warned(self) -> Assembly:
        """The assembly itself, after its notes have become warnings."""
        for note in self.notes:
            warn(f"model {self.model.name!r}: {note}")
        return self

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        q, v = self.model.q_names, self.model.v_names
        return {
            "model": self.model.name,
            "q": dict(zip(q, self.q.tolist(), strict=True)),
            "v": dict(zip(v, self.v.tolist(), strict=True)),
            "moved": dict(zip(q, self.moved.tolist(), strict=True)),
            "changed": dict(zip(v, self.changed.tolist(), strict=True)),
            "held": list(self.held),
            "error": self.error,
            "rate": self.rate,
            "before": self.before,
            "notes": list(self.notes),
        }


@in_our_errors(AssemblyError)
def assemble(
    model: Model | Dynamics,
    q: Given = None,
    v: Given = None,
    *,
    hold: Iterable[str] | str | None = None,
    weight: Weight = "mass",
    t: float = 0.0,
    tolerance: float | None = None,
) -> Assembly:
    """Positions and velocities that satisfy all loops, near a given start and on its branch.

    q, v       approximate start: an array, or values by name, which are then held; the model's own if not given
    hold       names of coordinates, or of joints, that must keep their values, and velocities. If not given: what q and v name;
               or what the model's file gives in [initial], unless arrays are given
    weight     what is minimised of the change: "mass" its kinetic energy, "norm" angles, and lengths over the typical length,
               as always for a model that was imported for kinematics alone
    t          s, of prescribed motions
    tolerance  m, of the closures, angles times the typical length; 1e-10 of the typical length if not given

    Redundant equations that contradict each other by no more than 1e-4 of the typical length, as the rounding of the numbers in
    a file makes them, are closed in the least-squares sense; a note states the remaining gap.

    From its design position (what the file gives) or from the model's own start (what q names) the mechanism is moved until the
    held coordinates have their values, with closed loops. Raises AssemblyError where that is impossible: it names the loops
    that stay open, and by how much, or how far the held coordinates get.
    """
    if weight not in ("mass", "norm"):
        raise StateError(f"weight must be 'mass' or 'norm'; it is {weight!r}")
    dynamics = model if isinstance(model, Dynamics) else Dynamics(model, optimisation=0)
    if tolerance is not None and not tolerance > 0:
        raise StateError(f"tolerance must be a length in m, more than zero; it is {tolerance!r}")
    return closed(dynamics, start_of(dynamics, q, v, hold), t, weight=weight, tolerance=tolerance).warned()


def closed(dynamics: Dynamics, start: Start, t: float, *, weight: Weight = "mass", tolerance: float | None = None) -> Assembly:
    """The one way from a start to a state that satisfies the loops: positions first, then velocities."""
    loops = Loops(dynamics)
    limit = CLOSED * loops.length if tolerance is None else tolerance
    notes: list[str] = []
    weight = "norm" if loops.model.kinematic else weight
    held, at = _positions(loops, start, t, limit, weight, notes)
    if loops.error(at, t) > limit:
        notes.append(failure.not_quite(loops, at, t))
    speed = _velocities(loops, at, start, t, weight, notes)
    return Assembly(
        model=loops.model,
        q=np.array(at),
        v=np.array(speed),
        moved=at - start.q,
        changed=speed - start.v,
        held=held.names,
        error=loops.worst(at, t),
        rate=float(np.abs(loops.rate(at, speed, t)).max(initial=0.0)),
        before=loops.worst(start.q, t),
        notes=tuple(notes),
    )


def _positions(
    loops: Loops, start: Start, t: float, limit: float, weight: Weight, notes: list[str]
) -> tuple[HeldCoordinates, Array]:
    """The positions in which the loops close, and the coordinates that were really held."""
    if loops.error(start.q, t) <= limit:
        return start.held, start.q
    nothing = HeldCoordinates.none(loops.model)
    if start.held.any:
        try:
            return _kept(loops, start, t, limit, weight, notes)
        except AssemblyError:
            if start.rule != "asked":
                raise
    return nothing, _settled(loops, start.q, t, limit, weight).q


def _kept(
    loops: Loops, start: Start, t: float, limit: float, weight: Weight, notes: list[str]
) -> tuple[HeldCoordinates, Array]:
    """The positions in which the loops close with what is held; values in a file may be off a little."""
    nothing = HeldCoordinates.none(loops.model)
    base = _base(loops, start, t, limit)
    if base is not None:
        free = failure.freedom(loops, base, t)
        if start.preferred.names != start.held.names and free >= start.preferred.count:
            with contextlib.suppress(AssemblyError):
                return start.preferred, _moved(loops, start, start.preferred, base, t)
        if free >= start.held.count:
            return start.held, _moved(loops, start, start.held, base, t)
    found = close(loops, start.q, start.held, t, limit, weight=weight)
    if found.error <= limit:
        return start.held, found.q
    released = _settled(loops, start.q, t, limit, weight)
    if released.error > limit and found.error <= AS_GOOD * released.error:
        return start.held, found.q
    if start.rule != "written" or _size(loops, start, released.q) > SLIGHT:
        raise failure.held_in_the_way(loops, start, found.q, released.q, t)
    notes.append(failure.released(loops, start, released.q))
    return nothing, released.q


def _base(loops: Loops, start: Start, t: float, limit: float) -> Array | None:
    """The closed configuration from which held coordinates are moved: as the model starts, or as it is drawn."""
    own = own_position(loops.model) if start.by_name else None
    if own is not None:
        with contextlib.suppress(AssemblyError):
            return _settled(loops, own, t, limit, "norm").q
    return _settled(loops, design(loops.model), t, limit, "norm").q if start.untouched else None


def _settled(loops: Loops, q: Array, t: float, limit: float, weight: Weight) -> Closed:
    """Closed from q with nothing held, as well as redundant equations that contradict each other a little allow."""
    found = close(loops, q, HeldCoordinates.none(loops.model), t, limit, weight=weight)
    most = max(limit, TIDY * loops.length)
    if found.error > most:
        raise failure.never_closes(loops, found.q, t, most)
    return found


def _moved(loops: Loops, start: Start, held: HeldCoordinates, base: Array, t: float) -> Array:
    """The mechanism moved from a closed configuration until the held coordinates have their values."""
    if not held.toward(base, base, start.q).any():
        return base
    path = CoordinatePath(loops, held, base, start.q, t)
    last = Point(base, 0.0, np.zeros(0))
    for point in follow(path, base):
        if isinstance(point, Toggle | Lost):
            raise failure.out_of_reach(loops, start, base, point, t)
        if point.s >= 1:
            found = reach(path, last if len(last.tangent) else point, 1.0)
            if found is not None:
                return found
        last = point
    raise failure.out_of_reach(loops, start, base, Lost(last), t)


def _size(loops: Loops, start: Start, q: Array) -> float:
    """How far held coordinates would be moved, rad."""
    toward = start.held.toward(start.q, start.q, q)
    return float(np.abs(toward / loops.units).max(initial=0.0))


def _velocities(loops: Loops, q: Array, start: Start, t: float, weight: Weight, notes: list[str]) -> Array:
    """The smallest change of those that are not held with which all loops stay closed."""
    if not len(loops.rows):
        return start.v
    for held in (start.preferred_v, start.held_v):
        v, kept = _flowing(loops, q, start.v, held, t, weight)
        if kept:
            return v
    free, agreed = _flowing(loops, q, start.v, np.zeros(loops.model.nv, dtype=bool), t, weight)
    if not agreed:
        raise failure.contradictory_drivers(loops, q, free, t)
    if start.rule_v == "asked":
        return free
    change = np.abs(free - start.v)[start.held_v].max(initial=0.0)
    if start.rule_v == "named" or change > SLIGHT * np.abs(start.v).max():
        raise failure.contradictory_velocities(loops, q, v, start, t)
    notes.append(failure.released_velocities(loops, start, free))
    return free


def agrees(loops: Loops, q: Array, v: Array, t: float) -> bool:
    """Whether the loops stay closed with v, to rounding."""
    rates = float(np.abs(loops.rate(q, v, t)).max(initial=0.0))
    return rates <= EXACT * _speed(loops, v, loops.phi_t(q, t))


def _flowing(loops: Loops, q: Array, v: Array, held: NDArray[np.bool_], t: float, weight: Weight) -> tuple[Array, bool]:
    """Velocities near v, those that are held excepted, and whether all loops agree with them."""
    from scipy.sparse import diags_array

    if agrees(loops, q, v, t):
        return v, True
    if loops.by_blocks and weight == "mass" and not held.any():
        near = loops.dynamics.velocities(q[None], loops.dynamics.momenta(q, v, t=t)[None], t=t)[0]  # a batch does not raise
        finite = np.isfinite(near).all()  # which they are not in a singular position
        if finite and np.abs(loops.rate(q, near, t)).max(initial=0.0) <= _allowed(loops, near, loops.phi_t(q, t), q, t):
            return near, True
    G, wanted = loops.G(q, t), -loops.phi_t(q, t)
    B = diags_array(loops.units).tocsc()[:, np.flatnonzero(~held)]
    M = metric(loops, q, B, t) if weight == "mass" else None
    W, s = (np.eye(len(G)), np.ones(len(G))) if loops.large else loops.independent(q, t)
    rows, right, given = W @ G / s[:, None], W @ wanted / s, v  # of the same strength all
    for tolerance in (CLEAR, loops.tolerance):
        v = v + B @ smallest_change(rows @ B, right - rows @ v, M, tolerance=tolerance)
        allowed = max(_allowed(loops, x, wanted, q, t) for x in (v, given))
        speed = max(_speed(loops, x, wanted) for x in (v, given))
        left, redundant = np.abs(right - rows @ v), np.abs(wanted - G @ v)
        misaligned = LENIENT * loops.tolerance * speed
        if (left <= FLOWING * speed / loops.length + allowed / s).all() and (redundant <= allowed + misaligned).all():
            return v, True
    return given + B @ smallest_change(G @ B, wanted - G @ given, M), False


def _allowed(loops: Loops, v: Array, wanted: Array, q: Array, t: float) -> float:
    """Rates of the closures that count as nothing: rounding, and points that remain apart by e, which turn with e w."""
    fast = float(np.abs(v / loops.units).max(initial=0.0))
    return FLOWING * _speed(loops, v, wanted) + ROUNDING * loops.length + TURNING * loops.worst(q, t) * fast


def _speed(loops: Loops, v: Array, wanted: Array) -> float:
    """A velocity that rates of the closures are compared with, m/s."""
    fast = float(np.abs(v / loops.units).max(initial=0.0))
    return loops.length * fast + float(np.abs(wanted).max(initial=0.0))
