"""A run as one wide table of text: a row a sample, a column a number, with name and unit on top."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...writing import write_whole
from .netcdf import available

if TYPE_CHECKING:
    from ..labels import Labels, Names
    from ..run import Run

ENERGIES = {name: f"{name} energy (J)" for name in ("kinetic", "potential", "stored", "total")}
ENERGIES["balance"] = "energy balance (J)"


def write_csv(run: Run, path: str | Path, *, keep: bool = False) -> Path:
    """Comma-separated values, UTF-8; numbers keep all their digits."""
    headings, table = columns(run)

    def write(file: Path) -> None:
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(headings)
            writer.writerows(table.tolist())

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
    labels = run.labels
    prefix, names, units = {
        "q": ("q ", labels.coordinates, labels.coordinate_units),
        "closing": ("q ", labels.closing, labels.closing_units),
        "v": ("v ", labels.dofs, labels.dof_units),
        "a": ("a ", labels.dofs, tuple(f"{unit}2" for unit in labels.dof_units)),
        "work": ("work of ", labels.sources, ("J",) * len(labels.sources)),
        "forces": ("force of ", labels.elements, labels.element_units),
        "drives": ("effort on ", labels.drives, labels.drive_units),
        "inputs": ("input ", labels.inputs, ("",) * len(labels.inputs)),
        "measures": ("", labels.measures, labels.measure_units),
        "reactions": ("reaction ", *_reactions(labels)),
    }[name]
    return [f"{prefix}{item}" + (f" ({unit})" if unit else "") for item, unit in zip(names, units, strict=True)]


def _reactions(labels: Labels) -> tuple[Names, Names]:
    """``fx of elbow`` ... ``mz of elbow``, joint by joint, and their units."""
    from ..quantities import COMPONENTS, entry_units

    names = tuple(f"{component} of {joint}" for joint in labels.joints for component in COMPONENTS)
    return names, entry_units("reactions", labels) * len(labels.joints)
