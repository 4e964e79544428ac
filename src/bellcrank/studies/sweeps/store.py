"""The store of a sweep: one Zarr group with a chunk of runs in each chunk of its arrays.

    status        0 a run arrived; written last, so that a chunk is finished if and only if this part of it is there
    reason        why a run did not arrive, or what is to be said of one that did, as UTF-8
    reached       time to which it came
    parameter/... its design; every output by its name; q and v if they are kept

A chunk appears whole (Zarr's files are renamed into place). One that was not finished is computed again, to the same numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingExtraError, StudyError, warn
from .task import REASON, Columns, Task, described

WHOLE_FILES = (3, 1, 3)  # the version of Zarr from which on files are renamed into place
UNKNOWN = -1  # status of a run that is not finished
PREFIX = "parameter "
OWN = ("status", "reason", "reached", "time", "run", "", ".", "..", "zarr.json")  # no names of outputs
STATES = ("q", "v")  # nor these, where trajectories are kept


def stored_name(name: str) -> str:
    """Of an array; in Zarr, / would stand for a group."""
    return name.replace("%", "%25").replace("/", "%2F")


def parameter_name(name: str) -> str:
    return PREFIX + stored_name(name)


def zarr_module() -> Any:
    try:
        import zarr
    except ImportError:
        raise MissingExtraError('sweeps are stored by Zarr. Install it with: pip install "bellcrank[cluster]"') from None
    if tuple(int(x) for x in re.findall(r"\d+", zarr.__version__)[:3]) < WHOLE_FILES:
        wanted = ".".join(map(str, WHOLE_FILES))
        raise MissingExtraError(
            f"Zarr is of version {zarr.__version__}, whose files may be half written when a sweep is killed. Install a "
            f'newer one with: pip install "zarr>={wanted}"'
        )
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
        except (OSError, ValueError, KeyError):
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
        elif path.exists() and not (path.is_dir() and not any(path.iterdir())):
            holds = "contains other files" if path.is_dir() else "is a file"
            raise StudyError(f"{path} {holds}: name a folder that is new or empty")
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StudyError(f"{path} cannot be made: {problem.strerror}") from None
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

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """By their names here: opened once, which takes longer than to write a chunk."""
        return dict(self.group.arrays())

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
        given = {parameter_name(name): designs[:, j] for j, name in enumerate(names)}
        given |= {stored_name(name): values for name, values in columns.items() if name != "status"}
        try:
            for name, values in {**given, "status": columns["status"]}.items():  # the status last
                self.arrays[name][first:last] = values
        except OSError as problem:
            raise StudyError(
                f"{self.path} cannot be written ({problem.strerror}). Finished runs are kept: sweep into the same folder "
                "again to compute the others"
            ) from None


def _make_arrays(group: Any, task: Task, chunk: int) -> None:
    sizes = {"time": len(task.times), "coordinate": task.model.nq, "dof": task.model.nv, "byte": REASON}
    units = _parameter_units(task)

    def make(name: str, dims: tuple[str, ...], dtype: str, attributes: dict[str, Any], fill: Any) -> None:
        shape, tail = tuple(sizes[d] for d in dims), tuple(max(1, sizes[d]) for d in dims)
        options: dict[str, Any] = {"dimension_names": ("run", *dims), "attributes": attributes, "fill_value": fill}
        group.create_array(name, shape=(task.count, *shape), chunks=(min(chunk, task.count), *tail), dtype=dtype, **options)

    for name, unit in zip(task.parameters, units, strict=True):
        make(parameter_name(name), (), "f8", {"units": unit}, np.nan)
    for name, (dims, dtype, unit) in task.shapes().items():
        of = task.study.outputs.get(name, "")
        make(stored_name(name), dims, dtype, {"units": unit, "output": of}, np.nan if dtype == "f8" else 0)
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
