"""The arrays that a run has, and how each is labelled.

A quantity whose entries differ in unit (q holds angles and lengths) carries the units as a coordinate beside the names:
``run.q.q_unit``, ``run.v.v_unit``, ``run.a.a_unit``, ``run.reactions.reactions_unit``, ``run.measures.measures_unit``. A unit
that is not known, such as that of an input, is "".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from ..model.measures.columns import EFFORT, rate_unit
from .labels import Labels

AXES = ("x", "y", "z")
COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True)
class Quantity:
    """Dimensions, unit (None where the entries differ) and meaning of one array."""

    dims: tuple[str, ...]
    unit: str | None
    meaning: str


QUANTITIES = {
    "q": Quantity(("time", "coordinate"), None, "joint coordinates"),
    "v": Quantity(("time", "dof"), None, "joint velocities"),
    "a": Quantity(("time", "dof"), None, "joint accelerations"),
    "kinetic": Quantity(("time",), "J", "kinetic energy"),
    "potential": Quantity(("time",), "J", "potential energy"),
    "stored": Quantity(("time",), "J", "energy stored in the force elements"),
    "total": Quantity(("time",), "J", "kinetic, potential and stored energy"),
    "work": Quantity(("time", "source"), "J", "work of each source since the start, beyond the stored energy"),
    "balance": Quantity(("time",), "J", "change of the total energy that no work explains"),
    "linear": Quantity(("time", "axis"), "kg m/s", "linear momentum, world axes"),
    "angular": Quantity(("time", "axis"), "kg m2/s", "angular momentum about the world's origin, world axes"),
    "reactions": Quantity(
        ("time", "joint", "component"), None, "wrench of the parent on the child at the joint point, world axes"
    ),
    "positions": Quantity(("time", "body", "axis"), "m", "origin of the body, world axes"),
    "rotations": Quantity(("time", "body", "axis", "body_axis"), "1", "from body axes to world axes"),
    "storage": Quantity(("time", "element"), "J", "energy stored in each force element"),
    "forces": Quantity(("time", "element"), None, "force or effort of each force element"),
    "drives": Quantity(("time", "drive"), None, "effort that keeps a prescribed motion going"),
    "closing": Quantity(("time", "closing_coordinate"), None, "coordinates of the joints that close loops"),
    "closure": Quantity(("time", "equation"), "", "what the equations that close the loops demand to be zero"),
    "closure_rate": Quantity(("time", "equation"), "", "its time derivative"),
    "closure_second": Quantity(("time", "equation"), "", "its second time derivative"),
    "anchors": Quantity(
        ("time", "element"), "", "coordinate at which friction that holds is anchored, zero for other elements"
    ),
    "inputs": Quantity(("time", "input"), "", "inputs of the model"),
    "measures": Quantity(("time", "measure"), None, "measures of the model"),
}


# fields of Labels: names along every dimension but time and axes, and units of the entries of quantities that have several
NAMES = {
    "coordinate": "coordinates",
    "dof": "dofs",
    "joint": "joints",
    "body": "bodies",
    "element": "elements",
    "source": "sources",
    "drive": "drives",
    "input": "inputs",
    "measure": "measures",
    "equation": "equations",
    "closing_coordinate": "closing",
}
UNITS = {
    "q": "coordinate_units",
    "v": "dof_units",
    "forces": "element_units",
    "drives": "drive_units",
    "measures": "measure_units",
    "closing": "closing_units",
}


def coordinates(labels: Labels) -> dict[str, tuple[str, ...]]:
    """Names along every dimension but time."""
    named = {dim: getattr(labels, field) for dim, field in NAMES.items()}
    return named | {"axis": AXES, "body_axis": AXES, "component": COMPONENTS}


def units(labels: Labels) -> dict[str, tuple[str, tuple[str, ...]]]:
    """For each quantity of several units: its last dimension, and the unit of each entry."""
    mixed = {name: quantity.dims[-1] for name, quantity in QUANTITIES.items() if quantity.unit is None}
    return {f"{name}_unit": (dim, entry_units(name, labels)) for name, dim in mixed.items()}


def entry_units(name: str, labels: Labels) -> tuple[str, ...]:
    """Unit of each entry along the last dimension of a quantity with several."""
    if name == "a":
        return tuple(f"{unit}2" if unit in EFFORT else rate_unit(unit) for unit in labels.dof_units)
    return ("N",) * 3 + ("N m",) * 3 if name == "reactions" else getattr(labels, UNITS[name])


def label_time(time: np.ndarray) -> xr.DataArray:
    """The sample times, as an array labelled by themselves."""
    attrs = {"units": "s", "long_name": "time"}
    return xr.DataArray(time, dims=("time",), coords={"time": ("time", time, attrs)}, name="time", attrs=attrs)


def label(name: str, values: np.ndarray, time: np.ndarray, labels: Labels) -> xr.DataArray:
    """A plain array of one quantity with its names and units."""
    quantity = QUANTITIES[name]
    names = coordinates(labels)
    coords: dict[str, Any] = {dim: (dim, _text(names[dim])) for dim in quantity.dims if dim != "time"}
    coords["time"] = label_time(time)
    unit = quantity.unit
    if unit is None:
        coords[f"{name}_unit"] = (quantity.dims[-1], _text(entry_units(name, labels)))
        unit = f"see {name}_unit"
    attrs = {"units": unit, "long_name": quantity.meaning}
    return xr.DataArray(values, dims=quantity.dims, coords=coords, name=name, attrs=attrs)


def label_measures(
    values: np.ndarray, time: np.ndarray, labels: Labels, names: tuple[str, ...], units: tuple[str, ...]
) -> xr.DataArray:
    """Measures of other names than those of the model."""
    return label("measures", values, time, replace(labels, measures=names, measure_units=units))


def label_all(values: Mapping[str, np.ndarray], time: np.ndarray, labels: Labels) -> xr.Dataset:
    """Several quantities side by side."""
    return xr.Dataset({name: label(name, array, time, labels) for name, array in values.items()})


def _text(names: tuple[str, ...]) -> np.ndarray:
    return np.array(names, dtype=object)
