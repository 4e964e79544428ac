"""Measures of a model, evaluated on the samples of a run.

A measure is one column, or three where it is a vector and no component was chosen: ``tip.x``, ``tip.y``, ``tip.z``. Vectors
are in world axes. The force of a bushing is the one on its second body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StateError
from .driven import driven_coordinates
from .formulas import evaluate_formula

if TYPE_CHECKING:
    from ..model import Element, Measure, Model

Array = np.ndarray
Values = Callable[[str], Array]
Columns = list[tuple[str, str]]
Place = tuple[int, tuple[float, float, float]]  # a body, and a point fixed to it

AXES = ("x", "y", "z")
UNITS = {"position": "m", "distance": "m", "velocity": "m/s", "expression": ""}
VECTOR_FORCES = ("bushing", "force")


def columns(model: Model, element_units: tuple[str, ...]) -> Columns:
    """Name and unit of every column of the measures; "" where the unit is not known."""
    found: Columns = []
    for measure in model.measures:
        unit = _unit(model, measure, element_units)
        names = [f"{measure.name}.{axis}" for axis in AXES] if _is_vector(model, measure) else [measure.name]
        found += [(name, unit) for name in names]
    return found


def _unit(model: Model, measure: Measure, element_units: tuple[str, ...]) -> str:
    if measure.kind == "angle":
        joint = model.closures[measure.closure].joint if measure.closure >= 0 else None
        joint = model.joints[measure.joint] if measure.joint >= 0 else joint
        return "rad" if joint is None else joint.q_units[measure.dof]
    if measure.kind == "element":
        return element_units[_element(model, measure)]
    if measure.kind == "closure":
        closure = model.closures[measure.closure]
        return "" if closure.kind == "coupler" and not closure.mesh else "N"
    if measure.kind == "drive":
        joint = model.closures[measure.closure].joint if measure.closure >= 0 else model.joints[measure.joint]
        assert joint is not None
        return "N m" if joint.v_units[measure.dof] == "rad/s" else "N"
    return UNITS[measure.kind]


def _is_vector(model: Model, measure: Measure) -> bool:
    if measure.component is not None:
        return False
    if measure.kind == "closure":
        return model.closures[measure.closure].kind == "point_on_line"
    return measure.kind in ("position", "velocity") or (
        measure.kind == "element" and model.elements[_element(model, measure)].kind in VECTOR_FORCES
    )


def _element(model: Model, measure: Measure) -> int:
    names = [element.name for element in model.elements]
    if measure.element not in names:
        raise StateError(f'measure "{measure.name}" is of "{measure.element}", but the model has no such force element')
    return names.index(measure.element)


def places(model: Model) -> list[Place]:
    """Points whose velocities the measures need, each once; the ground's are not asked for."""
    wanted: list[Place] = []
    for measure in model.measures:
        if measure.kind == "velocity":
            wanted += [(measure.body_a, measure.point_a), (measure.body_b, measure.point_b)]
        elif measure.kind == "element":
            element = model.elements[_element(model, measure)]
            if element.kind == "bushing":
                wanted += [(element.body_a, element.point_a), (element.body_b, element.point_b)]
    return list(dict.fromkeys(place for place in wanted if place[0] >= 0))


@dataclass(frozen=True)
class BodyMotion:
    """How the bodies of a run move: their poses, and at some places the linear and angular velocities (T, 6)."""

    values: Values
    velocities: dict[Place, Array]
    multipliers: Array  # (T, m) of the closures, where a measure asks for one of a coupler

    def rotation(self, body: int) -> Array:
        return np.eye(3) if body < 0 else self.values("rotations")[:, body]

    def direction(self, body: int, vector: tuple[float, float, float]) -> Array:
        """A direction fixed to a body, in world axes; (T, 3)."""
        turned = self.rotation(body) @ np.asarray(vector)
        return np.broadcast_to(turned, (self.values("time").size, 3))

    def point(self, body: int, point: tuple[float, float, float]) -> Array:
        origin = 0.0 if body < 0 else self.values("positions")[:, body]
        return origin + self.direction(body, point)

    def velocity(self, body: int, point: tuple[float, float, float]) -> tuple[Array, Array]:
        """Of the point, and of the body's turning."""
        both = self.velocities[body, point] if body >= 0 else np.zeros((self.values("time").size, 6))
        return both[:, :3], both[:, 3:]


def needs_multipliers(model: Model) -> bool:
    """Whether a measure is the effort of a coupler."""
    return any(m.kind == "closure" and model.closures[m.closure].kind == "coupler" for m in model.measures)


def evaluate(model: Model, values: Values, velocities: dict[Place, Array], multipliers: Array) -> Array:
    """All measures at every sample; (T, columns). ``velocities`` are those of ``places``, linear then angular."""
    motion = BodyMotion(values, velocities, multipliers)
    known: dict[str, Array] = {}
    for measure in model.measures:
        if measure.kind != "expression":
            known |= _named(model, measure, KINDS[measure.kind](model, measure, motion))
    _add_expressions(model, known)
    names = [name for name, _ in columns(model, ("",) * len(model.elements))]
    return np.stack([np.broadcast_to(known[name], values("time").shape) for name in names], axis=1)


def _named(model: Model, measure: Measure, found: Array) -> dict[str, Array]:
    if found.ndim == 1:
        return {measure.name: found}
    if measure.component is not None:
        return {measure.name: found[:, measure.component]}
    return {f"{measure.name}.{axis}": found[:, k] for k, axis in enumerate(AXES)}


def _distance(model: Model, measure: Measure, motion: BodyMotion) -> Array:
    apart = motion.point(measure.body_b, measure.point_b) - motion.point(measure.body_a, measure.point_a)
    return np.linalg.norm(apart, axis=1)


def _angle(model: Model, measure: Measure, motion: BodyMotion) -> Array:
    """A joint's coordinate, or the angle between two directions, from 0 to pi: atan2(|a x b|, a.b)."""
    if measure.joint >= 0 and model.driven[measure.joint]:
        return driven_coordinates(model, measure.joint, motion.values("time"))[:, measure.dof]
    if measure.joint >= 0:
        return motion.values("q")[:, model.q_index[measure.joint] + measure.dof]
    if measure.closure >= 0:
        before = (c.joint for c in model.closures[: measure.closure])
        return motion.values("closing")[:, sum(joint.nq for joint in before if joint is not None) + measure.dof]
    if measure.direction_a is None or measure.direction_b is None:
        raise StateError(f'measure "{measure.name}" is an angle without a joint: give direction_a and direction_b')
    a, b = motion.direction(measure.body_a, measure.direction_a), motion.direction(measure.body_b, measure.direction_b)
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ti,ti->t", a, b))


def _velocity(model: Model, measure: Measure, motion: BodyMotion) -> Array:
    of_a, _ = motion.velocity(measure.body_a, measure.point_a)
    of_b, _ = motion.velocity(measure.body_b, measure.point_b)
    return of_a - of_b


def _force(model: Model, measure: Measure, motion: BodyMotion) -> Array:
    index = _element(model, measure)
    element = model.elements[index]
    if element.kind == "bushing":
        return _bushing_force(element, motion)
    if element.kind == "force":
        given = (element.values["fx"], element.values["fy"], element.values["fz"])
        return motion.direction(-1 if element.values["world"] else element.body_a, given)
    return motion.values("forces")[:, index]


def _closure_force(model: Model, measure: Measure, motion: BodyMotion) -> Array:
    """Of a rod its tension, from the force on its end b; of a plane the force on b along the normal; of a line all of it."""
    closure = model.closures[measure.closure]
    if closure.kind == "coupler":
        return motion.multipliers[:, model.closure_index[measure.closure]]
    force = motion.values("reactions")[:, model.n + measure.closure, :3]
    if closure.kind == "point_on_line":
        return force
    if closure.kind == "distance":
        along = motion.point(closure.body_a, closure.point_a) - motion.point(closure.body_b, closure.point_b)
        return np.einsum("ti,ti->t", force, along / np.linalg.norm(along, axis=1, keepdims=True))
    assert closure.axis is not None
    return np.einsum("ti,ti->t", force, motion.direction(closure.body_a, closure.axis))


def _drive_effort(model: Model, measure: Measure, motion: BodyMotion) -> Array:
    """One of the columns of drives: driven joints of the tree first, then closures, each with all of its directions."""
    sizes = [joint.nv if driven else 0 for joint, driven in zip(model.joints, model.driven, strict=True)]
    closing = [0 if c.motion is None else 1 if c.joint is None else c.joint.nv for c in model.closures]
    before = sum(sizes[: measure.joint]) if measure.joint >= 0 else sum(sizes) + sum(closing[: measure.closure])
    return motion.values("drives")[:, before + measure.dof]


def _bushing_force(element: Element, motion: BodyMotion) -> Array:
    """-(K x + C x'), x the displacement of b from a in the bushing's axes, which turn with a."""
    d = motion.point(element.body_b, element.point_b) - motion.point(element.body_a, element.point_a)
    v_a, w_a = motion.velocity(element.body_a, element.point_a)
    v_b, _ = motion.velocity(element.body_b, element.point_b)
    axes = motion.rotation(element.body_a) @ (np.eye(3) if element.axes is None else np.asarray(element.axes))
    inward = np.broadcast_to(np.swapaxes(axes, -1, -2), (len(d), 3, 3))
    k, c = (np.array([element.values[f"{letter}{axis}"] for axis in AXES]) for letter in "kc")
    x, rate = (np.einsum("tij,tj->ti", inward, part) for part in (d, v_b - v_a - np.cross(w_a, d)))
    return -np.einsum("tji,tj->ti", inward, k * x + c * rate)


KINDS: dict[str, Callable[[Model, Measure, BodyMotion], Array]] = {
    "position": lambda model, measure, motion: motion.point(measure.body_a, measure.point_a),
    "distance": _distance,
    "angle": _angle,
    "velocity": _velocity,
    "element": _force,
    "closure": _closure_force,
    "drive": _drive_effort,
}


def _add_expressions(model: Model, known: dict[str, Array]) -> None:
    """Expressions may use each other in any order, but not in a ring."""
    waiting = {m.name: m.expression for m in model.measures if m.kind == "expression"}
    while waiting:
        ready = [name for name, text in waiting.items() if not _missing(text, known)]
        if not ready:
            raise StateError(_why(waiting, known))
        for name in ready:
            known[name] = evaluate_formula(waiting.pop(name), known)


def _missing(text: str, known: dict[str, Array]) -> list[str]:
    from ..model.parameters.expressions import derived

    return [name for name in derived(text).names if name not in known]


def _why(waiting: dict[str, str], known: dict[str, Array]) -> str:
    for measure, text in waiting.items():
        for name in _missing(text, known):
            if f"{name}.x" in known:
                return f'measure "{measure}" uses "{name}", which is a vector: write {name}.x, {name}.y or {name}.z'
            if name not in waiting:
                return f'measure "{measure}" uses "{name}", which is no measure; there are {", ".join([*known, *waiting])}'
    return f"measures {', '.join(waiting)} depend on each other in a ring: change one of their expressions"
