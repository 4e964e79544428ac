"""Force elements as the program runs them: plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..numbers.variable import is_finite
from .parameters.tables import Table

Vector = tuple[float, float, float]

# kind -> the values that it has
ELEMENTS: dict[str, tuple[str, ...]] = {
    "joint_spring": ("stiffness", "rest", "preload"),
    "joint_damper": ("damping",),
    "joint_friction": ("effort", "velocity"),
    "bearing_friction": ("effort", "coefficient", "radius", "velocity"),
    "joint_stiction": ("effort", "stiffness", "damping"),
    "joint_stop": ("lower", "upper", "stiffness", "damping"),
    "joint_effort": ("value",),
    "joint_input": ("gain",),
    "spring_damper": ("stiffness", "damping", "length", "preload"),
    "bushing": ("kx", "ky", "kz", "krx", "kry", "krz", "cx", "cy", "cz", "crx", "cry", "crz"),
    "turning_spring": ("stiffness",),
    "force": ("fx", "fy", "fz", "mx", "my", "mz", "world"),
    "actuator": ("force",),
    "one_sided_spring": ("stiffness", "damping", "length", "side"),
    "point_stop": ("lower", "upper", "stiffness", "damping"),
    "plane_contact": ("stiffness", "radius", "exponent", "damping", "linear", "friction", "velocity", "cylinder", "inside"),
    "cylinder_contact": ("stiffness", "radius", "exponent", "damping", "linear", "friction", "velocity", "cylinder", "inside"),
    "state_rate": ("value",),
    "tyre": ("radius", "stiffness", "damping", "friction", "velocity", "traction"),
}


MOST_TERMS = 8
MOST_ARGUMENTS = 6


@dataclass(frozen=True)
class Element:
    """A force element. Bodies are rows of the model, -1 = ground; points are in the body's own frame (ground: the world's).

    kind            force
    joint_spring    effort = preload - stiffness (q - rest)
    joint_damper    effort = -damping v
    joint_friction  effort = -effort v / sqrt(v^2 + velocity^2)
    bearing_friction  effort = -(effort + coefficient radius inputs[input]) v / sqrt(v^2 + velocity^2)
    joint_stiction  friction that holds: spring and damper to an anchor that slips, within +-effort
    joint_stop      spring and damper beyond lower or upper, only pushing back; +-inf for no limit
    joint_effort    value; with a table: of time
    joint_input     gain * inputs[input]
    spring_damper   tension = preload + stiffness (l - length) + damping l', between point_a and point_b, l their distance;
                    with a table: force over elongation l - length, instead of the stiffness
    bushing         force and moment on b against its displacement and turn relative to a since the design position, in
                    ``axes`` (columns) fixed to a, at the point
    turning_spring  moment on b = -stiffness phi, phi the rotation vector of b relative to a since the design position
    force           force and moment at point_a on body_a; world: 1 in world axes, 0 in the body's
    actuator        tension ``force`` between point_a and point_b
    one_sided_spring, point_stop   between point_a and point_b: forces/one_sided.py
    plane_contact, cylinder_contact   of a ball around point_a with what point_b is on: forces/contact.py
    tyre            around point_a, on a road through point_b; its table is the road's height: forces/tyre.py

    state_rate      rate of the state that row ``joint`` is

    Values that a formula gives are those of the measures ``arguments``, in the order of ``live``.

    A joint_spring or joint_damper may act on a sum of coordinates, s = sum of factor * q: its effort is along s, so that each
    joint gets factor * effort. ``joint`` and ``dof`` are then those of the first term.
    """

    name: str
    kind: str
    values: dict[str, float]
    joint: int = -1
    dof: int = 0
    body_a: int = -1
    body_b: int = -1
    point_a: Vector = (0.0, 0.0, 0.0)
    point_b: Vector = (0.0, 0.0, 0.0)
    axes: tuple[Vector, Vector, Vector] | None = None
    table: Table | None = None
    input: int = -1
    closure: int = -1  # instead of a joint of the tree: the joint that this closure is
    arguments: tuple[str, ...] = ()  # measures that it reads, by name; MOST_ARGUMENTS at most
    live: tuple[str, ...] = ()  # the values that these are
    terms: tuple[tuple[int, int, float], ...] = ()  # instead of one coordinate: row of a joint, dof, factor; MOST_TERMS at most


def element_problems(element: Element) -> Iterator[tuple[str, str]]:
    """Values that cannot be, each with its key."""
    for name, value in element.values.items():
        limit = element.kind in ("joint_stop", "point_stop") and name in ("lower", "upper") and abs(value) == math.inf
        if not (is_finite(value) or limit):
            yield f"{name} is {value}. Give a finite number.", name
    if element.kind in ("joint_stop", "point_stop") and not element.values["lower"] < element.values["upper"]:
        yield f"lower is {element.values['lower']:g} and upper {element.values['upper']:g}. Let lower be less.", "upper"
    if len(element.live) != len(element.arguments) or not set(element.live) <= set(element.values):
        yield f"it reads {', '.join(element.arguments)} as {', '.join(element.live)}. Name one of its values for each.", "live"
    if element.table is not None:
        for text in element.table.problems():
            yield text, "table"
