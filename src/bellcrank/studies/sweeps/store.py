"""The store of a sweep: one Zarr group with a chunk of runs in each chunk of its arrays.

    status        0 a run arrived; written last, so that a chunk is finished if and only if this part of it is there
    reason        of a run that did not arrive, as UTF-8
    reached       time to which it came
    parameter/... its design; every output by its name; q and v if they are kept

A chunk appears whole (Zarr's files are renamed into place). One that was not finished is computed again, to the same numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingExtraError, StudyError, warn
from .task import REASON, Columns, Task, described

UNKNOWN = -1  # status of a run that is not finished
PREFIX = "parameter "


def zarr_module() -> Any:
    try:
        import zarr
    except ImportError:
        raise MissingExtraError('sweeps are stored by Zarr. Install it with: pip install "bellcrank[cluster]"') from None
    return zarr


class Store:
    """A folder with the results of a task, perhaps unfinished."""

    def __init__(self, path: Path, group: Any):
        self.path, self.group = path, group
        self.attributes: dict[str, Any] = dict(group.attrs)
        self.count, self.chunk = int(self.attributes["runs"]), int(self.attributes["chunk"])

    @classmethod
    def open(cls, path: Path) -> Store:
        zarr = zarr_module()
        try:
            group = zarr.open_group(path, mode="r+")
        except (FileNotFoundError, ValueError, KeyError):
            raise StudyError(f"{path}: there is no sweep in this folder") from None
        if "fingerprint" not in group.attrs or "chunk" not in group.attrs:
            raise StudyError(
                f"{path}: this Zarr store does not belong to a sweep, or the sweep ended before its first run: remove it"
            )
        return cls(path, group)

    @classmethod
    def make(cls, path: Path, task: Task, chunk: int, machine: dict[str, Any]) -> Store:
        """A new one, or the one that is there if it is of the same sweep."""
        if (path / "zarr.json").exists():
            group = zarr_module().open_group(path, mode="r+")
            if "chunk" in group.attrs:
                return cls.open(path)._goes_on(task, machine)
        elif path.exists() and any(path.iterdir()):
            raise StudyError(f"{path} contains other files: name a folder that is new or empty")
        group = zarr_module().open_group(path, mode="w")
        _make_arrays(group, task, chunk)
        group.attrs.update({**described(task), "machines": [machine], "chunk": chunk})  # last: now it is a sweep's
        return cls(path, group)

    def _goes_on(self, task: Task, machine: dict[str, Any]) -> Store:
        if self.attributes["fingerprint"] != task.fingerprint:
            raise StudyError(
                f"{self.path} holds another sweep (study {self.attributes['study']!r}, {self.count} runs): its model, "
                "parameters, outputs or options differ. Name another folder, or remove this one"
            )
        machines = self.attributes["machines"]
        if machine not in machines:
            warn(
                f"{self.path} was begun on another type of processor ({machines[0]['processor']}): runs agree within their "
                "tolerance, not in every bit"
            )
            self.group.attrs["machines"] = [*machines, machine]
        return self

    @property
    def chunks(self) -> int:
        return -(-self.count // self.chunk)

    def bounds(self, k: int) -> tuple[int, int]:
        return k * self.chunk, min((k + 1) * self.chunk, self.count)

    def finished(self) -> NDArray[np.bool_]:
        """Of each chunk."""
        folder = self.path / "status" / "c"
        found = np.zeros(self.chunks, dtype=bool)
        for entry in folder.iterdir() if folder.is_dir() else ():
            if entry.name.isdigit():
                found[int(entry.name)] = True
        return found

    def missing(self) -> Iterator[int]:
        yield from np.flatnonzero(~self.finished()).tolist()

    def put(self, k: int, columns: Columns, designs: NDArray[np.float64], names: tuple[str, ...]) -> None:
        first, last = self.bounds(k)
        for j, name in enumerate(names):
            self.group[f"{PREFIX}{name}"][first:last] = designs[:, j]
        for name, values in columns.items():
            if name != "status":
                self.group[name][first:last] = values
        self.group["status"][first:last] = columns["status"]


def _make_arrays(group: Any, task: Task, chunk: int) -> None:
    sizes = {"time": len(task.times), "coordinate": task.model.nq, "dof": task.model.nv, "byte": REASON}
    units = _parameter_units(task)

    def make(name: str, dims: tuple[str, ...], dtype: str, attributes: dict[str, Any], fill: Any) -> None:
        shape, tail = tuple(sizes[d] for d in dims), tuple(max(1, sizes[d]) for d in dims)
        options: dict[str, Any] = {"dimension_names": ("run", *dims), "attributes": attributes, "fill_value": fill}
        group.create_array(name, shape=(task.count, *shape), chunks=(min(chunk, task.count), *tail), dtype=dtype, **options)

    for name, unit in zip(task.parameters, units, strict=True):
        make(f"{PREFIX}{name}", (), "f8", {"units": unit}, np.nan)
    for name, (dims, dtype, unit) in task.shapes().items():
        of = task.study.outputs.get(name, "")
        make(name, dims, dtype, {"units": unit, "output": of}, np.nan if dtype == "f8" else 0)
    make("status", (), "i1", {}, UNKNOWN)
    for name, values in {"time": task.times}.items():
        group.create_array(name, data=np.asarray(values), dimension_names=(name,), attributes={"units": "s"})


def _parameter_units(task: Task) -> list[str]:
    from ...model.parameters.unit_table import units_of

    assert task.model.written is not None
    known = units_of(task.model.written.spec)
    return [known.get(name, "") for name in task.parameters]


def machine_here() -> dict[str, Any]:
    """The type of processor, on which the bits of results depend, and versions."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from ...kernels.processor import lane_count, processor

    try:
        own = version("bellcrank")
    except PackageNotFoundError:  # from a checkout
        own = "unknown"
    made_for = processor()
    features = ",".join(sorted(x for x in made_for.features.split(",") if x.startswith("+")))
    return json.loads(
        json.dumps(
            {
                "processor": made_for.name,
                "features": features,
                "lanes": lane_count(),
                "platform": platform.machine(),
                "bellcrank": own,
                "numpy": np.__version__,
            }
        )
    )
