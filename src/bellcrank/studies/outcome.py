"""The result of a study of derivatives, labelled: outputs with their derivatives, derivatives of the state; plots, files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import StateError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure
    from rich.console import Group

    from .reporting.tolerances import Given, Tolerances

Array = NDArray[np.float64]

MARK = "bellcrank_sensitivity"  # in files


class OutputValue(NamedTuple):
    """An output: its value, () or (time,), its derivatives, (parameter,) or (time, parameter), its unit, and when it was
    taken, where that is one time. ``over``: the dimension of one that is not a number: "time", "input", "mode"."""

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
    value(output)          its value: a number, or an array over time; ``when(output)``: the time at which it is taken
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
    found: dict[str, OutputValue]
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

    def _of(self, output: str) -> OutputValue:
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

    def unit(self, output: str) -> str:
        return self._of(output).unit

    def axis_of(self, output: str) -> tuple[Array, str]:
        """The axis of an output that is not a number, and its meaning: times, values of the input, numbers of modes."""
        found = self._of(output)
        if found.over == "mode":
            return np.arange(1.0, 1.0 + len(found.value)), "mode"
        return self.time, f"{self.axis} ({self.axis_unit})"

    def place(self, output: str, k: int) -> str:
        """A text that says where the k-th sample of an output is."""
        at, _ = self.axis_of(output)
        return f" @{self.axis if self._of(output).over != 'mode' else 'mode'}={at[k]:.4g}"

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
        return xr.Dataset(data).assign_attrs({MARK: 1}, model=self.model, analysis=self.analysis, settings=settings)

    def save(self, path: str | Path, *, keep: bool = False) -> Path:
        """Write a NetCDF file for ``bc.load_sensitivity``. An existing one is replaced; with ``keep`` it is an error."""
        from ..results.files.netcdf import write_dataset

        return write_dataset(self.to_dataset, path, keep=keep)

    def to_csv(self, path: str | Path, *, keep: bool = False) -> Path:
        """Write a table of text: a row for each output, or for each of its samples."""
        from .reporting.tables import write_csv

        return write_csv(self, path, keep=keep)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        from .reporting.tables import plain_values

        return plain_values(self)

    def __rich__(self) -> Group:
        from .reporting.tables import as_table

        return as_table(self)

    def plot(
        self,
        *outputs: str,
        path: str | Path | None = None,
        differences: Sensitivity | None = None,
        scaled: bool = True,
        keep: bool = False,
    ) -> Figure:
        """Histories of the derivatives of outputs, or, of outputs that are numbers, a bar for each parameter.

        differences  others, drawn over them as marks: bc.finite_differences(...)
        scaled       derivatives are multiplied by the parameter's own size: what a change by all of it would do, to first order
        """
        from .reporting.pictures import draw

        return draw(self, self._named(outputs), differences, scaled, path, keep)

    # --- tolerances

    def tolerances(self, tolerances: Given) -> Tolerances:
        """The spread of the outputs due to tolerances, to first order: in the worst case, and by the root sum of squares.

        tolerances   the tolerance of a parameter, to either side: a number in its unit, or a text "0.5 %", a part of its value;
                     one for all parameters, or by their names (others are exact)
        """
        from .reporting.tolerances import Tolerances, sizes_of

        return Tolerances(self, sizes_of(self, tolerances))

    def tornado(self, *outputs: str, tolerances: Given, path: str | Path | None = None, keep: bool = False) -> Figure:
        """A tornado chart: the effect of each parameter on an output within its tolerance, the largest on top."""
        from .reporting.pictures import draw_tornado

        numbers = tuple(name for name in self.outputs if not self._of(name).value.ndim)
        return draw_tornado(self.tolerances(tolerances), self._named(outputs or numbers), path, keep)

    def _named(self, outputs: tuple[str, ...]) -> tuple[str, ...]:
        for name in outputs:
            self._of(name)
        if not (outputs or self.outputs):
            raise StateError("there are no outputs to plot: name them when you ask for the sensitivity")
        return outputs or self.outputs


def _there(derivatives: Array | None) -> Array:
    if derivatives is None:
        raise StateError('the adjoint gives derivatives of the outputs, not of the state: ask with mode="forward"')
    return derivatives
