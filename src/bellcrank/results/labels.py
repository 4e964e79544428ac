"""Names and units of a model's coordinates, joints and bodies, as a run and its file carry them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model import Model

# One row a joint: units of its coordinates q, units of its velocities v. A quaternion's parts have the unit 1.
JOINT_UNITS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "fixed": ((), ()),
    "revolute": (("rad",), ("rad/s",)),
    "prismatic": (("m",), ("m/s",)),
    "spherical": (("1",) * 4, ("rad/s",) * 3),
    "free": (("m",) * 3 + ("1",) * 4, ("m/s",) * 3 + ("rad/s",) * 3),
}


@dataclass(frozen=True)
class Labels:
    """Everything that names the entries of a run's arrays; it outlives the model in a saved file."""

    model: str
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    coordinates: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    dofs: tuple[str, ...]
    dof_units: tuple[str, ...]

    @classmethod
    def of(cls, model: Model) -> Labels:
        """Labels of a model; q and v follow the order of its joints."""
        units = [JOINT_UNITS[joint.kind] for joint in model.joints]
        return cls(
            model=model.name,
            bodies=tuple(model.body_names),
            joints=tuple(model.joint_names),
            coordinates=tuple(model.q_names),
            coordinate_units=_chain(q for q, _ in units),
            dofs=tuple(model.v_names),
            dof_units=_chain(v for _, v in units),
        )


def _chain(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(item for part in parts for item in part)
