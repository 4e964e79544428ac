"""A griffe extension: columns in docstrings (a name, two spaces or more, its meaning) become tables of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

ROW = re.compile(r"^(\S(?:.*?\S)?) {2,}(\S.*)$")
CONTINUED = re.compile(r"^ {4,}(\S.*)$")


def with_tables(text: str) -> str:
    """The text with each block of aligned columns as a table."""
    return "\n".join(line for block in re.split(r"\n{2,}", text) for line in [*_block(block.split("\n")), ""]).strip()


def _block(lines: list[str]) -> list[str]:
    first = next((k for k, line in enumerate(lines) if ROW.match(line)), None)
    if first is None:
        return lines
    rows = list(_rows(lines[first:]))
    if not rows:
        return lines
    return [*lines[:first], "", "| | |", "|---|---|", *(f"| {_code(name)} | {_cell(meaning)} |" for name, meaning in rows)]


def _rows(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs of name and meaning; none where a line belongs to neither."""
    found: list[list[str]] = []
    for line in lines:
        if row := ROW.match(line):
            found.append([row[1], row[2]])
        elif found and (more := CONTINUED.match(line)):
            found[-1][1] += f" {more[1]}"
        else:
            return
    yield from ((name, meaning) for name, meaning in found)


def _code(name: str) -> str:
    return name if "`" in name else f"`{name}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


class DocstringTables(griffe.Extension):
    """Applied to every object that griffe reads."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = with_tables(obj.docstring.value)
