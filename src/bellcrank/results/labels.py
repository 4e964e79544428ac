"""Names and units of a model's coordinates, joints, bodies, forces and measures, as a run and its file carry them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..model.measures.columns import EFFORT, element_unit

if TYPE_CHECKING:
    from ..model import Model

Names = tuple[str, ...]

GIVEN_EFFORTS = "given efforts"


@dataclass(frozen=True)
class Labels:
    """Everything that names the entries of a run's arrays; it outlives the model in a saved file.

    A unit that is not known is "".
    """

    model: str
    bodies: Names
    joints: Names
    coordinates: Names
    coordinate_units: Names
    dofs: Names
    dof_units: Names
    elements: Names = ()
    element_units: Names = ()
    sources: Names = ()
    drives: Names = ()
    drive_units: Names = ()
    inputs: Names = ()
    measures: Names = ()
    measure_units: Names = ()
    equations: Names = ()
    closing: Names = ()
    closing_units: Names = ()

    @classmethod
    def of(cls, model: Model, *, given_efforts: bool = False) -> Labels:
        """Labels of a model; q and v follow the order of its joints. Given efforts are one more source of work."""
        rows = list(zip(model.joint_names, model.joints, model.driven, strict=True))
        free = [joint for _, joint, driven in rows if not driven]
        driven = [(name, joint) for name, joint, driven in rows if driven and joint.nv]
        drives = [(name, joint.v_names, tuple(EFFORT[unit] for unit in joint.v_units)) for name, joint in driven]
        drives += _closing_drives(model)
        elements = tuple(e.name for e in model.elements[: model.force_count])
        return cls(
            model=model.name,
            bodies=tuple(model.body_names[: model.body_count]),
            joints=(*model.joint_names[: model.body_count], *(closure.name for closure in model.closures)),
            coordinates=tuple(model.q_names),
            coordinate_units=_chain(joint.q_units for joint in free),
            dofs=tuple(model.v_names),
            dof_units=_chain(joint.v_units for joint in free),
            elements=elements,
            element_units=tuple(element_unit(model, e) for e in model.elements[: model.force_count]),
            sources=(
                *elements,
                *(f"drive of {name}" for name, _ in driven),
                *(f"drive of {closure.name}" for closure in model.closures if closure.motion is not None),
                *([GIVEN_EFFORTS] if given_efforts else []),
            ),
            closing=tuple(model.closing_names) if model.closures else (),
            closing_units=_chain(c.joint.q_units for c in model.closures if c.joint is not None),
            equations=tuple(f"{c.name}.{k + 1}" for c in model.closures for k in range(c.rows)),
            drives=_chain(tuple(f"{name}.{part}" if part else name for part in parts) for name, parts, _ in drives),
            drive_units=_chain(units for _, _, units in drives),
            inputs=tuple(model.inputs),
            measures=model.measure_names,
            measure_units=model.measure_units,
        )

    def filled_from(self, other: Labels) -> Labels:
        """These labels, with the names of others where there are none: a file without an array lacks those along it."""
        return replace(self, **{field: names for field, names in vars(other).items() if not getattr(self, field)})


def _closing_drives(model: Model) -> list[tuple[str, Names, Names]]:
    """Name, coordinates and units of effort of each driven closure; of a coupler the unit depends on its factors."""
    found: list[tuple[str, Names, Names]] = []
    for closure in model.closures:
        if closure.motion is not None and closure.joint is not None:
            units = tuple(EFFORT[unit] for unit in closure.joint.v_units)
            found.append((closure.name, closure.joint.v_names, units))
        elif closure.motion is not None:
            found.append((closure.name, ("",), ("" if closure.kind == "coupler" else "N",)))
    return found


def work_by_source(
    model: Model, elements: np.ndarray, drives: np.ndarray, closings: np.ndarray, given: np.ndarray
) -> np.ndarray:
    """Works (T, source) in the order of ``Labels.sources``; the drives of a joint with several are added."""
    elements = elements[:, : model.force_count]
    widths = [joint.nv for joint, driven in zip(model.joints, model.driven, strict=True) if driven and joint.nv]
    parts = np.split(drives, np.cumsum(widths[:-1], dtype=np.intp), axis=1) if widths else []
    closings = closings[:, [k for k, c in enumerate(model.closures) if c.motion is not None]] if closings.size else closings
    return np.hstack([elements, *(part.sum(axis=1, keepdims=True) for part in parts), closings, given])


def _chain(parts: Iterable[Names]) -> Names:
    return tuple(item for part in parts for item in part)
