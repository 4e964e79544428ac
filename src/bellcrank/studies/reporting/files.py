"""A study of derivatives as a NetCDF file, there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import StateError
from ...results.files.netcdf import DAMAGES, read_dataset
from ..outcome import MARK, OutputValue, Sensitivity

if TYPE_CHECKING:
    import xarray as xr


def load_sensitivity(path: str | Path) -> Sensitivity:
    """Read what ``Sensitivity.save`` wrote."""
    data = read_dataset(path, MARK, "Sensitivity.save")
    try:
        return _sensitivity(data)
    except DAMAGES as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise StateError(f"{path} was not written by Sensitivity.save, or was changed: {reason}") from error


def _sensitivity(data: xr.Dataset) -> Sensitivity:
    def names(of: str) -> tuple[str, ...]:
        return tuple(str(x) for x in data[of].values)

    axis, unit, along = "", "", np.zeros(0)
    if "input" in data.coords:
        axis, unit, along = *(str(data["input"].attrs[name]) for name in ("long_name", "units")), data["input"].values
    elif "time" in data.coords:
        axis, unit, along = "time", "s", data["time"].values
    return Sensitivity(
        model=str(data.attrs["model"]),
        parameters=names("parameter"),
        parameter_units=names("parameter_unit"),
        at=data["at"].values,
        time=along,
        coordinates=names("coordinate"),
        coordinate_units=names("coordinate_unit"),
        dofs=names("dof"),
        dof_units=names("dof_unit"),
        q_values=data["q"].values,
        v_values=data["v"].values,
        dq_values=data["dq"].values if "dq" in data else None,
        dv_values=data["dv"].values if "dv" in data else None,
        found=_outputs(data),
        settings=json.loads(data.attrs["settings"]),
        analysis=str(data.attrs["analysis"]),
        axis=axis,
        axis_unit=unit,
    )


def _outputs(data: xr.Dataset) -> dict[str, OutputValue]:
    values: dict[str, Any] = {}
    slopes: dict[str, Any] = {}
    for array in data.data_vars.values():
        if "output" in array.attrs:
            (slopes if "derivative" in array.attrs else values)[str(array.attrs["output"])] = array
    found = {}
    for name, value in values.items():
        time = value.attrs.get("taken_at")
        over = str(value.dims[0]) if value.dims else "time"
        unit = str(value.attrs["units"])
        found[name] = OutputValue(value.values, slopes[name].values, unit, None if time is None else float(time), over)
    return found
