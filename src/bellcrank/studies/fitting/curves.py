"""Measured curves: times and columns of a CSV file, or of arrays, checked."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError
from ...writing import refuse_to_wait
from ..study.spec import Case, Fit

Array = NDArray[np.float64]

SAME = 1e-9  # of an interval: times that count as evenly spaced


@dataclass(frozen=True)
class Curves:
    """Times (T,), and the measured values of each column, (T,); a value that is not a number was not measured."""

    times: Array
    columns: dict[str, Array]

    @property
    def even(self) -> bool:
        """Whether the times begin at zero and are evenly spaced, as the samples of a run are."""
        steps = np.diff(self.times)
        return len(steps) > 0 and self.times[0] == 0 and float(np.ptp(steps)) <= SAME * float(steps.mean())


def read_curves(data: Any, fit: Fit, folder: Path | None, *, of_run: bool = True) -> Curves:
    """Over time, or over the input of a drive.

    Of a file, a mapping from columns to arrays, or anything with columns, such as a table of pandas.
    """
    if isinstance(data, str | Path):
        path = Path(data) if folder is None or Path(data).is_absolute() else folder / data
        found, said = _from_file(path), str(path)
    elif hasattr(data, "keys"):
        found, said = {str(name): np.asarray(data[name], dtype=np.float64) for name in data.keys()}, "the data"  # noqa: SIM118
    else:
        raise StudyError(f"measured curves are {data!r}: give a CSV file, or {{column: values}} with their times.")
    wanted = [fit.time, *fit.columns.values()]
    missing = [name for name in wanted if name not in found]
    if missing:
        raise StudyError(f"{said} has no column {', '.join(map(repr, missing))}; it has {', '.join(found)}.")
    columns = {name: found[name] for name in wanted}
    if len({len(x) for x in columns.values()}) > 1 or columns[fit.time].ndim != 1:
        raise StudyError(f"{said}: the columns {', '.join(wanted)} are not equally long.")
    times = columns.pop(fit.time)
    if len(times) < 2 or not np.isfinite(times).all() or (of_run and times[0] < 0) or (np.diff(times) <= 0).any():
        must = "times in {} must begin at zero or later, and" if of_run else "values of the input in {} must"
        raise StudyError(f"{said}: the {must.format(repr(fit.time))} increase from row to row.")
    return Curves(times, columns)


def _from_file(path: Path) -> dict[str, Array]:
    """Columns by their headings, without a unit behind them: ``angle (rad)``."""
    try:
        refuse_to_wait(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row) and not row[0].startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if len(rows) < 2:
        raise StudyError(f"{path} has no rows. Give a line of headings, and a row for each time.")
    names = [cell.strip().partition(" (")[0] for cell in rows[0]]
    found: dict[str, list[float]] = {name: [] for name in names}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise StudyError(f"{path}, row {number} has {len(row)} cells; the headings are {len(names)}.")
        for name, cell in zip(names, row, strict=True):
            found[name].append(_number(cell, path, number, name))
    return {name: np.array(values) for name, values in found.items()}


def _number(cell: str, path: Path, row: int, name: str) -> float:
    """A number; an empty cell was not measured."""
    if not cell.strip():
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        raise StudyError(f"{path}, row {row}: {cell[:20]!r} in column {name!r} is not a number.") from None


def curves_of(cases: tuple[Case, ...], fit: Fit, folder: Path | None, given: Any = None) -> list[Curves]:
    """The curves of each case: from its own file, or that of the fit; or as given, for all or by the names of cases."""
    found = []
    for case in cases:
        data = given
        if isinstance(given, Mapping) and case.name in given and case.name:
            data = given[case.name]
        elif given is None:
            data = case.data or fit.data
        if data is None:
            raise StudyError("the fit has no data. Give [fit] data = FILE.csv, or the data themselves.")
        beside = folder if given is None or _is_beside(data, folder) else None
        found.append(read_curves(data, fit, beside, of_run=case.analysis == "run"))
    return found


def _is_beside(data: Any, folder: Path | None) -> bool:
    """Whether a file that the caller names is beside the study, and not in the working folder."""
    return isinstance(data, str | Path) and folder is not None and not Path(data).exists() and (folder / data).exists()
