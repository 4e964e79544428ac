"""The units of everything that a model file has as a number, by path."""

from __future__ import annotations

from typing import Any

from ...joints import JOINTS
from ..geometry.units import of_coordinate
from ..spec.fields import Units, map_fields
from ..spec.spec import InitialSpec, JointSpec, Spec
from .parameters import items


def units_of(spec: Spec) -> dict[str, str]:
    """By path; "" where the file does not say. What acts on a joint has the units of its angle or slide,
    and what acts between two points those of a length.
    """
    joints = {item.name: item for parts in (*spec.assemblies, spec) for item in parts.joints}
    found: dict[str, str] = {}
    for path, item in items(spec):
        units = Units()
        map_fields(item, path, units)
        name = item.name if isinstance(item, JointSpec) else getattr(item, "joint", None)
        kind = JOINTS.get(joints[name].kind) if name in joints else None
        if kind is not None and isinstance(item, InitialSpec):
            units.found = _of_start(path, units.found, kind)
        elif kind is not None and kind.nv == 1:
            turns = kind.v_units[0].startswith("rad")
            units.found = {path: of_coordinate(unit, turns) for path, unit in units.found.items()}
        elif kind is None and hasattr(item, "start"):
            units.found = {path: of_coordinate(unit, turns=False) for path, unit in units.found.items()}
        found |= units.found
    return found


def _of_start(path: str, found: dict[str, str], joint: Any) -> dict[str, str]:
    """Coordinates and velocities of a joint, ``initial.hip.q.0``."""
    units = {f"{path}.q.{k}": unit for k, unit in enumerate(joint.q_units)}
    units |= {f"{path}.v.{k}": unit for k, unit in enumerate(joint.v_units)}
    return {name: units.get(name, unit) for name, unit in found.items()}
