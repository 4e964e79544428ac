"""What a study of derivatives finds, labelled: values and derivatives of outputs, derivatives of the state; plots, files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import StateError
from ..writing import write_whole

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


class Found(NamedTuple):
    """An output: its value, () or (time,), its derivatives, (parameter,) or (time, parameter), its unit, and when it was
    taken, where that is one time. ``over``: the dimension of one that is no number: "time", "input", "mode"."""

    value: Array
    along: Array
    unit: str
    time: float | None
    over: str = "time"


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Derivatives of a run, or of an analysis, by the parameters of a design.

    parameters, at         names of the parameters, and their values
    outputs                names of the outputs
    value(output)          what it is: a number, or an array over time; ``when(output)``: the time at which it is taken
    d(output)              its derivatives, with the dimensions of the output, then ``parameter``
    dq, dv                 derivatives of coordinates and velocities: dimensions time, coordinate or dof, parameter
    analysis               "run", "drive", "equilibrium", "modes", "inverse_motion". In the place of the time a drive has the
                           values of its ``input``; an equilibrium has no such dimension
    tolerances(...)        how far outputs spread with the parameters, to first order; ``tornado(...)`` draws it
    """

    model: str
    parameters: tuple[str, ...]
    parameter_units: tuple[str, ...]
    at: Array
    time: Array
    coordinates: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    dofs: tuple[str, ...]
    dof_units: tuple[str, ...]
    q_values: Array
    v_values: Array
    dq_values: Array | None  # None after an adjoint, which is of the outputs alone
    dv_values: Array | None
    found: dict[str, Found]
    settings: dict[str, Any]
    analysis: str = "run"
    axis: str = "time"
    axis_unit: str = "s"

    @property
    def _samples(self) -> tuple[str, ...]:
        """The dimension over which the state is known."""
        return () if self.q_values.ndim == 1 else ("time",) if self.axis == "time" else ("input",)

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.found)

    def __repr__(self) -> str:
        return f"Sensitivity({self.model!r}, {len(self.parameters)} parameters, outputs={list(self.outputs)!r})"

    def _of(self, output: str) -> Found:
        if output not in self.found:
            known = ", ".join(self.outputs) or "none: name them when you ask for the sensitivity"
            raise StateError(f"there is no output {output!r}; outputs are {known}")
        return self.found[output]

    def value(self, output: str) -> Any:
        """A number, or a labelled array over time."""
        found = self._of(output)
        if found.value.ndim == 0:
            return float(found.value)
        return self._array(found.value, (found.over,), {"units": found.unit})

    def when(self, output: str) -> float | None:
        """The time at which an output is taken; None of one that is taken over all of the run."""
        return self._of(output).time

    def d(self, output: str) -> xr.DataArray:
        found = self._of(output)
        dims = (found.over, "parameter") if found.along.ndim == 2 else ("parameter",)
        return self._array(found.along, dims, {"units": f"{found.unit or '1'} per unit of the parameter"})

    @property
    def dq(self) -> xr.DataArray:
        return self._array(_there(self.dq_values), (*self._samples, "coordinate", "parameter"))

    @property
    def dv(self) -> xr.DataArray:
        return self._array(_there(self.dv_values), (*self._samples, "dof", "parameter"))

    @property
    def q(self) -> xr.DataArray:
        return self._array(self.q_values, (*self._samples, "coordinate"))

    @property
    def v(self) -> xr.DataArray:
        return self._array(self.v_values, (*self._samples, "dof"))

    def _array(self, values: Array, dims: tuple[str, ...], attrs: dict[str, Any] | None = None) -> xr.DataArray:
        import xarray as xr

        names: dict[str, Any] = {
            "time": self.time,
            "input": ("input", self.time, {"long_name": self.axis, "units": self.axis_unit}),
            "mode": np.arange(1, 1 + len(values)) if dims[:1] == ("mode",) else None,
            "coordinate": list(self.coordinates),
            "dof": list(self.dofs),
            "parameter": list(self.parameters),
        }
        units = {"coordinate": self.coordinate_units, "dof": self.dof_units, "parameter": self.parameter_units}
        coords: dict[str, Any] = {dim: names[dim] for dim in dims}
        coords |= {f"{dim}_unit": (dim, list(units[dim])) for dim in dims if dim in units}
        return xr.DataArray(values, dims=dims, coords=coords, attrs=attrs or {})

    # --- files and pictures

    def to_dataset(self) -> xr.Dataset:
        """Everything, as a file has it: outputs under their names, their derivatives under "d " and the name."""
        import xarray as xr

        data: dict[str, Any] = {
            "q": self.q,
            "v": self.v,
            "at": self._array(self.at, ("parameter",)),
        }
        if self.dq_values is not None:
            data |= {"dq": self.dq, "dv": self.dv}
        for name, found in self.found.items():
            dims = (found.over,) if found.value.ndim else ()
            taken = {} if found.time is None else {"taken_at": found.time}
            attrs = {"output": name, "units": found.unit, **taken}
            data[f"output {len(data)}"] = self._array(found.value, dims, attrs)
            data[f"output {len(data)}"] = self._array(found.along, (*dims, "parameter"), attrs | {"derivative": 1})
        settings = json.dumps(self.settings)
        return xr.Dataset(data).assign_attrs(
            bellcrank_sensitivity=1, model=self.model, analysis=self.analysis, settings=settings
        )

    def save(self, path: str | Path, *, keep: bool = False) -> Path:
        """Write a NetCDF file; ``keep`` refuses to replace one."""

        def write(file: BinaryIO) -> None:
            file.write(bytes(self.to_dataset().to_netcdf(engine="h5netcdf")))

        return write_whole(path, write, keep=keep)

    def plot(self, *outputs: str, path: str | Path | None = None) -> Figure:
        """Histories of the derivatives of outputs over time, or, of outputs that are numbers, a bar for each parameter.

        Derivatives are multiplied by the parameter's own size: what a change by all of it would do, to first order.
        """
        from matplotlib.figure import Figure

        names = outputs or self.outputs
        if not names:
            raise StateError("there are no outputs to plot: name them when you ask for the sensitivity")
        size = np.where(self.at == 0, 1.0, np.abs(self.at))
        figure = Figure(figsize=(8, 2.6 * len(names)), layout="constrained")
        for name, axes in zip(names, np.atleast_1d(figure.subplots(len(names), 1)).ravel(), strict=True):
            found = self._of(name)
            if found.value.ndim:
                axes.plot(self.time, found.along * size, label=list(self.parameters))
                axes.set_xlabel("time (s)")
                axes.legend(fontsize="small")
            else:
                axes.barh(list(self.parameters), found.along * size)
            axes.set_title(f"d({name}) x parameter{f', {found.unit}' if found.unit else ''}", fontsize="medium")
        if path is not None:
            write_whole(path, lambda file: figure.savefig(file, format=Path(path).suffix[1:] or "png"), keep=False)
        return figure


def _there(derivatives: Array | None) -> Array:
    if derivatives is None:
        raise StateError('the adjoint gives derivatives of the outputs, not of the state: ask with mode="forward"')
    return derivatives
