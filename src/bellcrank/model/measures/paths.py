"""Measures that every model has, by their paths.

crank_pivot.q .v .a              coordinate of a joint, its velocity and acceleration; nut.slide.q where it has several.
                                 crank_pivot alone is its coordinate, base.vx alone a velocity; joints that close loops have
                                 coordinates and velocities too, driven ones all three
crank_pivot.fx ... .mz           reaction on the child at the joint's point, world axes; .force and .moment: magnitudes
crank_pivot.whole.fx ... .mz     the same with the joint's own effort: of its springs, motors and drives
crank_pivot.effort .power        of the drive of a driven joint, rod or coupler
pressure .rate                   a user-defined state, and its rate
rod.force                        of a rod, a guided point or a coupler, as type = "force" measures it
rod.error                        largest error of the equations of what closes a loop; closure.error: of all
strut.force .energy .power       of a force element; .fx .fy .fz of a force that is a vector
coupler.x .vx .ax .wx            origin of a body, its velocity and acceleration, angular velocity; and .y, .z
energy.kinetic .potential .stored .total,  momentum.x,  angular_momentum.x,  time or t,  and every input by its name
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

from ...joints import Joint
from .columns import VECTOR_FORCES, Mechanics
from .measure import COMPONENTS, WRENCH, Measure

ENERGIES = ("kinetic", "potential", "stored", "total")
_OF_BODIES = (("", "position"), ("v", "velocity"), ("a", "acceleration"), ("w", "turning"))


def built_in(model: Mechanics, name: str) -> Measure | None:
    """The measure of a path; None if there is none."""
    given = _given(cast(Any, model)).get(name)
    return None if given is None else Measure(name, **given)


def path_names(model: Mechanics) -> list[str]:
    """All paths of a model."""
    return list(_given(cast(Any, model)))


@lru_cache(maxsize=16)
def _given(model: Any) -> dict[str, dict[str, Any]]:
    """By path, the fields of its measure; what comes first counts."""
    found: dict[str, dict[str, Any]] = {}
    for source in (_coordinates, _forces, _bodies, _whole):
        for name, given in source(model):
            found.setdefault(name, given)
    return found


Paths = Iterator[tuple[str, dict[str, Any]]]


def _coordinates(model: Mechanics) -> Paths:
    rows = zip(model.joint_names, model.joints, strict=True)
    named: list[tuple[str, Joint, dict[str, int]]] = [(name, joint, {"joint": i}) for i, (name, joint) in enumerate(rows)]
    named += [(c.name, c.joint, {"closure": k}) for k, c in enumerate(model.closures) if c.joint is not None]
    for name, joint, place in named:
        for dof, suffix in enumerate(joint.q_names):
            path = f"{name}.{suffix}" if suffix else name
            yield path, {"kind": "coordinate", "part": "q", "dof": dof, **place}
            yield f"{path}.q", {"kind": "coordinate", "part": "q", "dof": dof, **place}
    for name, joint, place in named:
        for dof, suffix in enumerate(joint.v_names):
            path = f"{name}.{suffix}" if suffix else name
            if joint.mechanical:
                yield f"{path}.v", {"kind": "coordinate", "part": "v", "dof": dof, **place}
            if suffix or not joint.mechanical:
                yield path, {"kind": "coordinate", "part": "v", "dof": dof, **place}
            if "joint" in place:
                rate = "a" if joint.mechanical else "rate"
                yield f"{path}.{rate}", {"kind": "coordinate", "part": "a", "dof": dof, **place}


def _forces(model: Mechanics) -> Paths:
    for i, name in enumerate(model.joint_names):
        if not model.joints[i].mechanical:
            continue
        yield from _wrench(name, {"joint": i})
        for j, component in enumerate(WRENCH):
            yield f"{name}.whole.{component}", {"kind": "reaction", "part": "whole", "component": j, "joint": i}
        if model.driven[i]:
            yield from _drive(name, model.joints[i].v_names, {"joint": i})
    for k, closure in enumerate(model.closures):
        if closure.joint is None:
            yield f"{closure.name}.force", {"kind": "closure", "closure": k}
        if closure.kind != "coupler" or closure.mesh:
            yield from _wrench(closure.name, {"closure": k})
        if closure.motion is not None:
            yield from _drive(closure.name, ("",) if closure.joint is None else closure.joint.v_names, {"closure": k})
        yield f"{closure.name}.error", {"kind": "closure_error", "closure": k}
    for e in model.elements:
        if e.kind == "state_rate":
            continue
        vector = e.kind in VECTOR_FORCES
        for part in ("force", "energy", "power"):
            size = {"component": "magnitude"} if vector and part == "force" else {}
            yield f"{e.name}.{part}", {"kind": "element", "element": e.name, "part": part, **size}
        for j, axis in enumerate(COMPONENTS if vector else ()):
            yield f"{e.name}.f{axis}", {"kind": "element", "element": e.name, "part": "force", "component": j}


def _wrench(name: str, place: dict[str, int]) -> Paths:
    for j, component in enumerate(WRENCH):
        yield f"{name}.{component}", {"kind": "reaction", "component": j, **place}
    for part in ("force", "moment"):
        yield f"{name}.{part}", {"kind": "reaction", "component": part, **place}


def _drive(name: str, parts: tuple[str, ...], place: dict[str, int]) -> Paths:
    for dof, suffix in enumerate(parts):
        path = f"{name}.{suffix}" if suffix else name
        yield f"{path}.effort", {"kind": "drive", "part": "effort", "dof": dof, **place}
        yield f"{path}.power", {"kind": "drive", "part": "power", "dof": dof, **place}


def _bodies(model: Mechanics) -> Paths:
    for i, name in enumerate(model.body_names):
        if not model.joints[i].mechanical:
            continue
        for prefix, kind in _OF_BODIES:
            for j, axis in enumerate(COMPONENTS):
                yield f"{name}.{prefix}{axis}", {"kind": kind, "body_a": i, "component": j}


def _whole(model: Mechanics) -> Paths:
    yield "time", {"kind": "time"}
    yield "t", {"kind": "time"}
    for name in model.inputs:
        yield name, {"kind": "input", "element": name}
    for part in ENERGIES:
        yield f"energy.{part}", {"kind": "energy", "part": part}
    for prefix, part in (("momentum", "linear"), ("angular_momentum", "angular")):
        for j, axis in enumerate(COMPONENTS):
            yield f"{prefix}.{axis}", {"kind": "momentum", "part": part, "component": j}
    if model.closures:
        yield "closure.error", {"kind": "closure_error"}
