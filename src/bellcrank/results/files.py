"""A run as a NetCDF file, there and back.

The file holds every quantity of quantities.py with its names and units, and as attributes the model's name, the settings,
why the run stopped, and the version of the program. Any NetCDF or HDF5 reader opens it.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BellcrankError, BellcrankWarning, StateError
from .labels import Labels
from .writing import write_whole

if TYPE_CHECKING:
    import xarray as xr

    from ..model import Model
    from .run import Run

FORMAT = 1


def save_run(run: Run, path: str | Path, *, force: bool = False) -> Path:
    """Write a run, with all that can be derived from it, to a NetCDF file."""
    return write_whole(path, lambda file: to_dataset(run).to_netcdf(file, engine="h5netcdf"), force=force)


def to_dataset(run: Run) -> xr.Dataset:
    """Everything that a file of the run holds."""
    from .derived import version
    from .quantities import coordinates, label_all

    data = label_all(_available(run), run.values("time"), run.labels)
    names = {dim: np.array(items, dtype=object) for dim, items in coordinates(run.labels).items()}
    return data.assign_coords(names).assign_attrs(
        bellcrank_run=FORMAT,
        bellcrank_version=version(),
        model=run.labels.model,
        settings=json.dumps(run.settings),
        stopped=run.stopped or "",
    )


def _available(run: Run) -> dict[str, np.ndarray]:
    """All quantities of a run, but for those that its last states do not allow to compute."""
    from .quantities import QUANTITIES

    found, missing = {}, []
    for name in QUANTITIES:
        try:
            found[name] = run.values(name)
        except BellcrankError as error:
            missing.append(f"{name} ({error})")
    if missing:
        warnings.warn(f"saved without {'; '.join(missing)}", BellcrankWarning, stacklevel=5)
    return found


def load_run(path: str | Path, model: Model | None = None) -> Run:
    """Read a run that ``Run.save`` wrote; its arrays are served from the file, whether or not a model is given."""
    from .derived import SWEEPS
    from .run import Run

    data = _read(Path(path))
    return Run(
        model,
        data["time"].values,
        data["q"].values,
        data["v"].values,
        data["a"].values,
        settings=json.loads(data.attrs["settings"]),
        stopped=data.attrs["stopped"] or None,
        labels=_labels(data),
        derived={name: data[name].values for name in SWEEPS if name in data},
    )


def _read(path: Path) -> xr.Dataset:
    import xarray as xr

    if not path.is_file():
        raise StateError(f"{path}: no such file")
    try:
        data = xr.load_dataset(path, engine="h5netcdf")
    except (OSError, ValueError) as error:
        raise StateError(f"{path} is not a NetCDF file, or is damaged: {error}") from error
    found = data.attrs.get("bellcrank_run")
    if found is None:
        raise StateError(f"{path} was not written by Run.save: it has no attribute bellcrank_run")
    if found > FORMAT:
        raise StateError(f"{path} has format {found}, this version reads up to {FORMAT}: install a newer bellcrank")
    return data


def _labels(data: xr.Dataset) -> Labels:
    def names(coordinate: str) -> tuple[str, ...]:
        return tuple(str(name) for name in data[coordinate].values)

    return Labels(
        model=data.attrs["model"],
        bodies=names("body"),
        joints=names("joint"),
        coordinates=names("coordinate"),
        coordinate_units=names("q_unit"),
        dofs=names("dof"),
        dof_units=names("v_unit"),
    )
