"""A run as one wide table of text: one row for each sample, one column for each number, headed by its name and unit."""

from __future__ import annotations

import csv
import math
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from ...writing import write_whole
from .netcdf import available

if TYPE_CHECKING:
    from ..run import Run

ENERGIES = {name: f"{name} energy (J)" for name in ("kinetic", "potential", "stored", "total")}
ENERGIES["balance"] = "energy balance (J)"
PREFIX = {"q": "q ", "closing": "q ", "v": "v ", "a": "a ", "work": "work of ", "forces": "force of ", "drives": "effort on "}
PREFIX |= {"inputs": "input ", "measures": "", "reactions": "reaction "}


def write_csv(run: Run, path: str | Path, *, keep: bool = False) -> Path:
    """Comma-separated values, UTF-8; numbers keep all their digits."""
    headings, table = columns(run)

    def write(file: BinaryIO) -> None:
        text = StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(headings)
        writer.writerows(table.tolist())
        file.write(text.getvalue().encode())

    return write_whole(path, write, keep=keep)


def columns(run: Run) -> tuple[list[str], np.ndarray]:
    """Headings such as ``q shoulder (rad)``, and the numbers (time, column)."""
    found = available(run, ("q", "closing", "v", "a", *ENERGIES, "work", "forces", "drives", "inputs", "measures", "reactions"))
    headings, parts = ["time (s)"], [run.values("time")[:, None]]
    for name, values in found.items():
        headings += [ENERGIES[name]] if name in ENERGIES else _wide(run, name)
        parts.append(values.reshape(len(values), math.prod(values.shape[1:])))
    return headings, np.hstack(parts)


def _wide(run: Run, name: str) -> list[str]:
    """A heading for every column of a quantity: ``fx of elbow`` ... ``mz of elbow`` joint by joint, of reactions."""
    from ..quantities import COMPONENTS, QUANTITIES, coordinates, entry_units

    labels, quantity = run.labels, QUANTITIES[name]
    names = coordinates(labels)[quantity.dims[1]]
    if name == "reactions":
        names = tuple(f"{component} of {joint}" for joint in names for component in COMPONENTS)
    units = entry_units(name, labels) if quantity.unit is None else (quantity.unit,)
    units = units * (len(names) // max(len(units), 1))
    return [f"{PREFIX[name]}{item}" + (f" ({unit})" if unit else "") for item, unit in zip(names, units, strict=True)]
