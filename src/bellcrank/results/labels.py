"""Names and units of a model's coordinates, joints and bodies, as a run and its file carry them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model import Model


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
        free = [joint for joint, driven in zip(model.joints, model.driven, strict=True) if not driven]
        return cls(
            model=model.name,
            bodies=tuple(model.body_names),
            joints=tuple(model.joint_names),
            coordinates=tuple(model.q_names),
            coordinate_units=_chain(joint.q_units for joint in free),
            dofs=tuple(model.v_names),
            dof_units=_chain(joint.v_units for joint in free),
        )


def _chain(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(item for part in parts for item in part)
