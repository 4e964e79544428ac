"""Derivatives of drive: a mechanism whose input goes through given values, by the parameters of a design.

The input, its speed and its acceleration stay; coordinates that are held stay where the start of the design has them; all
others follow from the loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...analyses.motions.driving import Drive, drive
from ...assembly import assemble
from ...assembly.loops import HeldCoordinates
from ...design import Design
from ...dynamics.differentiation import Changes, derivatives
from ...dynamics.dynamics import Dynamics
from ...dynamics.quantities.measures import measuring
from ...errors import DynamicsError, StateError, warn
from ...model.manifold import rate_matrix
from ..starting import first_tangents
from .equations import Array, Equations, Solved
from .motion import DifferentiatedMotion
from .own_states import of_the_start
from .standing import standing


class DriveArguments(NamedTuple):
    """The arguments of drive, by their names."""

    coordinate: str | None = None
    values: ArrayLike | None = None
    times: ArrayLike | None = None
    speed: float = 1.0
    acceleration: float = 0.0
    hold: Iterable[str] | str = ()
    q: ArrayLike | None = None
    t: float = 0.0
    states: Mapping[str, float] | None = None


def driven(design: Design, **options: Any) -> tuple[Drive, DifferentiatedMotion]:
    """The analysis itself, and everything at its positions with derivatives."""
    asked = DriveArguments(**options)
    found = drive(design.base, **options)
    if not len(found.values):
        raise DynamicsError(f"none of the values of {found.input!r} is within reach, and there is nothing to differentiate")
    if len(found.missing):
        warn(
            f"{len(found.missing)} of the values of {found.input!r} are out of reach, from {found.missing[0]:.6g} on: "
            "derivatives are those of the others"
        )
    by_time = asked.coordinate is None
    used = design if by_time else standing(design, asked.t)
    dynamics = _compiled(used)
    equations = Equations(dynamics, used, found.values if by_time else np.full(len(found.values), asked.t))
    moved = _moved(design, equations, found, asked)
    return found, _with_held_states(moved, asked.states or {}) if equations.model.state_places else moved


def _with_held_states(moved: DifferentiatedMotion, given: Mapping[str, float]) -> DifferentiatedMotion:
    """User-defined states stay where the start of the design has them, or where they are given."""
    model, dv = moved.equations.model, moved.dv.copy()
    kept = np.array([[name not in given] for name in model.state_names])
    dv[:, list(model.state_places)] = kept * of_the_start(moved.equations)
    return replace(moved, dv=dv)


def _compiled(design: Design) -> Dynamics:
    return Dynamics(design.base, "multipliers" if design.base.closures else "auto", optimisation=0, design=design)


def _moved(design: Design, equations: Equations, found: Drive, asked: DriveArguments) -> DifferentiatedMotion:
    model = equations.model
    names = [] if asked.coordinate is None else [found.input, *found.held]
    closing = [name for name in names if name in model.closing_names]
    held = HeldCoordinates.of(model, {name for name in names if name in model.q_names})
    dq0 = _of_the_start(design, asked, held, closing, found)
    dq = np.where(held.q[:, None], dq0, 0.0)[None].repeat(len(found.values), axis=0)
    if not model.closures:
        still = np.zeros((len(found.values), model.nv, equations.count))
        return DifferentiatedMotion(equations, found.q, found.v, found.a, dq, still, still, held, ())
    if closing:
        return _by_closing_joints(equations, found, held, dq, closing)

    def where(k: int) -> str:
        return f"{found.input!r} = {found.values[k]:.6g} {found.unit}"

    solved = Solved(equations, found.q, held, None, where)
    return DifferentiatedMotion.following(equations, solved, (found.q, found.v, found.a), dq, held)


def _of_the_start(design: Design, asked: DriveArguments, held: HeldCoordinates, closing: list[str], found: Drive) -> Array:
    """dq of the position from which the input starts: what is held stays there."""
    model, own = design.base, [name for name in held.names if name != found.input]
    if not own or asked.coordinate is None:
        return np.zeros((model.nq, len(design.names)))
    dynamics = _compiled(design)
    equations = Equations(dynamics, design, asked.t)
    if not model.closures:
        given = equations.written("given_q", model.nq) if asked.q is None else np.zeros((model.nq, equations.count))
        given[model.q_names.index(found.input)] = 0.0
        return given
    q = assemble(dynamics, asked.q, np.zeros(model.nv), t=asked.t).q
    start = {"q": q, "v": np.zeros(model.nv), "t": np.array(asked.t)}
    written = {"given_q": equations.written("given_q", model.nq)}
    changes = Changes(equations.count, {}, equations.tangents)
    return first_tangents(dynamics, start, {"q": asked.q, "v": np.zeros(model.nv)}, changes, written)[0]


def _by_closing_joints(
    equations: Equations, found: Drive, held: HeldCoordinates, dq: Array, closing: list[str]
) -> DifferentiatedMotion:
    """An input that closes a loop: its coordinate is one more equation, and so is its velocity."""
    if closing != [found.input]:
        raise StateError(f"{closing[-1]!r} closes a loop, and its derivatives while it is held are not known: hold another")
    rows = {"q": found.q, "v": found.v}
    name, units = found.input, equations.loops.length
    E = _closing_rows(equations, name, found.q)

    def where(k: int) -> str:
        return f"{found.input!r} = {found.values[k]:.6g} {found.unit}"

    def input_left(measure: str, **changes: Array) -> Array:
        whole = {"q": dq, "v": np.zeros((1, equations.model.nv, equations.count))} | changes
        return equations.measured([measure], rows, whole).along * units

    solved = Solved(equations, found.q, held, E * units, where)
    left = np.concatenate([equations.open_by(found.q, dq), input_left(name)], axis=1)
    dq = dq + equations.turned(found.q, solved.positions(left))
    rates = equations.rate_changes(found.q, found.v, dq, None)
    dv = solved.followed(np.concatenate([rates, input_left(f"{name}.v", q=dq)], axis=1))
    return DifferentiatedMotion(equations, found.q, found.v, found.a, dq, dv, None, held, ())


def _closing_rows(equations: Equations, name: str, q: NDArray[np.float64]) -> Array:
    """(k, 1, nv): derivatives of a coordinate that closes a loop along displacements."""
    code, model = measuring(equations.dynamics, [name]), equations.model
    along = np.array([rate_matrix(model, x) for x in q])
    rows = {"q": q, "v": np.zeros((len(q), model.nv))}
    changes = Changes(model.nv, {"q": along, "v": np.zeros((1, model.nv, model.nv))})
    found = derivatives(code.evaluation, code.program, rows, changes, equations.t)["measure"].along
    return found[:, code.columns]
