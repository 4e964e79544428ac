"""The store of a sweep: one Zarr group with a chunk of runs in each chunk of its arrays.

    status        0 a run arrived; written last, so that a chunk is finished if and only if this part of it is there
    reason        why a run did not arrive, or what is to be said of one that did, as UTF-8
    reached       time to which it came
    parameter/... its design; every output by its name; q and v if they are kept

Files of chunks are written here, in Zarr's format, since Zarr itself takes longer to write a short chunk than to compute it. A
file appears whole: it is renamed into place. A chunk that was not finished is computed again, to the same numbers.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BellcrankError, MissingExtraError, StudyError, warn
from ...writing import remove_abandoned, replace
from .points import MOST
from .task import REASON, Columns, Task, described

WHOLE_FILES = (3, 1, 3)  # the version of Zarr from which on files are renamed into place
FORMAT = 3  # of Zarr
UNKNOWN = -1  # status of a run that is not finished
FILL = {"f": np.nan, "i": UNKNOWN, "u": 0}  # by kind of number: what is not known yet
PREFIX = "parameter "
OWN = ("status", "reason", "reached", "time", "run", "", ".", "..", "zarr.json")  # no names of outputs
STATES = ("q", "v")  # nor these, where trajectories are kept


def stored_name(name: str) -> str:
    """Of an array; in Zarr, / would stand for a group, and so would a backslash."""
    return name.replace("%", "%25").replace("/", "%2F").replace("\\", "%5C")


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


class Chunk(NamedTuple):
    """A chunk of runs as the store has it: ``files`` by their paths, the status last; ``notes`` of runs that arrived."""

    k: int
    files: dict[str, bytes]
    notes: list[str]


def packed(k: int, rows: int, columns: Columns, designs: dict[str, NDArray[np.float64]]) -> Chunk:
    """Chunk number k, of so many rows; the last one may have fewer, and is filled up. ``designs``: parameters by name."""
    from numcodecs import Zstd

    zstd, files = Zstd(checksum=True), {}
    reasons = {row: reason for row, reason in enumerate(columns["reason"].tolist()) if reason}
    arrays: dict[str, NDArray[Any]] = {parameter_name(name): x for name, x in designs.items()}
    arrays |= {stored_name(name): x for name, x in columns.items() if name != "reason"}
    if reasons:  # most chunks have none
        arrays["reason"] = _as_bytes(reasons, len(columns["reason"]))
    for name in sorted(arrays, key="status".__eq__):
        x = arrays[name]
        if not x.size:
            continue
        if len(x) < rows:
            x = np.concatenate([x, np.full((rows - len(x), *x.shape[1:]), FILL[x.dtype.kind], x.dtype)])
        files["/".join([name, "c", str(k), *["0"] * (x.ndim - 1)])] = zstd.encode(x.astype(x.dtype.newbyteorder("<"), "C"))
    notes = [text_of(arrays["reason"][row]) for row in reasons if columns["status"][row] == 0]
    return Chunk(k, files, notes)


def _as_bytes(reasons: dict[int, str], count: int) -> NDArray[np.uint8]:
    """Rows of UTF-8, zero where there is no reason."""
    found = np.zeros((count, REASON), dtype=np.uint8)
    for k, reason in reasons.items():
        text = reason.encode()[:REASON]
        found[k, : len(text)] = np.frombuffer(text, dtype=np.uint8)
    return found


@contextmanager
def in_store(path: Path) -> Iterator[None]:
    """What goes wrong with the files of a store, in our words."""
    try:
        yield
    except (BellcrankError, ImportError, MemoryError):
        raise
    except OSError as problem:
        raise StudyError(f"{path} cannot be read or written: {problem.strerror or problem}") from problem
    except Exception as problem:  # a damaged file can be anything to Zarr
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise StudyError(f"{path} is damaged, or no store of a sweep: {reason}. Remove it, and sweep again") from problem


def text_of(reason: NDArray[np.uint8]) -> str:
    return bytes(reason).rstrip(b"\0").decode(errors="replace")


class Store:
    """A folder with the results of a task, perhaps unfinished."""

    def __init__(self, path: Path, group: Any):
        self.path, self.group = path, group
        self.attributes: dict[str, Any] = dict(group.attrs)
        self.count, self.chunk = (self.attributes[name] for name in ("runs", "chunk"))
        self._check()

    def _check(self) -> None:
        """That the store is what ``make`` makes."""
        types = {
            int: ("runs", "chunk"),
            str: ("fingerprint", "study", "design"),
            list: ("parameters", "machines"),
            dict: ("outputs",),
        }
        for wanted, names in types.items():
            for name in names:
                if not isinstance(self.attributes.get(name), wanted):
                    raise ValueError(f"its {name!r} is {self.attributes.get(name)!r:.50}")
        if not 0 < self.count <= MOST or not 0 < self.chunk <= MOST:
            raise ValueError(f"it says that it has {self.count} runs in chunks of {self.chunk}")
        kinds: dict[str, str] = {"status": "i", "reason": "u"}
        kinds |= dict.fromkeys(map(parameter_name, self.attributes["parameters"]), "f")
        kinds |= dict.fromkeys(map(stored_name, self.attributes["outputs"]), "f")
        for name, kind in kinds.items():
            found = self.array(name)
            if found.shape[:1] != (self.count,) or found.dtype.kind != kind:
                raise ValueError(f"{name!r} has not {self.count} numbers of its kind")

    def array(self, name: str) -> Any:
        if name not in self.group:
            raise ValueError(f"it has no {name!r}")
        found = self.group[name]
        if not hasattr(found, "shape"):
            raise ValueError(f"{name!r} is no array")
        return found

    @classmethod
    def open(cls, path: Path) -> Store:
        group = _opened(path)
        if "fingerprint" not in group.attrs or "chunk" not in group.attrs:
            raise StudyError(
                f"{path}: this Zarr store does not belong to a sweep, or the sweep ended before its first run: remove it"
            )
        with in_store(path):
            return cls(path, group)

    @classmethod
    def make(cls, path: Path, task: Task, chunk: int, machine: dict[str, Any]) -> Store:
        """A new one, or the one that is there if it is of the same sweep; one in which nothing is finished is replaced."""
        with in_store(path):
            if os.path.exists(path / "zarr.json"):  # of a name too long, too
                known = cls.open(path) if "chunk" in _opened(path).attrs else None
                if known is not None and (known.finished().any() or known.attributes["fingerprint"] == task.fingerprint):
                    return known.continued(task, machine)
            elif path.exists() and not (path.is_dir() and not any(path.iterdir())):
                holds = "contains other files" if path.is_dir() else "is a file"
                raise StudyError(f"{path} {holds}: name a folder that is new or empty")
            path.mkdir(parents=True, exist_ok=True)
            group = zarr_module().open_group(path, mode="w", zarr_format=FORMAT)
            _make_arrays(group, task, chunk)
            group.attrs.update({**described(task), "machines": [machine], "chunk": chunk})  # last: now it is a sweep's
            return cls(path, group)

    def continued(self, task: Task, machine: dict[str, Any]) -> Store:
        """This store, to be written on, if the task is that of the store."""
        if self.attributes["fingerprint"] != task.fingerprint:
            raise StudyError(
                f"{self.path} holds another sweep (study {self.attributes['study']!r}, {self.count} runs): its model, "
                "parameters, outputs or options differ. Name another folder, or remove this one"
            )
        for folder, _, _ in os.walk(self.path):
            remove_abandoned(Path(folder))
        machines = self.attributes["machines"]
        if machine not in machines:
            warn(
                f"{self.path} was begun on another type of processor ({machines[0]['processor']}): runs agree within their "
                "tolerance, not in every bit"
            )
            self.group.attrs["machines"] = [*machines, machine]
        return self

    def read(self, name: str, first: int = 0, last: int | None = None) -> NDArray[Any]:
        """Rows of an array by its name here."""
        try:
            return np.asarray(self.array(name)[first:last])
        except Exception as problem:  # a damaged file can be anything to Zarr
            if last is not None:
                raise StudyError(
                    f"{self.path} is damaged: {name!r} of runs {first} to {last - 1} cannot be read ({problem}). Remove "
                    f"{self.path / 'status' / 'c' / str(first // self.chunk)}, and sweep again: these runs are repeated"
                ) from None
        return np.concatenate([self.read(name, *self.bounds(k)) for k in range(self.chunks)])  # one of them is the bad one

    @property
    def chunks(self) -> int:
        return -(-self.count // self.chunk)

    @property
    def rows(self) -> int:
        """Of a chunk's files."""
        return min(self.chunk, self.count)

    def bounds(self, k: int) -> tuple[int, int]:
        return k * self.chunk, min((k + 1) * self.chunk, self.count)

    def finished(self) -> NDArray[np.bool_]:
        """Of each chunk."""
        folder = self.path / "status" / "c"
        found = np.zeros(self.chunks, dtype=bool)
        with in_store(self.path):
            for entry in folder.iterdir() if folder.is_dir() else ():
                if entry.name.isdecimal():
                    found[int(entry.name)] = True
        return found

    def missing(self) -> Iterator[int]:
        yield from np.flatnonzero(~self.finished()).tolist()

    def put(self, chunk: Chunk) -> None:
        try:
            for name, content in chunk.files.items():
                path = self.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                replace(path, partial(_write, content), durable=False)
        except OSError as problem:
            raise StudyError(
                f"{self.path} cannot be written ({problem.strerror}). Finished runs are kept: sweep into the same folder "
                "again to compute the others"
            ) from None


def _opened(path: Path) -> Any:
    zarr = zarr_module()
    try:
        return zarr.open_group(path, mode="r+", zarr_format=FORMAT)  # there are older ones, which readers can do more than read
    except Exception as problem:  # a damaged file can be anything to Zarr
        if os.path.exists(path / "zarr.json"):  # of a name too long, too
            raise StudyError(f"{path} is damaged: zarr.json cannot be read ({problem}). Remove it, and sweep again") from None
        raise StudyError(f"{path}: there is no sweep in this folder") from None


def _write(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _make_arrays(group: Any, task: Task, chunk: int) -> None:
    zarr = zarr_module()
    sizes = {"time": len(task.times), "coordinate": task.model.nq, "dof": task.model.nv, "byte": REASON}
    units = _parameter_units(task)

    def make(name: str, dims: tuple[str, ...], dtype: str, attributes: dict[str, Any]) -> None:
        shape, tail = tuple(sizes[d] for d in dims), tuple(max(1, sizes[d]) for d in dims)
        options: dict[str, Any] = {"dimension_names": ("run", *dims), "attributes": attributes}
        options |= {"fill_value": FILL[dtype[0]], "compressors": zarr.codecs.ZstdCodec(checksum=True)}
        group.create_array(name, shape=(task.count, *shape), chunks=(min(chunk, task.count), *tail), dtype=dtype, **options)

    for name, unit in zip(task.parameters, units, strict=True):
        make(parameter_name(name), (), "f8", {"units": unit})
    for name, (dims, dtype, unit) in task.shapes().items():
        of = task.study.outputs.get(name, "")
        make(stored_name(name), dims, dtype, {"units": unit, "output": of})
    make("status", (), "i1", {})
    for name, values in {"time": task.times}.items():
        group.create_array(name, data=np.asarray(values), dimension_names=(name,), attributes={"units": "s"})


def _parameter_units(task: Task) -> list[str]:
    from ...model.parameters.unit_table import units_of

    assert task.model.written is not None
    known = units_of(task.model.written.spec)
    return [known.get(name, "") for name in task.parameters]


@cache
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
