"""The fastest vibration and the fastest decay that the force elements of a model allow, estimated at its start.

Springs become dampers of the same numbers, so that the odd part of the inverse dynamics in v is their stiffness matrix:

    K e_i = (tau(e_i) - tau(-e_i)) / 2       at a = 0, without time, inputs and prescribed velocities

Stops count as if they were touched, friction by its slope at rest. The element named is the one that takes most of the power.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.element import ELEMENTS
from ..spatial.rank import null_space
from .starting import compiled, position

if TYPE_CHECKING:
    from ..model import Element, Model

MOST = 200  # degrees of freedom; beyond, the matrices take longer than a look at a model should


@dataclass(frozen=True)
class Fastest:
    """A rate in 1/s (of a vibration: rad/s), and the element behind it."""

    rate: float
    element: str


@dataclass(frozen=True)
class Speeds:
    vibration: Fastest | None = None
    decay: Fastest | None = None


def fastest(model: Model) -> Speeds:
    """The fastest motions; None where nothing is elastic, nothing damps, or there are too many degrees of freedom."""
    if not 0 < model.nv <= MOST:
        return Speeds()
    springs, dampers = ([twin for e in model.elements for twin in make(e)] for make in (_elastic, _viscous))
    vibration, decay = _largest(model, springs), _largest(model, dampers)
    return Speeds(vibration and Fastest(vibration.rate**0.5, vibration.element), decay)


def _elastic(element: Element) -> Iterator[Element]:
    """The damper whose matrix is the stiffness of an element."""
    values = element.values
    if element.kind in ("joint_spring", "joint_stop", "joint_stiction"):
        yield _joint_damper(element, values["stiffness"])
    elif element.kind == "spring_damper":
        yield _line_damper(element, values["stiffness"] if element.table is None else _steepest(element))
    elif element.kind == "bushing":
        yield replace(element, values=_bushing(values, "k"))
    elif element.kind == "turning_spring":
        yield replace(element, kind="bushing", values=_turning_damper(values["stiffness"]))


def _viscous(element: Element) -> Iterator[Element]:
    values = element.values
    if element.kind in ("joint_damper", "joint_stop", "joint_stiction"):
        yield _joint_damper(element, values["damping"])
    elif element.kind == "joint_friction":
        yield _joint_damper(element, values["effort"] / values["velocity"])
    elif element.kind == "spring_damper":
        yield _line_damper(element, values["damping"])
    elif element.kind == "bushing":
        yield replace(element, values=_bushing(values, "c"))


def _joint_damper(element: Element, damping: float) -> Element:
    return replace(element, kind="joint_damper", values={"damping": damping})


def _line_damper(element: Element, damping: float) -> Element:
    return replace(element, values={"stiffness": 0.0, "damping": damping, "length": 0.0, "preload": 0.0}, table=None)


def _bushing(values: dict[str, float], letter: str) -> dict[str, float]:
    return {name: values[letter + name[1:]] if name[0] == "c" else 0.0 for name in values}


def _turning_damper(damping: float) -> dict[str, float]:
    return {name: damping if name.startswith("cr") else 0.0 for name in ELEMENTS["bushing"]}


def _steepest(element: Element) -> float:
    assert element.table is not None
    return float(np.max(np.abs(np.diff(element.table.y) / np.diff(element.table.x))))


def _largest(model: Model, twins: list[Element]) -> Fastest | None:
    """The largest eigenvalue of M^-1 K, and which element its vector strains most."""
    from scipy.linalg import eigh

    twins = [twin for twin in twins if any(twin.values.values())]
    if not twins:
        return None
    dynamics, start = compiled(_still(model, twins)), position(model)
    q, still = np.tile(start, (model.nv, 1)), np.zeros((model.nv, model.nv))
    there, back = (dynamics.inverse_dynamics(q, sign * np.eye(model.nv), still) for sign in (1.0, -1.0))
    N = _allowed(dynamics, start)
    K, M = N.T @ ((there - back) / 2) @ N, N.T @ dynamics.mass_matrix(start) @ N
    if not (np.isfinite(K).all() and np.isfinite(M).all()):
        return None
    try:
        values, vectors = eigh((K + K.T) / 2, M)
    except np.linalg.LinAlgError:  # no mass resists some motion here
        return None
    if not len(values) or not values[-1] > _rounding(twins, M):
        return None
    _, power, _ = dynamics.elements(start, N @ vectors[:, -1])
    return Fastest(float(values[-1]), twins[int(np.argmin(power))].name)


def _rounding(twins: list[Element], M: np.ndarray) -> float:
    """Squared, what a force at right angles to all motions leaves: 1e-10 of the rate that the strongest would give head-on."""
    strongest = max(abs(value) for twin in twins for value in twin.values.values())
    return float(1e-20 * strongest / np.diag(M).min())


def _still(model: Model, elements: list[Element]) -> Model:
    """The model with other forces, its driven joints held where they start."""
    from ..model import Law, PrescribedMotion
    from ..results.driven import law_values

    def held(law: Law) -> Law:
        return Law("polynomial", (float(law_values(law, np.zeros(1))[0]),))

    def still(motion: PrescribedMotion | None) -> PrescribedMotion | None:
        return motion and replace(motion, laws=tuple(held(law) for law in motion.laws))

    return replace(
        model,
        elements=tuple(elements),
        inputs=(),
        measures=(),
        motions=tuple(still(motion) for motion in model.motions),
        closures=tuple(replace(closure, motion=still(closure.motion)) for closure in model.closures),
    )


def _allowed(dynamics: Any, q: np.ndarray) -> np.ndarray:
    """(nv, freedom) velocities that the loops allow at q."""
    if not dynamics.model.closures:
        return np.eye(dynamics.model.nv)
    return null_space(dynamics.closure_jacobian(q), dynamics.plan.tolerance)
