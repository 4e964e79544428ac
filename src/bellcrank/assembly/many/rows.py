"""The first states of many runs, all rows at once: each is that of a single run (first.py), in a fraction of the time.

Errors, Jacobians and masses of all rows come from machine code. A row that the short way does not settle, close to a toggle,
in a singular position, or with fewer coordinates given than the loops leave free, goes the way of a single run, which also
says what is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...errors import BellcrankError, StateError
from ...model import Model
from ..failure import freedom
from ..first import NEWS, Changed, first_assembly, own_assembly
from ..loops import CLOSED, HeldCoordinates, Loops
from ..start import Given, asked_q, asked_v, held_by, must_be_coordinate, own_position, written
from .short_way import closure_errors, flowing_rows, moved_rows, settled_rows

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_ENTRIES = 4_000_000  # of the Jacobians that are in memory at a time


@dataclass(frozen=True)
class GivenRows:
    """The given values of q or v: rows (R, n), the model's own where nothing is given; the given names, or None."""

    what: str
    rows: Array
    given: bool
    names: tuple[str, ...] | None

    @property
    def whole(self) -> bool:
        """Given as arrays."""
        return self.given and self.names is None

    def repeated(self, count: int) -> GivenRows:
        return GivenRows(self.what, np.array(np.broadcast_to(self.rows, (count, self.rows.shape[1]))), self.given, self.names)

    def over(self, own: Array, known: tuple[str, ...]) -> Array:
        """Rows (B, n) of other models, with what is given in place of their own."""
        found, at = np.array(own), slice(None) if self.names is None else [known.index(name) for name in self.names]
        found[:, at] = self.rows[:, at]
        return found

    def of_row(self, i: int, known: tuple[str, ...]) -> Given:
        """The values given for row i, as ``simulate`` takes them for a single run."""
        if not self.given:
            return None
        return self.rows[i] if self.names is None else {name: self.rows[i, known.index(name)] for name in self.names}


def wanted(dynamics: Dynamics, what: str, given: Any) -> GivenRows:
    """The given rows: from names with a number or one for each run, from one array or rows of them, or from nothing."""
    model = dynamics.model
    own, known = (model.given_q, model.q_names) if what == "q" else (model.given_v, model.v_names)
    if not isinstance(given, Mapping):
        rows = np.atleast_2d(dynamics.array(what, own if given is None else given))
        return GivenRows(what, rows, given is not None, None)
    columns = {name: _column(model, what, name, value) for name, value in given.items()}
    counts = {len(column) for column in columns.values()} - {1}
    if len(counts) > 1:
        raise StateError(f"{what} has {' and '.join(str(n) for n in sorted(counts))} values by name: give one for each run")
    rows = np.tile(own, (counts.pop() if counts else 1, 1))
    for name, column in columns.items():
        rows[:, known.index(name)] = column
    return GivenRows(what, rows, True, tuple(columns))


def _column(model: Model, what: str, name: str, value: Any) -> Array:
    must_be_coordinate(model, what, name)
    try:
        column = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise StateError(f"{what} of {name!r} must be a number, or one for each run; it is {value!r}") from None
    if column.ndim != 1:
        raise StateError(f"{what} of {name!r} must be a number, or one for each run; it has shape {column.shape}")
    return column


@dataclass(frozen=True)
class FirstStates:
    """q (B, nq) and v (B, nv); of rows that cannot be assembled not numbers, and why; the warnings about the others."""

    q: Array
    v: Array
    problems: tuple[str | None, ...]
    notes: tuple[str, ...]


def start_rows(dynamics: Dynamics, q: GivenRows, v: GivenRows) -> FirstStates:
    """The first states of as many runs as q and v have rows, at t = 0."""
    if not dynamics.model.closures:
        return FirstStates(q.rows, v.rows, (None,) * len(q.rows), ())
    return _Rows(dynamics, q, v).states()


class _Rows:
    """The rows on their way; ``done``: those that satisfy the loops so far."""

    def __init__(self, dynamics: Dynamics, q: GivenRows, v: GivenRows) -> None:
        self.dynamics, self.model, self.loops = dynamics, dynamics.model, Loops(dynamics)
        self.wanted_q, self.wanted_v = q, v
        self.limit = CLOSED * self.loops.length
        self.q, self.v = q.rows.copy(), v.rows.copy()
        self.done: Mask = np.asarray(np.isfinite(self.q).all(axis=1) & np.isfinite(self.v).all(axis=1))
        self.problems: list[str | None] = [None] * len(self.q)
        self.notes: list[str] = []
        self.entries = len(self.loops.rows) * self.model.nv  # of the Jacobian of one row

    def states(self) -> FirstStates:
        if not (self.wanted_q.given or self.wanted_v.given):
            own = own_assembly(self.dynamics).warned()
            self.q[:], self.v[:] = own.q, own.v
            return FirstStates(self.q, self.v, tuple(self.problems), ())
        if self.loops.large:  # one by one, by sparse matrices
            self.done[:] = False
        self._positions()
        self._velocities()
        notes = [note for i in np.flatnonzero(~self.done) for note in self._alone(int(i))]
        if notes:
            more = f" (and {len(notes) - 1} more remarks of this kind)" if len(notes) > 1 else ""
            self.notes.append(f"{notes[0]}{more}")
        self._warn_of_changes()
        return FirstStates(self.q, self.v, tuple(self.problems), tuple(self.notes))

    @cached_property
    def base(self) -> tuple[Array | None, int]:
        """The model's own start, and how free the loops leave it there."""
        base = own_position(self.model)
        return (None, 0) if base is None else (base, freedom(self.loops, base, 0.0))

    def _positions(self) -> None:
        if not self.wanted_q.given:
            self._from_own_position()
            return
        open_ = self.done & ~(closure_errors(self.loops, self.q) <= self.limit)
        for rows, mask in self._groups(open_, self._asked(self.wanted_q, asked_q, self.model.q_names)):
            held = held_by(self.model, mask)
            preferred = HeldCoordinates.of(self.model, {*held.names, *written(self.model)[0]})
            kept = preferred if held.any and preferred.count <= self.base[1] else held
            self.q[rows], self.done[rows] = self._short_way(self.q[rows], kept)

    def _from_own_position(self) -> None:
        own = own_position(self.model)
        if own is None:
            self.done[:] = False
        else:
            self.q[:] = own

    def _short_way(self, q: Array, held: HeldCoordinates) -> tuple[Array, Mask]:
        """Configurations, and whether the loops close there."""
        base, free = self.base
        if not held.any or (self.wanted_q.whole and base is not None and held.count > free):
            return settled_rows(self.loops, q, self.limit)
        if base is None or held.count != free or not held.plain:
            return q, np.zeros(len(q), dtype=bool)
        return moved_rows(self.loops, held, base, q, self.limit)

    def _velocities(self) -> None:
        asked = self._asked(self.wanted_v, asked_v, self.model.v_names)
        own = np.array([name in written(self.model)[1] for name in self.model.v_names], dtype=bool)
        for rows, mask in self._groups(self.done.copy(), asked):
            held = mask | own
            if self.wanted_v.whole and held.sum() > self.base[1]:
                held = mask & (mask.sum() <= self.base[1])
            self.v[rows], self.done[rows] = flowing_rows(self.loops, self.q[rows], self.v[rows], held)

    def _asked(self, wanted: GivenRows, of_arrays: Callable[[Model, Array], Mask], known: tuple[str, ...]) -> Mask:
        """Entries of every row that the caller asks for."""
        if wanted.whole:
            return of_arrays(self.model, wanted.rows)
        named = np.array([name in (wanted.names or ()) for name in known], dtype=bool)
        return np.broadcast_to(named, wanted.rows.shape)

    def _groups(self, chosen: Mask, masks: Mask) -> Iterator[tuple[NDArray[np.intp], Mask]]:
        """The chosen rows in groups with the same mask, as many at a time as memory allows, each with its mask."""
        rows = np.flatnonzero(chosen)
        kinds, which = np.unique(masks[rows], axis=0, return_inverse=True)
        for k, mask in enumerate(kinds):
            same = rows[which.reshape(-1) == k]
            for part in np.array_split(same, math.ceil(len(same) * self.entries / MOST_ENTRIES)):
                yield part, mask

    def _alone(self, i: int) -> list[str]:
        """The way of a single run; what it has to say."""
        q, v = self.wanted_q.of_row(i, self.model.q_names), self.wanted_v.of_row(i, self.model.v_names)
        try:
            found = first_assembly(self.dynamics, q, v, 0.0)
        except BellcrankError as error:
            self.q[i], self.v[i], self.problems[i] = np.nan, np.nan, str(error)
            return []
        self.q[i], self.v[i] = found.q, found.v
        return [f"row {i}: {note}" for note in found.notes]

    def _warn_of_changes(self) -> None:
        """A warning about whole arrays that had to be changed; it names the row that was changed most."""
        moved = self.q - self.wanted_q.rows if self.wanted_q.whole else np.zeros_like(self.q)
        changed = self.v - self.wanted_v.rows if self.wanted_v.whole else np.zeros_like(self.v)
        sizes = np.nan_to_num(np.abs(np.hstack([moved, changed])).max(axis=1, initial=0.0))
        count, i = int((sizes > NEWS).sum()), int(np.argmax(sizes))
        if count:
            words = Changed(self.dynamics, self.q[i], self.v[i], moved[i], changed[i], 0.0).words
            more = f" ({count} rows were, this one most)" if count > 1 else ""
            self.notes.append(f"row {i}{more}: {words}")
