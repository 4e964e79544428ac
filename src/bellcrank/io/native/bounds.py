"""Limits that a text must keep before it is parsed: the parser's memory grows with the square of a key's parts, and it
recurses.

The text need not be TOML: what is not, the parser says. Strings and comments are stepped over, closed or not, so that the work
is in proportion to the text.
"""

from __future__ import annotations

import re

from ...errors import ModelError
from ...model.spec.problems import brief

MOST_PARTS = 16  # of a dotted key
MOST_LEVELS = 16  # of arrays and inline tables inside each other
LONGEST_KEY = 1000  # characters
MOST_DIGITS = 1000  # of a whole number: one of some thousands has no text in Python, so that no message could show it

# Only single characters are repeated possessively: with groups so repeated a text was not recognised, in one run of many, by
# Python 3.11. What follows a repeated group always matches, or its parts exclude each other, so that nothing is tried twice.
_QUOTED = r""""(?:[^"\\\n]++|\\.)*"?|'[^'\n]*+'?"""
_PART = rf"(?:[A-Za-z0-9_-]++|{_QUOTED})"
_TOKEN = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*(?:"{3,5}|\Z)'
    r"|'''(?:[^']++|'(?!''))*(?:'{3,5}|\Z)"
    r"|#[^\n]*+"
    r"|([\[{])|([\]}])"
    rf"|({_PART}(?:[ \t]*+\.[ \t]*+{_PART})*)[ \t]*+([=\]])?",
    re.DOTALL,
)
_OPEN, _CLOSE, _WORDS, _AFTER = 1, 2, 3, 4
_WHOLE = re.compile(r"[0-9][0-9a-fA-Fxo_]*+")
_DOTS = re.compile(rf"{_PART}|(\.)", re.DOTALL)


def check_bounds(text: str, file: str) -> None:
    """Raises ModelError for keys of too many parts, keys too long, numbers too long, and values nested too deeply."""
    level = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastindex
        if kind == _OPEN:
            level += 1
            if level > MOST_LEVELS:
                raise _error(text, token, file, f"arrays or tables are nested too deeply, more than {MOST_LEVELS} levels")
        elif kind == _CLOSE or (kind == _AFTER and token[_AFTER] == "]"):
            level = max(level - 1, 0)
        if kind is not None and kind >= _WORDS:
            _check_key(text, token, file)


def _check_key(text: str, token: re.Match[str], file: str) -> None:
    words = token[_WORDS]
    if len(words) <= 2 * MOST_PARTS:
        return
    if len(words) > MOST_DIGITS and token[_AFTER] != "=" and _WHOLE.fullmatch(words):
        raise ModelError(
            f"{_where(text, token, file)}: the number {brief(words)} has too many digits. Write it as a power of ten."
        )
    parts = 1 + sum(found.group(1) is not None for found in _DOTS.finditer(words))
    if parts > MOST_PARTS:
        raise _error(text, token, file, f"the key {brief(words)} has {parts} parts, more than {MOST_PARTS}")
    in_header = token[_AFTER] == "]" and words[0] not in "\"'"  # or the last text of an array
    if len(words) > LONGEST_KEY and (parts > 1 or token[_AFTER] == "=" or in_header):
        raise _error(text, token, file, f"the key {brief(words)} has {len(words)} characters, more than {LONGEST_KEY}")


def _error(text: str, token: re.Match[str], file: str, what: str) -> ModelError:
    return ModelError(f"{_where(text, token, file)}: {what}. A model needs neither long keys nor more than three levels.")


def _where(text: str, token: re.Match[str], file: str) -> str:
    return f"{file}, line {text.count(chr(10), 0, token.start()) + 1}"
