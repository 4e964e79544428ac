"""Derivatives as tables of text and as plain values."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...writing import write_whole

if TYPE_CHECKING:
    from rich.console import Group

    from ..outcome import Sensitivity


def as_table(found: Sensitivity) -> Group:
    """A row for each parameter, a column for each output; of an output that is a curve, where its slope is largest."""
    from ...analyses.report import table

    columns = [_column(found, name) for name in found.outputs]
    units = [found.unit(name) for name in found.outputs]
    headings = (
        "parameter",
        "",
        *(f"{name}{f' ({unit})' if unit else ''}" for name, unit in zip(found.outputs, units, strict=True)),
    )
    rows = [["value", "", *(column[0] for column in columns)]]
    given = zip(found.parameters, found.at, found.parameter_units, strict=True)
    for k, (name, at, unit) in enumerate(given, start=1):
        rows.append([f"d/d {short(name)}", f"{at:.6g} {unit}".strip(), *(column[k] for column in columns)])
    return table(f"{found.model}: derivatives of {WHAT[found.analysis]}", headings, rows, right=range(1, len(headings)))


def short(parameter: str) -> str:
    """A path without what most paths begin with."""
    return parameter.removeprefix("parameters.")


def _column(found: Sensitivity, name: str) -> list[str]:
    value, slopes = np.asarray(found.value(name)), np.asarray(found.d(name))
    if not value.ndim:
        return [f"{value:.6g}", *(f"{x:.6g}" for x in slopes)]
    places = [int(np.nanargmax(np.abs(column))) if np.isfinite(column).any() else 0 for column in slopes.T]
    return ["at most", *(f"{slopes[k, i]:.6g}{found.place(name, k)}" for i, k in enumerate(places))]


WHAT = {
    "run": "a run",
    "drive": "a driven mechanism",
    "equilibrium": "an equilibrium",
    "modes": "modes",
    "inverse_motion": "the efforts of a motion",
}


def plain_values(found: Sensitivity) -> dict[str, Any]:
    """Fit for JSON; what is not a number is null."""
    result: dict[str, Any] = {
        "model": found.model,
        "analysis": found.analysis,
        "parameters": dict(zip(found.parameters, found.at.tolist(), strict=True)),
        "outputs": {
            name: {
                "value": _plain(np.asarray(found.value(name))),
                "unit": found.unit(name),
                "d": {p: _plain(np.asarray(found.d(name))[..., k]) for k, p in enumerate(found.parameters)},
            }
            for name in found.outputs
        },
    }
    if found.q_values.ndim == 2:
        result[found.axis] = found.time.tolist()
    return result


def _plain(x: Any) -> Any:
    if x.ndim:
        return [_plain(entry) for entry in x]
    return float(x) if np.isfinite(x) else None


def write_csv(found: Sensitivity, path: str | Path, *, keep: bool) -> Path:
    """Rows of output, place (time, input or mode; empty for a number), value, and the derivative by each parameter."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["output", "at", "value", *(f"d/d {name}" for name in found.parameters)])
    for name in found.outputs:
        value, slopes = np.asarray(found.value(name)), np.asarray(found.d(name))
        at = found.axis_of(name)[0] if value.ndim else [""]
        for where, x, row in zip(at, np.atleast_1d(value), np.atleast_2d(slopes), strict=True):
            writer.writerow(
                [name, where if where == "" else repr(float(where)), repr(float(x)), *(repr(float(d)) for d in row)]
            )
    return write_whole(path, lambda file: file.write(text.getvalue().encode()), keep=keep)
