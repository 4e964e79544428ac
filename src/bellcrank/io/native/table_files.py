"""Tables from CSV files beside the model file: numbers in columns, with or without a line of names above them.

Two columns are a table of one argument. More columns are a table of two: the first line has the values of y, behind a first
cell that says nothing; each line below begins with its x. With ``columns = ["angle", "pressure"]`` two columns of many are
taken by their names. Cells are divided by commas, semicolons, tabs or blanks; lines that begin with # are left out.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from ...errors import ModelError
from ...model.parameters.tables import MOST_ENTRIES
from ..exchange.meshes import folder_of, why_not
from ..files import decode, read_bytes
from .table import TomlTable


class _Line(NamedTuple):
    number: int
    cells: list[str]


class _Wrong(Exception):
    """A problem of a file, and the remedy."""


def read_table_file(table: TomlTable) -> dict[str, Any]:
    """Fields of a TableSpec; complains of what cannot be read."""
    table.know("file", "columns")
    file, columns = table.text("file"), table.get("columns")
    for key in ("rows", "x", "y", "values"):
        if key in table:
            table.complain(f"[{table.label}] has both file and {key}. Keep one.", key)
    if columns is not None and not (
        isinstance(columns, list) and len(columns) == 2 and all(isinstance(name, str) for name in columns)
    ):
        table.wrong("columns", 'two names, ["angle", "pressure"]')
        columns = None
    if not file:
        return {}
    folder = folder_of(table)
    reason = why_not(file, folder)
    if reason is None and folder is None:
        reason = "cannot be found: a model that is given as a text has no folder. Give its rows."
    if reason is None and folder is not None:
        try:
            return _fields(_lines(decode(read_bytes(folder / file), file)), columns)
        except (_Wrong, ModelError) as error:
            reason = f"cannot be used: {error}"
    table.complain(f'the table file "{file}" of "{table.about}" {reason}', "file")
    return {}


def _lines(text: str) -> list[_Line]:
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        if bare and not bare.startswith("#"):
            divider = next((mark for mark in ",;\t" if mark in line), None)
            cells = line.split(divider) if divider else bare.split()
            found.append(_Line(number, [cell.strip().strip('"') for cell in cells]))
    if len(found) < 2:
        raise _Wrong("it has no two lines of numbers. Give a line for each row.")
    if sum(len(line.cells) for line in found) > MOST_ENTRIES:
        raise _Wrong(f"it has more than {MOST_ENTRIES} numbers. Give fewer.")
    return found


def _fields(lines: list[_Line], columns: list[str] | None) -> dict[str, Any]:
    first, width = lines[0], len(lines[0].cells)
    for line in lines:
        if len(line.cells) != width:
            raise _Wrong(f"line {line.number} has {len(line.cells)} cells, and line {first.number} has {width}.")
    named = any(_number(cell) is None for cell in first.cells)
    if columns is not None:
        places = [_column(first.cells, name) for name in columns]
        return {"rows": tuple((row[0], row[1]) for row in ([_value(line, k) for k in places] for line in lines[1:]))}
    if width == 1:
        raise _Wrong("it has one column. Give two, x and value.")
    if width == 2:
        return {"rows": tuple((_value(line, 0), _value(line, 1)) for line in (lines[1:] if named else lines))}
    y = tuple(_value(first, k) for k in range(1, width))
    x = tuple(_value(line, 0) for line in lines[1:])
    return {"x": x, "y": y, "values": tuple(tuple(_value(line, k) for k in range(1, width)) for line in lines[1:])}


def _column(names: list[str], wanted: str) -> int:
    if wanted not in names:
        raise _Wrong(f'it has no column "{wanted}". Its first line names {", ".join(names)}.')
    return names.index(wanted)


def _number(cell: str) -> float | None:
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", cell):
        return None
    value = float(cell)
    return value if math.isfinite(value) else None


def _value(line: _Line, k: int) -> float:
    value = _number(line.cells[k])
    if value is None:
        raise _Wrong(f'line {line.number} has "{line.cells[k][:20]}" in column {k + 1}, which is not a number.')
    return value
