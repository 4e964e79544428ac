"""One column over time from a table of text, such as ``Run.to_csv`` and spreadsheets write."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ...errors import StateError
from ...writing import refuse_to_wait


def read_column(path: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of a CSV file: its first column, and its second or the one headed ``name``.

    A heading may have a unit behind it, ``lift (N)``, and ``input`` before it, as those of ``Run.to_csv``.
    """
    try:
        refuse_to_wait(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(k, row) for k, row in enumerate(csv.reader(file), 1) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StateError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    headings = [] if not rows or _is_number(rows[0][1][0]) else [cell.strip() for cell in rows.pop(0)[1]]
    column = _place(path, name, headings, len(rows[0][1]) if rows else 0)
    return _numbers(path, rows, 0), _numbers(path, rows, column)


def _place(path: Path, name: str, headings: list[str], width: int) -> int:
    named = [k for k, heading in enumerate(headings) if heading.partition(" (")[0].removeprefix("input ") == name]
    if named:
        return named[0]
    if width == 2:
        return 1
    what = f"columns {', '.join(headings)}" if headings else f"{width} columns without headings"
    raise StateError(
        f"{path} has {what}: head the one of {name!r} with its name, or give a file of two columns, time and value"
    )


def _numbers(path: Path, rows: list[tuple[int, list[str]]], column: int) -> np.ndarray:
    found = []
    for line, row in rows:
        if column >= len(row) or not _is_number(row[column]):
            raise StateError(f"{path}, line {line}: column {column + 1} is {row[column : column + 1]}. Give a number.")
        found.append(float(row[column]))
    return np.array(found)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
