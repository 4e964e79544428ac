"""The line of every key of a TOML text.

Neither tomllib nor tomlkit says where a key was written (tomlkit issue 55), so the text is scanned once more. It has been
parsed before, so the scan may trust its grammar: it only has to step over values without mistaking what is in them.
"""

from __future__ import annotations

import re

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3,5}'
    r"|'''[^']*(?:'(?!'')[^']*)*'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_SCALAR = re.compile(r"[^\[\]{},\n#]+")
_FLAT_ARRAY = re.compile(r"\[[^\[\]{}\"'#]*\]")  # most arrays: numbers only


def key_lines(text: str) -> dict[Path, int]:
    """Lines, from 1, by path: ``("bodies", "arm", "mass")``, and ``("parts", 0, "mass")`` in arrays of tables."""
    scan = _Scan(text)
    scan.document()
    return scan.lines


def value_spans(text: str) -> dict[Path, tuple[int, int]]:
    """The beginning and end of the value of every path, for values that contain no others."""
    scan = _Scan(text)
    scan.spans = {}
    scan.document()
    return scan.spans


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[Path, tuple[int, int]] | None = None  # of values, where they are asked for
        self.at = 0
        self.lines: dict[Path, int] = {}
        self._line, self._counted = 1, 0
        self._tables: dict[Path, int] = {}  # arrays of tables: how many so far

    def document(self) -> None:
        table: Path = ()
        while self._skip(_BLANK) < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._assignment(table)

    def _header(self) -> Path:
        repeated = self.text.startswith("[[", self.at)
        self.at += 2 if repeated else 1
        line, path = self._here(), self._resolve(self._key())
        self.at += 2 if repeated else 1
        if repeated:
            count = self._tables.get(path, 0)
            self._tables[path] = count + 1
            self.lines.setdefault(path, line)
            path = (*path, count)
        self.lines.setdefault(path, line)
        return path

    def _resolve(self, key: Path) -> Path:
        """The path to which a header leads: through the latest entry of every array of tables on the way."""
        path: Path = ()
        for part in key[:-1]:
            path = (*path, part)
            if path in self._tables:
                path = (*path, self._tables[path] - 1)
            self.lines.setdefault(path, self._here())
        return (*path, key[-1])

    def _assignment(self, table: Path) -> None:
        line, path = self._here(), table
        for part in self._key():
            path = (*path, part)
            self.lines.setdefault(path, line)
        self.at += 1  # the =
        self._skip(_SPACE)
        self._value(path)

    def _key(self) -> Path:
        parts: list[str] = []
        while True:
            self._skip(_SPACE)
            if self.text[self.at] in "\"'":
                parts.append(_unquoted(self._take(_STRING)))
            else:
                parts.append(self._take(_BARE_KEY))
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return tuple(parts)
            self.at += 1

    def _value(self, path: Path) -> None:
        first, start = self.text[self.at], self.at
        if first == "[":
            if self.spans is not None or not self._skip_if(_FLAT_ARRAY):
                self._list("]", path)
            return
        if first == "{":
            self._list("}", path)
            return
        taken = self._take(_STRING if first in "\"'" else _SCALAR)
        if self.spans is not None:
            self.spans[path] = start, start + len(taken.rstrip())

    def _list(self, end: str, path: Path) -> None:
        """The entries of an array or of an inline table."""
        self.at += 1
        index = 0
        while self.text[self._skip(_BLANK)] != end:
            if self.text[self.at] == ",":
                self.at += 1
            elif end == "}":
                self._assignment(path)
            else:
                self.lines.setdefault((*path, index), self._here())
                self._value((*path, index))
                index += 1
        self.at += 1

    def _skip(self, pattern: re.Pattern[str]) -> int:
        """Steps over what may be there; returns the new place."""
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at

    def _skip_if(self, pattern: re.Pattern[str]) -> bool:
        before = self.at
        return self._skip(pattern) > before

    def _take(self, pattern: re.Pattern[str]) -> str:
        start = self.at
        if not self._skip_if(pattern):
            raise ValueError(f"no TOML at character {start}")  # cannot be in a text that was parsed
        return self.text[start : self.at]

    def _here(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line


def _unquoted(key: str) -> str:
    if key[0] == "'":
        return key[1:-1]
    return _ESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else _ESCAPED.get(m[3], m[3]), key[1:-1])
