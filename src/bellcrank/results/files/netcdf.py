"""A run as a NetCDF file, there and back.

The file holds every quantity of quantities.py with its names and units, and as attributes the model's name, the settings,
why the run stopped, and the version of the program. Any NetCDF or HDF5 reader opens it. Behind the data stands their digest,
which readers do not look at: HDF5 may not survive data that are damaged, so they are not given to it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ...errors import BellcrankError, StateError, warn
from ...writing import write_whole
from ..labels import Labels

if TYPE_CHECKING:
    import xarray as xr

    from ...model import Model
    from ..run import Run

FORMAT = 1
SEAL = b"\nbellcrank run sha256 "
DAMAGES: tuple[type[Exception], ...] = (KeyError, ValueError, TypeError, AttributeError, IndexError, RuntimeError)
DAMAGES += (AssertionError, OSError, MemoryError, ArithmeticError)


def save_run(run: Run, path: str | Path, *, keep: bool = False) -> Path:
    """Write a run, with all that can be derived from it, to a NetCDF file."""
    return write_dataset(lambda: to_dataset(run), path, keep=keep)


def write_dataset(data: Callable[[], xr.Dataset], path: str | Path, *, keep: bool) -> Path:
    """Write a dataset to a NetCDF file, with its digest. HDF5 writes to memory: on a full disk it would end the process."""

    def write(file: BinaryIO) -> None:
        content = bytes(data().to_netcdf(engine="h5netcdf"))
        file.write(content)
        file.write(_seal(content))

    return write_whole(path, write, keep=keep)


def _seal(content: bytes) -> bytes:
    return SEAL + hashlib.sha256(content).hexdigest().encode()


def to_dataset(run: Run) -> xr.Dataset:
    """Everything that a file of the run holds."""
    from ..derived import version
    from ..quantities import QUANTITIES, coordinates, label_all, units

    data = label_all(
        available(run, [name for name in QUANTITIES if name != "anchors" or run.values(name).any()]),
        run.values("time"),
        run.labels,
    )
    names: dict[str, Any] = {dim: np.array(items, dtype=object) for dim, items in coordinates(run.labels).items()}
    names |= {unit: (dim, np.array(items, dtype=object)) for unit, (dim, items) in units(run.labels).items()}
    return data.assign_coords(names).assign_attrs(
        bellcrank_run=FORMAT,
        bellcrank_version=version(),
        model=run.labels.model,
        settings=json.dumps(run.settings | ({"shared_reactions": run.shared_reactions} if run.shared_reactions else {})),
        stopped=run.stopped or "",
        crossings=json.dumps([_as_dict(crossing) for crossing in run.crossings]),
        model_file=_model_file(run.model),
    )


def _model_file(model: Model | None) -> str:
    """The text of the model's file, so that a run can be drawn, and more be computed of it, without looking for the model."""
    from ...io import dumps  # goes upward, when a file is written

    return "" if model is None or model.spec is None else dumps(model)


def _as_dict(crossing: Any) -> dict[str, Any]:
    return {"event": crossing.event, "time": float(crossing.time), "q": crossing.q.tolist(), "v": crossing.v.tolist()}


def available(run: Run, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Quantities of a run, but for those that its last states do not allow to compute."""
    found, missing = {}, []
    for name in names:
        try:
            found[name] = run.values(name)
        except BellcrankError as error:
            missing.append(f"{name} ({error})")
    if missing:
        warn(f"saved without {'; '.join(missing)}")
    return found


def load_run(path: str | Path, model: Model | None = None) -> Run:
    """Read a run that ``Run.save`` wrote; its arrays are served from the file, whether or not a model is given."""
    data = read_dataset(path, "bellcrank_run", "Run.save")
    try:
        return _run(data, model)
    except DAMAGES as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise StateError(f"{path} was not written by Run.save, or was changed: {reason}") from error


def _run(data: xr.Dataset, model: Model | None) -> Run:
    from ..quantities import QUANTITIES
    from ..run import Run

    model = _own_model(data) if model is None else model
    settings = dict(json.loads(data.attrs["settings"]).items())
    labels = _labels(data)
    _check_arrays(data, labels)
    if model is not None:
        labels = labels.filled_from(Labels.of(model, given_efforts=settings.get("tau") is not None))
    run = Run(
        model,
        data["time"].values,
        data["q"].values,
        data["v"].values,
        data["a"].values,
        settings=settings,
        stopped=str(data.attrs["stopped"]) or None,
        labels=labels,
        derived={name: data[name].values for name in QUANTITIES if name in data and name not in ("q", "v", "a")},
    )
    run.crossings = _crossings(data.attrs.get("crossings", "[]"))
    return run


def _own_model(data: xr.Dataset) -> Model | None:
    """The model that the file carries; None in files of models made from arrays, and of older versions."""
    from ...io import load  # goes upward, when a file is read

    text = str(data.attrs.get("model_file", ""))
    return load(text) if text else None


def _crossings(text: str) -> tuple[Any, ...]:
    from ..crossing import Crossing

    found = json.loads(text)
    return tuple(Crossing(c["event"], c["time"], np.array(c["q"]), np.array(c["v"])) for c in found)


def read_dataset(path: str | Path, mark: str, writer: str) -> xr.Dataset:
    """A NetCDF file whose digest fits, with the attribute ``mark``, the number of its format, that ``writer`` writes."""
    import xarray as xr

    try:
        path = Path(path)
    except TypeError:
        raise StateError(f"a file is read from a path, not from {type(path).__name__}: give its name") from None
    if not os.path.isfile(path):
        raise StateError(f"{path}: no such file")
    try:
        content = path.read_bytes()
        body, seal, _ = content.rpartition(SEAL)
        if seal and _seal(body) != content[len(body) :]:
            raise ValueError("its digest does not fit")
        data = xr.load_dataset(io.BytesIO(content), engine="h5netcdf")
    except DAMAGES as error:
        raise StateError(f"{path} is not a NetCDF file, or is damaged: {error}") from error
    found = data.attrs.get(mark)
    if not isinstance(found, (int, np.integer)):
        raise StateError(f"{path} was not written by {writer}: it has no attribute {mark}")
    if found > FORMAT:
        raise StateError(f"{path} has format {found}, this version reads up to {FORMAT}: install a newer bellcrank")
    return data


def _check_arrays(data: xr.Dataset, labels: Labels) -> None:
    """Raises ValueError for an array that is not one of numbers along its dimensions, or has more of them than names."""
    from ..quantities import QUANTITIES, UNITS, coordinates

    for name, field in UNITS.items():
        width, units = len(coordinates(labels)[QUANTITIES[name].dims[-1]]), len(getattr(labels, field))
        if units not in (0, width):
            raise ValueError(f"it has {units} units of {name} for {width} entries")
    for name, quantity in QUANTITIES.items():
        if name in data and (data[name].dims != quantity.dims or data[name].dtype.kind != "f"):
            raise ValueError(f"{name} is not an array of numbers over {', '.join(quantity.dims)}")
    for dim, names in coordinates(labels).items():
        if data.sizes.get(dim, len(names)) != len(names):
            raise ValueError(f"it has {len(names)} names along {dim}, and {data.sizes[dim]} entries")


def _labels(data: xr.Dataset) -> Labels:
    from ..quantities import NAMES, UNITS

    def names(coordinate: str) -> tuple[str, ...]:
        return tuple(str(name) for name in data[coordinate].values) if coordinate in data.coords else ()

    found = {field: names(dim) for dim, field in NAMES.items()}
    found |= {field: names(f"{quantity}_unit") for quantity, field in UNITS.items()}
    return Labels(model=str(data.attrs["model"]), **found)
