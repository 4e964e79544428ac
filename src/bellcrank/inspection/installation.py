"""What is installed, and on which machine: the first thing that a report of a problem should have."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from ..kernels.cache import folder
from ..kernels.processor import processor

if TYPE_CHECKING:
    from rich.table import Table

NEEDED = ("numpy", "llvmlite", "scipy", "xarray", "h5netcdf", "matplotlib")
VECTORS = ("sse4.2", "avx", "avx2", "fma", "avx512f", "neon", "sve")
EXTRAS = {  # as pyproject.toml has them
    "view": ("viser",),
    "video": ("imageio-ffmpeg",),
    "meshes": ("trimesh", "pycollada"),
    "robots": ("mujoco", "yourdfpy", "trimesh", "pycollada"),
    "cluster": ("dask", "distributed", "zarr", "numcodecs"),
}


@dataclass(frozen=True)
class Installation:
    """versions by package; extras by name, with what is missing of each; processor: its name, and features that code uses."""

    bellcrank: str
    python: str
    system: str
    versions: dict[str, str]
    extras: dict[str, tuple[str, ...]]
    processor: str
    features: tuple[str, ...]
    cores: int
    cache: str

    def rows(self) -> list[tuple[str, str]]:
        extras = [
            (f"extra [{name}]", f'not installed: pip install "bellcrank[{name}]"' if missing else "installed")
            for name, missing in self.extras.items()
        ]
        return [
            ("bellcrank", self.bellcrank),
            ("Python", self.python),
            ("system", self.system),
            *self.versions.items(),
            *extras,
            ("processor", f"{self.processor}, {self.cores} cores"),
            ("vector features", ", ".join(self.features) or "none"),
            ("cache of machine code", self.cache),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        extras = {name: {"installed": not missing, "missing": list(missing)} for name, missing in self.extras.items()}
        return vars(self) | {"extras": extras, "features": list(self.features)}

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.rows())

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table(show_header=False, box=None)
        for name, value in self.rows():
            table.add_row(f"{name}:", value)
        return table


def info() -> Installation:
    """Versions, processor, cache folder and extras of this installation."""

    def found(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    name, features = processor()
    cache = folder()
    return Installation(
        bellcrank=found("bellcrank") or "not installed",
        python=sys.version.split()[0],
        system=platform.platform(terse=True),
        versions={package: found(package) or "not installed" for package in NEEDED},
        extras={name: tuple(p for p in packages if found(p) is None) for name, packages in EXTRAS.items()},
        processor=name,
        features=tuple(f for f in VECTORS if f"+{f}" in features.split(",")),
        cores=os.cpu_count() or 1,
        cache="off" if cache is None else str(cache),
    )
